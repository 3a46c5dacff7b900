// Neighboring accesses of a thread that the machine code makes as one.
//
// nvcc merges scalar loads, and stores, that it sees to be neighbors into ones of 8 or 16 bytes,
// and loads only once what cannot have changed. Which lines it has done so for, and how wide,
// stands in the machine code; which of a warp's requests become one follows from their addresses.
#pragma once
#include <vector>

#include "samples.h"

namespace sim {

// One request of an instruction. widest: bytes a lane that it may be merged into.
struct Mergeable {
  u32 what, widest;
  Request request;
};

// What the machine code asks for in place of what a warp has asked for between two barriers: each
// merged request with the instruction that asks for its lowest address.
std::vector<Mergeable> merged(const std::vector<Mergeable>& asked);

}  // namespace sim
