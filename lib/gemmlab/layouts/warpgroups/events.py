"""What the warpgroups of a block have written down: events, in cycles of their SM's clock.

The order of KINDS is that of kernels/probes/event_clock.cuh, and a test holds the two equal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ...core.errors import MeasurementError

if TYPE_CHECKING:
    import numpy as np

# Kind -> its letter in a recording. 0 in memory is no event, so the first kind is 1 there.
KINDS = {
    "empty": "e",
    "asked": "a",
    "full": "f",
    "started": "s",
    "done": "d",
    "store": "w",
    "stored": "x",
    "pack": "p",
    "packed": "q",
    "awaits": "b",
    "turn": "t",
    "passed": "u",
}
OF_K_TILES = ("empty", "asked", "full", "started", "done")
CONSUMERS, PRODUCER = (0, 1), 2  # places of the warpgroups
_NAMES = {letter: kind for kind, letter in KINDS.items()}
_WRITTEN = re.compile(r"([a-z])(-?\d+)\+(\d+)")
_WRAP = 1 << 32


@dataclass(frozen=True)
class Event:
    """kind: one of KINDS. number: as a kernel writes it the k tile within its tile of C, or the
    piece of C; once `numbered`, the k tile or the tile of C within the block's work. cycle: when,
    in cycles from the block's first event on.
    """

    kind: str
    number: int
    cycle: int


Line = tuple[Event, ...]  # of a warpgroup, in the order of time


def of_words(words: np.ndarray) -> tuple[Line, ...]:
    """A line for each warpgroup of a block, from what lies in memory.

    words: (warpgroups, places, 2) of 32 bits: the kind and 256 times the number, and the lower half
    of the clock, which may pass 2^32 meanwhile. Raises MeasurementError if a warpgroup has filled
    all its places: then what came later is lost.
    """
    import numpy as np

    places = np.asarray(words).view(np.uint32)
    if (full := np.flatnonzero(places[:, -1, 0])).size:
        raise MeasurementError(f"warpgroup {full[0]} has more events than places for them")
    first = next((int(line[0, 1]) for line in places if line[0, 0]), 0)
    lines = [_line(line[line[:, 0] > 0], first) for line in places]
    begin = min((line[0].cycle for line in lines if line), default=0)
    return tuple(_shifted(line, begin) for line in lines)


def _line(words: np.ndarray, first: int) -> Line:
    """first: a clock of the same block, from which cycles are counted, also backwards."""
    events: list[Event] = []
    before, at = first, 0
    for packed, clock in words.tolist():
        step = (clock - before) % _WRAP
        at += step - _WRAP * (not events and step > _WRAP // 2)
        before = clock
        events.append(Event([*KINDS][packed % 256 - 1], packed // 256, at))
    return tuple(events)


def _shifted(line: Line, begin: int) -> Line:
    return tuple(replace(event, cycle=event.cycle - begin) for event in line)


def numbered(lines: Sequence[Line], schedule: str, depth: int) -> tuple[Line, ...]:
    """The same events, with k tiles and tiles of C counted through the block's work.

    lines: of the consumers and the producer, from the block's begin on. depth: k tiles of a tile.
    Consumers that take turns have every second tile. A piece that is stored between products, with
    deferred write-back, is of the tile before; of the first tile there is none, so it is left out.
    """
    step = 2 if schedule == "ping-pong" else 1
    found = [_numbered(lines[c], depth, step, c * (step - 1)) for c in CONSUMERS]
    return (*found, _numbered(lines[PRODUCER], depth, 1, 0))


def _numbered(line: Line, depth: int, step: int, first: int) -> Line:
    events, tile, beside = [], first - step, False
    for event in line:
        if event.kind in ("full", "empty") and event.number == 0:
            tile += step
        if event.kind in OF_K_TILES:
            beside = event.kind == "started"
            events.append(replace(event, number=tile * depth + event.number))
            continue
        ahead = step * (event.kind in ("awaits", "turn"))
        behind = step * (beside and event.kind in ("store", "stored"))
        if tile + ahead - behind >= 0:
            events.append(replace(event, number=tile + ahead - behind))
    return tuple(events)


def clipped(line: Line, begin: int, end: int) -> Line:
    """The events from `begin` to `end`, in cycles from `begin` on."""
    return _shifted(tuple(e for e in line if begin <= e.cycle <= end), begin)


def written(line: Line) -> str:
    """A line as a recording has it: "f128+0 s128+61 ...", cycles since the event before."""
    before = [0, *(event.cycle for event in line)]
    return " ".join(
        f"{KINDS[event.kind]}{event.number}+{event.cycle - since}"
        for event, since in zip(line, before, strict=False)
    )


def read(text: str) -> Line:
    """The line of such a text. Raises MeasurementError for another text."""
    events, at = [], 0
    for word in text.split():
        if not (found := _WRITTEN.fullmatch(word)) or found[1] not in _NAMES:
            raise MeasurementError(f"{word!r} is no event of a recorded trace")
        at += int(found[3])
        events.append(Event(_NAMES[found[1]], int(found[2]), at))
    return tuple(events)


def in_order(line: Line) -> bool:
    """Whether no event is before its predecessor: else the clock was not that of one SM."""
    return all(one.cycle <= next_.cycle for one, next_ in pairwise(line))
