#include "tools/arguments.h"
#include "support/convert.h"
#include <cstring>
#include <fmt/format.h>

namespace tdl {
namespace {

void put(std::vector<char> &bytes, int32_t offset, const void *value, size_t size) {
    std::memcpy(bytes.data() + offset, value, size);
}

void putScalar(std::vector<char> &bytes, const tdl_arg &arg, const interp::Scalar &s) {
    auto elem = static_cast<Elem>(arg.elem);
    if (isFloat(elem))
        writeFloat(elem, bytes.data() + arg.offset, std::holds_alternative<double>(s) ? std::get<double>(s) : static_cast<double>(std::get<int64_t>(s)));
    else
        writeInt(elem, bytes.data() + arg.offset, std::get<int64_t>(s));
}

} // namespace

Arguments::Arguments(const tdl_kernel &kernel, const interp::Launch &launch, int r, Gpu *g)
    : bytes(static_cast<size_t>(kernel.args_bytes)), rank(r), gpu(g) {
    for (int i = 0; i < kernel.n_args; ++i) {
        const tdl_arg &arg = kernel.args[i];
        switch (static_cast<tdl_arg_kind>(arg.kind)) {
        case TDL_ARG_SIZE: put(bytes, arg.offset, &launch.sizes.at(arg.name), sizeof(int64_t)); break;
        case TDL_ARG_SCALAR: putScalar(bytes, arg, launch.scalars.at(arg.name)); break;
        case TDL_ARG_TENSOR: {
            const interp::Tensor *t = launch.find(arg.name);
            auto s = std::make_unique<Storage>();
            s->arg = &arg;
            s->part = interp::Part{t, r};
            s->size = static_cast<size_t>(s->part.storage()) * static_cast<size_t>(elemBytes(t->elem));
            s->memory.assign(s->size + 2 * kGuard, static_cast<char>(0xFF)); // NaN in every float type
            if (arg.mode != TDL_OUT) interp::write(s->part, s->begin());
            s->original = s->memory;
            uint64_t address = gpu ? onGpu(*s) : reinterpret_cast<uintptr_t>(s->begin());
            put(bytes, arg.offset, &address, sizeof address);
            tensors.push_back(std::move(s));
        }
        }
    }
}

Arguments::~Arguments() {
    for (auto &s : tensors)
        if (s->device) gpu->release(s->device);
}

uint64_t Arguments::onGpu(Storage &s) {
    if (wrong.empty()) wrong = gpu->allocate(s.memory.size(), s.device);
    if (wrong.empty()) wrong = gpu->copyTo(s.device, s.memory.data(), s.memory.size());
    return s.device + kGuard;
}

std::string Arguments::fetch() {
    std::string said;
    for (auto &s : tensors)
        if (s->device && said.empty()) said = gpu->copyFrom(s->memory.data(), s->device, s->memory.size());
    return said;
}

std::string Arguments::compare(const interp::Tensor &reference, interp::Tolerance tolerance) const {
    for (const auto &s : tensors) {
        if (s->arg->name != reference.name) continue;
        interp::Part part = s->part;
        part.tensor = &reference;
        std::string said;
        interp::Comparison c = interp::compare(part, s->begin(), s->arg->mode == TDL_IN ? interp::Tolerance{} : tolerance);
        if (!c.ok()) said += c.text(reference) + "\n";
        // Everything that holds no element of the tensor must be as it was.
        std::vector<char> now = s->memory;
        size_t bytesPer = static_cast<size_t>(elemBytes(reference.elem));
        part.runs([&](int64_t n, int64_t offset, int64_t step, int64_t) {
            for (int64_t i = 0; i < n; ++i) {
                size_t at = kGuard + static_cast<size_t>(offset + i * step) * bytesPer;
                std::memcpy(now.data() + at, s->original.data() + at, bytesPer);
            }
        });
        for (size_t i = 0; i < now.size() && said.empty(); ++i)
            if (now[i] != s->original[i])
                said += fmt::format("{}: byte {} {} its storage was written\n", reference.name,
                                     i < kGuard ? kGuard - i : i - kGuard, i < kGuard ? "before" : i >= kGuard + s->size ? "from the start of, behind" : "of the unused part of");
        return said;
    }
    return fmt::format("{}: the object does not know it\n", reference.name);
}

} // namespace tdl
