"""What one warp's cp.async costs, in wavefronts of shared memory and sectors of global memory.

Measured as in `banks.py`: 462 copies are recorded, and what is computed here equals all of them.

- Through L1 (`ca`): phases of 32, 16 or 8 lanes for 4, 8 or 16 bytes, as for a store. Two lanes of
  a phase collide if their sources share a bank (of the cache, which has shared memory's banks), or
  if their destinations do, the same word included. A phase takes one wavefront more than the lane
  with the most collisions has of them. Sectors: the sources' different ones.
- Past L1 (`cg`, 16 bytes): 32-byte sectors arrive from L2 and are written on. Lanes of one
  destination count once, the first one's source is read. A sector is requested for each pair of a
  source's and a destination's sector. Such pairs share a wavefront if they lie in one 128-byte line
  on either side, use the same halves of their sectors, and agree in whether bit 5 of the addresses
  changes; but a wavefront takes a source's sector once.
- With a source size (`zfill`), lanes of size 0 read nothing, and still have a destination. Past L1
  such a copy takes the wavefronts of both: those through L1, and those past it of lanes that read.
  (With a size of 16 that the compiler knows, it drops the size.)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...core.errors import ArgumentError
from .banks import BANK_BYTES, BANKS, SECTOR_BYTES, WARP, lanes_at

PIECE = 16  # bytes
LINE_BYTES = 128


@dataclass(frozen=True)
class CopyRequest:
    """The cost of one warp's cp.async.

    wavefronts of shared memory and sectors of global memory; minimum: wavefronts if neither side
    had conflicts and, past L1, the source was whole lines.
    """

    wavefronts: int
    minimum: int
    sectors: int

    @property
    def conflicts(self) -> int:
        """Wavefronts above the minimum."""
        return self.wavefronts - self.minimum


def copy(
    to: ArrayLike,
    source: ArrayLike,
    width: int,
    active: ArrayLike | None = None,
    *,
    reads: ArrayLike | None = None,
    past_l1: bool = False,
    zero_fill: bool = False,
) -> CopyRequest:
    """A warp's cp.async of `width` bytes (4, 8 or 16) a lane.

    to, source: 32 integers, byte addresses in shared and global memory, multiples of `width`.
    active: 32 booleans, None for all. reads: which lanes have a source size above 0, None for all.
    past_l1: cp.async.cg, of 16 bytes. zero_fill: the form with a source size.
    Raises ArgumentError for another width, shape, or a misaligned address.
    """
    if width not in ((PIECE,) if past_l1 else (4, 8, PIECE)):
        raise ArgumentError(f"width: got {width!r} bytes, a copy has 4, 8 or 16, and 16 past L1")
    targets, lanes = lanes_at(to, width, active)
    reading = np.ones(WARP, bool) if reads is None else np.asarray(reads)
    if reading.shape != (WARP,) or reading.dtype != bool:
        raise ArgumentError(
            f"reads: got shape {reading.shape} of {reading.dtype}, expected 32 bool"
        )
    among = np.isin(np.arange(WARP), lanes) & reading
    sources, readers = lanes_at(source, width, among)
    if not past_l1:
        phases = _through_l1(targets, sources, lanes, readers, width)
        sectors = {sources[n] // SECTOR_BYTES for n in readers}
        return CopyRequest(sum(phases), len(phases), len(sectors))
    first = {targets[n]: n for n in reversed(lanes)}.values()
    read = [n for n in first if n in readers]
    wavefronts, sector_count = _past_l1(targets, sources, read)
    minimum = -(-len(read) * PIECE // LINE_BYTES)
    if zero_fill:
        phases = _through_l1(targets, sources, lanes, readers, width)
        wavefronts, minimum = wavefronts + sum(phases), minimum + len(phases)
    return CopyRequest(wavefronts, minimum, sector_count)


def _banks(address: int, width: int) -> frozenset[int]:
    first = address // BANK_BYTES
    return frozenset(index % BANKS for index in range(first, first + width // BANK_BYTES))


def _through_l1(
    targets: list[int], sources: list[int], lanes: list[int], readers: list[int], width: int
) -> list[int]:
    """Wavefronts of each phase that has active lanes."""
    size = WARP * BANK_BYTES // width
    to = {n: _banks(targets[n], width) for n in lanes}
    of = {n: _banks(sources[n], width) if n in readers else frozenset() for n in lanes}
    phases = defaultdict(list)
    for n in lanes:
        phases[n // size].append(n)
    return [
        max(1 + sum(m != n and bool(to[m] & to[n] or of[m] & of[n]) for m in group) for n in group)
        for group in phases.values()
    ]


def _past_l1(targets: list[int], sources: list[int], lanes: list[int]) -> tuple[int, int]:
    """Wavefronts, and pairs of a source's and a destination's sector."""
    pairs = defaultdict(set)  # by the sectors: the pieces of the source's that are used, and where
    for n in lanes:
        pieces = sources[n] // PIECE % 2, targets[n] // PIECE % 2
        pairs[sources[n] // SECTOR_BYTES, targets[n] // SECTOR_BYTES].add(pieces)
    shared = defaultdict(list)  # by what must agree: the source's sectors
    for (source, target), used in pairs.items():
        turned = (source ^ target) % 2  # whether bit 5 of the address changes
        shared[source // 4, target // 4, frozenset(used), turned].append(source)
    return sum(max(Counter(sectors).values()) for sectors in shared.values()), len(pairs)
