"""What one warp's request costs: wavefronts in shared memory, sectors in global memory.

Shared memory has 32 banks of 4 bytes; a wavefront serves at most one word of each bank, to any
number of lanes. The rules were measured, with Nsight Compute on an H200, as single-warp requests
with random addresses and active lanes; `book/measurements/wavefronts/patterns_h200.json` has
1,646 of them, and the tests ask that these functions give every count (`evidence/patterns.py`).

- 1, 2 and 4 bytes a lane: one phase. 8 bytes: two phases of 16 lanes; 16 bytes: four of 8 lanes. A
  phase takes as many wavefronts as its worst bank has different words.
- ldmatrix and stmatrix: a phase for each matrix, of the 8 lanes that point to its rows: as a store.
- Loads of 8 and 16 bytes: two neighbouring phases are served in one wavefront if their lanes agree
  in pairs and no bank is asked for two words; otherwise apart. Agreeing: every lane n has the
  address of lane n ^ 1, or every one that of lane n ^ 2. For 8 bytes all lanes count, for 16 bytes
  those of the two phases (lanes 0 to 15, lanes 16 to 31). Stores have no such rule.
- Where lanes are inactive, whose addresses never matter: an inactive partner agrees, except in
  lanes 0 to 15 of a 16-byte load. Those need no agreement at all while lane 31 is inactive, and
  partners that are both active or both inactive while it is active. And if all active lanes of a
  16-byte load have one address, a wavefront serves 16 of them.
- 32-bit integer atomics: as many wavefronts as the worst bank has active lanes, whatever the words.
  Compare and swap takes twice as many; float and 64-bit ones become loops and are not modelled.
- wgmma: 128 bytes of an operand a wavefront, whatever its layout, swizzle and strides (227 launches
  in `wgmma_h200.json`): pieces of 8 x 16 bytes, which never conflict.
- Global memory: one request an instruction, and as many sectors as different 32-byte pieces.

cp.async has rules of its own: `copies.py`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...core.arguments import choice, instance
from ...core.errors import ArgumentError

WARP = 32
BANKS = 32
BANK_BYTES = 4
SECTOR_BYTES = 32
WIDTHS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Word:
    """A 4-byte word that a phase touches.

    `index` is its byte address / 4, `bank` is index % 32, `lanes` are those that want it.
    `wavefront` (from 0, within the phase) numbers the words of a bank in the order of the lanes;
    the hardware's own order is not documented and does not change the count.
    """

    index: int
    bank: int
    wavefront: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Phase:
    """The part of a request that is served together: `lanes` (active ones only) and their words."""

    lanes: tuple[int, ...]
    words: tuple[Word, ...]

    @property
    def wavefronts(self) -> int:
        """The largest number of different words in one bank."""
        return 1 + max((word.wavefront for word in self.words), default=-1)

    def by_bank(self) -> tuple[tuple[Word, ...], ...]:
        """The words of each of the 32 banks."""
        return tuple(tuple(w for w in self.words if w.bank == bank) for bank in range(BANKS))

    def collisions(self) -> tuple[tuple[Word, ...], ...]:
        """The banks' words, for each bank that must deliver more than one word, worst first."""
        crowded = [words for words in self.by_bank() if len(words) > 1]
        return tuple(sorted(crowded, key=len, reverse=True))


@dataclass(frozen=True)
class Request:
    """One warp-wide load or store: its non-empty phases, in the order of the lanes.

    minimum: wavefronts that it would take if no two words of a phase shared a bank.
    """

    phases: tuple[Phase, ...]
    minimum: int

    @property
    def wavefronts(self) -> int:
        """Wavefronts that the request takes."""
        return sum(phase.wavefronts for phase in self.phases)

    @property
    def conflicts(self) -> int:
        """Wavefronts above the minimum; this is what the course calls bank conflicts."""
        return self.wavefronts - self.minimum


def lanes_at(
    addresses: ArrayLike, width: int, active: ArrayLike | None
) -> tuple[list[int], list[int]]:
    """Addresses as a list of ints, and the list of the active lanes.

    Raises ArgumentError for what is neither, or a misaligned address.
    """
    choice("width", width, WIDTHS, unit="bytes a lane")
    array = np.asarray(addresses)
    if array.shape != (WARP,) or array.dtype.kind not in "iu":
        raise ArgumentError(
            f"addresses: got shape {array.shape} of {array.dtype}, expected 32 integers: the byte "
            "address of each lane"
        )
    mask = np.ones(WARP, bool) if active is None else np.asarray(active)
    if mask.shape != (WARP,) or mask.dtype != bool:
        raise ArgumentError(
            f"active: got shape {mask.shape} of {mask.dtype}, expected 32 booleans or None"
        )
    lanes = [int(lane) for lane in np.flatnonzero(mask)]
    values = [int(a) for a in array]
    for lane in lanes:
        if values[lane] < 0 or values[lane] % width:
            raise ArgumentError(
                f"addresses: lane {lane} is at byte {values[lane]}, which is no multiple of the "
                f"width {width}; the GPU would report a misaligned address"
            )
    return values, lanes


def _phase(values: list[int], lanes: list[int], width: int) -> Phase:
    """Groups the words of these lanes: equal words are one, words of a bank queue."""
    wanted: dict[int, list[int]] = {}
    for lane in lanes:
        first = values[lane] // BANK_BYTES
        for index in range(first, first + max(1, width // BANK_BYTES)):
            wanted.setdefault(index, []).append(lane)
    queue = [0] * BANKS
    words = []
    for index, users in wanted.items():
        bank = index % BANKS
        words.append(Word(index, bank, queue[bank], tuple(users)))
        queue[bank] += 1
    return Phase(tuple(lanes), tuple(words))


def _agree(values: list[int], lanes: list[int], step: int, alone: bool) -> bool:
    """Whether each lane n has the address of lane n ^ step; `alone`: an inactive one agrees."""
    here = set(lanes)
    return all(values[n] == values[n ^ step] if n ^ step in here else alone for n in lanes)


def _may_join(values: list[int], lanes: list[int], half: list[int], width: int) -> bool:
    """Whether the two phases of a load that `half` makes up may be served as one."""
    first_of_four = width == 16 and half[0] < WARP // 2
    if first_of_four and WARP - 1 not in lanes:
        return True
    return any(_agree(values, half, step, alone=not first_of_four) for step in (1, 2))


def _load(values: list[int], lanes: list[int], width: int) -> Request:
    """A load of 8 or 16 bytes a lane: pairs of phases, joined or apart."""
    size = WARP * BANK_BYTES // width
    if width == 16 and len({values[n] for n in lanes}) == 1:
        groups = [lanes[i : i + 16] for i in range(0, len(lanes), 16)]
        return Request(tuple(_phase(values, group, width) for group in groups), len(groups))
    phases, minimum = [], 0
    for first in range(0, WARP, 2 * size):
        both = [n for n in lanes if n // size * size in (first, first + size)]
        apart = [[n for n in both if n // size * size == i] for i in (first, first + size)]
        found = [_phase(values, group, width) for group in apart if group]
        least = len(found)
        joined = _phase(values, both, width)
        if least == 2 and len(joined.words) <= BANKS and _may_join(values, lanes, both, width):
            least = 1
            # A conflict parts the two; they are shown joined where that costs the same.
            if joined.wavefronts in (1, sum(phase.wavefronts for phase in found)):
                found = [joined]
        phases += found
        minimum += least
    return Request(tuple(phases), minimum)


def wavefronts(
    addresses: ArrayLike, width: int, active: ArrayLike | None = None, store: bool = False
) -> Request:
    """How a warp's shared-memory request of `width` bytes a lane is served.

    addresses: 32 integers, the byte address of each lane in shared memory, multiples of `width`.
    width: 1, 2, 4, 8 or 16 bytes. active: 32 booleans, None for all. store: a store, not a load.
    The rows of an ldmatrix or stmatrix are served as a 16-byte store of 8, 16 or 32 lanes.
    Raises ArgumentError for another width, shape, or a misaligned address.
    """
    values, lanes = lanes_at(addresses, width, active)
    if width > BANK_BYTES and not store:
        return _load(values, lanes, width)
    size = min(WARP, WARP * BANK_BYTES // width)
    groups = [[n for n in lanes if n // size == i] for i in range(WARP // size)]
    phases = tuple(_phase(values, group, width) for group in groups if group)
    return Request(phases, len(phases))


def atomic_wavefronts(addresses: ArrayLike, active: ArrayLike | None = None) -> int:
    """Wavefronts of a warp's 32-bit integer atomic in shared memory.

    Measured for addition (with and without use of the result), exchange and maximum; compare and
    swap takes twice as many. Arguments and exceptions as those of `wavefronts`.
    """
    values, lanes = lanes_at(addresses, BANK_BYTES, active)
    users = Counter(values[lane] // BANK_BYTES % BANKS for lane in lanes)
    return max(users.values(), default=0)


def wgmma_wavefronts(n: int, a_in_registers: bool = False) -> int:
    """Wavefronts in which a warpgroup's wgmma.m64nNk16 reads its 16-bit operands."""
    rows = n if a_in_registers else n + 64
    return rows * 16 * 2 // (BANKS * BANK_BYTES)


def sectors(addresses: ArrayLike, width: int, active: ArrayLike | None = None) -> int:
    """Number of different 32-byte sectors that a warp's global-memory request touches.

    addresses: 32 integers, byte addresses, multiples of `width` (1, 2, 4, 8 or 16 bytes a lane).
    active: 32 booleans, None for all. Raises ArgumentError as `wavefronts` does.
    """
    values, lanes = lanes_at(addresses, width, active)
    return len({values[lane] // SECTOR_BYTES for lane in lanes})


def lane_list(lanes: tuple[int, ...]) -> str:
    """'lane 3', 'lanes 0 to 31', 'lanes 0, 8, 16, 24', 'lanes 0, 2, 4, ... 30' (16 of them)."""
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if len(lanes) > 2 and lanes[-1] - lanes[0] == len(lanes) - 1:
        return f"lanes {lanes[0]} to {lanes[-1]}"
    if len(lanes) > 8:
        head = ", ".join(map(str, lanes[:3]))
        return f"{len(lanes)} lanes ({head}, ... {lanes[-1]})"
    return "lanes " + ", ".join(map(str, lanes))


def describe(request: Request) -> str:
    """A request in words: wavefronts, minimum, the surplus, and who meets where.

    request: what `wavefronts` gave. Raises ArgumentError for anything else.
    """

    instance("request", request, Request, "what layouts.wavefronts gave")

    def plural(count: int, noun: str) -> str:
        return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

    count = plural(request.wavefronts, "wavefront")
    if not request.conflicts:
        return f"{count}, the minimum is {request.minimum}: no conflict."
    worst = max(request.phases, key=lambda phase: phase.wavefronts)
    crowded = worst.collisions()
    lanes = tuple(sorted({lane for word in crowded[0] for lane in word.lanes}))
    others = sum(len(words) == len(crowded[0]) for words in crowded) - 1
    bank = crowded[0][0].bank
    where = f"{lane_list(lanes)} meet in bank {bank}"
    if len(lanes) == 1:
        where = f"{lane_list(lanes)} alone needs {len(crowded[0])} words of bank {bank}"
    if len(request.phases) > 1:
        where = f"in phase {request.phases.index(worst) + 1} {where}"
    also = f", and as many in {plural(others, 'other bank')}" if others else ""
    where = where[0].upper() + where[1:]
    return (
        f"{count}, the minimum is {request.minimum}: {request.conflicts} too many. {where}{also}."
    )
