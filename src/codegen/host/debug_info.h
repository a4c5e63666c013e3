// Line tables: which source line an instruction comes from, for debuggers and profilers. Does nothing without
// -g.
#pragma once
#include "codegen/host/target.h"
#include "ir/op.h"
#include <memory>

namespace llvm {
class DIBuilder;
class DIFile;
class DISubprogram;
class Function;
} // namespace llvm

namespace tdl::codegen {

class DebugInfo {
public:
    DebugInfo(llvm::Module &, const ir::Module &, const Target &);
    ~DebugInfo();
    /// Gives the function of a program its place in the source.
    void describe(llvm::Function &, const ir::Op &program);
    void finish();

private:
    std::unique_ptr<llvm::DIBuilder> builder;
    std::vector<std::pair<int, llvm::DIFile *>> files; // by index in Sources
};

} // namespace tdl::codegen
