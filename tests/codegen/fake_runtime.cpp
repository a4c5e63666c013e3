#include "fake_runtime.h"
#include <cstring>
#include <thread>

namespace fake {

namespace {
constexpr size_t kGuard = 4096;

/// Bytes that start as 0xff (NaN in every float type), with a guard zone behind them.
struct Scratch {
    std::vector<char> bytes;
    char *begin = nullptr;
    size_t size = 0;
    explicit Scratch(size_t n) : bytes(n + kGuard + 64, static_cast<char>(0xff)), size(n) {
        begin = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
        std::memset(begin + n, 0x5a, kGuard);
    }
    bool intact() const {
        for (size_t i = 0; i < kGuard; ++i)
            if (begin[size + i] != 0x5a) return false;
        return true;
    }
};
} // namespace

struct Launch::Rank {
    Launch *launch = nullptr;
    std::vector<std::unique_ptr<Rank>> *all = nullptr;
    tdl_frame frame{};
    int64_t tickets = 0;
    int abortAt = -1;
    std::atomic<int64_t> next{0}, waited{0};
    std::atomic<bool> aborted{false};
    std::deque<std::deque<std::atomic<uint64_t>>> flags, joins;
    std::vector<std::unique_ptr<Scratch>> buffers, spaces;
    std::vector<char *> bases, heaps, workspaces;
    std::vector<int64_t> strides, offsets;
};

Launch::Launch(const tdl_kernel *k, int n, std::vector<int64_t> s, std::vector<uint64_t> c)
    : kernel(k), ranks(n), sizes(std::move(s)), scalars(std::move(c)), tensors(static_cast<size_t>(n)) {}

void Launch::tensor(int rank, int index, void *data, std::vector<int64_t> strides) {
    auto &list = tensors[static_cast<size_t>(rank)];
    if (list.size() <= static_cast<size_t>(index)) list.resize(static_cast<size_t>(index) + 1);
    list[static_cast<size_t>(index)] = {data, std::move(strides)};
}

void Launch::dense(int rank, int index, void *data, const std::vector<int64_t> &extents) {
    std::vector<int64_t> strides(extents.size(), 1);
    for (size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
    tensor(rank, index, data, std::move(strides));
}

bool Launch::run(int which, int workers, int abortAt) {
    const tdl_plan &plan = kernel->plans[which];
    auto count = [](int32_t n) { return static_cast<size_t>(n); };
    std::vector<std::unique_ptr<Rank>> all;
    for (int r = 0; r < ranks; ++r) {
        auto rank = std::make_unique<Rank>();
        tdl_shape shape{ranks, r, sizes.data(), scalars.data()};
        size_t words = count(plan.n_buffers) + count(plan.n_flags) + count(plan.n_joins) + 1;
        for (int t = 0; t < plan.n_tasks; ++t) words += count(plan.tasks[t].ncoords);
        std::vector<int64_t> out(words, -1);
        plan.layout(&shape, out.data());
        if (r == 0) layout = out;
        const int64_t *at = out.data();
        for (int i = 0; i < plan.n_buffers; ++i)
            rank->buffers.push_back(std::make_unique<Scratch>(static_cast<size_t>(*at++)));
        for (int i = 0; i < plan.n_flags; ++i) rank->flags.emplace_back(static_cast<size_t>(*at++));
        for (int i = 0; i < plan.n_joins; ++i) rank->joins.emplace_back(static_cast<size_t>(*at++));
        for (int t = 0; t < plan.n_tasks; ++t) {
            int64_t n = 1;
            for (int c = 0; c < plan.tasks[t].ncoords; ++c) n *= *at++;
            rank->tickets += n;
        }
        for (int w = 0; w < workers; ++w)
            rank->spaces.push_back(std::make_unique<Scratch>(static_cast<size_t>(*at)));
        for (auto &s : rank->spaces) rank->workspaces.push_back(s->begin);
        for (auto &f : rank->flags)
            for (auto &w : f) w = epoch - 1;
        for (const Tensor &t : tensors[static_cast<size_t>(r)]) {
            rank->bases.push_back(static_cast<char *>(t.data));
            rank->strides.insert(rank->strides.end(), t.strides.begin(), t.strides.end());
        }
        rank->launch = this, rank->all = &all, rank->abortAt = abortAt;
        all.push_back(std::move(rank));
    }
    // A buffer is one allocation per rank. heaps[r] + offset must give rank r's for protocol buffers, so the
    // heaps' bases are null and the offsets of one rank would be wrong for another: they are made equal by
    // one big block.
    std::vector<int64_t> offsets;
    std::vector<std::unique_ptr<Scratch>> heap;
    int64_t total = 0;
    for (int i = 0; i < plan.n_buffers; ++i) {
        offsets.push_back(total);
        total += (layout[static_cast<size_t>(i)] + 8191) / 4096 * 4096;
    }
    std::vector<std::unique_ptr<Scratch>> local;
    std::vector<char *> heaps;
    for (int r = 0; r < ranks; ++r) {
        heap.push_back(std::make_unique<Scratch>(static_cast<size_t>(total)));
        local.push_back(std::make_unique<Scratch>(static_cast<size_t>(total)));
        heaps.push_back(heap.back()->begin);
        for (int i = 0; i < plan.n_buffers; ++i) // guard zones between buffers, too
            for (Scratch *s : {heap.back().get(), local.back().get()})
                std::memset(s->begin + offsets[static_cast<size_t>(i)] + layout[static_cast<size_t>(i)], 0x5a,
                            kGuard);
    }
    for (int r = 0; r < ranks; ++r) {
        Rank &k = *all[static_cast<size_t>(r)];
        k.heaps = heaps, k.offsets = offsets;
        k.frame = {ranks,
                   r,
                   epoch,
                   sizes.data(),
                   scalars.data(),
                   k.bases.data(),
                   k.strides.data(),
                   k.heaps.data(),
                   k.offsets.data(),
                   local[static_cast<size_t>(r)]->begin,
                   k.workspaces.data(),
                   &k};
    }
    std::vector<std::thread> threads;
    for (auto &r : all)
        for (int w = 0; w < workers; ++w) threads.emplace_back([&plan, &r, w] { plan.run(&r->frame, w); });
    for (auto &t : threads) t.join();
    bool intact = true;
    for (auto &r : all)
        for (auto &s : r->spaces) intact &= s->intact();
    for (auto *list : {&heap, &local})
        for (auto &s : *list)
            for (int i = 0; i < plan.n_buffers; ++i) {
                const char *end = s->begin + offsets[static_cast<size_t>(i)] + layout[static_cast<size_t>(i)];
                for (size_t b = 0; b < kGuard; ++b) intact &= end[b] == 0x5a;
            }
    return intact;
}

} // namespace fake

using fake::Launch;

extern "C" {
int64_t tdl_next_ticket(tdl_frame *f, int64_t) {
    auto *r = static_cast<Launch::Rank *>(f->launch);
    if (r->aborted) return -1;
    int64_t t = r->next++;
    if (t >= r->tickets) return -1;
    ++r->launch->tickets;
    return t;
}
static int await(Launch::Rank *r, std::atomic<uint64_t> &word, uint64_t expected) {
    ++r->launch->waits;
    if (r->waited++ == r->abortAt) r->aborted = true;
    while (!r->aborted && word.load(std::memory_order_acquire) < expected) std::this_thread::yield();
    return r->aborted;
}
int tdl_wait_flag(tdl_frame *f, int64_t flag, int64_t index, uint64_t expected, int64_t, int64_t) {
    auto *r = static_cast<Launch::Rank *>(f->launch);
    return await(r, r->flags.at(static_cast<size_t>(flag)).at(static_cast<size_t>(index)), expected);
}
int tdl_wait_join(tdl_frame *f, int64_t join, int64_t index, uint64_t total, int64_t, int64_t) {
    auto *r = static_cast<Launch::Rank *>(f->launch);
    return await(r, r->joins.at(static_cast<size_t>(join)).at(static_cast<size_t>(index)), total);
}
int tdl_arrive(tdl_frame *f, int64_t join, int64_t index, uint64_t total) {
    auto *r = static_cast<Launch::Rank *>(f->launch);
    ++r->launch->arrivals;
    return r->joins.at(static_cast<size_t>(join))
                   .at(static_cast<size_t>(index))
                   .fetch_add(1, std::memory_order_acq_rel) +
               1 ==
           total;
}
void tdl_notify(tdl_frame *f, int64_t to, int64_t flag, int64_t index) {
    auto *r = static_cast<Launch::Rank *>(f->launch);
    ++r->launch->notifies;
    (*r->all)[static_cast<size_t>(to)]
        ->flags.at(static_cast<size_t>(flag))
        .at(static_cast<size_t>(index))
        .store(f->epoch, std::memory_order_release);
}
tdl_status tdl_launch(tdl_ctx *, const tdl_kernel *k, const void *args, void *) {
    return k && args ? TDL_OK : TDL_INTERNAL_ERROR;
}
tdl_status tdl_prepare(tdl_ctx *, const tdl_kernel *k, const void *args) {
    return tdl_launch(nullptr, k, args, nullptr);
}
}
