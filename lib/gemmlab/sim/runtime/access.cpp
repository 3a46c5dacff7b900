#include "access.h"

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
  }
  fiber.worker->abandon(fiber, finding);
}

void refuse_shared(Fiber& fiber, u32 width, Access access, u32 pc) {
  fiber.worker->abandon(fiber, refused(Kind::OUT_OF_BOUNDS_SHARED, width, access, pc));
}

void refuse_misaligned(Fiber& fiber, u32 offset, u32 width, Access access, u32 pc) {
  Finding finding = refused(Kind::MISALIGNED, width, access, pc);
  finding.number[2] = offset % width;
  fiber.worker->abandon(fiber, finding);
}

}  // namespace sim
