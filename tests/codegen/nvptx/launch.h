// A kernel on generated data in the simulator, against the reference interpreter.
#pragma once
#include "driver/pipeline.h"
#include "interp/scale.h"
#include "simulate.h"

/// A .tdl file compiled to kernel IR, with -D TYPES; null and a test failure if it is wrong.
std::unique_ptr<tdl::Compilation> compiled(const std::string &path, const std::vector<std::string> &defines);

struct Trial {
    std::map<std::string, int64_t> sizes;
    int ranks = 1, blocks = 1; // per rank
    tdl::interp::DataMode mode = tdl::interp::DataMode::Exact;
    uint64_t seed = 2;
    int launches = 1; // one after another, with the same arguments but fresh outputs
};
/// What is wrong with the results, or an empty text.
std::string attempt(const tdl::Compilation &, const std::string &kernel, simulate::Program &, const Trial &);
