#include "wgmma_descriptor.h"

#include <algorithm>
#include <cstring>

namespace sim {

Descriptor::Descriptor(u64 bits)
    : start(u32(bits & 0x3fff) << 4),
      leading(u32(bits >> 16 & 0x3fff) << 4),
      stride(u32(bits >> 32 & 0x3fff) << 4),
      base(u32(bits >> 49 & 7)),
      span(bits >> 62 ? 256u >> (bits >> 62) : 16),
      reserved(bits & 0x3ff1c000c000c000) {}

// Bits 7 and up are the number of a row (of 128 bytes) in the pattern, counted from its start; they
// are XORed into bits 4 and up, one bit for 32-byte rows, three for 128.
u32 Descriptor::swizzle(u32 address) const {
  const u32 row = (address >> 7) - base;
  return address ^ (row & (span / 16 - 1)) << 4;
}

SharedOperand::SharedOperand(u64 descriptor, u32 rows, bool mn_major, const SharedMemory& memory)
    : descriptor_(descriptor), rows_(rows), mn_major_(mn_major) {
  if (descriptor_.reserved) {
    find(DescriptorFault::RESERVED_BITS, descriptor_.reserved);
    return;
  }
  pieces_.resize(rows * (WGMMA_K / PIECE));
  for (u32 i = 0; i < pieces_.size(); ++i)
    pieces_[i] = descriptor_.swizzle(address_of(row_of(i), k_of(i)));
  examine(memory);
  if (can_be_read()) join();
}

// Before the swizzle. K-major: rows of a pattern are rows of the operand, and unless the layout is
// swizzled, each is cut at 16 bytes. MN-major: rows of a pattern are values of k.
u32 SharedOperand::address_of(u32 row, u32 k) const {
  const Descriptor& d = descriptor_;
  if (!mn_major_)
    return d.start + row / 8 * d.stride + row % 8 * d.span +
           k / PIECE * (d.span == 16 ? d.leading : PIECE_BYTES);
  const u32 width = d.span / 2;  // elements of a row of the pattern
  const u32 along_rows = d.span == 16 ? d.stride : d.leading;
  const u32 along_k = d.span == 16 ? d.leading : d.stride;
  return d.start + row / width * along_rows + row % width * 2 + k / 8 * along_k + k % 8 * d.span;
}

void SharedOperand::examine(const SharedMemory& memory) {
  const u32 start = descriptor_.start;
  for (const u32 piece : pieces_)
    if (!memory.contains(piece, PIECE_BYTES))
      find(DescriptorFault::OUTSIDE, piece > start ? piece - start : 0);
  if (descriptor_.span > 16) examine_pattern();
}

// A swizzle works on addresses, so patterns have to start where the addresses' bits are zero, or
// the base offset has to say where they do.
void SharedOperand::examine_pattern() {
  const Descriptor& d = descriptor_;
  const u32 past = (d.start - d.base * 128) % d.pattern(), in_row = past % d.span;
  const u32 extent = mn_major_ ? std::min(2 * rows_, d.span) : 2 * WGMMA_K;
  if (past != in_row || in_row + extent > d.span) find(DescriptorFault::START, past);
  const bool uses_stride = mn_major_ || rows_ > 8, uses_leading = mn_major_ && 2 * rows_ > d.span;
  if (uses_stride && d.stride % d.pattern()) find(DescriptorFault::STRIDE, d.stride);
  if (uses_leading && d.leading % d.pattern()) find(DescriptorFault::STRIDE, d.leading);
}

void SharedOperand::join() {
  std::vector<u32> sorted = pieces_;
  std::sort(sorted.begin(), sorted.end());
  for (const u32 piece : sorted) {
    const u32 end = memory_.empty() ? ~0u : memory_.back().offset + memory_.back().bytes;
    if (piece == end)
      memory_.back().bytes += PIECE_BYTES;
    else if (memory_.empty() || piece > end)
      memory_.push_back({piece, PIECE_BYTES});
    else
      find(DescriptorFault::OVERLAP, 0);
  }
}

template <class Format>
void SharedOperand::unpack(const SharedMemory& memory, u32 row_stride, u32 k_stride,
                           float* to) const {
  const u32 step = mn_major_ ? row_stride : k_stride;
  for (u32 i = 0; i < pieces_.size(); ++i) {
    u16 elements[PIECE];
    std::memcpy(elements, memory.at(pieces_[i]), PIECE_BYTES);
    float* piece = to + row_of(i) * row_stride + k_of(i) * k_stride;
    for (u32 e = 0; e < PIECE; ++e) piece[e * step] = Format::widen(elements[e]);
  }
}

}  // namespace sim
