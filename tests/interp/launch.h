// A kernel of a text, run by the interpreter.
#pragma once
#include "files.h"
#include "interp/compare.h"
#include "tile/verify.h"
#include <doctest/doctest.h>

namespace tdl::test {

using Sizes = std::map<std::string, int64_t>;

struct Run {
    interp::Launch launch;
    interp::Options options;
    Parsed *program = nullptr;
    const ir::Op *kernel = nullptr;

    Run(Parsed &p, const std::string &name, int64_t ranks, Sizes sizes) : program(&p) {
        REQUIRE_MESSAGE(p.module, renderText(p.diags, false));
        REQUIRE_MESSAGE(tile::verify(*p.module, p.diags), renderText(p.diags, false));
        kernel = p.kernel(name);
        REQUIRE(kernel);
        launch.ranks = ranks;
        launch.sizes = std::move(sizes);
    }
    Run &prepare() {
        REQUIRE_MESSAGE(interp::prepare(*kernel, launch, program->diags), renderText(program->diags, false));
        return *this;
    }
    Run &fill(const interp::DataSource &source) {
        for (interp::Tensor &t : launch.tensors)
            if (isInput(t.name)) interp::fill(t, source);
        return *this;
    }
    Run &go() {
        bool ok = interp::run(*kernel, launch, options, program->diags);
        CHECK_MESSAGE(ok, renderText(program->diags, false));
        return *this;
    }
    interp::Tensor &operator[](const std::string &name) {
        REQUIRE(launch.find(name));
        return *launch.find(name);
    }
    bool isInput(const std::string &name) const {
        for (auto &op : kernel->body().ops)
            if (op->kind == ir::OpKind::Tensor && op->name() == name) return op->name("mode") != "out";
        return false;
    }
};

/// Block of a distributed extent.
inline int64_t block(int64_t extent, int64_t ranks) {
    return std::max<int64_t>(1, (extent + ranks - 1) / ranks);
}

} // namespace tdl::test
