/* cuda_header.c: compares runtime/src/cuda_driver.h with the cuda.h of a toolkit: it compiles without a warning, or
 * the two differ. Nothing here is ever run. */
#include <cuda.h>

#include "cuda_driver.h"

#include <stddef.h>

#define X(name, value) _Static_assert((int)name == (int)TDL_##name, #name " has another value");
TDLCU_CONSTANTS(X)
#undef X

#define SAME(ours, theirs, member)                                                                           \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, member) &&                                     \
                       sizeof((ours *)0)->member == sizeof((theirs *)0)->member,                             \
                   #theirs "." #member " differs")
SAME(tdlcu_location, CUmemLocation, type);
SAME(tdlcu_location, CUmemLocation, id);
SAME(tdlcu_prop, CUmemAllocationProp, type);
SAME(tdlcu_prop, CUmemAllocationProp, requestedHandleTypes);
SAME(tdlcu_prop, CUmemAllocationProp, location);
SAME(tdlcu_prop, CUmemAllocationProp, win32HandleMetaData);
SAME(tdlcu_prop, CUmemAllocationProp, allocFlags);
SAME(tdlcu_access, CUmemAccessDesc, location);
SAME(tdlcu_access, CUmemAccessDesc, flags);
_Static_assert(sizeof(tdlcu_prop) == sizeof(CUmemAllocationProp), "CUmemAllocationProp has another size");
_Static_assert(sizeof(tdlcu_access) == sizeof(CUmemAccessDesc), "CUmemAccessDesc has another size");
_Static_assert(sizeof(tdlcu_ptr) == sizeof(CUdeviceptr), "CUdeviceptr has another size");

/* Every function of cuda.h can be stored in our pointer to it. */
const tdlcu_driver tdl_cuda_header_test = {
#define X(name, parameters) .name = name,
    TDLCU_CALLS(X) TDLCU_OPTIONAL_CALLS(X)
#undef X
};
