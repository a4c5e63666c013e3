// The files of one compilation, which appear together and whole, or not at all.
//
//     Outputs out(diags);
//     if (out.add("a.h", header, KeepIfSame::Yes) && out.add("a.o", object) && out.commit()) ...
//
// Each file is written beside its place and renamed by commit(), in the order of add(). Between the first add() and the
// end of Outputs, signals that end the program wait, so nothing half-written is left by them either.
#pragma once
#include "diagnostics/diagnostics.h"
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace tdl {

enum class KeepIfSame : bool { No, Yes };

class Outputs {
public:
    explicit Outputs(Diagnostics &d) : diags(d) {}
    ~Outputs();
    Outputs(const Outputs &) = delete;
    Outputs &operator=(const Outputs &) = delete;

    /// `-` is standard output; devices and pipes are written in place, through a link its target is replaced. With
    /// KeepIfSame a file that already has this content keeps its time stamp. Reports why not.
    bool add(const std::string &path, std::string_view bytes, KeepIfSame = KeepIfSame::No);
    bool commit();

private:
    struct Staged {
        std::string path, temp; // as given; "" when written in place
        std::string place;      // what is replaced, or written
        std::string bytes;      // of one in place
    };
    Diagnostics &diags;
    std::vector<Staged> staged;
    sigset_t mask;
    bool blocked = false;

    void blockSignals();
    bool fail(const std::string &path, int error);
    bool stage(const std::string &path, const std::string &place, std::string_view bytes);
};

/// Is it a name of something that is written in place (`-`, a device, a pipe, /dev/stdout)?
bool writesInPlace(const std::string &path);

/// All of `bytes` to a descriptor, or false and errno.
bool writeAll(int fd, std::string_view bytes);

} // namespace tdl
