// cuda_kernels.h: the kernels of fake.h with device code for the driver of fake_cuda.h, and what that code does.
#pragma once
#include "fake.h"
#include "fake_cuda.h"
#include "tdl/abi_device.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

// A copy of a kernel whose default plan has device code.
struct DeviceKernel {
    DeviceKernel(const tdl_kernel &original, const char *entry, std::string code, int64_t workspace = 0);
    DeviceKernel(const DeviceKernel &) = delete;
    tdl_status launch(tdl_ctx *ctx, const void *args, int stream = 1) const {
        return tdl_launch(ctx, &kernel, args, stream ? fake_cuda_stream(stream) : nullptr);
    }
    tdl_status prepare(tdl_ctx *ctx, const void *args) const { return tdl_prepare(ctx, &kernel, args); }
    std::string code;
    tdl_plan plan;
    tdl_image image;
    tdl_kernel kernel;
};

// Y = alpha X + Y, and the all-gather of one rank: C = A.
struct Axpy : DeviceKernel {
    explicit Axpy(std::string facts = "threads=128 per_sm=2", int64_t workspace = 0)
        : DeviceKernel(fake_axpy_kernel, "axpy", "entry axpy " + facts + "\n", workspace) {}
};
struct Gather1 : DeviceKernel {
    Gather1() : DeviceKernel(fake_ag_kernel, "gather", "entry gather threads=64 per_sm=1\n") {}
};

// What a launch does: one of the above by its entry, then what the last block does.
void run_fake_kernel(const fake_cuda_launch *);
// As if a wait of the next launch gave up: report fields but epoch and tag.
void fake_time_out(const tdl_device_report &);

struct Context {
    explicit Context(const char *device = "cuda", int timeout_ms = 1000);
    ~Context();
    operator tdl_ctx *() const { return ctx; }
    std::string error() const { return tdl_last_error(ctx); }
    tdl_ctx *ctx = nullptr;
    tdl_status status;
    std::string text; // of a failed tdl_init
};

struct Vectors {
    explicit Vectors(int64_t n) : x(static_cast<size_t>(n), 2.0f), y(static_cast<size_t>(n), 1.0f) {
        args = {n, 3.0f, x.data(), y.data()};
    }
    std::vector<float> x, y;
    fake_axpy_args args;
};

// A test case begins with this: default settings, our kernels, no environment.
void begin_cuda_test();
bool has(const std::string &text, std::initializer_list<const char *> parts);
