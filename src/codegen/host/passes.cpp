// The passes between emission and machine code. Emission already gives canonical loops with hoisted
// invariants, so this is a short list chosen for compile time: scalars out of memory, cleaning, vectorising
// the innermost loops, cleaning.
#include "codegen/host/target.h"
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

namespace tdl::codegen {
using namespace llvm;

void optimise(Module &m, const Target &t) {
    PipelineTuningOptions tuning;
    PassBuilder builder(t.machine.get(), tuning);
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    TargetLibraryInfoImpl library(Triple(t.triple));
    library.disableAllFunctions(); // no loop becomes a memset or memcpy
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
        // Not InstCombine: it makes max(m, where(c, x, -inf)) a choice between two m, which is no reduction.
        p.addPass(InstSimplifyPass());
        p.addPass(SimplifyCFGPass());
        p.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
        if (t.optimise > 1) {
            p.addPass(createFunctionToLoopPassAdaptor(IndVarSimplifyPass()));
            p.addPass(LoopVectorizePass());
            p.addPass(EarlyCSEPass());
            p.addPass(InstCombinePass());
            p.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), true));
            if (t.optimise > 2) p.addPass(LoopUnrollPass());
        }
        p.addPass(SimplifyCFGPass());
        p.addPass(DCEPass());
    }
    ModulePassManager all;
    all.addPass(createModuleToFunctionPassAdaptor(std::move(p)));
    all.run(m, modules);
}

} // namespace tdl::codegen
