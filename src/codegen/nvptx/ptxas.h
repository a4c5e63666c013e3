// Running ptxas of the CUDA toolkit: one process per architecture, all at once.
//
//     ptxas info : Used 30 registers, .., 512 bytes smem        a line of the log
//     ptxas info : (C7510) Potential Performance Loss: ..       an error: ptxas itself returns 0
#pragma once
#include "codegen/nvptx/nvptx.h"

namespace tdl::codegen::nvptx {

/// `wanted` if it is there, else the first in $PATH, else that of /usr/local/cuda; empty if there is none.
std::string findPtxas(const std::string &wanted);

struct PtxasJob {
    Arch arch;
    const std::string *ptx;
    std::string cubin; // the result
};
/// What was said per entry goes to `log`. False after errors, which are reported; a line of the PTX that ptxas names is
/// traced back to the source by its .loc.
bool runPtxas(const std::string &program, std::vector<PtxasJob> &, const DeviceOptions &, const ir::Module &kern, std::string &log,
              Diagnostics &);

/// Takes one architecture's messages apart; for tests.
struct PtxasSays {
    struct Entry {
        std::string name;
        int registers = 0, shared = 0, stack = 0, spills = 0;
    };
    std::vector<Entry> entries;
    struct Message {
        std::string text;
        int line = 0; // of the PTX; 0: not said
    };
    std::vector<Message> errors, serialised;
};
PtxasSays readPtxas(const std::string &output);

} // namespace tdl::codegen::nvptx
