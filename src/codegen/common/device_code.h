// Code for devices as an object holds it: plain data between a device's code generation and src/object.
#pragma once
#include "ir/expr.h"
#include <string>
#include <vector>

namespace tdl::codegen {

/// An architecture: sm_90a is {90, true}, code that runs on sm_90 only.
struct Arch {
    int number = 80;
    bool specific = false;
    std::string str() const { return "sm_" + std::to_string(number) + (specific ? "a" : ""); }
    friend bool operator==(const Arch &, const Arch &) = default;
};
struct DeviceImage {
    bool cubin = false; // else PTX
    Arch arch;
    std::string bytes;
};
struct DevicePlan {
    std::string kernel, plan, entry;
    ir::Expr workspace; // bytes that a block needs, over sizes, ranks, rank
};
struct DeviceCode {
    std::vector<DeviceImage> images; // the same entries in each
    std::vector<DevicePlan> plans;
    std::string log; // per entry and architecture: registers, shared memory, spills
};

} // namespace tdl::codegen
