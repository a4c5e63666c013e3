// Loading an object made by the compiler into this process, without a linker: LLVM's JIT linker resolves the runtime's
// functions to those in this program.
#pragma once
#include "tdl/abi.h"
#include <memory>
#include <string>

namespace tdl {

class LoadedObject {
public:
    LoadedObject();
    ~LoadedObject();
    /// Returns an empty text, or what went wrong.
    std::string load(const std::string &bytes);
    /// The descriptor of kernel `name`, or nullptr.
    const tdl_kernel *kernel(const std::string &name);

private:
    struct State;
    std::unique_ptr<State> state;
};

} // namespace tdl
