// Kernel IR as text -> object -> shared library -> descriptor, for tests that run generated code.
#pragma once
#include "fake_runtime.h"
#include "object/object.h"
#include <memory>
#include <string>
#include <vector>

/// What tests of meaning compile for: the default, without optimisation, and the lowest and highest level of
/// the machine.
std::vector<tdl::codegen::HostOptions> machineOptions();
std::string describe(const tdl::codegen::HostOptions &);

/// Parses, verifies and emits; the diagnostics as text if there are any.
struct Emitted {
    std::string object, errors;
    bool ok = false;
};
Emitted emit(const std::string &kern, const tdl::codegen::HostOptions & = {});

class Compiled {
public:
    /// Fails the test with the diagnostics if it cannot be compiled.
    explicit Compiled(const std::string &kern, const tdl::codegen::HostOptions & = {});
    ~Compiled();
    Compiled(const Compiled &) = delete;
    const tdl_kernel *kernel(const std::string &name) const; // null if there is none
    void *symbol(const std::string &name) const;
    const std::string &object() const { return bytes; }

private:
    std::string bytes;
    void *library = nullptr;
};

/// The module compiled as usual and without optimisation (there pads are NaN).
std::vector<std::unique_ptr<Compiled>> versions(const std::string &kern);

/// Symbols of an ELF object that it needs from elsewhere, sorted.
std::vector<std::string> undefinedSymbols(const std::string &object);

/// A module of the given `kern`s.
std::string module(const std::vector<std::string> &kerns);
/// One kernel: sizes, declarations (tensors, params, buffers, flags), programs. `done` and `end` are
/// declared.
std::string kern(const std::string &name, const std::string &sizes, const std::string &declarations,
                 const std::string &programs);
/// One program over `coords`; the body sees %zero, %one, %rank : i64.
std::string program(const std::string &name, const std::string &coords, const std::string &counts,
                    const std::string &body);
/// `%name = tensor(..)`
std::string tensor(const std::string &name, const std::string &mode, const std::string &dims,
                   const std::string &elem);
/// A one-dimensional elementwise kernel, N by 64: `inputs` are element types of %x, %y, ..; `body` computes
/// %r from them.
std::string elementwise(const std::string &name, const std::vector<std::string> &inputs,
                        const std::string &output, const std::string &body);
