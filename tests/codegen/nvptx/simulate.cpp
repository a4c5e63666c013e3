#include "simulate.h"
#include "codegen/common/llvm.h"
#include "codegen/nvptx/plan.h"
#include "codegen/nvptx/ptx.h"
#include <algorithm>
#include <cstring>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ThreadSafeModule.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <map>
#include <random>
#include <sys/mman.h>
#include <ucontext.h>

namespace simulate {
using namespace llvm;
using namespace tdl::codegen;
using nvptx::Ptx;

namespace {

constexpr size_t kStack = 64 * 1024;
enum class Waits { Nothing, Barrier, Shuffle, Done };

struct Block;
struct Fiber {
    ucontext_t context;
    Block *block = nullptr;
    int thread = 0;
    Waits waits = Waits::Nothing;
    uint32_t offered = 0, distance = 0, received = 0;
};
struct Block {
    int rank = 0, index = 0, blocks = 1;
    std::vector<char> shared;
    std::vector<std::unique_ptr<Fiber>> threads;
};

// One launch at a time in a process of tests.
struct Machine {
    ucontext_t scheduler;
    Fiber *current = nullptr;
    void (*entry)(const uint64_t *) = nullptr;
    const std::vector<Program::Rank> *ranks = nullptr;
    std::vector<std::unique_ptr<Block>> blocks;
    std::string wrong;
    Counts counts;
    uint64_t clock = 0, idle = 0;
} machine;

void pause(Waits w) {
    Fiber *f = machine.current;
    f->waits = w;
    swapcontext(&f->context, &machine.scheduler);
}

void body() {
    Fiber *f = machine.current;
    machine.entry((*machine.ranks)[static_cast<size_t>(f->block->rank)].words.data());
    f->waits = Waits::Done;
    swapcontext(&f->context, &machine.scheduler);
}

// ---- The instructions ----
using Word = uint64_t;
Word *at(Word address) { return reinterpret_cast<Word *>(address); }
void doBarSync() { ++machine.counts.barriers, pause(Waits::Barrier); }
Word add(Word p, Word v) {
    Word old = *at(p);
    *at(p) += v;
    machine.idle = 0;
    return old;
}
Word doAtomAddRelaxedGpu(Word p, Word v) { return ++machine.counts.tickets, add(p, v); }
Word doAtomAddAcqRelGpu(Word p, Word v) { return add(p, v); }
Word doAtomCasRelaxedSys(Word p, Word expected, Word v) {
    Word old = *at(p);
    if (old == expected) *at(p) = v;
    return old;
}
Word doLoadRelaxedGpu(Word p) { return *at(p); }
Word doLoadRelaxedSys(Word p) { return *at(p); }
void doStoreRelaxedGpu(Word p, Word v) { *at(p) = v; }
void doStoreRelaxedSys(Word p, Word v) { *at(p) = v; }
void doStoreReleaseSys(Word p, Word v) { ++machine.counts.releases, machine.idle = 0, *at(p) = v; }
void doFenceAcqRelGpu() {}
void doFenceAcqRelSys() {}
Word doGlobalTimer() { return machine.clock += 10; }
void doNanoSleep(uint32_t) { ++machine.counts.polls, ++machine.idle, pause(Waits::Nothing); }
uint32_t doShuffleXor(uint32_t v, uint32_t distance) {
    Fiber *f = machine.current;
    f->offered = v, f->distance = distance;
    pause(Waits::Shuffle);
    return f->received;
}
uint32_t threadIndex() { return static_cast<uint32_t>(machine.current->thread); }
uint32_t blockIndex() { return static_cast<uint32_t>(machine.current->block->index); }
uint32_t blockCount() { return static_cast<uint32_t>(machine.current->block->blocks); }
void *sharedBase() { return machine.current->block->shared.data(); }

const std::pair<const char *, void *> kFunctions[] = {
#define PTX(name, text, operands, effects, sm, version) {"simulate." #name, reinterpret_cast<void *>(&do##name)},
#include "codegen/nvptx/ptx.def"
#undef PTX
    {"simulate.tid", reinterpret_cast<void *>(&threadIndex)},
    {"simulate.ctaid", reinterpret_cast<void *>(&blockIndex)},
    {"simulate.nctaid", reinterpret_cast<void *>(&blockCount)},
    {"simulate.shared", reinterpret_cast<void *>(&sharedBase)},
};

const char *nameOf(const InlineAsm &text) {
    for (size_t i = 0; i < static_cast<size_t>(Ptx::Count); ++i)
        if (StringRef(nvptx::ptxInfo(static_cast<Ptx>(i)).text) == text.getAsmString()) return kFunctions[i].first;
    return nullptr;
}

// ---- From a module for the device to one for this machine ----
std::string convert(Module &m, size_t &sharedBytes, int without, int &barriers) {
    LLVMContext &c = m.getContext();
    IRBuilder<> b(c);
    sharedBytes = 0;
    for (Function &f : m) {
        if (f.isDeclaration()) continue;
        f.setCallingConv(CallingConv::C);
        for (const char *a : {"nvvm.maxntid", "nvvm.minctasm"}) f.removeFnAttr(a);
        f.removeParamAttr(0, Attribute::ByVal);
        f.removeParamAttr(0, "nvvm.grid_constant");
        std::vector<CallInst *> calls;
        for (Instruction &i : instructions(f))
            if (auto *call = dyn_cast<CallInst>(&i)) calls.push_back(call);
        for (CallInst *call : calls) {
            std::string name;
            if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand())) {
                const char *known = nameOf(*text);
                if (!known) return "an instruction outside of ptx.def: " + text->getAsmString().str();
                name = known;
                if (name == "simulate.BarSync" && barriers++ == without) {
                    call->eraseFromParent();
                    continue;
                }
            } else if (Function *callee = call->getCalledFunction()) {
                switch (callee->getIntrinsicID()) {
                case Intrinsic::nvvm_read_ptx_sreg_tid_x: name = "simulate.tid"; break;
                case Intrinsic::nvvm_read_ptx_sreg_ctaid_x: name = "simulate.ctaid"; break;
                case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: name = "simulate.nctaid"; break;
                default: continue;
                }
            }
            b.SetInsertPoint(call);
            std::vector<Value *> args;
            std::vector<Type *> types;
            for (Value *v : call->args()) {
                args.push_back(v->getType()->isPointerTy() ? b.CreatePtrToInt(v, b.getInt64Ty()) : v);
                types.push_back(args.back()->getType());
            }
            auto callee = m.getOrInsertFunction(name, FunctionType::get(call->getType(), types, false));
            call->replaceAllUsesWith(b.CreateCall(callee, args));
            call->eraseFromParent();
        }
    }
    std::vector<GlobalVariable *> globals;
    for (GlobalVariable &g : m.globals()) globals.push_back(&g);
    for (GlobalVariable *g : globals) {
        sharedBytes = std::max<size_t>(sharedBytes, m.getDataLayout().getTypeAllocSize(g->getValueType()));
        convertUsersOfConstantsToInstructions({g});
        std::map<Function *, Value *> bases;
        std::vector<Use *> uses;
        for (Use &u : g->uses()) uses.push_back(&u);
        for (Use *u : uses) {
            Function *f = cast<Instruction>(u->getUser())->getFunction();
            if (!bases.contains(f)) {
                b.SetInsertPoint(&f->getEntryBlock(), f->getEntryBlock().getFirstInsertionPt());
                Value *flat = b.CreateCall(m.getOrInsertFunction("simulate.shared", FunctionType::get(b.getPtrTy(), {}, false)), {});
                bases[f] = b.CreateAddrSpaceCast(flat, g->getType());
            }
            u->set(bases[f]);
        }
        g->eraseFromParent();
    }
    std::string why;
    raw_string_ostream stream(why);
    return verifyModule(m, &stream) ? why : std::string();
}

} // namespace

const Counts &counts() { return machine.counts; }

struct Program::State {
    std::unique_ptr<orc::LLJIT> jit;
    size_t sharedBytes = 0;
};

Program::~Program() = default;

Program::Program(const tdl::ir::Module &kern, int optimise, int without) : state(std::make_unique<State>()) {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    tdl::Sources none;
    tdl::Diagnostics diags(none);
    auto target = nvptx::makeTarget({90, true}, optimise, diags);
    nvptx::DeviceOptions options;
    auto made = target ? nvptx::buildModule(kern, *target, options, diags) : std::nullopt;
    if (!made) {
        wrong = renderText(diags, false);
        return;
    }
    for (auto &p : made->plans) plans.push_back({p.entry, p.workspace});
    nvptx::optimise(*made->module, *target);
    wrong = convert(*made->module, state->sharedBytes, without, barriers);
    if (!wrong.empty()) return;
    auto jit = orc::LLJITBuilder().create();
    if (!jit) {
        wrong = toString(jit.takeError());
        return;
    }
    state->jit = std::move(*jit);
    made->module->setDataLayout(state->jit->getDataLayout());
    made->module->setTargetTriple(state->jit->getTargetTriple());
    orc::SymbolMap symbols;
    for (auto &[name, function] : kFunctions)
        symbols[state->jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function), JITSymbolFlags::Exported | JITSymbolFlags::Callable};
    cantFail(state->jit->getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))));
    orc::ThreadSafeContext context(std::move(made->context));
    if (auto error = state->jit->addIRModule(orc::ThreadSafeModule(std::move(made->module), context))) wrong = toString(std::move(error));
}

// ---- The scheduler ----
namespace {

/// Lets a block's threads past a barrier that all have reached, and warps through shuffles.
bool release(Block &block) {
    bool moved = false;
    size_t atBarrier = 0, done = 0;
    for (auto &f : block.threads) atBarrier += f->waits == Waits::Barrier, done += f->waits == Waits::Done;
    if (atBarrier == block.threads.size()) {
        for (auto &f : block.threads) f->waits = Waits::Nothing;
        return true;
    }
    if (atBarrier && done && atBarrier + done == block.threads.size()) machine.wrong = "some threads ended, others wait at a barrier";
    for (size_t first = 0; first < block.threads.size(); first += nvptx::kWarp) {
        auto *warp = &block.threads[first];
        size_t shuffling = 0, stuck = 0;
        for (int l = 0; l < nvptx::kWarp; ++l) {
            shuffling += warp[l]->waits == Waits::Shuffle && warp[l]->distance == warp[0]->distance;
            stuck += warp[l]->waits == Waits::Barrier || warp[l]->waits == Waits::Done;
        }
        if (shuffling && stuck) machine.wrong = "a part of a warp shuffles";
        if (shuffling < nvptx::kWarp) continue;
        for (int l = 0; l < nvptx::kWarp; ++l) warp[l]->received = warp[l ^ static_cast<int>(warp[l]->distance)]->offered;
        for (int l = 0; l < nvptx::kWarp; ++l) warp[l]->waits = Waits::Nothing;
        moved = true;
    }
    return moved;
}

} // namespace

std::string Program::run(const std::string &entry, const std::vector<Rank> &ranks, uint64_t seed) {
    auto symbol = state->jit->lookup(entry);
    if (!symbol) return toString(symbol.takeError());
    machine.entry = symbol->toPtr<void (*)(const uint64_t *)>();
    machine.ranks = &ranks;
    machine.blocks.clear();
    machine.wrong.clear();
    machine.counts = {};
    machine.idle = machine.clock = 0;
    std::vector<Fiber *> fibers;
    for (size_t r = 0; r < ranks.size(); ++r)
        for (int i = 0; i < ranks[r].blocks; ++i) {
            auto block = std::make_unique<Block>();
            block->rank = static_cast<int>(r), block->index = i, block->blocks = ranks[r].blocks;
            block->shared.assign(state->sharedBytes, static_cast<char>(0xFF));
            for (int t = 0; t < nvptx::kThreads; ++t) {
                block->threads.push_back(std::make_unique<Fiber>());
                block->threads.back()->block = block.get();
                block->threads.back()->thread = t;
                fibers.push_back(block->threads.back().get());
            }
            machine.blocks.push_back(std::move(block));
        }
    size_t bytes = fibers.size() * kStack;
    char *stacks = static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (stacks == MAP_FAILED) return "no memory for stacks";
    for (size_t i = 0; i < fibers.size(); ++i) {
        getcontext(&fibers[i]->context);
        fibers[i]->context.uc_stack = {stacks + i * kStack, 0, kStack};
        fibers[i]->context.uc_link = nullptr;
        makecontext(&fibers[i]->context, body, 0);
    }
    std::mt19937_64 random(seed);
    for (;;) {
        if (seed > 1) std::shuffle(fibers.begin(), fibers.end(), random);
        else if (seed == 1) std::reverse(fibers.begin(), fibers.end());
        size_t done = 0, ran = 0;
        for (Fiber *f : fibers) {
            done += f->waits == Waits::Done;
            if (f->waits != Waits::Nothing) continue;
            machine.current = f;
            swapcontext(&machine.scheduler, &f->context);
            ++ran;
        }
        if (done == fibers.size()) break;
        for (auto &b : machine.blocks) ran += release(*b);
        if (machine.wrong.empty() && ran == 0) machine.wrong = "nothing can run";
        if (machine.wrong.empty() && machine.idle > 100000) machine.wrong = "nothing but polls";
        if (!machine.wrong.empty()) break;
    }
    munmap(stacks, bytes);
    return machine.wrong;
}

} // namespace simulate
