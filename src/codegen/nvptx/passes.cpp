// The passes between emission and PTX: scalars out of memory, cleaning, addresses with constant parts that instructions can
// take. No unrolling, no vectorising, and nothing that would copy a barrier: ptxas unrolls where it sees fit.
#include "codegen/common/llvm.h"
#include "codegen/nvptx/target.h"
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace tdl::codegen::nvptx {
using namespace llvm;

void optimise(Module &m, const Target &t) {
    PassBuilder builder(t.machine.get());
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    TargetLibraryInfoImpl library(m.getTargetTriple().empty() ? Triple() : Triple(m.getTargetTriple()));
    library.disableAllFunctions();
    functions.registerPass([&] { return TargetLibraryAnalysis(library); });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);

    FunctionPassManager p;
    p.addPass(SROAPass(SROAOptions::ModifyCFG));
    if (t.optimise > 0) {
        p.addPass(EarlyCSEPass());
        p.addPass(InstCombinePass());
        p.addPass(SimplifyCFGPass());
        p.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
        p.addPass(InferAddressSpacesPass());
        p.addPass(SeparateConstOffsetFromGEPPass());
        p.addPass(GVNPass());
        p.addPass(InstCombinePass());
        p.addPass(SimplifyCFGPass());
        p.addPass(DCEPass());
    }
    ModulePassManager all;
    all.addPass(createModuleToFunctionPassAdaptor(std::move(p)));
    all.run(m, modules);
}

} // namespace tdl::codegen::nvptx
