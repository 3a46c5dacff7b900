// What the copy engine knows of a tensor (cuda.h, CUtensorMap), and the box of it that one
// instruction moves. One to five dimensions: the first goes along a row, the second from row to
// row, the others from plane to plane. A dimension that a tensor does not have has size 1.
#pragma once
#include <algorithm>

#include "memory/types.h"

namespace sim {

struct TensorMap {
  static constexpr u64 MARK = 0x70616d20726f736e;  // tells a map from other memory
  static constexpr u32 CHUNK = 16;                 // bytes that swizzles keep together
  static constexpr u32 MAX_RANK = 5;

  u64 mark = 0;
  char* base = nullptr;
  i64 sizes[MAX_RANK] = {1, 1, 1, 1, 1};
  i64 strides[MAX_RANK - 1] = {};  // bytes, of the second dimension and on
  u32 box[MAX_RANK] = {1, 1, 1, 1, 1};
  u32 rank = 0;
  u32 element_bytes = 0;
  u32 swizzle_bytes = CHUNK;  // the span in which chunks change places; one chunk: they do not

  // Copies the map at an address. Returns false if there is none.
  static bool read(const void* address, TensorMap& map);
};

// The part of a row of a box that lies in the tensor, as bytes from the row's start in the box.
struct RowPart {
  u32 begin, end;  // equal: nothing
  char* global;    // where `begin` is
};

struct Box {
  TensorMap map;
  // Of its first element, also outside of the tensor; the first one: a multiple of 16 bytes.
  i64 at[TensorMap::MAX_RANK];
  u32 address;  // in shared memory

  u32 row_bytes() const { return map.box[0] * map.element_bytes; }
  // Of all planes, which follow each other in shared memory.
  u32 rows() const { return map.box[1] * planes(); }
  u32 planes() const { return map.box[2] * map.box[3] * map.box[4]; }
  // All of it, whatever lies in the tensor: so many bytes an mbarrier is told of.
  u32 bytes() const { return row_bytes() * rows(); }
  // From row to row in shared memory. With a swizzle every row has a span of its own, and leaves
  // the rest of it alone where it is shorter; without one rows are dense. (Seen on an H200.)
  u32 pitch() const { return std::max(row_bytes(), map.swizzle_bytes); }
  // From the box's address past its last byte in shared memory.
  u32 shared_bytes() const;
  RowPart part(u32 row) const;
  // Whether a plane lies in the tensor, and if it does, how far in bytes it is from the tensor's
  // first one.
  bool find_plane(u32 plane, i64& offset) const;

  // Where byte `at` of a row is in shared memory. A span of 128 bytes: bits 4 to 6 of the address
  // become their XOR with bits 7 to 9; 64: 4, 5 with 7, 8; 32: 4 with 7. (CuTe:
  // Swizzle<3|2|1,4,3>.)
  u32 place(u32 row, u32 at) const {
    const u32 plain = address + row * pitch() + at;
    return plain ^ (plain >> 3 & (map.swizzle_bytes - TensorMap::CHUNK));
  }

  // Calls visit(byte of the row, place in shared memory, bytes) for the chunks of a part of a row.
  template <class Visit>
  void for_each_chunk(u32 row, u32 begin, u32 end, Visit visit) const {
    for (u32 at = begin; at < end;) {
      const u32 next = std::min(end, (at / TensorMap::CHUNK + 1) * TensorMap::CHUNK);
      visit(at, place(row, at), next - at);
      at = next;
    }
  }
  // Calls visit(place in shared memory, bytes) for the pieces that the box takes there: all of it
  // where rows fill their pitch, since chunks stay in their span.
  template <class Visit>
  void for_each_piece(Visit visit) const {
    if (pitch() == row_bytes()) return visit(address, bytes());
    for (u32 row = 0; row < rows(); ++row)
      for_each_chunk(row, 0, row_bytes(), [&](u32, u32 place, u32 count) { visit(place, count); });
  }

  // `memory`: the shared memory that `address` counts from.
  void load(char* memory) const;
  // The store's two halves: from shared memory to a row-major copy, and on to global memory.
  void take(const char* memory, char* copy) const;
  void store(const char* copy) const;
};

}  // namespace sim
