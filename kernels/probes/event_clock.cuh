// What the warpgroups of two blocks do, and in which cycle of their SM.
//
// Idea: an event is a kind, a number and a cycle. One thread of a warpgroup writes it to a place
//   that no other event has, and waits for nothing: no barrier, no atomic, one pointer that moves
//   on. Between the end of a k tile's products and the start of the next ones every cycle counts:
//   the tensor cores have few instructions queued. There the clock is only read (`note`), and
//   written down when the next products have been started. The lower 32 bits of the cycle suffice:
//   within a block they tell events apart that are less than 2^31 cycles, about a second, from each
//   other. No step has these lines. The build that traces puts them into a copy of the step's text
//   (lib/gemmlab/steps/traced.py).
#pragma once
#include <cuda_runtime.h>

// In the order of lib/gemmlab/layouts/warpgroups/events.py. The first two are the producer's.
enum EventKind : unsigned {
  EVENT_EMPTY = 1,  // a stage has been found empty
  EVENT_ASKED,      // the copies into it have been asked for
  EVENT_FULL,       // a stage has been found full
  EVENT_STARTED,    // the products of its k tile have been committed
  EVENT_DONE,       // those of a k tile have been found finished
  EVENT_STORE,      // C, or a piece of it, begins to be stored
  EVENT_STORED,     // the copies of it have been started
  EVENT_PACK,       // sums begin to be scaled and packed
  EVENT_PACKED,
  EVENT_AWAITS,  // the turn is waited for
  EVENT_TURN,    // it has come
  EVENT_PASSED   // and has been passed on
};

constexpr int EVENT_BLOCKS = 2, EVENT_WARPGROUPS = 3;  // the producer is the last one
constexpr unsigned EVENT_CAPACITY = 4096;              // of a warpgroup
constexpr unsigned EVENT_PLACES = EVENT_BLOCKS * EVENT_WARPGROUPS * EVENT_CAPACITY;

// x: the kind, and 256 times the number; 0: no event. y: the cycle.
__device__ uint2 event_places[EVENT_PLACES];

// Where a thread writes its next event. Blocks in the middle of the grid write, the first thread of
// each warpgroup; of the producer any thread, because one alone calls `put`.
struct EventCursor {
  uint2 *at, *end;              // equal in a thread that writes none, or no more
  unsigned full = 0, done = 0;  // cycles of noted events

  __device__ __forceinline__ EventCursor() {
    const unsigned block = blockIdx.x - gridDim.x / 2, warpgroup = threadIdx.x / 128;
    const bool writes =
        block < EVENT_BLOCKS && (threadIdx.x % 128 == 0 || warpgroup == EVENT_WARPGROUPS - 1);
    at = event_places + (writes ? (block * EVENT_WARPGROUPS + warpgroup) * EVENT_CAPACITY : 0);
    end = at + (writes ? EVENT_CAPACITY : 0);
  }
  // EVENT_FULL of a k tile, or EVENT_DONE of the one before: its end is found beside this one.
  __device__ __forceinline__ void note(EventKind kind) {
    if (at != end) (kind == EVENT_FULL ? full : done) = (unsigned)clock64();
  }
  // A noted event, of a k tile if there is one.
  __device__ __forceinline__ void put_noted(EventKind kind, int number) {
    if (number >= 0) write(kind, number, kind == EVENT_FULL ? full : done);
  }
  __device__ __forceinline__ void put(EventKind kind, int number) {
    if (at == end) return;
    const unsigned now = (unsigned)clock64();
    if (kind == EVENT_STARTED) {
      put_noted(EVENT_DONE, number - 2);
      put_noted(EVENT_FULL, number);
    }
    write(kind, number, now);
  }
  __device__ __forceinline__ void write(EventKind kind, int number, unsigned cycle) {
    if (at != end) *at++ = make_uint2(kind | number << 8, cycle);
  }
};

inline int event_clock_clear() {
  void* places = nullptr;
  const cudaError_t error = cudaGetSymbolAddress(&places, event_places);
  return error != cudaSuccess ? error : cudaMemset(places, 0, sizeof event_places);
}

// to: EVENT_PLACES pairs in the host's memory.
inline int event_clock_read(void* to) {
  return cudaMemcpyFromSymbol(to, event_places, sizeof event_places);
}
