#include "launch.h"
#include "codegen/nvptx/words.h"
#include "support/convert.h"
#include <cstring>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

using namespace tdl;
using namespace tdl::codegen::nvptx;

std::unique_ptr<Compilation> compiled(const std::string &path, const std::vector<std::string> &defines) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    auto c = std::make_unique<Compilation>();
    Options o;
    o.defines = defines;
    bool ok = compile(*c, o, path, text.str(), Step::Kernel);
    INFO(renderText(c->diags, false));
    REQUIRE(ok);
    return c;
}

namespace {

constexpr size_t kGuard = 256;
/// Memory with guard zones, 0xFF everywhere: NaN in every float type.
struct Block {
    std::vector<uint64_t> words;
    size_t bytes;
    explicit Block(size_t n, bool zero = false) : words((n + 2 * kGuard + 7) / 8, ~uint64_t{0}), bytes(n) {
        if (zero) std::memset(data(), 0, n);
    }
    char *data() { return reinterpret_cast<char *>(words.data()) + kGuard; }
    bool isSound() {
        auto all = reinterpret_cast<const unsigned char *>(words.data());
        for (size_t i = 0; i < kGuard; ++i)
            if (all[i] != 0xFF || all[kGuard + bytes + i] != 0xFF) return false;
        return true;
    }
};

struct RankMemory {
    std::vector<std::unique_ptr<Block>> tensors;
    std::unique_ptr<Block> control, heap, local, joins, workspace;
};

} // namespace

std::string attempt(const Compilation &c, const std::string &name, simulate::Program &program, const Trial &t) {
    auto find = [&](const ir::Module &m) -> const ir::Op & {
        for (auto &op : m.top.ops)
            if (op->symbol == name) return *op;
        FAIL("no kernel ", name);
        return *m.top.ops.front();
    };
    const ir::Op &kernel = find(*c.tile), &kern = find(*c.kernel);
    Sources none;
    Diagnostics diags(none);
    interp::Launch before, after;
    before.ranks = t.ranks;
    before.sizes = t.sizes;
    interp::DataSource source{t.mode, 1, 1};
    for (auto &op : kernel.body().ops)
        if (op->kind == ir::OpKind::Param) before.scalars[op->name()] = interp::generateScalar(op->name(), op->result()->type.elem, source);
    if (!interp::prepare(kernel, before, diags)) return renderText(diags, false);
    auto scales = interp::inputScales(kernel, before);
    for (interp::Tensor &x : before.tensors)
        if (auto it = scales.find(x.name); it != scales.end()) {
            source.scale = it->second;
            interp::fill(x, source);
        }
    after = before;
    if (!interp::run(kernel, after, {}, diags)) return renderText(diags, false);

    std::string entry = name + "$sequential";
    auto plan = std::find_if(program.plans.begin(), program.plans.end(), [&](auto &p) { return p.entry == entry; });
    if (plan == program.plans.end()) return "no entry " + entry;
    auto evaluate = [&](const ir::Expr &e, int rank) {
        return e.evaluate([&](std::string_view s) -> std::optional<int64_t> {
            if (s == "ranks") return t.ranks;
            if (s == "rank") return rank;
            auto it = t.sizes.find(std::string(s));
            return it == t.sizes.end() ? std::nullopt : std::optional(it->second);
        }).value();
    };
    auto rounded = [](int64_t n) { return (n + 255) / 256 * 256; };

    std::vector<RankMemory> memory(static_cast<size_t>(t.ranks));
    std::vector<simulate::Program::Rank> ranks(memory.size());
    std::vector<int64_t> bufferAt, flagAt; // of the heap, the same on all ranks
    int64_t heapBytes = 4096;
    for (size_t r = 0; r < memory.size(); ++r) {
        RankMemory &m = memory[r];
        auto &w = ranks[r].words;
        ranks[r].blocks = t.blocks;
        int rank = static_cast<int>(r);
        int64_t workspace = rounded(evaluate(plan->workspace, rank));
        m.control = std::make_unique<Block>(4096, true);
        m.workspace = std::make_unique<Block>(static_cast<size_t>(workspace * t.blocks));
        w.assign(kHeader, 0);
        auto address = [](Block &b) { return reinterpret_cast<uint64_t>(b.data()); };
        w[kRanks] = static_cast<uint64_t>(t.ranks), w[kRank] = r, w[kControl] = address(*m.control);
        w[kWorkspace] = workspace ? address(*m.workspace) : 0, w[kWorkspaceBytes] = static_cast<uint64_t>(workspace);
        w[kTimeout] = UINT64_MAX, w[kTag] = 7;
        for (const std::string &s : kern.names("sizes")) w.push_back(static_cast<uint64_t>(t.sizes.at(s)));
        std::vector<uint64_t> strides, flags;
        int64_t localBytes = 0, joinBytes = 0;
        std::vector<std::pair<bool, int64_t>> places;
        std::vector<int64_t> joinAt;
        size_t shared = 0;
        for (auto &op : kern.body().ops) switch (op->kind) {
            case ir::OpKind::Param: {
                uint64_t bits = 0;
                Elem e = op->result()->type.elem;
                const interp::Scalar &v = before.scalars.at(op->name());
                if (isFloat(e)) writeFloat(e, &bits, std::get<double>(v));
                else writeInt(e, &bits, std::get<int64_t>(v));
                w.push_back(bits);
                break;
            }
            case ir::OpKind::Tensor: {
                const interp::Tensor *x = before.find(op->name());
                interp::Part part{x, rank, {}};
                m.tensors.push_back(std::make_unique<Block>(static_cast<size_t>(part.storage() * elemBytes(x->elem))));
                int64_t stride = 1;
                std::vector<uint64_t> mine;
                for (size_t d = x->extents.size(); d-- > 0;) mine.insert(mine.begin(), static_cast<uint64_t>(stride)), stride *= part.capacity(d);
                strides.insert(strides.end(), mine.begin(), mine.end());
                break;
            }
            case ir::OpKind::Buffer: {
                int64_t bytes = elemBytes(op->result()->type.elem);
                for (const ir::Expr &e : op->exprs("dims")) bytes *= evaluate(e, rank);
                bool isLocal = op->name("scope") == "rank";
                if (r == 0 && !isLocal) bufferAt.push_back(heapBytes), heapBytes += rounded(bytes) + 256;
                places.push_back({isLocal, isLocal ? localBytes : bufferAt[shared++]});
                if (isLocal) localBytes += rounded(bytes) + 256;
                break;
            }
            case ir::OpKind::Flag:
                if (r == 0) {
                    bool done = op->name("kind") == "done";
                    flagAt.push_back(done ? kHeapDone : heapBytes);
                    if (!done) heapBytes += rounded(8 * evaluate(op->expr("words"), rank));
                }
                flags.push_back(static_cast<uint64_t>(flagAt[flags.size()]));
                break;
            case ir::OpKind::Join:
                joinAt.push_back(joinBytes);
                joinBytes += 8 * evaluate(op->expr("words"), rank);
                break;
            default: break;
            }
        m.local = std::make_unique<Block>(static_cast<size_t>(localBytes));
        m.joins = std::make_unique<Block>(static_cast<size_t>(joinBytes), true);
        for (auto &x : m.tensors) w.push_back(address(*x));
        w.insert(w.end(), strides.begin(), strides.end());
        for (auto &[isLocal, at] : places) w.push_back(static_cast<uint64_t>(at) + (isLocal ? address(*m.local) : 0));
        w.insert(w.end(), flags.begin(), flags.end());
        for (int64_t at : joinAt) w.push_back(address(*m.joins) + static_cast<uint64_t>(at));
    }
    for (RankMemory &m : memory) {
        m.heap = std::make_unique<Block>(static_cast<size_t>(heapBytes));
        std::memset(m.heap->data(), 0, 4096);
        size_t f = 0;
        for (auto &op : kern.body().ops)
            if (op->kind == ir::OpKind::Flag) {
                int64_t at = flagAt[f++];
                if (op->name("kind") != "done") std::memset(m.heap->data() + at, 0, static_cast<size_t>(8 * evaluate(op->expr("words"), 0)));
            }
    }
    for (auto &rank : ranks)
        for (RankMemory &m : memory) rank.words.push_back(reinterpret_cast<uint64_t>(m.heap->data()));

    for (int launch = 0; launch < t.launches; ++launch) {
        for (size_t r = 0; r < memory.size(); ++r)
            for (size_t i = 0; i < before.tensors.size(); ++i) {
                interp::Part part{&before.tensors[i], static_cast<int64_t>(r), {}};
                Block &b = *memory[r].tensors[i];
                std::memset(b.data(), 0xFF, b.bytes);
                if (!before.tensors[i].f.empty() || !before.tensors[i].i.empty()) interp::write(part, b.data());
            }
        std::string wrong = program.run(entry, ranks, t.seed + static_cast<uint64_t>(launch));
        if (!wrong.empty()) return wrong;
        for (size_t r = 0; r < memory.size(); ++r) {
            RankMemory &m = memory[r];
            std::string where = "rank " + std::to_string(r) + ": ";
            for (size_t i = 0; i < after.tensors.size(); ++i) {
                interp::Part part{&after.tensors[i], static_cast<int64_t>(r), {}};
                interp::Comparison same = interp::compare(part, m.tensors[i]->data(), interp::toleranceFor(kernel, after.tensors[i], t.mode));
                if (!same.ok()) return where + same.text(after.tensors[i]);
                if (!m.tensors[i]->isSound()) return where + "written outside of " + after.tensors[i].name;
            }
            for (Block *b : {m.control.get(), m.heap.get(), m.local.get(), m.joins.get(), m.workspace.get()})
                if (!b->isSound()) return where + "written outside of scratch";
            auto control = reinterpret_cast<const uint64_t *>(m.control->data());
            if (control[0] != static_cast<uint64_t>(launch) + 1 || control[1] || control[2] || control[3]) return where + "the control block is not ready for the next launch";
            auto joins = reinterpret_cast<const uint64_t *>(m.joins->data());
            for (size_t i = 0; i < m.joins->bytes / 8; ++i)
                if (joins[i]) return where + "a join is not zero";
            auto done = reinterpret_cast<const uint64_t *>(m.heap->data());
            for (int p = 0; p < t.ranks; ++p)
                if (done[p] != static_cast<uint64_t>(launch) + 1) return where + "a done word is not the epoch";
        }
    }
    return {};
}
