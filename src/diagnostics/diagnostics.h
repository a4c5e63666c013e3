// Diagnostics: every kind has a number and a message in kinds.def; they are collected, never thrown.
//
//     diags.report(loc, Diag::AxisTwice, "i").note(first, "first used here");
//
//     a.tdl:7:14: error: axis `i` indexes `A` twice [TDL0307]
//         7 |     C[i, i] = acc
//           |          ^
//     a.tdl:7:11: note: first used here
//
// A stage reports as many as it can and returns failure if it reported an error; the driver prints them.
#pragma once
#include "diagnostics/loc.h"
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

namespace tdl {

enum class Severity : uint8_t { Error, Warning, Performance };

enum class Diag : uint16_t {
#define DIAG(number, severity, name, text, explanation) name,
#include "diagnostics/kinds.def"
#undef DIAG
    Count
};

struct DiagInfo {
    int number;
    Severity severity;
    std::string_view name, text, explanation; // text: an fmt format string
};
const DiagInfo &diagInfo(Diag);
/// The kind numbered n (TDL0123 is 123), or nullptr.
const DiagInfo *findDiag(int number);

/// The texts of the files of one compilation, by the index that Loc::file holds.
class Sources {
public:
    struct File {
        std::string name, text;
        bool fromDisk = false; // read under this name, so that make has to know it
    };
    int add(std::string name, std::string text, bool fromDisk = false);
    int find(std::string_view name) const; // -1 if there is none
    const File &operator[](int i) const { return files[static_cast<size_t>(i)]; }
    int size() const { return static_cast<int>(files.size()); }
    /// Line `line` (from 1) of file `i` without its end; empty if there is none (text is not always at hand).
    std::string_view line(int i, int line) const;

private:
    std::vector<File> files;
};

struct Note {
    Loc loc;
    std::string text;
};
struct Diagnostic {
    Diag kind;
    Severity severity;
    Loc loc;
    std::string text;
    std::vector<Note> notes;
};

class Diagnostics {
public:
    explicit Diagnostics(const Sources &s) : sources_(&s) {}

    /// Lets notes follow: report(...).note(loc, "text").
    class Builder {
    public:
        Builder(Diagnostics *d, size_t i) : owner(d), index(i) {}
        Builder &note(Loc loc, std::string text) {
            if (owner) owner->list_[index].notes.push_back({loc, std::move(text)});
            return *this;
        }

    private:
        Diagnostics *owner;
        size_t index;
    };

    template <class... Args> Builder report(Loc loc, Diag kind, Args &&...args) {
        return add(loc, kind, fmt::format(fmt::runtime(diagInfo(kind).text), std::forward<Args>(args)...));
    }

    bool hasErrors() const { return errors_ > 0; }
    int errorCount() const { return errors_; }
    const std::vector<Diagnostic> &list() const { return list_; }
    const Sources &sources() const { return *sources_; }
    void setErrorLimit(int n) { limit_ = n; }
    void setWarningsAreErrors(bool on) { werror_ = on; }

private:
    Builder add(Loc, Diag, std::string text); // drops an exact repetition, and what comes after the error limit
    const Sources *sources_;
    std::vector<Diagnostic> list_;
    int errors_ = 0, limit_ = 20;
    bool werror_ = false;
};

/// All diagnostics as text in the order of their report; `color` adds ANSI escapes.
std::string renderText(const Diagnostics &, bool color);

} // namespace tdl
