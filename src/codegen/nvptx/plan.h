// One plan on its way to an entry: the words of its parameter block (abi_device.h) and where its tiles live. Internal.
#pragma once
#include "codegen/common/declarations.h"
#include "codegen/common/storage.h"
#include "codegen/nvptx/nvptx.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
class Value;
} // namespace llvm

namespace tdl::codegen::nvptx {

constexpr int kThreads = 256; // of a block
constexpr int kWarp = 32;
constexpr int kMaxRanks = 256;

/// A product computed by the whole block: result[row, column] += a[row, over] * b[over, column], other axes are loops
/// around. The threads form a grid of 16 x 16, each with rows x columns sums in registers; slabs of both operands pass
/// through shared memory.
struct BlockProduct {
    std::string row, column, over;
    std::vector<std::string> loops;          // around all
    const ir::Value *a = nullptr, *b = nullptr;
    int rows = 1, columns = 1;               // of a thread: 1, 2, 4 or 8
    int depth = 16;                          // of a slab
    static constexpr int kGrid = 16;
    int tileRows() const { return kGrid * rows; }
    int tileColumns() const { return kGrid * columns; }
    // elements between neighbours along `over` in a slab: rows start in different banks
    int pitchA() const { return tileRows() + 4; }
    int pitchB() const { return tileColumns() + 4; }
};

/// A program's tiles: the slots of Storage, those of which are in shared memory, its products.
struct Placement {
    Storage storage;
    std::vector<int> shared; // per slot: byte offset in shared memory, or -1: in the workspace
    std::unordered_map<const ir::Op *, BlockProduct> products;
    int sharedBytes = 0;     // panels and slots
};

/// Shared memory of a block that every program has: [0, kScratch) is for broadcasts and reductions, then panels, then slots.
constexpr int kBroadcastBytes = 16, kScratchBytes = 512;

struct PlanContext {
    llvm::Module &module;
    const ir::Op &kern;
    Diagnostics &diags;
    Declarations decls;
    std::vector<Placement> placements;      // per program
    int sites = 0;                          // waits so far
    // positions in the parameter block
    int sizes = 0, scalars = 0, tensors = 0, strides = 0, buffers = 0, flags = 0, joins = 0, heaps = 0, words = 0;

    PlanContext(llvm::Module &m, const ir::Op &k, Diagnostics &d);
    std::string entryName() const;
    ir::Expr workspace() const;             // bytes of a block
    int sharedBytes() const;
};

/// Decides about the tiles of a program; reports what cannot be placed.
std::optional<Placement> place(const ir::Op &program, Diagnostics &);

/// Adds the entry to the module; reports errors.
llvm::Function *emitEntry(PlanContext &);

} // namespace tdl::codegen::nvptx
