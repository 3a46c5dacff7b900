#include "access.h"

#include "memory/registered.h"
#include "operations/polling.h"
#include "operations/wgmma_registers.h"

namespace sim {

namespace {

Finding refused(Kind kind, u32 width, Access access, u32 pc) {
  Finding finding = {kind, pc};
  finding.number[0] = width;
  finding.number[1] = access != Access::READ;
  return finding;
}

}  // namespace

void refuse_global(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc) {
  Finding finding = refused(Kind::OUT_OF_BOUNDS_GLOBAL, width, access, pc);
  const int nearest = arena.nearest(offset);
  finding.number[2] = nearest;
  if (nearest >= 0) {
    const Arena::Buffer& buffer = arena.buffer(nearest);
    const i64 start = i64(offset) - buffer.offset;
    finding.number[3] = start < 0 ? start : start + width - buffer.bytes;
    finding.other_name = buffer.name;
  }
  fiber.worker->abandon(fiber, finding);
}

void refuse_shared(Fiber& fiber, u32 width, Access access, u32 pc) {
  fiber.worker->abandon(fiber, refused(Kind::OUT_OF_BOUNDS_SHARED, width, access, pc));
}

namespace {

// What orders clusters that meet there, by the place in global memory.
void pass_along(Fiber& fiber, u32 offset, Access access, bool is_strong) {
  GlobalRaceCheck& globals = fiber.worker->globals();
  if (is_atomic(access) || (access == Access::READ && is_strong)) globals.see(fiber, offset);
  if (is_atomic(access) || (access == Access::WRITE && is_strong))
    globals.pass_on(fiber, offset, is_atomic(access));
}

// A variable of the program's is not in global memory here; on a device it is.
void note_variable(Fiber& fiber, uintptr_t address, Access access) {
  const Module& module = *fiber.worker->launch().module;
  constexpr u32 BEHIND = 1u << 31;  // all of global memory
  static_assert(Arena::BYTES <= BEHIND, "");
  if (fiber.worker->takes_turns() && module.holds(address))
    pass_along(fiber, BEHIND + u32(address - module.code), access, true);
}

}  // namespace

void refuse_misaligned(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc, bool is_shared) {
  Finding finding = refused(Kind::MISALIGNED, width, access, pc);
  finding.number[2] = offset % width;
  finding.number[3] = is_shared;
  fiber.worker->abandon(fiber, finding);
}

namespace {

void check_global_races(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc,
                        bool is_strong) {
  Worker& worker = *fiber.worker;
  GlobalRaceCheck& globals = worker.globals();
  if (access == Access::READ)
    globals.read(fiber, offset, width, pc, is_strong);
  else
    globals.write(fiber, offset, width, pc, is_strong || is_atomic(access));
  if (!worker.takes_turns()) return;
  pass_along(fiber, offset, access, is_strong);
  if (access == Access::WRITE)
    fiber.polling.forget();
  else if (access == Access::READ && !is_strong)
    note_plain_read(fiber, {arena.at(offset), width, bits_at(arena.at(offset), width)}, pc);
}

void check_shared_races(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc,
                        bool is_strong) {
  RaceCheck& races = fiber.worker->races();
  if (access == Access::READ)
    races.read(fiber, offset, width, pc, is_strong);
  else if (access == Access::WRITE) {
    races.write(fiber, offset, width, pc, is_strong);
    fiber.polling.forget();
  } else
    races.atomic(fiber, offset, width, pc, access == Access::ATOMIC);
}

}  // namespace

void examine_global(Fiber& fiber, u32 offset, u32 log2_width, Access access, u32 pc,
                    bool is_strong) {
  const u32 width = 1u << log2_width;
  if (offset & (width - 1)) refuse_misaligned(fiber, offset, width, access, pc);
  if (!arena.holds(offset, width)) refuse_global(fiber, offset, width, access, pc);
  check_use(fiber, offset, width, access, pc);
  // First: it may let others run, and nobody may come between the check and what it is about.
  record(fiber, make_event(pc, GLOBAL_OPS[u32(access)], log2_width, offset));
  if (access == Access::READ && GlobalRaceCheck::is_calm(fiber, offset, width)) return;
  check_global_races(fiber, offset, width, access, pc, is_strong);
}

void examine_shared(Fiber& fiber, u32 offset, u32 log2_width, Access access, u32 pc,
                    bool is_strong) {
  const u32 width = 1u << log2_width;
  if (offset & (width - 1)) refuse_misaligned(fiber, offset, width, access, pc, true);
  Worker& worker = *fiber.worker;
  if (!worker.shared().holds(offset, width)) refuse_shared(fiber, width, access, pc);
  const bool is_calm = access == Access::READ && worker.races().is_calm(fiber, offset, width);
  if (!is_calm) check_shared_races(fiber, offset, width, access, pc, is_strong);
  record(fiber, make_event(pc, SHARED_OPS[u32(access)], log2_width, offset));
}

void check_alignment(Fiber& fiber, const AsyncOp& op, u32 address, u32 unit) {
  const u32 past = offset_in_block(address) % unit;
  if (!past) return;
  Finding finding = {Kind::MISALIGNED_OPERAND, op.pc};
  finding.name = op.name;
  finding.number[0] = unit;
  finding.number[1] = past;
  fiber.worker->abandon(fiber, finding);
}

namespace {

// One of the kernel's arguments, a constant or variable of its library, or registered memory.
bool is_given(const Fiber& fiber, uintptr_t address) {
  return fiber.worker->is_argument(address) || fiber.worker->launch().module->holds(address) ||
         registered.holds(address);
}

}  // namespace

bool may_read(const Fiber& fiber, const void* address, u32 width) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address), last = at + width - 1;
  const size_t global = arena.offset_of(at);
  if (global < Arena::BYTES) return arena.holds(u32(global), width);
  if (stacks.owner_of(address) == &fiber)
    return stacks.owner_of(reinterpret_cast<const void*>(last)) == &fiber;
  return is_given(fiber, at) && is_given(fiber, last);
}

void examine_other(Fiber& fiber, uintptr_t address, u32 width, Access access, u32 pc,
                   bool is_strong) {
  const void* const at = reinterpret_cast<const void*>(address);
  if (stacks.owner_of(at) == &fiber) {
    if (fiber.registers) fiber.registers->touch(fiber, {at, width}, access, pc);
    return;
  }
  if (is_given(fiber, address)) {
    if (is_strong || is_atomic(access)) note_variable(fiber, address, access);
    return;
  }
  if (fiber.worker->shared().is_near(address)) refuse_shared(fiber, width, access, pc);
  Finding finding = {Kind::BAD_ADDRESS, pc};
  finding.number[0] = i64(address);
  finding.number[1] = true;
  fiber.worker->abandon(fiber, finding);
}

}  // namespace sim
