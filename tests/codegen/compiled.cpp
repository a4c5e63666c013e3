#include "compiled.h"
#include "ir/text.h"
#include "ir/verify.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <elf.h>
#include <fstream>
#include <unistd.h>

using namespace tdl;

std::string describe(const codegen::HostOptions &o) {
    return "level " + std::to_string(static_cast<int>(o.cpu)) + ", -O" + std::to_string(o.optimise) +
           (o.debugInfo ? " -g" : "");
}

std::vector<codegen::HostOptions> machineOptions() {
    codegen::HostOptions plain; // pads are NaN
    plain.optimise = 0;
    std::vector<codegen::HostOptions> out{{}, plain};
#if defined(__x86_64__)
    codegen::HostOptions v1, v4;
    v1.cpu = codegen::CpuLevel::V1;
    v4.cpu = codegen::CpuLevel::V4;
    out.push_back(v1);
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
        out.push_back(v4);
#endif
    return out;
}

Emitted emit(const std::string &text, const codegen::HostOptions &o) {
    Sources sources;
    int file = sources.add("test.kern", text);
    Diagnostics diags(sources);
    Emitted out;
    auto m = ir::parse(sources, file, diags);
    if (m && ir::verifyStructure(*m, diags))
        if (auto bytes = emitObject(*m, o, diags)) {
            out.object = std::move(*bytes);
            out.ok = !diags.hasErrors();
        }
    out.errors = renderText(diags, false);
    return out;
}

Compiled::Compiled(const std::string &text, const codegen::HostOptions &o) {
    Emitted e = emit(text, o);
    REQUIRE_MESSAGE(e.ok, e.errors << "\n" << text);
    bytes = std::move(e.object);
    char folder[] = "/tmp/tdl-codegen-XXXXXX";
    REQUIRE(mkdtemp(folder));
    std::string base = folder;
    std::ofstream(base + "/a.o", std::ios::binary) << bytes;
    std::string command = std::string(TDL_CC) + " -shared -nostdlib -o " + base + "/a.so " + base + "/a.o";
    int status = std::system(command.c_str());
    library = status == 0 ? dlopen((base + "/a.so").c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    const char *why = library ? "" : dlerror();
    for (const char *file : {"/a.o", "/a.so"}) unlink((base + file).c_str());
    rmdir(folder);
    REQUIRE_MESSAGE(library, (why ? why : "cannot link"));
}

Compiled::~Compiled() {
    if (library) dlclose(library);
}
std::vector<std::unique_ptr<Compiled>> versions(const std::string &kern) {
    std::vector<std::unique_ptr<Compiled>> out;
    codegen::HostOptions plain;
    plain.optimise = 0;
    out.push_back(std::make_unique<Compiled>(kern));
    out.push_back(std::make_unique<Compiled>(kern, plain));
    return out;
}

void *Compiled::symbol(const std::string &name) const {
    return dlsym(library, name.c_str());
}
const tdl_kernel *Compiled::kernel(const std::string &name) const {
    return static_cast<const tdl_kernel *>(symbol(name + "_descriptor"));
}

std::vector<std::string> undefinedSymbols(const std::string &object) {
    std::vector<std::string> out;
    const char *base = object.data();
    auto *header = reinterpret_cast<const Elf64_Ehdr *>(base);
    auto *sections = reinterpret_cast<const Elf64_Shdr *>(base + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const char *names = base + sections[sections[i].sh_link].sh_offset;
        auto *symbols = reinterpret_cast<const Elf64_Sym *>(base + sections[i].sh_offset);
        for (size_t k = 1; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k)
            if (symbols[k].st_shndx == SHN_UNDEF) out.push_back(names + symbols[k].st_name);
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::string module(const std::vector<std::string> &kerns) {
    std::string out = "tdl.kern 1\nsource \"test.tdl\"\n\n";
    for (const std::string &k : kerns) out += k + "\n";
    return out;
}

std::string kern(const std::string &name, const std::string &sizes, const std::string &declarations,
                 const std::string &programs) {
    return "kern @" + name + "(plan = sequential, sizes = [" + sizes + "], tiles = []) @1:8 {\n" +
           declarations + "  %done = flag(name = done, kind = done, words = ranks) : flag\n" +
           "  %end = join(name = end, words = 1) : join\n" + programs + "}\n";
}

// Values are unique in a kernel: those defined in the block get the program's name behind theirs.
static std::string renamed(const std::string &body, const std::string &suffix) {
    auto word = [&](size_t from) {
        size_t end = from + 1;
        while (end < body.size() && (std::isalnum(static_cast<unsigned char>(body[end])) || body[end] == '_'))
            ++end;
        return body.substr(from, end - from);
    };
    std::vector<std::string> defined;
    for (size_t at = 0; at < body.size();) { // left of `=`, and block arguments
        size_t end = std::min(body.find('\n', at), body.size());
        std::string line = body.substr(at, end - at);
        bool block = line.find("^(") != std::string::npos;
        size_t stop = block ? line.size() : std::min(line.find(" = "), line.size());
        size_t first = line.find_first_not_of(' ');
        if (block || (stop < line.size() && line[first] == '%'))
            for (size_t v = line.find('%'); v < stop; v = line.find('%', v + 1))
                defined.push_back(word(at + v));
        at = end + 1;
    }
    std::string out;
    for (size_t at = 0; at < body.size();) {
        std::string w = body[at] == '%' ? word(at) : std::string(1, body[at]);
        out += w;
        if (w.size() > 1 && std::find(defined.begin(), defined.end(), w) != defined.end())
            out += "_" + suffix;
        at += w.size();
    }
    return out;
}

std::string program(const std::string &name, const std::string &coords, const std::string &counts,
                    const std::string &text) {
    std::string body = renamed("    %zero = const(value = 0) : i64\n    %one = const(value = 1) : i64\n    "
                               "%rank = expr(value = rank) : i64\n" +
                                   text,
                               name);
    return "  program @" + name + "(kind = compute, level = 1, coords = [" + coords + "], counts = [" +
           counts + "]) @2:3 {\n" + body + "  }\n";
}

std::string tensor(const std::string &name, const std::string &mode, const std::string &dims,
                   const std::string &elem) {
    return "  %" + name + " = tensor(name = " + name + ", mode = " + mode + ", dims = [" + dims +
           "]) : tensor<" + elem + "> @1:20\n";
}

std::string elementwise(const std::string &name, const std::vector<std::string> &inputs,
                        const std::string &output, const std::string &body) {
    const char *names[] = {"x", "y", "z"};
    std::string declarations, reads;
    for (size_t i = 0; i < inputs.size(); ++i) {
        std::string n = names[i], t = inputs[i];
        declarations += tensor("T" + n, "in", "N", t);
        reads += "    %b" + n + " = base %T" + n + ", %rank : ptr<" + t + ">\n    %p" + n + " = at %b" + n +
                 ", %lo : ptr<" + t + ">\n    %" + n + " = read %p" + n + ", %one : " + t + "[i] @3:4\n";
    }
    declarations += tensor("R", "out", "N", output);
    std::string all =
        "    %lo = expr(value = t * 64) : i64\n    %hi = expr(value = min(N, t * 64 + 64)) : i64\n"
        "    %i = span %lo, %hi(axis = i, cap = 64) : range<i>\n" +
        reads + body + "    %br = base %R, %rank : ptr<" + output + ">\n    %pr = at %br, %lo : ptr<" +
        output + ">\n    write %r, %pr, %one @4:4\n";
    return kern(name, "N", declarations, program("main", "t", "max(1, ceil(N, 64))", all));
}
