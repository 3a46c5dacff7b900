// The lanes of a warp and the operations that they carry out together.
//
// A collective is one object: its name and what it does once every lane that takes part has come.
// A new one (ldmatrix, mma, ...) is a new file with an object and the C function that meets for it.
#pragma once
#include <memory>

#include "event.h"
#include "fiber.h"
#include "memory/requests.h"
#include "memory/types.h"

namespace sim {

struct Collective {
  const char* name;  // as it stands in a kernel
  // Reads and writes the operands of the lanes in `lanes_here` (fibers[lane].wait.operands).
  void (*execute)(Worker& worker, Fiber* fibers, u32 lanes_here);
  // Whether all 32 lanes must come, none having returned (PTX ISA, ".aligned").
  bool aligned = false;
};

struct Warp {
  Fiber* fibers = nullptr;
  u32 size = 0;
  u32 live = 0;     // lanes that have not returned
  u32 waiting = 0;  // lanes at a collective
  std::unique_ptr<WarpLog> log;

  bool can_run() const;
  bool any(State state) const;
  // Whether all lanes that have not returned wait at one place outside of the warp. Otherwise some
  // have more to come that belongs to what the others have done.
  bool is_together() const;
  // Lanes that a lane at a collective waits for and that have not come to the same call.
  u32 awaited_by(const Fiber& fiber) const;
  // The lanes of a collective that can be carried out, 0 if there is none.
  u32 complete() const;
  // The lanes' events so far.
  WarpEvents events() const;
};

}  // namespace sim
