#include "polling.h"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/fault.h"
#include "engine/worker.h"
#include "host_waits.h"
#include "memory/registered.h"

namespace sim {

u64 bits_at(const void* address, u32 width) {
  u64 bits = 0;
  std::memcpy(&bits, address, std::min<u32>(width, sizeof bits));
  return bits;
}

bool is_polled_memory(const Fiber& fiber, const void* address, u32 width) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  const SharedMemory& shared = fiber.worker->shared();
  return arena.holds_address(address, width) || shared.offset_of(at) < shared.bytes() ||
         fiber.worker->launch().module->holds(at) || registered.holds(at);
}

namespace {

// The reads in a row after which a thread is taken to wait: strong ones of one place, plain ones of
// one place, strong ones of any places.
constexpr u32 STRONG_POLLS = 2, PLAIN_POLLS = 64, MIXED_POLLS = 64;
// Of the clock. A kernel that takes a time reads it a few times.
constexpr u32 CLOCK_READS = 16;
// After so many looks a thread that does not go round reads twice as often from look to look, and
// so on: what counts up to a million must not wait a million times.
constexpr u32 PATIENT_FROM = 8, MOST_PATIENCE = 11;

bool has_changed(Fiber& fiber) {
  const Read& read = *static_cast<const Read*>(fiber.wait.operands);
  return bits_at(read.address, read.width) != read.value;
}

// ---- where a thread stands ----

// Numbers of the registers that a call preserves (DWARF, by the processor's calling convention).
#if defined(__x86_64__)
constexpr int PRESERVED[] = {3, 6, 12, 13, 14, 15};
#elif defined(__aarch64__)
constexpr int PRESERVED[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif

u64 mixed(u64 hash, u64 word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

// All that decides how the running thread goes on, but for memory that others can write: where it
// is in its innermost function of the kernel, the registers there, and the stack from there on.
u64 state_of(const Fiber& fiber) {
  struct Search {
    const Module& module;
    u64 hash;
  } search = {*fiber.worker->launch().module, 1};
  const auto visit = [](_Unwind_Context* frame, void* data) {
    Search& search = *static_cast<Search*>(data);
    const uintptr_t pc = _Unwind_GetIP(frame);
    if (pc - search.module.code >= search.module.code_bytes) return _URC_NO_REASON;
    search.hash = mixed(search.hash, pc);
    for (const int number : PRESERVED)
      search.hash = mixed(search.hash, _Unwind_GetGR(frame, number));
    const uintptr_t low = _Unwind_GetCFA(frame) & ~uintptr_t(7);  // the function's stack pointer
    const uintptr_t high = (low | (Stacks::STACK_BYTES - 1)) + 1;
    for (uintptr_t at = low; at < high; at += 8)
      search.hash = mixed(search.hash, bits_at(reinterpret_cast<const void*>(at), 8));
    return _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(visit, &search);
  return search.hash;
}

// ---- what a deadlock's finding says ----

// The place as the source names it; null if it does not.
const char* place_of(const Fiber& fiber, const void* address) {
  const SharedMemory& shared = fiber.worker->shared();
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  if (const size_t offset = shared.offset_of(at); offset < shared.bytes())
    return fiber.worker->launch().module->place_in_arrays(u32(offset));
  if (const Arena::Buffer* buffer = arena.buffer_of(address)) {
    const size_t byte = arena.offset_of(at) - buffer->offset;
    return kept("byte " + std::to_string(byte) + " of " + arena.name_of(*buffer));
  }
  Dl_info info;
  return dladdr(address, &info) && info.dli_saddr == address ? info.dli_sname : nullptr;
}

// Memory that the host may write, too, may be about to change: on a device, the host goes on.
bool may_host_change(const void* address) {
  const Arena::Buffer* buffer = arena.buffer_of(address);
  return (buffer && buffer->host_visible) || registered.holds(reinterpret_cast<uintptr_t>(address));
}

// What the others do, and who has written there.
void describe_others(const Fiber& fiber, const Read& read, Finding& finding) {
  Worker& worker = *fiber.worker;
  const uintptr_t at = reinterpret_cast<uintptr_t>(read.address);
  const size_t shared = worker.shared().offset_of(at), global = arena.offset_of(at);
  if (worker.launch().traced && shared < worker.shared().bytes())
    finding.other_pc = worker.races().last_write(fiber, u32(shared));
  else if (worker.launch().traced && global < Arena::BYTES)
    finding.other_pc = worker.globals().last_write(u32(global));
  const Turns& turns = worker.cluster().grid().turns;
  finding.number[0] = i64(turns.waiting());
  finding.number[1] = turns.resident();
  for (u32 t = 0; t < worker.launch().threads(); ++t) {
    const Fiber& other = worker.fibers()[t];
    if (other.state == State::DONE) ++finding.number[2];
    if (other.state == State::DONE || (other.wait.condition && other.wait.condition->polls))
      continue;
    if (!finding.number[3]++) finding.other_pc = other.wait.pc;
  }
}

void describe_poll(const Fiber& fiber, Finding& finding) {
  const Read& read = *static_cast<const Read*>(fiber.wait.operands);
  const SharedMemory& shared = fiber.worker->shared();
  if (shared.offset_of(reinterpret_cast<uintptr_t>(read.address)) < shared.bytes())
    finding.name = "a loop that polls shared memory";
  finding.other_name = place_of(fiber, read.address);
  describe_others(fiber, read, finding);
  if (!may_host_change(read.address)) return;
  finding.name = "a loop that polls memory that the host can write";
  note_host_wait(read, finding);
  finding = {Kind::NOT_SIMULATED, finding.pc, 0, finding.block, finding.thread};
  finding.name =
      "a change of memory by the host while the kernel waits for it (here the host goes on once "
      "the "
      "kernel has ended) | let the host write before the launch, or let another kernel wait";
}

const Condition POLLING = {"a loop that polls global memory", has_changed, describe_poll, true};

// Every other thread has run, where it could.
bool has_passed(Fiber&) { return !running_fiber(); }

const Condition CLOCK = {"a loop that reads the clock", has_passed, [](const Fiber&, Finding&) {}};

// Reads of one place in a row, this one included; another value is another place.
u32 repeats(LastRead& last, const Read& read) {
  if (last.address == read.address && last.value == read.value) return ++last.repeats;
  last = {read.address, read.value, 0};
  return 0;
}

void wait_for_change(Fiber& fiber, Read read, u32 pc) {
  Polling& polling = fiber.polling;
  Turns& turns = fiber.worker->cluster().grid().turns;
  if (!polling.looks || polling.epoch != turns.epoch()) {
    polling.looks = 0;
    polling.epoch = turns.epoch();
    polling.goes_round = false;
  }
  const u64 state = state_of(fiber);
  polling.goes_round |= polling.looks && state == polling.anchor;
  // At 1, 2, 4, ...: so a way round of any length is seen.
  if (!(polling.looks & (polling.looks - 1))) polling.anchor = state;
  ++polling.looks;
  polling.reads = polling.plain.repeats = polling.strong.repeats = 0;
  Wait wait = {pc};
  wait.operands = &read;
  wait.condition = &POLLING;
  ++turns.polling;
  turns.going_round += polling.goes_round;
  fiber.worker->wait_until(fiber, wait);
  --turns.polling;
  if (polling.epoch == turns.epoch()) turns.going_round -= polling.goes_round;
  if (bits_at(read.address, read.width) != read.value) polling.looks = 0;
}

// The times as many reads that a thread is let go on for.
u32 patience(const Polling& polling) {
  if (polling.looks < PATIENT_FROM) return 0;
  return std::min(polling.looks - PATIENT_FROM, MOST_PATIENCE);
}

}  // namespace

void note_clock(Fiber& fiber, u32 pc) {
  fiber.polling.forget();
  if (++fiber.clock_reads <= CLOCK_READS) return;
  fiber.worker->cluster().offer_turn();
  Wait wait = {pc};
  wait.condition = &CLOCK;
  fiber.worker->wait_until(fiber, wait);
}

void note_strong_read(Fiber& fiber, const Read& read, u32 pc) {
  Polling& polling = fiber.polling;
  if (!polling.strong.address) polling.reads = polling.looks = 0;
  const u32 same = repeats(polling.strong, read), shift = patience(polling);
  if (same >= STRONG_POLLS << shift || ++polling.reads >= MIXED_POLLS << shift)
    wait_for_change(fiber, read, pc);
}

void note_plain_read(Fiber& fiber, const Read& read, u32 pc) {
  Polling& polling = fiber.polling;
  if (!polling.plain.address) polling.looks = 0;
  if (repeats(polling.plain, read) >= PLAIN_POLLS << patience(polling))
    wait_for_change(fiber, read, pc);
}

}  // namespace sim
