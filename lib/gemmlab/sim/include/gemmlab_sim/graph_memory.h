// Memory that a graph allocates and frees when it is launched. Its address is known when the node
// is made, and it stays the graph's until the last graph with this node is destroyed.
#pragma once
#include "capture.h"
#include "host_memory.h"

namespace gemmlab_sim {

// in_use: between its allocation and its end, as the launches of graphs and cudaFree have it.
struct GraphMemory {
  void* address;
  size_t bytes;
  bool in_use = false;
  static std::map<void*, std::weak_ptr<GraphMemory>>& all() {
    static std::map<void*, std::weak_ptr<GraphMemory>> known;
    return known;
  }
  static size_t used() {
    size_t sum = 0;
    for (const auto& [address, memory] : all())
      if (const auto one = memory.lock()) sum += one->in_use ? one->bytes : 0;
    return sum;
  }
  GraphMemory(void* address, size_t bytes) : address(address), bytes(bytes) {}
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  // What is still in use is the program's from here on.
  ~GraphMemory() {
    all().erase(address);
    if (!in_use) sim_free(address);
  }
  cudaError_t begin() {
    if (in_use)
      return as_error(sim_refuse(cudaErrorInvalidValue,
                                 "a graph allocates memory anew that has not been freed since its "
                                 "last launch; free it, in a graph or with cudaFree"));
    in_use = true;
    sim_fill(address, 0xff, bytes);  // what nobody has written is NaN
    return cudaSuccess;
  }
  cudaError_t end() {
    if (!in_use)
      return as_error(sim_refuse(cudaErrorInvalidValue,
                                 "memory of a graph is freed that is not allocated: the graph was "
                                 "not launched, or it was freed before"));
    in_use = false;
    sim_fill(address, 0xff, bytes);
    return cudaSuccess;
  }
};

inline cudaError_t release(void* memory) {
  const auto found = GraphMemory::all().find(memory);
  if (found == GraphMemory::all().end()) return as_error(sim_free(memory));
  const auto known = found->second.lock();
  return known ? known->end() : as_error(sim_free(memory));
}

// The work of a node that allocates; null if there is no room.
inline std::shared_ptr<GraphMemory> graph_memory(size_t bytes, const char* file, int line) {
  void* const address = sim_allocate(bytes, false, file, line);
  if (!address) return nullptr;
  const auto memory = std::make_shared<GraphMemory>(address, bytes);
  GraphMemory::all()[address] = memory;
  return memory;
}

template <class T>
cudaError_t allocate_in(cudaStream_t stream, T** memory, size_t bytes, const char* file, int line) {
  if (!capture_of(stream)) return allocate_now(memory, bytes, false, file, line);
  const auto made = graph_memory(bytes, file, line);
  if (!made) return cudaErrorMemoryAllocation;
  *memory = static_cast<T*>(made->address);
  return in_stream(stream, cudaGraphNodeTypeMemAlloc, [made] { return made->begin(); });
}

}  // namespace gemmlab_sim

enum cudaGraphMemAttributeType : int {
  cudaGraphMemAttrUsedMemCurrent = 0,
  cudaGraphMemAttrUsedMemHigh = 1,
  cudaGraphMemAttrReservedMemCurrent = 2,
  cudaGraphMemAttrReservedMemHigh = 3,
};
// Only what is in use now is known.
inline cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType, void* value) {
  *static_cast<uint64_t*>(value) = gemmlab_sim::GraphMemory::used();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGraphMemTrim(int) { return cudaSuccess; }
