// One access of a fiber to memory: checked, then logged. For everything that touches memory on
// behalf of a kernel: the compiler's hooks, the atomics.
#pragma once
#include <cstring>

#include "engine/worker.h"

namespace sim {

// REPLACE: an atomic that does not look at what was there.
enum class Access : u32 { READ, WRITE, ATOMIC, REPLACE };
inline bool is_atomic(Access access) { return access >= Access::ATOMIC; }

// Reports an access to global (shared) memory that lies outside of every buffer (array).
[[noreturn]] void refuse_global(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc);
[[noreturn]] void refuse_shared(Fiber& fiber, u32 width, Access access, u32 pc);
[[noreturn]] void refuse_misaligned(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc,
                                    bool is_shared = false);

// Gives up the block unless the shared address is a multiple of `unit`.
void check_alignment(Fiber& fiber, const AsyncOp& op, u32 address, u32 unit);
// Reports a use of another block's shared memory that may come before its start or after its end.
void check_peer(Fiber& fiber, u32 rank, u32 pc);

inline void keep_stored(Fiber& fiber);

inline void record(Fiber& fiber, Event event) {
  keep_stored(fiber);
  if (fiber.log_at == fiber.log_end) fiber.worker->wait_for_room(fiber, pc_of(what_of(event)));
  *fiber.log_at++ = event;
}

// A line of the journal that is no access.
inline void mark(Fiber& fiber, u32 pc, Mark what, u32 number = 0) {
  if (!fiber.worker->journal().is_whole()) return;
  record(fiber, make_event(pc, Op::MARK, 0, u32(what) << 24 | (number & 0xffffff)));
}

// Reports an access to global memory that a store of the copy engine will write: only a wait for
// its group, and not one for its reads (.read), orders the two. Called while there are such stores.
void compare_with_stores(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc);

// Reports a use of what a grid before this one writes, if it need not have ended (griddepcontrol),
// and notes what this one writes.
void compare_with_grids(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc);

// What else may be using the same global memory. For traced accesses.
inline void check_use(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc) {
  const Worker& worker = *fiber.worker;
  if (worker.stores_under_way) compare_with_stores(fiber, offset, width, access, pc);
  if (access != Access::READ || worker.launch().dependent)
    compare_with_grids(fiber, offset, width, access, pc);
}

// All that is not the usual case: checked in every way, then logged.
void examine_global(Fiber& fiber, u32 offset, u32 log2_width, Access access, u32 pc,
                    bool is_strong);
void examine_shared(Fiber& fiber, u32 offset, u32 log2_width, Access access, u32 pc,
                    bool is_strong);

constexpr Op GLOBAL_OPS[] = {Op::LOAD_GLOBAL, Op::STORE_GLOBAL, Op::ATOMIC_GLOBAL,
                             Op::ATOMIC_GLOBAL};
constexpr Op SHARED_OPS[] = {Op::LOAD_SHARED, Op::STORE_SHARED, Op::ATOMIC_SHARED,
                             Op::ATOMIC_SHARED};

// What is nearly always so has no call, and so no registers to save: an aligned read, with room in
// the log, of memory in which another read changes nothing (GlobalRaceCheck::is_calm).
// is_strong: it may communicate, as a volatile access and every atomic may.
inline __attribute__((always_inline)) void on_global(Fiber& fiber, u32 offset, u32 log2_width,
                                                     Access access, u32 pc,
                                                     bool is_strong = false) {
  const u32 width = 1u << log2_width;
  const bool usual = access == Access::READ && fiber.log_at != fiber.log_end &&
                     !(offset & (width - 1)) && arena.holds(offset, width) &&
                     !fiber.worker->watches_reads() &&
                     GlobalRaceCheck::is_calm(fiber, offset, width);
  if (!usual) return examine_global(fiber, offset, log2_width, access, pc, is_strong);
  *fiber.log_at++ = make_event(pc, GLOBAL_OPS[u32(access)], log2_width, offset);
}

inline __attribute__((always_inline)) void on_shared(Fiber& fiber, u32 offset, u32 log2_width,
                                                     Access access, u32 pc,
                                                     bool is_strong = false) {
  const u32 width = 1u << log2_width;
  Worker& worker = *fiber.worker;
  // What is calm lies in an array; wider reads may lie in two.
  const bool usual = access == Access::READ && fiber.log_at != fiber.log_end &&
                     !(offset & (width - 1)) && worker.races().is_calm(fiber, offset, width) &&
                     (width <= 4 || worker.shared().holds(offset, width));
  if (!usual) return examine_shared(fiber, offset, log2_width, access, pc, is_strong);
  *fiber.log_at++ = make_event(pc, SHARED_OPS[u32(access)], log2_width, offset);
}

// The offset of `width` bytes at a shared address of the own block. Misalignment and bounds are
// checked in untraced runs too: no pointer would fault.
inline u32 check_shared_address(Fiber& fiber, u32 address, u32 width, Access access, u32 pc) {
  const u32 offset = offset_in_block(address);
  if (offset % width) refuse_misaligned(fiber, offset, width, access, pc, true);
  if (rank_of(address, fiber.rank) != fiber.rank || !fiber.worker->shared().contains(offset, width))
    refuse_shared(fiber, width, access, pc);
  return offset;
}

// What an instruction does there at once. Returns the offset.
inline u32 on_shared_address(Fiber& fiber, u32 address, u32 width, Access access, u32 pc) {
  const u32 offset = check_shared_address(fiber, address, width, access, pc);
  Worker& worker = *fiber.worker;
  if (!worker.launch().traced) return offset;
  if (access == Access::READ)
    worker.races().read(fiber, offset, width, pc);
  else
    worker.races().write(fiber, offset, width, pc);
  return offset;
}

// Whether `width` bytes, a page at most, are memory that the kernel may read, other than shared.
bool may_read(const Fiber& fiber, const void* address, u32 width);

// An address that is neither global nor shared memory. Returns if it is one that a kernel may use:
// a local variable, an argument, a constant of its library.
void examine_other(Fiber& fiber, uintptr_t address, u32 width, Access access, u32 pc,
                   bool is_strong = false);

// What the access or mark before has read, written or said, up to 16 bytes of it: the journal of a
// block puts it in that one's row.
inline void keep_value(Fiber& fiber, const void* address, u32 width, u32 pc) {
  if (!fiber.worker->journal().is_whole()) return;
  u32 words[JournalRow::WORDS] = {};
  memcpy(words, address, width);
  for (u32 n = 0; n < (width + 3) / 4; ++n)
    record(fiber, make_event(pc, Op::MARK, LOG2_WORD, words[n]));
}

// When the compiler's hook is called, a store is still to come: its value is read as soon as the
// thread does something else that is recorded, waits or ends.
inline void keep_stored(Fiber& fiber) {
  if (!fiber.stored) return;
  const void* const at = fiber.stored;
  fiber.stored = nullptr;
  keep_value(fiber, at, fiber.stored_width, fiber.stored_pc);
}

inline void keep(Fiber& fiber, const void* address, u32 width, Access access, u32 pc) {
  if (access == Access::READ) return keep_value(fiber, address, width, pc);
  if (access != Access::WRITE) return;
  fiber.stored = address;
  fiber.stored_width = width;
  fiber.stored_pc = pc;
}

// Not inlined: an untraced run pays for one test, not for saving registers.
template <u32 Log2Width, Access A, bool IsStrong = false>
__attribute__((noinline)) void examine(const void* address, const void* return_address) {
  Fiber* fiber = running_fiber();
  if (!fiber) return;
  const u32 mode = hooks.load(std::memory_order_relaxed);
  const u32 pc = fiber->pc_of(return_address);
  if (mode & HOOKS_CANCEL) fiber->worker->stop_early(*fiber, pc);
  if (!(mode & HOOKS_TRACE)) return;
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  const size_t global = arena.offset_of(at);
  const bool kept = fiber->worker->journal().has_values();
  if (kept) keep_stored(*fiber);
  if (global < Arena::BYTES) {
    on_global(*fiber, u32(global), Log2Width, A, pc, IsStrong);
    if (kept) keep(*fiber, address, 1u << Log2Width, A, pc);
    return;
  }
  const SharedMemory& memory = fiber->worker->shared();
  const size_t shared = memory.offset_of(at);
  if (shared < memory.bytes()) {
    on_shared(*fiber, u32(shared), Log2Width, A, pc, IsStrong);
    if (IsStrong || is_atomic(A))
      fiber->worker->races().pass_along(
          *fiber, u32(shared), A == Access::READ || A == Access::ATOMIC, A != Access::READ);
    if (kept) keep(*fiber, address, 1u << Log2Width, A, pc);
  } else
    examine_other(*fiber, at, 1u << Log2Width, A, pc, IsStrong);
}

template <u32 Log2Width, Access A>
inline __attribute__((always_inline)) void on_access(const void* address,
                                                     const void* return_address) {
  if (hooks.load(std::memory_order_relaxed)) examine<Log2Width, A>(address, return_address);
}

}  // namespace sim
