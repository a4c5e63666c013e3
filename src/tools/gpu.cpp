#include "tools/gpu.h"
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tdl {

struct Gpu::Driver {
    using Context = void *;
    void *library = nullptr;
    int device = 0, major = 0, minor = 0;
    Context context = nullptr;
    int (*cuInit)(unsigned);
    int (*cuDeviceGetCount)(int *);
    int (*cuDeviceGet)(int *, int);
    int (*cuDeviceGetAttribute)(int *, int, int);
    int (*cuDevicePrimaryCtxRetain)(Context *, int);
    int (*cuDevicePrimaryCtxRelease_v2)(int);
    int (*cuCtxSetCurrent)(Context);
    int (*cuMemAlloc_v2)(uint64_t *, size_t);
    int (*cuMemFree_v2)(uint64_t);
    int (*cuMemcpyHtoD_v2)(uint64_t, const void *, size_t);
    int (*cuMemcpyDtoH_v2)(void *, uint64_t, size_t);
    int (*cuGetErrorName)(int, const char **);

    std::string find() {
        library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) return ::dlerror();
        std::string missing;
        auto get = [&](auto &function, const char *name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
            if (!function && missing.empty()) missing = fmt::format("libcuda.so.1 has no {}", name);
        };
#define GET(name) get(name, #name)
        GET(cuInit), GET(cuDeviceGetCount), GET(cuDeviceGet), GET(cuDeviceGetAttribute), GET(cuDevicePrimaryCtxRetain);
        GET(cuDevicePrimaryCtxRelease_v2), GET(cuCtxSetCurrent), GET(cuMemAlloc_v2), GET(cuMemFree_v2), GET(cuMemcpyHtoD_v2);
        GET(cuMemcpyDtoH_v2), GET(cuGetErrorName);
#undef GET
        return missing;
    }
    std::string check(int result, const char *call) const {
        if (result == 0) return {};
        const char *name = nullptr;
        if (cuGetErrorName(result, &name) != 0 || !name) name = "an unknown error";
        return fmt::format("{}: {} ({})", call, name, result);
    }
};

Gpu::Gpu() = default;
Gpu::~Gpu() {
    if (driver && driver->context) driver->cuDevicePrimaryCtxRelease_v2(driver->device);
}

std::string Gpu::open(const std::string &device, int rank) {
    driver = std::make_unique<Driver>();
    Driver &d = *driver;
    std::string wrong = d.find();
    int count = 0;
    if (wrong.empty()) wrong = d.check(d.cuInit(0), "cuInit");
    if (wrong.empty()) wrong = d.check(d.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (wrong.empty() && count < 1) wrong = "the driver sees no GPU";
    if (!wrong.empty()) return wrong;
    int ordinal = device.starts_with("cuda:") ? std::atoi(device.c_str() + 5) : rank % count;
    wrong = d.check(d.cuDeviceGet(&d.device, ordinal), "cuDeviceGet");
    if (wrong.empty()) wrong = d.check(d.cuDeviceGetAttribute(&d.major, 75, d.device), "cuDeviceGetAttribute");
    if (wrong.empty()) wrong = d.check(d.cuDeviceGetAttribute(&d.minor, 76, d.device), "cuDeviceGetAttribute");
    if (wrong.empty()) wrong = d.check(d.cuDevicePrimaryCtxRetain(&d.context, d.device), "cuDevicePrimaryCtxRetain");
    if (wrong.empty()) wrong = d.check(d.cuCtxSetCurrent(d.context), "cuCtxSetCurrent");
    return wrong;
}

int Gpu::arch() const { return driver->major * 10 + driver->minor; }
std::string Gpu::allocate(size_t bytes, uint64_t &address) { return driver->check(driver->cuMemAlloc_v2(&address, bytes), "cuMemAlloc"); }
void Gpu::release(uint64_t address) { driver->cuMemFree_v2(address); }
std::string Gpu::copyTo(uint64_t address, const void *from, size_t bytes) {
    return driver->check(driver->cuMemcpyHtoD_v2(address, from, bytes), "cuMemcpyHtoD");
}
std::string Gpu::copyFrom(void *to, uint64_t address, size_t bytes) {
    return driver->check(driver->cuMemcpyDtoH_v2(to, address, bytes), "cuMemcpyDtoH");
}

int archOfGpu(const std::string &device, std::string &wrong) {
    int ends[2];
    if (::pipe(ends) != 0) return wrong = "pipe: no descriptors", 0;
    pid_t child = ::fork();
    if (child == 0) {
        Gpu gpu;
        std::string said = gpu.open(device, 0);
        if (said.empty()) said = std::to_string(gpu.arch());
        ssize_t sent = ::write(ends[1], said.data(), said.size());
        ::_exit(sent == static_cast<ssize_t>(said.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    char part[256];
    for (ssize_t n; (n = ::read(ends[0], part, sizeof part)) > 0;) said.append(part, static_cast<size_t>(n));
    ::close(ends[0]);
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
    int arch = std::atoi(said.c_str());
    if (arch <= 0) wrong = said.empty() ? "the driver ended the process that asked" : said;
    return arch;
}

} // namespace tdl
