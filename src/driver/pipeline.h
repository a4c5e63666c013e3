// The compiler from a file's text to whatever was asked for, stage after stage.
#pragma once
#include "diagnostics/diagnostics.h"
#include "driver/options.h"
#include "ir/op.h"
#include "syntax/ast.h"
#include <memory>
#include <optional>
#include <string>

namespace tdl {

/// Where a compilation can start and end, in order. (`Header` ends beside `Kernel`: it needs no code generation.)
enum class Step : uint8_t { Ast, Tile, Plan, Kernel, Header, Llvm, Asm, Ptx, Cubin, Object };
std::string_view stepName(Step);
std::optional<Step> findStep(std::string_view emitKind); // ast .. obj, as --emit names them

/// What compile() was asked for and may be asked about afterwards: every stage that was passed.
struct Compilation {
    Sources sources;
    Diagnostics diags{sources};
    std::optional<ast::Module> syntax;
    std::unique_ptr<ir::Module> tile, plan, kernel;
    std::string header, text;               // text: what the last step made (object bytes for Object, machine code for Cubin)
    std::string log;                        // of --dump-*, --time-passes
};

/// Compiles input `path` (for its extension and for messages) with this `text` up to `last`. False after errors, which
/// are in `diags`.
bool compile(Compilation &, const Options &, const std::string &path, std::string text, Step last);

} // namespace tdl
