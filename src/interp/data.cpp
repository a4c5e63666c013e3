#include "interp/data.h"
#include "support/convert.h"
#include "support/mix.h"
#include <algorithm>

namespace tdl::interp {
namespace {

// The contents of one tensor, or of one rank's copy of it.
class Contents {
public:
    Contents(const Tensor &t, int64_t rank, const DataSource &d)
        : elem(t.elem), source(d),
          key(mix(d.seed, t.name) + (t.isPrivate() ? static_cast<uint64_t>(rank) + 1 : 0)) {
        key = mix(key);
    }

    double real(int64_t index) const {
        uint64_t h = hash(index);
        if (source.mode == DataMode::Exact) return static_cast<double>(small(h));
        double unit = static_cast<double>(h >> 11) * 0x1p-53; // 0 <= unit < 1
        return roundTo(elem, (2 * unit - 1) * 1.7320508075688772 * source.scale);
    }
    int64_t integer(int64_t index) const {
        uint64_t h = hash(index);
        if (elem == Elem::Bool) return static_cast<int64_t>(h & 1);
        return source.mode == DataMode::Exact ? small(h) : static_cast<int64_t>((h >> 32) % 9) - 4;
    }

private:
    Elem elem;
    DataSource source;
    uint64_t key;
    uint64_t hash(int64_t index) const { return mix(key + static_cast<uint64_t>(index)); }
    static int64_t small(uint64_t h) { return h & 3 ? 0 : h & 4 ? 1 : -1; }
};

char *at(void *memory, Elem e, int64_t offset) {
    return static_cast<char *>(memory) + offset * elemBytes(e);
}
const char *at(const void *memory, Elem e, int64_t offset) {
    return static_cast<const char *>(memory) + offset * elemBytes(e);
}

} // namespace

int64_t Part::capacity(size_t d) const {
    int64_t e = tensor->extents[d];
    if (tensor->dist != static_cast<int>(d)) return e;
    return std::max<int64_t>(1, (e + tensor->ranks - 1) / tensor->ranks);
}
int64_t Part::begin(size_t d) const {
    if (tensor->dist != static_cast<int>(d)) return 0;
    return std::min(tensor->extents[d], rank * capacity(d));
}
int64_t Part::count(size_t d) const {
    return std::min(tensor->extents[d] - begin(d), capacity(d));
}

int64_t Part::storage() const {
    int64_t n = 1;
    for (size_t d = 0; d < tensor->extents.size(); ++d) n *= capacity(d);
    return n;
}

void Part::runs(const std::function<void(int64_t, int64_t, int64_t, int64_t)> &f) const {
    size_t dims = tensor->extents.size();
    if (dims == 0) return f(1, 0, 1, 0);
    std::vector<int64_t> dense(dims, 1), global(dims, 1), pos(dims, 0);
    for (size_t d = dims - 1; d-- > 0;) {
        dense[d] = dense[d + 1] * capacity(d + 1);
        global[d] = global[d + 1] * tensor->extents[d + 1];
    }
    const std::vector<int64_t> &step = strides.empty() ? dense : strides;
    for (size_t d = 0; d < dims; ++d)
        if (count(d) <= 0) return;
    for (;;) {
        int64_t offset = 0, number = begin(dims - 1);
        for (size_t d = 0; d + 1 < dims; ++d) {
            offset += pos[d] * step[d];
            number += (begin(d) + pos[d]) * global[d];
        }
        f(count(dims - 1), offset, step[dims - 1], number);
        size_t d = dims - 1;
        do {
            if (d-- == 0) return;
            pos[d] = pos[d] + 1 < count(d) ? pos[d] + 1 : 0;
        } while (pos[d] == 0);
    }
}

void fill(Tensor &t, const DataSource &source) {
    int64_t n = t.elements();
    t.poison();
    for (int64_t copy = 0; copy < t.copies(); ++copy) {
        Contents c(t, copy, source);
        for (int64_t x = 0; x < n; ++x) {
            auto to = static_cast<size_t>(copy * n + x);
            if (isFloat(t.elem))
                t.f[to] = c.real(x);
            else
                t.i[to] = c.integer(x);
        }
    }
}

void fill(const Part &p, void *memory, const DataSource &source) {
    Elem e = p.tensor->elem;
    Contents c(*p.tensor, p.rank, source);
    p.runs([&](int64_t n, int64_t offset, int64_t step, int64_t number) {
        for (int64_t x = 0; x < n; ++x)
            if (isFloat(e))
                writeFloat(e, at(memory, e, offset + x * step), c.real(number + x));
            else
                writeInt(e, at(memory, e, offset + x * step), c.integer(number + x));
    });
}

void write(const Part &p, void *memory) {
    const Tensor &t = *p.tensor;
    int64_t base = t.base(p.rank);
    p.runs([&](int64_t n, int64_t offset, int64_t step, int64_t number) {
        for (int64_t x = 0; x < n; ++x) {
            auto from = static_cast<size_t>(base + number + x);
            if (isFloat(t.elem))
                writeFloat(t.elem, at(memory, t.elem, offset + x * step), t.f[from]);
            else
                writeInt(t.elem, at(memory, t.elem, offset + x * step), t.i[from]);
        }
    });
}

void read(Tensor &t, const Part &p, const void *memory) {
    int64_t base = t.base(p.rank);
    p.runs([&](int64_t n, int64_t offset, int64_t step, int64_t number) {
        for (int64_t x = 0; x < n; ++x) {
            auto to = static_cast<size_t>(base + number + x);
            if (isFloat(t.elem))
                t.f[to] = readFloat(t.elem, at(memory, t.elem, offset + x * step));
            else
                t.i[to] = readInt(t.elem, at(memory, t.elem, offset + x * step));
        }
    });
}

Scalar generateScalar(const std::string &name, Elem e, const DataSource &source) {
    uint64_t h = mix(mix(source.seed, name));
    auto small = static_cast<int64_t>(1 + (h & 1));
    if (!isFloat(e)) return e == Elem::Bool ? small - 1 : small;
    if (source.mode == DataMode::Exact) return static_cast<double>(small);
    return roundTo(e, 0.5 + static_cast<double>(h >> 11) * 0x1p-53);
}

} // namespace tdl::interp
