#include "interp/check.h"
#include <algorithm>

namespace tdl::interp {
namespace {

Loc place(const ir::Op &op) {
    return op.loc.valid() ? op.loc : op.text;
}

/// Is what `r` reads before what `w` writes, when the read came first? Then both belong to one instance, and
/// not to ranks that go through the same part of it side by side.
bool ordered(const Actor &r, const Actor &w) {
    return r.instance == w.instance && (r.phase != w.phase || r.rank == w.rank || r.rank < 0);
}

} // namespace

template <class... A>
void Checker::fail(Diag kind, const ir::Op &op, const ir::Op *other, const char *note, A &&...args) {
    ++failures;
    if (!reported.emplace(kind, &op, other).second) return;
    auto report = diags.report(place(op), kind, std::forward<A>(args)...);
    if (other && other != &op) report.note(place(*other), note);
}

std::string Checker::who(const Actor &a) const {
    std::string s;
    for (const Coordinate &c : instances[static_cast<size_t>(a.instance)]) {
        s += (s.empty() ? "" : ", ") + c.name;
        s += c.isRange ? fmt::format(" = {} .. {}", c.begin, c.end - 1) : fmt::format(" = {}", c.begin);
    }
    std::string subject =
        a.rank < 0 ? s.empty() ? "the stage" : "the instance" : fmt::format("rank {}", a.rank);
    return s.empty() ? subject : subject + " at " + s;
}

void Checker::startUndefined(const Tensor &t) {
    if (on) defined[&t].assign(static_cast<size_t>(t.copies() * t.elements()), 0);
}

void Checker::beginStage(const ir::Op &op, const std::vector<const Tensor *> &stored) {
    stage = op.symbol;
    instances.clear();
    actors.clear();
    marks.clear();
    if (!on) return;
    for (const Tensor *t : stored) marks[t].resize(static_cast<size_t>(t->copies() * t->elements()));
}

int32_t Checker::addInstance(std::vector<Coordinate> at) {
    if (!on) return 0;
    instances.push_back(std::move(at));
    return static_cast<int32_t>(instances.size()) - 1;
}

void Checker::access(const Actor &a) {
    if (on) actors.push_back(a);
}

void Checker::conflict(const Tensor &t, int64_t at, const Actor &r, const Actor &w, bool writesNow) {
    const Actor &now = writesNow ? w : r, &before = writesNow ? r : w;
    if (!writesNow && r.instance == w.instance && r.rank == w.rank)
        fail(Diag::RunReadBehind, *now.op, before.op, "the write", t.element(at), who(r), stage);
    else
        fail(Diag::RunReadWritten, *now.op, before.op, writesNow ? "the read" : "the write", t.element(at),
             who(r), who(w), stage);
}

void Checker::read(const Tensor &t, int64_t at) {
    const Actor &now = actors.back();
    auto self = static_cast<int32_t>(actors.size()) - 1;
    if (auto m = marks.find(&t); m != marks.end()) {
        Marks &mark = m->second[static_cast<size_t>(at)];
        if (mark.writer != nobody)
            return conflict(t, at, now, actors[static_cast<size_t>(mark.writer)], false);
        // Two readers are enough to keep: any writer is in conflict with one of them, if with any at all.
        const Actor *first = mark.reader == nobody ? nullptr : &actors[static_cast<size_t>(mark.reader)];
        if (!first || (first->instance == now.instance && first->phase < now.phase))
            mark.reader = self;
        else if (first->instance != now.instance || (first->rank != now.rank && mark.other == nobody))
            mark.other = self;
    }
    if (auto d = defined.find(&t); d != defined.end() && !d->second[static_cast<size_t>(at)])
        fail(Diag::RunUndefined, *now.op, nullptr, "", t.element(at), stage);
}

void Checker::write(const Tensor &t, int64_t at) {
    const Actor &now = actors.back();
    auto self = static_cast<int32_t>(actors.size()) - 1;
    Marks &mark = marks[&t][static_cast<size_t>(at)];
    if (mark.writer != nobody) {
        const Actor &w = actors[static_cast<size_t>(mark.writer)];
        bool same = w.instance == now.instance && w.rank == now.rank;
        std::string by = same ? "twice by " + who(now) : fmt::format("by {} and by {}", who(w), who(now));
        fail(Diag::RunWrittenTwice, *now.op, w.op, "the other write", t.element(at), by, stage);
    }
    for (int32_t r : {mark.reader, mark.other})
        if (r != nobody && !ordered(actors[static_cast<size_t>(r)], now))
            conflict(t, at, actors[static_cast<size_t>(r)], now, true);
    mark.writer = self;
    if (auto d = defined.find(&t); d != defined.end()) d->second[static_cast<size_t>(at)] = 1;
}

void Checker::end(const Tensor &out, const ir::Op &decl) {
    auto d = defined.find(&out);
    if (d == defined.end()) return;
    auto missing = std::count(d->second.begin(), d->second.end(), 0);
    auto first = std::find(d->second.begin(), d->second.end(), 0) - d->second.begin();
    if (missing) fail(Diag::RunNeverWritten, decl, nullptr, "", missing, out.name, out.element(first));
}

void Checker::outside(const Tensor &t, size_t dim, int64_t index, const ir::Op &op) {
    fail(Diag::RunOutside, op, nullptr, "", index, dim, t.name, t.extents[dim], stage);
}

void Checker::notUniform(const Tensor &t, const ir::Op &op, const std::string &why) {
    fail(Diag::RunNotUniform, op, nullptr, "", t.name, why, stage);
}

} // namespace tdl::interp
