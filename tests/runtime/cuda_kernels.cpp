// cuda_kernels.cpp: device code for the fake driver, by the rules of tdl/abi_device.h.
#include "cuda_kernels.h"

#include <cstdlib>
#include <cstring>

static int64_t workspace_bytes;
static int64_t device_workspace(const tdl_shape *) {
    return workspace_bytes;
}

DeviceKernel::DeviceKernel(const tdl_kernel &original, const char *entry, std::string text, int64_t workspace)
    : code(std::move(text)), plan(original.plans[0]), kernel(original) {
    image = {TDL_IMAGE_CUBIN, 90, 1, 0, code.c_str(), static_cast<int64_t>(code.size() + 1)};
    workspace_bytes = workspace;
    plan.run = nullptr;
    plan.device_entry = entry;
    plan.device_workspace = device_workspace;
    kernel.n_plans = 1;
    kernel.plans = &plan;
    kernel.n_images = 1;
    kernel.images = &image;
}

static tdl_device_report planned_report;
static bool report_planned;

void fake_time_out(const tdl_device_report &r) {
    planned_report = r;
    report_planned = true;
}

template <class T> static T *pointer(uint64_t word) {
    return reinterpret_cast<T *>(static_cast<uintptr_t>(word));
}

static void axpy(const uint64_t *w) {
    float alpha;
    memcpy(&alpha, &w[9], 4);
    for (uint64_t i = 0; i < w[8]; i++) pointer<float>(w[11])[i] += alpha * pointer<float>(w[10])[i];
}

static void gather(const uint64_t *w) {
    for (uint64_t i = 0; i < w[8]; i++)
        memcpy(pointer<float>(w[11]) + i * w[14], pointer<float>(w[10]) + i * w[12], 4 * w[9]);
}

void run_fake_kernel(const fake_cuda_launch *l) {
    const uint64_t *w = l->words;
    auto *control = pointer<tdl_device_control>(w[TDL_DEVICE_CONTROL]);
    bool is_gather = !strcmp(l->entry, "gather");
    uint64_t epoch = control->epoch + 1;
    if (report_planned) {
        control->abort = 1;
        control->report = planned_report;
        control->report.epoch = epoch;
        control->report.tag = w[TDL_DEVICE_TAG];
        report_planned = false;
    }
    if (!control->abort) {
        is_gather ? gather(w) : axpy(w);
        pointer<tdl_device_heap>(w[is_gather ? 21 : 14])->done[w[TDL_DEVICE_RANK]] = epoch;
    }
    control->epoch = epoch;
}

static int contexts;

Context::Context(const char *device, int timeout_ms) {
    tdl_options o{};
    o.ranks = 1;
    o.device = device;
    o.timeout_ms = timeout_ms;
    status = tdl_init(&ctx, &o);
    contexts++;
    if (status) text = tdl_last_error(nullptr);
}

Context::~Context() {
    tdl_finalize(ctx);
    if (--contexts == 0) CHECK(std::string(fake_cuda_live()) == "");
    CHECK(fake_cuda_depth() == 0);
}

void begin_cuda_test() {
    for (const char *name : {"TDL_DEVICE", "TDL_MAX_SMS", "TDL_CHECK", "TDL_VERBOSE", "CUDA_MODULE_LOADING"})
        unsetenv(name);
    setenv("TDL_CUDA_LIBRARY", FAKE_CUDA_LIBRARY, 1);
    fake_cuda_begin();
    fake_cuda.run = run_fake_kernel;
    report_planned = false;
}

bool has(const std::string &text, std::initializer_list<const char *> parts) {
    for (const char *p : parts)
        if (text.find(p) == std::string::npos) {
            MESSAGE("`" << p << "` is missing in: " << text);
            return false;
        }
    return true;
}
