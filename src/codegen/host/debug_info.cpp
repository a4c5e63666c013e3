#include "codegen/host/debug_info.h"
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

namespace tdl::codegen {
using namespace llvm;

DebugInfo::~DebugInfo() = default;

DebugInfo::DebugInfo(Module &m, const ir::Module &kern, const Target &t) {
    if (!t.debugInfo || kern.sources.empty()) return;
    builder = std::make_unique<DIBuilder>(m);
    for (const ir::SourceRef &s : kern.sources) files.emplace_back(s.file, builder->createFile(s.name, "."));
    builder->createCompileUnit(dwarf::DW_LANG_C11, files.front().second, "tdlc", t.optimise > 0, "", 0, "",
                               DICompileUnit::LineTablesOnly);
    m.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
    m.addModuleFlag(Module::Max, "Dwarf Version", 5);
}

void DebugInfo::describe(Function &f, const ir::Op &program) {
    if (!builder) return;
    DIFile *file = files.front().second;
    for (auto &[index, known] : files)
        if (index == program.loc.file) file = known;
    auto *type = builder->createSubroutineType(builder->getOrCreateTypeArray({}));
    auto line = static_cast<unsigned>(program.loc.line);
    f.setSubprogram(builder->createFunction(
        file, f.getName(), f.getName(), file, line, type, line, DINode::FlagPrototyped,
        DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit));
}

void DebugInfo::finish() {
    if (builder) builder->finalize();
}

} // namespace tdl::codegen
