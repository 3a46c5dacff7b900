"""A block's run as the requests of its warps, on one time line: what `lab.replay` scrubs through.

Time is a model's: every warp makes one step a tick, and a barrier lets all go on when the last one
has come. The order of steps within a warp, their lines and addresses are those of the traced run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.errors import ArgumentError
from .journal import KINDS
from .trace import Trace

WARP = 32
BARRIER = KINDS.index("mark barrier")
_VALUE = KINDS.index("mark value")
_WAITS = tuple(KINDS.index(f"mark {name}") for name in ("barrier", "mbarrier.wait"))
Values = dict[str, dict[int, dict[int, int]]]
_What = tuple[int, int, int]  # kind, line, width
_Event = tuple[int, int, int, int]  # the same, and the address
UNKNOWN = -128  # a value that no load has read, or no small integer


@dataclass(frozen=True)
class Step:
    """One request of a warp, or one mark.

    kind: an index into KINDS. line: of the kernel's own file, 0 elsewhere. width: bytes a lane.
    addresses: of each lane, -1 for those that take no part; of a mark, its number. tick: when it
    begins; until: when the next step can. epoch: waits that the warp has passed before it.
    """

    kind: int
    line: int
    width: int
    addresses: tuple[int, ...]
    tick: int
    until: int
    epoch: int


@dataclass(frozen=True)
class Replayed:
    """All warps of block 0, and what its loads have read.

    warps: the steps of each. values: "shared" -> epoch -> {address: value}, and "global" -> {0:
    ...}: small integers, as a trace's matrices have.
    """

    warps: tuple[tuple[Step, ...], ...]
    values: Values

    @property
    def ticks(self) -> int:
        """How long the block takes in model time."""
        return max((steps[-1].until for steps in self.warps if steps), default=0)


def replayed(trace: Trace, dtype: str = "float32") -> Replayed:
    """What block 0 of a trace with a journal did.

    dtype: of A and B, "float32", "float16" or "bfloat16": how loaded values are read. Raises
    ArgumentError for a trace without a journal.
    """
    journal = trace.events()
    if not len(journal.rows):
        raise ArgumentError(
            f"trace: {trace.kernel} was traced without a journal; pass journal=True to lab.trace"
        )
    threads = journal.threads()
    seen: list[np.ndarray] = []
    grouped = []
    for first in range(0, max(threads) + 1, WARP):
        lanes = [_own(threads.get(first + lane), dtype, seen) for lane in range(WARP)]
        grouped.append(list(_requests(lanes)))
    return Replayed(_timed(grouped), _by_address(seen))


def _own(rows: np.ndarray | None, dtype: str, seen: list[np.ndarray]) -> list[_Event]:
    """The events of one thread, without what its loads have read, which is added to `seen`."""
    if rows is None:
        return []
    is_value = rows["kind"] == _VALUE
    events = rows[~is_value]
    epochs = np.cumsum(np.isin(events["kind"], _WAITS))
    if is_value.any():
        seen.append(_read(rows, is_value, events, epochs, dtype))
    columns = (events[name].tolist() for name in ("kind", "line", "width", "address"))
    return list(zip(*columns, strict=True))


def _read(
    rows: np.ndarray, is_value: np.ndarray, events: np.ndarray, epochs: np.ndarray, dtype: str
) -> np.ndarray:
    """Rows of (0 shared or 1 global, epoch, address, value): what the loads of a thread have read.

    Behind each load stand the 16-bit pieces of what it read, from the lowest on.
    """
    owner = np.cumsum(~is_value)[is_value] - 1  # the event in front
    starts = np.flatnonzero(~is_value)
    place = np.flatnonzero(is_value) - starts[owner] - 1
    halves = rows["address"][is_value].astype(np.uint32)
    if dtype == "float32":
        whole = place % 2 == 0
        bits = halves[whole][: np.count_nonzero(~whole)] | halves[~whole] << 16
        owner, place, found = owner[~whole], place[~whole] // 2 * 2, bits.view(np.float32)
    elif dtype == "float16":
        found = halves.astype(np.uint16).view(np.float16).astype(np.float32)
    else:
        found = (halves << 16).view(np.float32)
    in_global = events["kind"][owner] != KINDS.index("ld.shared")
    with np.errstate(invalid="ignore"):
        small = (np.abs(found) < -UNKNOWN) & (found == np.round(found))
        value = np.where(small, found, UNKNOWN).astype(np.int64)
    address = events["address"][owner].astype(np.int64) + 2 * place
    return np.stack([in_global, np.where(in_global, 0, epochs[owner]), address, value], axis=1)


def _by_address(seen: list[np.ndarray]) -> Values:
    """What is known of each address; where two loads disagree, nothing is."""
    values: Values = {"shared": {}, "global": {}}
    if not seen:
        return values
    places, which = np.unique(np.concatenate(seen)[:, :3], axis=0, return_inverse=True)
    all_values = np.concatenate(seen)[:, 3]
    least, most = np.full(len(places), 1 << 20), np.full(len(places), -(1 << 20))
    np.minimum.at(least, which.ravel(), all_values)
    np.maximum.at(most, which.ravel(), all_values)
    agreed = np.where(least == most, least, UNKNOWN)
    for (in_global, epoch, address), value in zip(places.tolist(), agreed.tolist(), strict=True):
        memory = values["global" if in_global else "shared"]
        memory.setdefault(epoch, {})[address] = value
    return values


def _requests(lanes: list[list[_Event]]) -> Iterator[tuple[_What, tuple[int, ...]]]:
    """What a warp does, request by request: lanes that do the same next belong together."""
    at = [0] * len(lanes)
    while True:
        left = [lane for lane, events in enumerate(lanes) if at[lane] < len(events)]
        if not left:
            return
        # A lane that has done less is behind a branch that the others did not take.
        first = min(left, key=lambda lane: at[lane])
        what = lanes[first][at[first]][:3]
        addresses = [-1] * len(lanes)
        for lane in left:
            event = lanes[lane][at[lane]]
            if event[:3] == what:
                addresses[lane] = event[3]
                at[lane] += 1
        yield what, tuple(addresses)


def _timed(warps: list[list[tuple[_What, tuple[int, ...]]]]) -> tuple[tuple[Step, ...], ...]:
    """One tick a step; the n-th barrier ends for all when the last warp with that many has come."""
    at, time = [0] * len(warps), [0] * len(warps)
    done: list[list[Step]] = [[] for _ in warps]
    epoch = [0] * len(warps)
    arrived: dict[int, int] = {}  # warp -> when it came to the barrier
    while True:
        for w, steps in enumerate(warps):
            while w not in arrived and at[w] < len(steps):
                (kind, line, width), addresses = steps[at[w]]
                if kind == BARRIER:
                    arrived[w] = time[w]
                    break
                done[w].append(Step(kind, line, width, addresses, time[w], time[w] + 1, epoch[w]))
                epoch[w] += kind in _WAITS
                at[w], time[w] = at[w] + 1, time[w] + 1
        if not arrived:
            return tuple(map(tuple, done))
        last = max(arrived.values()) + 1
        for w, came in arrived.items():
            (kind, line, width), addresses = warps[w][at[w]]
            done[w].append(Step(kind, line, width, addresses, came, last, epoch[w]))
            at[w], time[w], epoch[w] = at[w] + 1, last, epoch[w] + 1
        arrived.clear()
