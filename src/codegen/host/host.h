// The host target: what to generate code for. ranks are processes, blocks are worker threads of the runtime.
#pragma once
#include <cstdint>
#include <string>

namespace tdl::codegen {

/// The processor to generate code for. `Native` is the best level of the machine that runs the compiler,
/// tuned for it; the object never uses instructions beyond a level, so the runtime can check it at launch.
enum class CpuLevel : uint8_t { V1 = 1, V2, V3, V4, Native };

struct HostOptions {
    std::string triple;          // empty: of this machine; x86-64 or AArch64
    CpuLevel cpu = CpuLevel::V3; // x86-64 only
    int optimise = 2;            // 0..3
    bool debugInfo = false;      // line tables of the .tdl source
    bool withoutCode = false;    // descriptors only: what runs is code for devices
};

} // namespace tdl::codegen
