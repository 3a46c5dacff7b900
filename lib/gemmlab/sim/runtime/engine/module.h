// A loaded kernel library: where its code and its __shared__ arrays are, and which addresses of the
// code belong to one place in the source.
#pragma once
#include <vector>

#include "../../include/gemmlab_sim/abi.h"
#include "memory/types.h"

namespace sim {

// A __shared__ array, by its place in the library's thread-local segment.
struct SharedArray {
  u32 offset, bytes;
};

// What the library says about a kernel.
struct KernelFacts {
  u32 offset;        // of its code
  u32 max_threads;   // its __launch_bounds__, 0 if it has none
  u32 static_bytes;  // of its __shared__ arrays
  SimIndex cluster;  // its __cluster_dims__, 0, 0, 0 if it has none
};

struct Module {
  uintptr_t code = 0;  // load address; a "pc" is an offset from here
  u32 code_bytes = 0;
  u32 image_bytes = 0;    // code and data
  size_t tls_module = 0;  // the dynamic linker's number for the segment, 0 if there is none
  u32 shared_bytes = 0;   // size of the segment
  std::vector<SharedArray> arrays;
  std::vector<const char*> array_names;  // as the source has them, in the same order
  std::vector<KernelFacts> kernels;
  bool has_plain_order = false;  // nothing but __syncthreads orders the kernels' threads
  bool communicates = false;     // it has atomics, fences or volatile accesses
  i64 dynamic_offset = -1;       // where `smem` starts, -1 if the kernel has none
  std::vector<u32> site_of_pc;   // equal numbers: copies of one place in the source
  // By site and operation (the first four): the widest access that the machine code has there, 0 if
  // that is not known. Empty if no machine code was given.
  std::vector<u8> widest;

  bool holds(uintptr_t address) const { return address - code < image_bytes; }
  // Null for a kernel that has no bounds and no arrays.
  const KernelFacts* facts(const void* kernel) const {
    for (const KernelFacts& facts : kernels)
      if (code + facts.offset == reinterpret_cast<uintptr_t>(kernel)) return &facts;
    return nullptr;
  }
  // What lies at an offset in shared memory, in words.
  const char* place_in_arrays(u32 offset) const;
  // What accesses of an instruction may be merged into, in bytes; 0 if they are as they are
  // written.
  u32 merged_width(u32 pc, Op op, u32 width) const {
    if (widest.empty() || u32(op) > u32(Op::STORE_GLOBAL)) return 0;
    const size_t at = 4 * size_t(site(pc)) + u32(op);
    return at < widest.size() && widest[at] > width ? widest[at] : 0;
  }
  u32 site(u32 pc) const { return pc < site_of_pc.size() ? site_of_pc[pc] : pc; }
};

// Finds the library that holds `address`, or that was loaded from `path`. Returns false if there is
// none.
bool find_library(uintptr_t address, Module& module);
bool find_library(const char* path, Module& module);

// Where the library's thread-local segment is for the calling OS thread.
char* shared_segment(const Module& module);

}  // namespace sim
