// The device's memory, as a program's host code allocates, fills, copies and frees it.
#include "../../include/gemmlab_sim/abi_host.h"

#include <cstring>
#include <string>

#include "engine/fault.h"
#include "engine/launches.h"
#include "engine/limits.h"
#include "memory/arena.h"
#include "memory/heap.h"
#include "memory/registered.h"
#include "host_waits.h"

namespace sim {

namespace {

// Opens the device's memory to the host while it lives. To a kernel it is open.
void open_to_host(bool usable) {
  if (!running_fiber()) arena.open(usable);
}
class Opened {
 public:
  Opened() { open_to_host(true); }
  ~Opened() { open_to_host(false); }

 private:
  const DeviceTurn turn_;
  const Uninterrupted here_;
};

// Refuses a range that begins in device memory and does not end in the same buffer.
cudaError_t check_range(const char* call, const char* side, const void* memory, size_t bytes) {
  const size_t offset = arena.offset_of(reinterpret_cast<uintptr_t>(memory));
  if (offset >= Arena::BYTES) return cudaSuccess;  // the host's own
  const Arena::Buffer* buffer = arena.buffer_of(memory);
  if (!buffer)
    return refuse(cudaErrorInvalidValue, "%s: %s is no memory that is allocated; was it freed?",
                  call, side);
  const u64 left = u64(buffer->offset) + buffer->bytes - offset;
  if (bytes <= left) return cudaSuccess;
  return refuse(cudaErrorInvalidValue, "%s: %zu bytes from %s, where %llu are left of %s", call,
                bytes, side, (unsigned long long)left, buffer->name ? buffer->name : "the buffer");
}

}  // namespace

}  // namespace sim

#pragma GCC visibility push(default)
extern "C" {

void* sim_allocate(size_t bytes, int host_visible, const char* file, int line) {
  if (sim::running_fiber()) return sim::heap.allocate(bytes, __builtin_return_address(0));
  const sim::DeviceTurn turn;
  const sim::Uninterrupted here;
  const std::string path = file;
  const std::string name = "the " + std::to_string(bytes) + " bytes that " +
                           path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) +
                           " allocates";
  void* memory = sim::arena.allocate(bytes, 0, sim::kept(name), host_visible != 0);
  if (!memory) {
    sim::refuse(cudaErrorMemoryAllocation,
                "%zu bytes do not fit; the simulator has 2 GiB of device memory in all", bytes);
    return nullptr;
  }
  std::memset(memory, 0xff, bytes);  // what nobody has written is NaN
  if (!host_visible) sim::arena.open(false);
  return memory;
}

int sim_free(void* memory) {
  if (sim::running_fiber())
    return !memory || sim::heap.release(memory) ? cudaSuccess : cudaErrorInvalidValue;
  const sim::DeviceTurn turn;
  const sim::Uninterrupted here;
  sim::settle_host_waits();
  if (!memory || sim::arena.release(memory)) return cudaSuccess;
  return sim::refuse(cudaErrorInvalidValue,
                     "cudaFree: the address is none that cudaMalloc has returned, or was freed");
}

int sim_copy(void* to, const void* from, size_t bytes) {
  const sim::DeviceTurn turn;  // before the buffers are looked at, which others may add to
  if (const int error = sim::check_range("cudaMemcpy", "the destination", to, bytes)) return error;
  if (const int error = sim::check_range("cudaMemcpy", "the source", from, bytes)) return error;
  sim::open_to_host(true);  // not Opened: the host's side may be no memory, which is a finding
  std::memmove(to, from, bytes);
  sim::open_to_host(false);
  return cudaSuccess;
}

int sim_copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t bytes,
                  size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    char* const target = static_cast<char*>(to) + row * to_pitch;
    const char* const source = static_cast<const char*>(from) + row * from_pitch;
    if (const int error = sim_copy(target, source, bytes)) return error;
  }
  return cudaSuccess;
}

int sim_fill(void* memory, int value, size_t bytes) {
  const sim::DeviceTurn turn;
  if (const int error = sim::check_range("cudaMemset", "the memory", memory, bytes)) return error;
  const sim::Opened opened;
  std::memset(memory, value, bytes);
  return cudaSuccess;
}

void sim_memory_info(size_t* free, size_t* all) {
  *all = sim::Arena::BYTES;
  *free = sim::Arena::BYTES - sim::arena.pages() * sim::Arena::PAGE;
}

int sim_register(void* memory, size_t bytes) {
  const sim::DeviceTurn turn;
  if (sim::registered.add(memory, bytes)) return cudaSuccess;
  return sim::refuse(cudaErrorHostMemoryAlreadyRegistered,
                     "cudaHostRegister: some of the memory is registered already");
}

int sim_unregister(void* memory) {
  const sim::DeviceTurn turn;
  sim::settle_host_waits();
  if (sim::registered.remove(memory)) return cudaSuccess;
  return sim::refuse(cudaErrorHostMemoryNotRegistered,
                     "cudaHostUnregister: no registered memory begins at the address");
}

int sim_heap_bytes(size_t* bytes, int is_new) {
  if (is_new && !sim::heap.resize(*bytes))
    return sim::refuse(cudaErrorInvalidValue,
                       "the heap of kernels is in use, and cannot be made larger or smaller");
  *bytes = sim::heap.bytes();
  return cudaSuccess;
}

int sim_memory_kind(const void* address) {
  const sim::Arena::Buffer* buffer = sim::arena.buffer_of(address);
  return !buffer ? 0 : buffer->host_visible ? 2 : 1;
}

int sim_refuse(int error, const char* reason) {
  return sim::refuse(static_cast<cudaError_t>(error), "%s", reason);
}

}  // extern "C"
#pragma GCC visibility pop
