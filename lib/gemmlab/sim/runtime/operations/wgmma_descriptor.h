// Where wgmma finds an operand in shared memory. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Shared Memory Layout": "Matrix Descriptor Format", "Strides", "Canonical Layouts".
#pragma once
#include <vector>

#include "memory/shared_memory.h"
#include "memory/types.h"

namespace sim {

constexpr u32 WGMMA_K = 16;

// What is wrong with a descriptor. sim/messages/wgmma.py has the sentences in this order.
enum class DescriptorFault : u32 {
  NONE,
  // Cannot be executed:
  RESERVED_BITS,  // detail: the bits
  OUTSIDE,        // detail: bytes from the start to the first piece outside of the start's array
  // Can, but hardly as meant:
  START,    // detail: bytes past the start of a pattern, or of a row that the operand fits in
  STRIDE,   // detail: the leading or stride offset that is no multiple of the pattern
  OVERLAP,  // two elements in one place
};

struct Descriptor {
  u32 start, leading, stride;  // bytes
  u32 base;                    // of the pattern's start, bits 7 to 9
  u32 span;                    // bytes of a row of the pattern: 16 (no swizzle), 32, 64 or 128
  u64 reserved;                // bits that must be 0

  explicit Descriptor(u64 bits);
  u32 pattern() const { return 8 * span; }
  // The address of the byte that would be at `address` without a swizzle.
  u32 swizzle(u32 address) const;
};

// An operand of 16 k and `rows` rows: of A, or of B transposed. Its pieces are 16 bytes, that is,
// eight elements that are neighbours in every layout.
class SharedOperand {
 public:
  static constexpr u32 PIECE = 8, PIECE_BYTES = 16;
  struct Span {
    u32 offset, bytes;
  };

  SharedOperand(u64 descriptor, u32 rows, bool mn_major, const SharedMemory& memory);

  DescriptorFault fault() const { return fault_; }
  bool can_be_read() const {
    return fault_ != DescriptorFault::RESERVED_BITS && fault_ != DescriptorFault::OUTSIDE;
  }
  u64 detail() const { return detail_; }
  u32 span() const { return descriptor_.span; }
  u32 pieces() const { return u32(pieces_.size()); }
  // Its memory in order of addresses, neighbours joined.
  const std::vector<Span>& memory() const { return memory_; }
  // The element (row, k) goes to to[row * row_stride + k * k_stride].
  template <class Format>
  void unpack(const SharedMemory& memory, u32 row_stride, u32 k_stride, float* to) const;

 private:
  // First element of a piece.
  u32 row_of(u32 piece) const {
    return mn_major_ ? piece / WGMMA_K * PIECE : piece / (WGMMA_K / PIECE);
  }
  u32 k_of(u32 piece) const {
    return mn_major_ ? piece % WGMMA_K : piece % (WGMMA_K / PIECE) * PIECE;
  }
  u32 address_of(u32 row, u32 k) const;
  void examine(const SharedMemory& memory);
  void examine_pattern();
  void join();
  void find(DescriptorFault fault, u64 detail) {
    if (fault_ == DescriptorFault::NONE) fault_ = fault, detail_ = detail;
  }

  Descriptor descriptor_;
  u32 rows_;
  bool mn_major_;
  DescriptorFault fault_ = DescriptorFault::NONE;
  u64 detail_ = 0;
  std::vector<u32> pieces_;  // addresses
  std::vector<Span> memory_;
};

}  // namespace sim
