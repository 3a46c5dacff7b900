#include "warp.h"

namespace sim {

namespace {

bool same_call(const Wait& a, const Wait& b) {
  return a.what == b.what && a.mask == b.mask && a.line == b.line;
}

}  // namespace

bool Warp::any(State state) const {
  for (u32 n = 0; n < size; ++n)
    if (fibers[n].state == state) return true;
  return false;
}

bool Warp::can_run() const { return any(State::READY); }

bool Warp::is_together() const {
  const Fiber* first = nullptr;
  bool ended_ahead = false;
  for (u32 n = 0; n < size; ++n) {
    const Fiber& fiber = fibers[n];
    if (fiber.state == State::DONE) {
      ended_ahead |= log && fiber.log_at != log->lane(n).begin();
      continue;
    }
    if (fiber.state == State::AT_COLLECTIVE) return false;
    if (!first) first = &fiber;
    if (fiber.state != first->state) return false;
    if (fiber.state == State::AT_CONDITION && fiber.wait.line != first->wait.line) return false;
  }
  // The lane whose arrival completes a barrier does not stop at it, and may have come to its end.
  return !(ended_ahead && first && first->state == State::AT_CONDITION);
}

u32 Warp::awaited_by(const Fiber& fiber) const {
  // A lane that has returned is not waited for, as on the device.
  const u32 wanted = fiber.wait.mask & live;
  u32 here = 0;
  for (u32 n = 0; n < size; ++n)
    if (waiting >> n & 1 && same_call(fibers[n].wait, fiber.wait)) here |= 1u << n;
  return wanted & ~here;
}

u32 Warp::complete() const {
  if (!waiting) return 0;
  for (u32 n = 0; n < size; ++n)
    if (waiting >> n & 1 && !awaited_by(fibers[n])) return fibers[n].wait.mask & live;
  return 0;
}

WarpEvents Warp::events() const {
  WarpEvents events;
  events.warp = fibers[0].index / WARP;
  for (u32 n = 0; n < size; ++n) events.lane[n] = {log->lane(n).begin(), fibers[n].log_at};
  return events;
}

}  // namespace sim
