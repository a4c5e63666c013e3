#include "object/header.h"
#include "object/arguments.h"
#include "object/reserved.h"
#include <unordered_map>

namespace tdl::object {
namespace {

constexpr size_t kWidth = 120;

std::string_view cType(Elem e) {
    switch (e) {
    case Elem::Bool: return "tdl_bool";
    case Elem::I8: return "int8_t";
    case Elem::I32: return "int32_t";
    case Elem::I64: return "int64_t";
    case Elem::F8E4M3: return "tdl_f8e4m3";
    case Elem::F8E5M2: return "tdl_f8e5m2";
    case Elem::F16: return "tdl_f16";
    case Elem::BF16: return "tdl_bf16";
    case Elem::F32: return "float";
    case Elem::F64: return "double";
    }
    return "";
}

// Lines of `///`; a backslash at the end of one would swallow the next.
void comment(std::string &out, std::string_view indent, std::string_view text) {
    for (;;) {
        std::string_view line = text.substr(0, text.find('\n'));
        while (!line.empty() && (line.back() == '\\' || line.back() == ' ' || line.back() == '\r'))
            line.remove_suffix(1);
        out += indent;
        out += "///";
        if (!line.empty() && line.front() != ' ') out += ' ';
        for (char c : line) out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        out += '\n';
        size_t end = text.find('\n');
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

// in bf16[M @ ranks, K]: who holds what.
std::string placement(const Argument &a) {
    std::string s = fmt::format("{} {}{}[", a.mode, a.uniform ? "uniform " : "", elemName(a.elem));
    for (size_t i = 0; i < a.dims.size(); ++i)
        s += fmt::format("{}{}{}", i ? ", " : "", a.dims[i].extent.str(), a.dims[i].dist ? " @ ranks" : "");
    s += "]: ";
    if (a.uniform) return s + "a copy on every rank, all equal";
    if (a.distDim < 0) return s + "this rank's own";
    const ir::Expr &e = a.dims[static_cast<size_t>(a.distDim)].extent;
    return s + fmt::format("this rank's block of {} (tdl_shard), stored with capacity {}", e.str(),
                           ir::blockOf(e).str());
}

class Writer {
public:
    Writer(const ir::Module &m, Diagnostics &d) : module(m), diags(d) {}

    std::optional<std::string> run() {
        int before = diags.errorCount();
        std::string source = module.sources.empty() ? "" : module.sources[0].name;
        source = source.substr(source.find_last_of("/\\") + 1);
        std::vector<const ir::Op *> kernels; // of several plans of one name the first: they declare the same
        for (auto &op : module.top.ops) {
            bool again = false;
            for (const ir::Op *k : kernels) again |= k->symbol == op->symbol;
            if (!again) kernels.push_back(op.get());
        }
        std::string guard = kernels.empty() ? "EMPTY" : kernels[0]->symbol;
        out = fmt::format(
            "/* Made by tdlc{}{}; do not edit. */\n#ifndef TDL_{}_H\n#define TDL_{}_H\n\n#include <tdl.h>\n\n"
            "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
            source.empty() ? "" : " from ", source, guard, guard);
        for (const ir::Op *k : kernels) kernel(*k);
        out += "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
        return diags.errorCount() == before ? std::optional(std::move(out)) : std::nullopt;
    }

private:
    const ir::Module &module;
    Diagnostics &diags;
    std::string out;
    std::unordered_map<std::string, std::string> functions; // name, whose

    void claim(std::unordered_map<std::string, std::string> &taken, const std::string &name, std::string what,
               Loc loc) {
        auto [it, fresh] = taken.emplace(name, what);
        if (!fresh) diags.report(loc, Diag::HeaderClash, name, what, it->second);
    }

    void kernel(const ir::Op &k) {
        const std::string &name = k.symbol;
        if (auto why = reservedForFunction(name); !why.empty())
            diags.report(k.loc, Diag::HeaderReserved, name, "a kernel", why);
        for (const char *suffix : {"", "_prepare", "_args", "_descriptor"})
            claim(functions, name + suffix, fmt::format("for kernel `{}`", name), k.loc);
        ArgumentLayout layout = layoutArguments(k);

        out += '\n';
        if (k.has("doc")) {
            comment(out, "", k.str("doc"));
            out += "///\n";
        }
        comment(out, "",
                fmt::format("Arguments of {}: start from all zeros. Strides are in elements, of all "
                            "dimensions but the last; zeros mean dense.",
                            name));
        out += fmt::format("typedef struct {}_args {{\n", name);
        members(name, layout);
        out += fmt::format("}} {}_args;\n\n", name);

        comment(out, "",
                "Starts the kernel on this rank and returns; tdl_synchronize waits for it. All ranks call "
                "it, with equal sizes and scalars.");
        for (auto &op : k.body().ops)
            if (op->kind == ir::OpKind::Require) comment(out, "", "Requires " + op->str("text") + ".");
        out += fmt::format("tdl_status {0}(tdl_ctx *ctx, const {0}_args *args, void *stream);\n", name);
        comment(out, "",
                "Optional and collective: reserves scratch memory for launches of these sizes; tensors may "
                "be NULL.");
        out += fmt::format("tdl_status {0}_prepare(tdl_ctx *ctx, const {0}_args *args);\n", name);
    }

    void members(const std::string &kernel, const ArgumentLayout &layout) {
        std::unordered_map<std::string, std::string> taken{{kernel + "_args", "the struct's own"}};
        std::string sizes;
        for (const Argument &a : layout.args) {
            if (auto why = reservedForMember(a.name); !why.empty())
                diags.report(a.loc, Diag::HeaderReserved, a.name,
                             a.kind == Argument::Size ? "a size" : "an argument", why);
            claim(taken, a.name, fmt::format("argument `{}`", a.name), a.loc);
            if (a.strideOffset)
                claim(taken, a.name + "_stride", fmt::format("the strides of `{}`", a.name), a.loc);
            if (a.kind == Argument::Size) {
                size_t line = sizes.size() - (sizes.rfind('\n') + 1); // npos + 1 is 0
                bool wraps = line + a.name.size() > kWidth;
                sizes +=
                    sizes.empty() ? "    int64_t " + a.name : (wraps ? ",\n            " : ", ") + a.name;
                continue;
            }
            flush(sizes);
            if (a.kind == Argument::Scalar) {
                out += fmt::format("    {} {};\n", cType(a.elem), a.name);
                continue;
            }
            comment(out, "    ", placement(a));
            out += fmt::format("    {}{} *{};\n", a.mode == "in" ? "const " : "", cType(a.elem), a.name);
            if (a.strideOffset) out += fmt::format("    int64_t {}_stride[{}];\n", a.name, a.dims.size() - 1);
        }
        flush(sizes);
        if (layout.args.empty()) out += "    char unused; // C has no empty structs\n";
    }
    void flush(std::string &sizes) {
        if (!sizes.empty()) out += sizes + ";\n";
        sizes.clear();
    }
};

} // namespace

std::optional<std::string> header(const ir::Module &kern, Diagnostics &diags) {
    return Writer(kern, diags).run();
}

} // namespace tdl::object
