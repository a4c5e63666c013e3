#include "object/descriptor.h"
#include "codegen/common/llvm.h"
#include "codegen/host/frame.h"
#include "object/arguments.h"
#include <algorithm>
#include <map>
#include <tdl/abi.h>

namespace tdl {
using namespace llvm;
using ir::OpKind;

// The tables are written field by field below, each struct in the order of abi.h; sizes catch a field gained
// or lost.
static_assert(sizeof(tdl_arg) == 56 && sizeof(tdl_require) == 16 && sizeof(tdl_buffer) == 16 &&
              sizeof(tdl_flag) == 16);
static_assert(sizeof(tdl_join) == 8 && sizeof(tdl_task) == 16 && sizeof(tdl_site) == 16 &&
              sizeof(tdl_plan) == 104);
static_assert(sizeof(tdl_kernel) == 104);

namespace {

class Tables {
public:
    explicit Tables(Module &m) : module(m), context(m.getContext()) {}

    Constant *i32(int64_t v) { return ConstantInt::getSigned(Type::getInt32Ty(context), v); }
    Constant *i64(uint64_t v) { return ConstantInt::get(Type::getInt64Ty(context), v); }
    Constant *text(const std::string &s) {
        auto &known = texts[s];
        if (!known) known = global(ConstantDataArray::getString(context, s));
        return known;
    }
    Constant *record(std::vector<Constant *> fields) { return ConstantStruct::getAnon(context, fields); }
    /// The address of an array of records; null if there are none.
    Constant *array(const std::vector<Constant *> &rows) {
        if (rows.empty()) return ConstantPointerNull::get(PointerType::get(context, 0));
        return global(ConstantArray::get(ArrayType::get(rows[0]->getType(), rows.size()), rows));
    }

private:
    Module &module;
    LLVMContext &context;
    std::map<std::string, Constant *> texts;

    GlobalVariable *global(Constant *init) {
        auto *g = new GlobalVariable(module, init->getType(), true, GlobalValue::PrivateLinkage, init, "t");
        g->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
        return g;
    }
};

Constant *argumentTable(Tables &t, const ArgumentLayout &layout) {
    std::vector<Constant *> rows;
    for (const Argument &a : layout.args) {
        std::vector<Constant *> extents;
        for (const ir::Dim &d : a.dims) extents.push_back(t.text(d.extent.str()));
        int kind = a.kind == Argument::Size     ? TDL_ARG_SIZE
                   : a.kind == Argument::Scalar ? TDL_ARG_SCALAR
                                                : TDL_ARG_TENSOR;
        int mode = a.mode == "out" ? TDL_OUT : a.mode == "inout" ? TDL_INOUT : TDL_IN;
        rows.push_back(t.record({t.text(a.name), t.i32(kind), t.i32(static_cast<int>(a.elem)),
                                 t.i32(a.offset), t.i32(a.strideOffset), t.i32(mode), t.i32(a.uniform),
                                 t.i32(static_cast<int>(a.dims.size())), t.i32(a.distDim), t.array(extents),
                                 t.i32(a.loc.line), t.i32(0)}));
    }
    return t.array(rows);
}

Constant *planRow(Tables &t, const ir::Op &kern, const codegen::PlanCode &code, const DeviceEntry *device) {
    std::vector<Constant *> buffers, flags, joins, tasks, sites;
    for (auto &op : kern.body().ops) switch (op->kind) {
        case OpKind::Buffer:
            buffers.push_back(t.record(
                {t.text(op->name()),
                 t.i32(op->name("scope") == "rank" ? TDL_BUFFER_LOCAL : TDL_BUFFER_PROTOCOL), t.i32(0)}));
            break;
        case OpKind::Flag:
            flags.push_back(
                t.record({t.text(op->name()),
                          t.i32(op->name("kind") == "done" ? TDL_FLAG_DONE : TDL_FLAG_DATA), t.i32(0)}));
            break;
        case OpKind::Join: joins.push_back(t.record({t.text(op->name())})); break;
        case OpKind::Program:
            tasks.push_back(t.record({t.text(op->symbol), t.i32(op->loc.line),
                                      t.i32(static_cast<int>(op->names("coords").size()))}));
            break;
        default: break;
        }
    for (const codegen::WaitSite &s : code.sites)
        sites.push_back(t.record({t.i32(s.task), t.i32(s.loc.line), t.i32(s.loc.col), t.i32(0)}));
    auto count = [&](auto &v) { return t.i32(static_cast<int>(v.size())); };
    return t.record({t.text(kern.name("plan")), count(buffers), count(flags), count(joins), count(tasks),
                     count(sites), t.i32(0), t.array(buffers), t.array(flags), t.array(joins), t.array(tasks),
                     t.array(sites), code.layout, code.run ? code.run : t.array({}),
                     device ? t.text(device->name) : t.array({}), device ? device->workspace : t.array({})});
}

// NAME(ctx, args, stream) and NAME_prepare(ctx, args) only pass the descriptor on.
void addEntry(Module &m, const std::string &name, const char *runtime, Constant *descriptor, bool stream,
              const codegen::Target &target) {
    IRBuilder<> b(m.getContext());
    Type *p = b.getPtrTy();
    std::vector<Type *> outer(stream ? 3 : 2, p), inner(stream ? 4 : 3, p);
    auto *f = Function::Create(FunctionType::get(b.getInt32Ty(), outer, false), GlobalValue::ExternalLinkage,
                               name, m);
    codegen::setAttributes(*f, target);
    FunctionCallee callee = m.getOrInsertFunction(runtime, FunctionType::get(b.getInt32Ty(), inner, false));
    b.SetInsertPoint(BasicBlock::Create(m.getContext(), "entry", f));
    std::vector<Value *> args{f->getArg(0), descriptor, f->getArg(1)};
    if (stream) args.push_back(f->getArg(2));
    CallInst *call = b.CreateCall(callee, args);
    call->setTailCall();
    b.CreateRet(call);
}

} // namespace

void addDescriptor(Module &module, const KernelCode &k, const codegen::Target &target) {
    Tables t(module);
    const ir::Op &first = *k.plans.front();
    ArgumentLayout args = layoutArguments(first);
    std::vector<Constant *> conditions, plans;
    for (auto &op : first.body().ops)
        if (op->kind == OpKind::Require)
            conditions.push_back(t.record({t.text(op->str("text")), t.i32(op->loc.line), t.i32(0)}));
    for (size_t i = 0; i < k.plans.size(); ++i)
        plans.push_back(planRow(t, *k.plans[i], k.code[i], k.entries.empty() ? nullptr : &k.entries[i]));
    Constant *row = t.record(
        {t.i32(codegen::kAbiVersion), t.i32(k.cpuLevel), t.i64(k.identity), t.text(k.name), t.text(k.source),
         t.i32(first.loc.line), t.i32(args.bytes), t.i32(static_cast<int>(args.args.size())),
         t.i32(static_cast<int>(conditions.size())), t.i32(static_cast<int>(plans.size())), t.i32(0),
         argumentTable(t, args), t.array(conditions), t.array(plans), k.shape, t.i32(k.imageCount), t.i32(0),
         k.images ? k.images : t.array({})});
    auto *descriptor = new GlobalVariable(module, row->getType(), true, GlobalValue::ExternalLinkage, row,
                                          k.name + "_descriptor");
    addEntry(module, k.name, "tdl_launch", descriptor, true, target);
    addEntry(module, k.name + "_prepare", "tdl_prepare", descriptor, false, target);
}

} // namespace tdl
