// Loops that read one place in global memory again and again, until another thread changes it.
//
// A thread that has read the same value there some times in a row waits for a change, so that
// others run. If nobody can go on without, it looks again by itself, some times: the loop may have
// another end (engine/turns.h).
#pragma once
#include "engine/fiber.h"
#include "memory/types.h"

namespace sim {

// The reads in a row after which a thread is taken to wait: strong ones, others.
constexpr u32 STRONG_POLLS = 2, PLAIN_POLLS = 64;
// Of the clock. A kernel that takes a time reads it a few times.
constexpr u32 CLOCK_READS = 16;

// The fiber has read `value` there, in a launch whose clusters take turns. Returns when it should
// go on.
void note_poll(Fiber& fiber, const void* address, u32 width, u64 value, u32 most, u32 pc);

// The fiber has read the clock. A loop that waits for a time is left to go on, but between its
// looks the other threads run, so that they wait at the same time.
void note_clock(Fiber& fiber, u32 pc);

// The bits that lie at an address, 8 bytes at most.
u64 bits_at(const void* address, u32 width);

}  // namespace sim
