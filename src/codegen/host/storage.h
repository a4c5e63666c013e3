// What the host adds to the storage of tiles (codegen/common/storage.h): panels of operands of products.
#pragma once
#include "codegen/common/storage.h"

namespace tdl::codegen {

/// Of a target and element type: so many rows times vectors of so many lanes are kept in registers.
struct RegisterTile {
    int rows, vectors, lanes;
    int columns() const { return vectors * lanes; }
};
struct Target;
RegisterTile registerTile(const Target &, Elem);

/// Chooses the products of a program whose tiles have their slots, and adds the slots that they need.
void choosePanels(const ir::Op &program, const Target &, Storage &, const LengthOf &);

} // namespace tdl::codegen
