"""What one warp's request costs: wavefronts in shared memory, sectors in global memory.

Shared memory has 32 banks of 4 bytes; a wavefront serves at most one word of each bank.
Source of the rules: single-warp kernels measured with Nsight Compute on an H200; 22 load patterns
of 2, 4, 8 and 16 bytes gave the counts computed here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ArgumentError

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
    """One warp-wide load or store: its non-empty phases, in the order of the lanes."""

    phases: tuple[Phase, ...]

    @property
    def wavefronts(self) -> int:
        """Wavefronts that the request takes."""
        return sum(phase.wavefronts for phase in self.phases)

    @property
    def minimum(self) -> int:
        """Wavefronts that it would take if no two words of a phase shared a bank: one a phase."""
        return len(self.phases)

    @property
    def conflicts(self) -> int:
        """Wavefronts above the minimum; this is what the course calls bank conflicts."""
        return self.wavefronts - self.minimum


def _checked(addresses: ArrayLike, width: int, active: ArrayLike | None) -> tuple:
    """Addresses as a list of ints and the list of active lanes, or ArgumentError."""
    if isinstance(width, bool) or width not in WIDTHS:
        raise ArgumentError(f"width: got {width!r} bytes a lane, allowed are 1, 2, 4, 8 and 16")
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


def _phase_lanes(values: list[int], lanes: list[int], width: int, store: bool) -> int:
    """Lanes per phase: 32, or 16 (8-byte) or 8 (16-byte), doubled by the load pair rule."""
    if width <= BANK_BYTES:
        return WARP
    size = WARP * BANK_BYTES // width
    if store:  # the pair rule is measured for loads only
        return size
    here = set(lanes)

    def paired(step: int) -> bool:
        return all(n ^ step not in here or values[n] == values[n ^ step] for n in lanes)

    return size * 2 if paired(1) or paired(2) else size


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


def wavefronts(
    addresses: ArrayLike, width: int, active: ArrayLike | None = None, store: bool = False
) -> Request:
    """How a warp's shared-memory request of `width` bytes a lane is served.

    addresses: 32 integers, the byte address of each lane in shared memory, multiples of `width`.
    width: 1, 2, 4, 8 or 16 bytes. active: 32 booleans, None for all. store: a store, not a load.
    A request of up to 4 bytes a lane is one phase, 8 bytes two half-warps, 16 bytes four
    quarter-warps. For loads, phases are twice as wide if every active lane n agrees with lane
    n ^ 1, or every one with lane n ^ 2 (an inactive partner agrees).
    Raises ArgumentError for another width, shape, or a misaligned address.
    """
    values, lanes = _checked(addresses, width, active)
    size = _phase_lanes(values, lanes, width, store)
    groups = [[n for n in lanes if n // size == i] for i in range(WARP // size)]
    return Request(tuple(_phase(values, group, width) for group in groups if group))


def sectors(addresses: ArrayLike, width: int, active: ArrayLike | None = None) -> int:
    """Number of different 32-byte sectors that a warp's global-memory request touches.

    addresses: 32 integers, byte addresses, multiples of `width` (1, 2, 4, 8 or 16 bytes a lane).
    active: 32 booleans, None for all. Raises ArgumentError as `wavefronts` does.
    """
    values, lanes = _checked(addresses, width, active)
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
    """The request in words: wavefronts, minimum, the surplus, and who meets where."""

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
