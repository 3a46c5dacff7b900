// The tensor cores and what brings their operands: a unit that is compiled beside runtime.cpp.
#include "operations/ldmatrix.cpp"
#include "operations/mma.cpp"
#include "operations/wmma.cpp"
#include "operations/wgmma_descriptor.cpp"
#include "operations/wgmma_multiply.cpp"
#include "operations/wgmma.cpp"
#include "operations/wgmma_calls.cpp"
