// Loops that read the same places in memory again and again, until another thread changes them.
//
// A thread that has read the same value there some times in a row waits for a change, so that
// others run. If nobody can go on without, it looks again by itself: the loop may have another end,
// such as a counter's.
//
// Whether it has one is seen by the thread's own state, its registers and its stack: if that is the
// same as at an earlier look, and memory has not changed in between, the thread goes round for
// ever. If all that poll do so, and nobody else can go on, that is a deadlock. It is also taken for
// one if they have looked very often (engine/turns.h).
#pragma once
#include "engine/fiber.h"
#include "memory/types.h"

namespace sim {

// What a thread has read.
struct Read {
  const void* address;
  u32 width;
  u64 value;
};

// Whether the address is of memory that other threads may write too: global or shared memory,
// a variable of the kernel's library, or registered memory of the host's.
bool is_polled_memory(const Fiber& fiber, const void* address, u32 width);

// The fiber has read something, in a launch whose clusters take turns. Returns when it should go
// on. Strong: by a volatile access, or by an atomic that has changed nothing. plain: of one place.
void note_strong_read(Fiber& fiber, const Read& read, u32 pc);
void note_plain_read(Fiber& fiber, const Read& read, u32 pc);

// The fiber has read the clock. A loop that waits for a time is left to go on, but between its
// looks the other threads run, so that they wait at the same time.
void note_clock(Fiber& fiber, u32 pc);

// The bits that lie at an address, 8 bytes at most.
u64 bits_at(const void* address, u32 width);

}  // namespace sim
