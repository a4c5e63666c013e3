// What checking one kernel needs at every turn: where names, operations and messages go, and what is known so
// far.
#pragma once
#include "diagnostics/diagnostics.h"
#include "ir/op.h"
#include "sema/facts.h"
#include "sema/scope.h"
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tdl::sema {

/// What an expression may be made of: anything where operations can be written, sizes and constants
/// elsewhere.
enum class Mode : uint8_t { Body, Extent, Header, Constant, By };

/// A loop or whole extent, by the name of its axis in the IR, which is unique in the kernel (the second `j`
/// is `j_1`).
struct Axis {
    std::string source; // the name as written
    Loc loc;
    ir::Value *range = nullptr; // null: the loop binds a scalar
};

struct Context {
    Diagnostics &diags;
    const std::vector<std::pair<std::string, std::string>> &defines;
    Scopes scopes;
    std::set<std::string> usedDefines;
    std::map<std::string, Loc> functions; // `fn`s and kernels, which share a name space

    // ---- The kernel
    ir::Op *kernel = nullptr;
    std::vector<std::unique_ptr<Tensor>> tensors;
    std::unordered_map<std::string, Axis> axes;
    std::set<std::string> axisNames;
    Facts facts;
    bool whole =
        true; // false: something in it depends on a declaration that was in error, so its IR has gaps

    // ---- The stage, and the block in it that is being written
    Mode mode = Mode::Constant;
    std::string_view purpose;   // of an expression that may not be anything: "an extent"
    ir::Block *block = nullptr; // if mode is Body
    ir::Block *top = nullptr;   // of the stage
    size_t wholes = 0;          // `whole` operations at its beginning
    std::map<std::string, Term> wholeAxes;

    Context(Diagnostics &d, const std::vector<std::pair<std::string, std::string>> &defs)
        : diags(d), defines(defs), scopes(d) {}

    template <class... A> Diagnostics::Builder report(Loc loc, Diag kind, A &&...args) {
        return diags.report(loc, kind, std::forward<A>(args)...);
    }
    /// An Error for what has been reported elsewhere.
    Term gap(Loc l) {
        whole = false;
        return Term::error(l);
    }
    ir::Value *emit(ir::OpKind, Loc, std::vector<ir::Value *> operands, ir::Type result,
                    std::vector<std::pair<std::string_view, ir::Attr>> attrs = {});
    /// A name for an axis that the kernel has not used yet.
    std::string freshAxis(const std::string &source);
    std::string axisSource(const std::string &axis) const;
    /// `f32[i, j]` with axes as written.
    std::string show(const ir::Type &) const;
    const Tensor &tensorOf(const ir::Value *) const;
    /// The text of -D name=..., or null; remembers that it was asked for.
    const std::string *define(const std::string &name);
};

/// Puts a mode in force for as long as it lives.
class InMode {
public:
    InMode(Context &c, Mode m, std::string_view purpose) : ctx(c), mode(c.mode), saved(c.purpose) {
        ctx.mode = m;
        ctx.purpose = purpose;
    }
    ~InMode() {
        ctx.mode = mode;
        ctx.purpose = saved;
    }
    InMode(const InMode &) = delete;
    InMode &operator=(const InMode &) = delete;

private:
    Context &ctx;
    Mode mode;
    std::string_view saved;
};

/// Where to say what to write instead: belongs to a message, points at no line.
inline Loc hint(Loc l) {
    return {l.file, 0, 0, 1};
}

} // namespace tdl::sema
