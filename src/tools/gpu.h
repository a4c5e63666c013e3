// Memory of the GPU that a rank runs on, through the driver's library, loaded when first asked for: tdlrun starts on
// machines without one. Never opened before ranks are forked: a driver does not survive that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tdl {

class Gpu {
public:
    Gpu();
    ~Gpu();
    /// The GPU of `rank` on device `cuda` or `cuda:N`, chosen as the runtime does. Returns an empty text, or what went wrong;
    /// so do all of these.
    std::string open(const std::string &device, int rank);
    std::string allocate(size_t bytes, uint64_t &address);
    void release(uint64_t address);
    std::string copyTo(uint64_t address, const void *from, size_t bytes);
    std::string copyFrom(void *to, uint64_t address, size_t bytes);
    int arch() const; // 90 for sm_90

private:
    struct Driver;
    std::unique_ptr<Driver> driver;
};

/// The architecture of that GPU, found out by a process of its own; 0 and a text if there is none.
int archOfGpu(const std::string &device, std::string &wrong);

} // namespace tdl
