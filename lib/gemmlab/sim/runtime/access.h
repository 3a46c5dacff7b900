// One access of a fiber to memory: checked, then logged. For everything that touches memory on
// behalf of a kernel: the compiler's hooks, the atomics.
#pragma once
#include "worker.h"

namespace sim {

enum class Access : u32 { READ, WRITE, ATOMIC };

// Reports an access to global (shared) memory that lies outside of every buffer (array).
[[noreturn]] void refuse_global(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc);
[[noreturn]] void refuse_shared(Fiber& fiber, u32 width, Access access, u32 pc);
[[noreturn]] void refuse_misaligned(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc);

inline void record(Fiber& fiber, Event event) {
  if (fiber.log_at == fiber.log_end) fiber.worker->wait_for_room(fiber);
  *fiber.log_at++ = event;
}

inline void on_global(Fiber& fiber, u32 offset, u32 log2_width, Access access, u32 pc) {
  constexpr Op OPS[] = {Op::LOAD_GLOBAL, Op::STORE_GLOBAL, Op::ATOMIC_GLOBAL};
  const u32 width = 1u << log2_width;
  if (offset & (width - 1)) refuse_misaligned(fiber, offset, width, access, pc);
  if (!arena.holds(offset, width)) refuse_global(fiber, offset, width, access, pc);
  record(fiber, make_event(pc, OPS[u32(access)], log2_width, offset));
}

inline void on_shared(Fiber& fiber, u32 offset, u32 log2_width, Access access, u32 pc) {
  constexpr Op OPS[] = {Op::LOAD_SHARED, Op::STORE_SHARED, Op::ATOMIC_SHARED};
  const u32 width = 1u << log2_width;
  Worker& worker = *fiber.worker;
  if (offset & (width - 1)) refuse_misaligned(fiber, offset, width, access, pc);
  if (!worker.shared().holds(offset, width)) refuse_shared(fiber, width, access, pc);
  if (access == Access::READ)
    worker.races().read(fiber, offset, width, pc);
  else if (access == Access::WRITE)
    worker.races().write(fiber, offset, width, pc);
  else
    worker.races().atomic(fiber, offset, width, pc);
  record(fiber, make_event(pc, OPS[u32(access)], log2_width, offset));
}

// An address that is neither global nor shared is a register array, a local variable or the host's.
// Not inlined: an untraced run pays for one test, not for saving registers.
template <u32 Log2Width, Access A>
__attribute__((noinline)) void examine(const void* address, const void* return_address) {
  Fiber* fiber = running_fiber();
  if (!fiber) return;
  const u32 mode = hooks.load(std::memory_order_relaxed);
  if (mode & HOOKS_CANCEL) fiber->worker->abandon(*fiber, {Kind::CANCELLED});
  if (!(mode & HOOKS_TRACE)) return;
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  const u32 pc = fiber->pc_of(return_address);
  const size_t global = arena.offset_of(at);
  if (global < Arena::BYTES) return on_global(*fiber, u32(global), Log2Width, A, pc);
  const SharedMemory& memory = fiber->worker->shared();
  const size_t shared = memory.offset_of(at);
  if (shared < memory.bytes())
    on_shared(*fiber, u32(shared), Log2Width, A, pc);
  else if (memory.is_near(at) && !fiber->worker->is_argument(at))
    refuse_shared(*fiber, 1u << Log2Width, A, pc);
}

template <u32 Log2Width, Access A>
inline __attribute__((always_inline)) void on_access(const void* address,
                                                     const void* return_address) {
  if (hooks.load(std::memory_order_relaxed)) examine<Log2Width, A>(address, return_address);
}

}  // namespace sim
