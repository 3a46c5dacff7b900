// What g++ -fsanitize=thread calls before every load and store of a kernel, and -fsanitize=bounds
// at an index outside of its array. The sanitizers' own libraries are not linked.
#include "memory/access.h"
#include "operations/polling.h"

namespace sim {

namespace {

// The copy of a structure larger than 16 bytes: pieces of 16 bytes, or of 4 where those do not fit.
template <Access A>
void on_range(const char* address, size_t bytes, const void* return_address) {
  const bool wide = (reinterpret_cast<uintptr_t>(address) | bytes) % 16 == 0;
  for (size_t done = 0; done < bytes; done += wide ? 16 : 4)
    if (wide)
      on_access<4, A>(address + done, return_address);
    else
      on_access<2, A>(address + done, return_address);
}

// A volatile access. A loop of such reads waits for a change.
template <u32 Log2Width, Access A>
void on_volatile(const void* address, const void* return_address) {
  Fiber* fiber = running_fiber();
  if (!fiber) return;
  constexpr u32 WIDTH = 1u << Log2Width;
  if (is_polled_memory(*fiber, address, WIDTH)) {
    fiber->worker->cluster().offer_turn();
    if (A == Access::READ)
      note_strong_read(*fiber, {address, WIDTH, bits_at(address, WIDTH)},
                       fiber->pc_of(return_address));
    else
      fiber->polling.forget();
  }
  if (hooks.load(std::memory_order_relaxed)) examine<Log2Width, A, true>(address, return_address);
}

// What the compiler describes at an index check; the layout is its own.
struct ArrayType {
  u16 kind, info;
  char name[1];
};
struct IndexCheck {
  const char* file;
  u32 line, column;
  const ArrayType* array;
  const void* index_type;
};

}  // namespace

}  // namespace sim

#pragma GCC visibility push(default)

#define GEMMLAB_HOOK(name, log2_width, access)                                             \
  extern "C" void __tsan_##name(void* address) {                                           \
    sim::on_access<log2_width, sim::Access::access>(address, __builtin_return_address(0)); \
  }
#define GEMMLAB_VOLATILE(name, log2_width, access)                                           \
  extern "C" void __tsan_volatile_##name(void* address) {                                    \
    sim::on_volatile<log2_width, sim::Access::access>(address, __builtin_return_address(0)); \
  }
#define GEMMLAB_HOOKS(bytes, log2_width)                  \
  GEMMLAB_HOOK(read##bytes, log2_width, READ)             \
  GEMMLAB_HOOK(write##bytes, log2_width, WRITE)           \
  GEMMLAB_HOOK(unaligned_read##bytes, log2_width, READ)   \
  GEMMLAB_HOOK(unaligned_write##bytes, log2_width, WRITE) \
  GEMMLAB_VOLATILE(read##bytes, log2_width, READ)         \
  GEMMLAB_VOLATILE(write##bytes, log2_width, WRITE)

GEMMLAB_HOOKS(1, 0)
GEMMLAB_HOOKS(2, 1)
GEMMLAB_HOOKS(4, 2)
GEMMLAB_HOOKS(8, 3)
GEMMLAB_HOOKS(16, 4)

extern "C" void __tsan_read_range(void* address, size_t bytes) {
  sim::on_range<sim::Access::READ>(static_cast<char*>(address), bytes, __builtin_return_address(0));
}
extern "C" void __tsan_write_range(void* address, size_t bytes) {
  sim::on_range<sim::Access::WRITE>(static_cast<char*>(address), bytes,
                                    __builtin_return_address(0));
}
extern "C" void __tsan_init() {}
// Of the pointer to a class's virtual functions, which constructors and destructors write.
extern "C" void __tsan_vptr_update(void** address, void*) {
  sim::on_access<3, sim::Access::WRITE>(address, __builtin_return_address(0));
}
extern "C" void __tsan_vptr_read(void** address) {
  sim::on_access<3, sim::Access::READ>(address, __builtin_return_address(0));
}

extern "C" void __ubsan_handle_out_of_bounds(sim::IndexCheck* check, void* index) {
  sim::Fiber* fiber = sim::running_fiber();
  if (!fiber) return;
  sim::Finding finding = {sim::Kind::OUT_OF_BOUNDS_INDEX,
                          fiber->pc_of(__builtin_return_address(0))};
  finding.number[0] = reinterpret_cast<sim::i64>(index);
  finding.name = check->array->name;
  fiber->worker->abandon(*fiber, finding);
}

#pragma GCC visibility pop
