#include "polling.h"

#include <algorithm>
#include <cstring>

#include "engine/worker.h"

namespace sim {

u64 bits_at(const void* address, u32 width) {
  u64 bits = 0;
  std::memcpy(&bits, address, std::min<u32>(width, sizeof bits));
  return bits;
}

namespace {

struct Poll {
  const void* address;
  u32 width;
  u64 value;
};

bool has_changed(Fiber& fiber) {
  const Poll& poll = *static_cast<const Poll*>(fiber.wait.operands);
  return bits_at(poll.address, poll.width) != poll.value;
}

// Memory that the host may write, too, may be about to change: on a device, the host goes on.
void describe_poll(const Fiber& fiber, Finding& finding) {
  const Poll& poll = *static_cast<const Poll*>(fiber.wait.operands);
  const Arena::Buffer* buffer = arena.buffer_of(poll.address);
  if (buffer && buffer->host_visible) {
    finding.kind = Kind::NOT_SIMULATED;
    finding.name =
        "a wait for a change by the host, or by nobody: the host goes on only once the "
        "kernel has ended";
    return;
  }
  const Turns& turns = fiber.worker->cluster().grid().turns;
  finding.number[0] = i64(turns.waiting());
  finding.number[1] = turns.resident();
}

const Condition POLLING = {"a loop that polls global memory", has_changed, describe_poll, true};

// Every other thread has run, where it could.
bool has_passed(Fiber&) { return !running_fiber(); }

const Condition CLOCK = {"a loop that reads the clock", has_passed, [](const Fiber&, Finding&) {}};

}  // namespace

void note_clock(Fiber& fiber, u32 pc) {
  fiber.polled = nullptr;
  if (++fiber.clock_reads <= CLOCK_READS) return;
  fiber.worker->cluster().offer_turn();
  Wait wait = {pc};
  wait.condition = &CLOCK;
  fiber.worker->wait_until(fiber, wait);
}

void note_poll(Fiber& fiber, const void* address, u32 width, u64 value, u32 most, u32 pc) {
  if (address != fiber.polled || value != fiber.polled_value) {
    fiber.polled = address;
    fiber.polled_value = value;
    fiber.polls = 0;
    return;
  }
  if (++fiber.polls < most) return;
  Turns& turns = fiber.worker->cluster().grid().turns;
  Poll poll = {address, width, value};
  Wait wait = {pc};
  wait.operands = &poll;
  wait.condition = &POLLING;
  ++turns.polling;
  fiber.worker->wait_until(fiber, wait);
  --turns.polling;
}

}  // namespace sim
