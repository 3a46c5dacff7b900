"""wgmma's layouts in NumPy, from the canonical layouts of the PTX ISA (in CuTe's notation there).

With T = 8 elements of 16 bytes and W = span / 16, in elements and before the swizzle:
K-major, no swizzle   ((8, m), (T, 2)) : ((T, SBO), (1, LBO))
K-major, swizzled     ((8, m), (T, 2)) : ((W T, SBO), (1, T))
MN-major, no swizzle  ((T, 1, m), (8, 2)) : ((1, T, SBO), (T, LBO))
MN-major, swizzled    ((T, W, m), (8, 2)) : ((1, T, LBO), (W T, SBO))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

T = 8
MODES = {16: 0, 128: 1, 64: 2, 32: 3}
SPANS = tuple(MODES)


@dataclass(frozen=True)
class Tile:
    """An operand of `rows` x 16 in shared memory; start, leading and stride in bytes."""

    rows: int
    span: int
    mn_major: bool
    start: int = 0
    leading: int = 16
    stride: int = 16
    base: int = 0

    def descriptor(self) -> int:
        """The 64 bits, with an address that counts from the start of the memory."""
        fields = self.start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32
        return fields | self.base << 49 | MODES[self.span] << 62

    def addresses(self) -> np.ndarray:
        """The byte offset of each element, (rows, 16)."""
        row, k = np.meshgrid(np.arange(self.rows), np.arange(16), indexing="ij")
        width = self.span // 16
        leading, stride = self.leading // 2, self.stride // 2
        shapes = {
            (False, False): ((8, 99), (T, 2), (T, stride), (1, leading)),
            (False, True): ((8, 99), (T, 2), (width * T, stride), (1, T)),
            (True, False): ((T, 1, 99), (8, 2), (1, T, stride), (T, leading)),
            (True, True): ((T, width, 99), (8, 2), (1, T, leading), (width * T, stride)),
        }
        rows, ks, row_strides, k_strides = shapes[self.mn_major, self.span > 16]
        offset = _inner(row, rows, row_strides) + _inner(k, ks, k_strides)
        return swizzle(self.start + 2 * offset, self.span, self.base)

    def bytes(self) -> int:
        """How far it reaches from its start."""
        return int(self.addresses().max()) + 2 - self.start


def swizzle(address: np.ndarray, span: int, base: int = 0) -> np.ndarray:
    """Bits 7 and up, counted from the start of the pattern, XORed into bits 4 and up."""
    return address ^ ((address >> 7) - base & (span // 16 - 1)) << 4


def _inner(index: np.ndarray, shape: tuple, strides: tuple) -> np.ndarray:
    """A coordinate in a nested shape, the first mode fastest, times the strides."""
    total = np.zeros_like(index)
    for extent, stride in zip(shape, strides, strict=True):
        total += index % extent * stride
        index = index // extent
    return total


def canonical(rows: int, span: int, mn_major: bool, start: int = 0, gap: int = 0) -> Tile:
    """A tile without holes, but for `gap` patterns after each; the gap tells the offsets apart."""
    pattern = 8 * span
    step = (1 + gap) * pattern
    if not mn_major and span > 16:
        return Tile(rows, span, False, start, 16, step)
    groups = -(-rows * 2 // span) if mn_major else rows // 8
    near, far = step, (groups + gap) * step
    if not mn_major:  # rows near each other, k far
        return Tile(rows, span, False, start, far, near)
    # MN-major: neighbouring rows near, the next 8 k far.
    return Tile(rows, span, True, start, *((far, near) if span == 16 else (near, far)))


def bits_of(values: np.ndarray, bfloat: bool) -> np.ndarray:
    """16-bit patterns of values that the type can hold."""
    if bfloat:
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(np.float16).view(np.uint16)
