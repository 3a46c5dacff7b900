// What loads and stores of the copy engine (TMA) have in common. PTX ISA, "Data Movement and
// Conversion Instructions: cp.async.bulk.tensor".
#pragma once
#include "../../include/gemmlab_sim/abi_async.h"
#include "memory/access.h"
#include "tensor_map.h"
#include "memory/types.h"

namespace sim {

// The box that an instruction names, with a copy of the tensor map: the kernel's parameters may be
// gone when the box is moved. Gives up the block if the map, its rank, the column, the shared or
// the global memory is not what the engine can take. `shared`: what it does to shared memory.
Box make_box(Fiber& fiber, const AsyncOp& op, Access shared, const void* map, u32 address,
             const SimPlace& place);
// Counts the request: its 32-byte sectors of global memory. Shared memory is written and read past
// the banks' pipeline that loads and stores share. For races on global memory it counts as an
// access of the thread that starts it, when it does.
void record_box(Fiber& fiber, const AsyncOp& op, Op kind, const Box& box);

}  // namespace sim
