"""A block's run as the requests of its warps, on one time line: what `lab.replay` scrubs through.

Time is a model's: every warp makes one step a tick, and a barrier lets all go on when the last one
has come. The order of steps within a warp, their lines and addresses are those of the traced run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.errors import ArgumentError
from .journal import KINDS
from .places import GLOBAL, SHARED, Place
from .trace import Trace

WARP = 32
BARRIER = KINDS.index("mark barrier")
_VALUE = KINDS.index("mark value")
_COPY_FROM = KINDS.index("cp.async.global")
_COPY_TO = tuple(i for i, kind in enumerate(KINDS) if kind == "cp.async.shared")
_BOX = KINDS.index("mark box")  # a piece of what the copy engine brings
_STORES = (*_COPY_TO, _BOX, *map(KINDS.index, ("st.shared", "st.global", "stmatrix")))
_IN_GLOBAL = tuple(i for i, kind in enumerate(KINDS) if "global" in kind)
_ORDINARY = tuple(KINDS.index(kind) for kind in ("ld.shared", "st.shared"))
# What a value was read from, or written to.
MEMORIES = (SHARED, GLOBAL, f"to {SHARED}", f"to {GLOBAL}")
_WAITS = tuple(KINDS.index(f"mark {name}") for name in ("barrier", "mbarrier.wait"))
# What the lanes of a warp come to together, whatever some of them do before.
_MEETINGS = (*_WAITS, *map(KINDS.index, ("mark mma", "mark wmma")))
Values = dict[str, dict[int, dict[int, int]]]
_What = tuple[int, int, int]  # kind, line, width
_Event = tuple[int, int, int, int]  # the same, and the address
UNKNOWN = -(1 << 15)  # a value that no access has told, or no small integer
NOWHERE = (1 << 32) - 1  # the address of a copy that reads nothing, and fills with zeros


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
    """All warps of block 0, and what its accesses have read and written.

    warps: the steps of each. values: "shared" -> epoch -> {address: value}, and "global" -> {0:
    ...}: small integers, as a trace's matrices have. "to shared" and "to global" have what was
    written.
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
    told = _Told(trace.places, dtype, [])
    events = _without_values(journal.by_thread(), told)
    owner = events["thread"] // WARP
    ends = np.searchsorted(owner, np.arange(1, owner.max(initial=0) + 1))
    grouped = [list(_requests_of(warp)) for warp in np.split(events, ends)]
    return Replayed(_timed(grouped), _by_address(told.rows))


def _without_values(rows: np.ndarray, told: _Told) -> np.ndarray:
    """The events of all threads, without what their accesses have read and written."""
    is_value = rows["kind"] == _VALUE
    events = rows[~is_value]
    if not is_value.any():
        return events
    passed = np.cumsum(np.isin(events["kind"], _WAITS))
    _, first, which = np.unique(events["thread"], return_index=True, return_inverse=True)
    before = np.where(first > 0, passed[first - 1], 0)  # by the threads in front
    told.add(rows, is_value, passed - before[which])
    return events[events["kind"] != _BOX]


@dataclass(frozen=True)
class _Told:
    """What accesses have read and written. dtype: of A and B.

    rows: (an index into MEMORIES, epoch, address, value) of each element.
    """

    places: Sequence[Place]
    dtype: str
    rows: list[np.ndarray]

    def add(self, rows: np.ndarray, is_value: np.ndarray, epochs: np.ndarray) -> None:
        """The values of all threads: the 16-bit pieces behind each access, from the lowest on."""
        events = rows[~is_value]
        owner = np.cumsum(~is_value)[is_value] - 1  # the event in front
        place = np.flatnonzero(is_value) - np.flatnonzero(~is_value)[owner] - 1
        halves = rows["address"][is_value].astype(np.uint32)
        self._decode(events, epochs, owner, place, halves)
        # A copy has read in global memory what it writes to shared memory.
        copied = np.isin(events["kind"][owner], _COPY_TO) & (owner > 0)
        copied &= events["thread"][owner] == events["thread"][owner - 1]
        copied &= events["address"][owner - 1] != NOWHERE
        copied &= events["kind"][owner - 1] == _COPY_FROM
        self._decode(events, epochs, owner[copied] - 1, place[copied], halves[copied])

    def _decode(
        self,
        events: np.ndarray,
        epochs: np.ndarray,
        owner: np.ndarray,
        place: np.ndarray,
        halves: np.ndarray,
    ) -> None:
        sizes = self._sizes(events)[owner]
        for size in (2, 4):
            of, at = owner[sizes == size], place[sizes == size]
            bits = halves[sizes == size]
            if size == 4:
                low = at % 2 == 0
                of, at = of[low], at[low]
                bits = bits[low] | bits[~low] << 16
            kind = events["kind"][of]
            in_global = np.isin(kind, _IN_GLOBAL)
            memory = in_global + 2 * np.isin(kind, _STORES)
            address = events["address"][of].astype(np.int64) + 2 * at
            epoch = np.where(in_global, 0, epochs[of])
            found = _whole(as_float(bits, size, self.dtype))
            self.rows.append(np.stack([memory, epoch, address, found], axis=1))

    def _sizes(self, events: np.ndarray) -> np.ndarray:
        """Bytes of an element, for each event; 0 where that is not known."""
        normal = 4 if self.dtype == "float32" else 2
        sizes = np.full(len(events), normal)
        if normal == 2:  # ordinary accesses to an array without a shape may be of fp32, too
            sizes[np.isin(events["kind"], _ORDINARY)] = 0
        in_global = np.isin(events["kind"], _IN_GLOBAL)
        address = events["address"].astype(np.int64)
        for one in self.places:
            own = in_global == (one.memory == GLOBAL)
            own &= (one.start <= address) & (address < one.start + one.bytes)
            if one.shape:
                sizes[own] = element_bytes(one)
        return sizes


def element_bytes(place: Place) -> int:
    """Of a matrix or an array whose shape is known; 0 if it is no array of values."""
    size = place.bytes // math.prod(place.shape)
    return size if size in (2, 4) else 0


def as_float(bits: np.ndarray, size: int, dtype: str) -> np.ndarray:
    """Values from their bits. dtype: which 16-bit type it is, if it is one."""
    if size == 4:
        return bits.view(np.float32)
    if dtype == "float16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float32)
    return (bits << 16).view(np.float32)


def _whole(found: np.ndarray) -> np.ndarray:
    """Values as integers, UNKNOWN for all others."""
    with np.errstate(invalid="ignore"):
        small = (np.abs(found) < -UNKNOWN) & (found == np.round(found))
        return np.where(small, found, UNKNOWN).astype(np.int64)


def _by_address(seen: list[np.ndarray]) -> Values:
    """What is known of each address; where two accesses disagree, nothing is."""
    values: Values = {memory: {} for memory in MEMORIES}
    if not seen:
        return values
    memory, epoch, address, value = np.concatenate(seen).T
    key = (memory << 56) + (epoch << 32) + address  # an address has 32 bits
    order = np.argsort(key, kind="stable")
    places, first = np.unique(key[order], return_index=True)
    sorted_values = value[order]
    least, most = (of.reduceat(sorted_values, first) for of in (np.minimum, np.maximum))
    agreed = np.where(least == most, least, UNKNOWN)
    of_memory = [values[name] for name in MEMORIES]
    columns = places >> 56, places >> 32 & 0xFFFFFF, places & 0xFFFFFFFF, agreed
    for m, e, at, known in zip(*(column.tolist() for column in columns), strict=True):
        of_memory[m].setdefault(e, {})[at] = known
    return values


def _requests_of(events: np.ndarray) -> Iterator[tuple[_What, tuple[int, ...]]]:
    """What a warp does, request by request."""
    threads, first = np.unique(events["thread"], return_index=True)
    address = events["address"].astype(np.int64)
    address[address == NOWHERE] = -1
    whats = [events[name] for name in ("kind", "line", "width")]
    counts = np.diff(first, append=len(events))
    if len(threads) == WARP and (counts == counts[0]).all():
        tables = [column.reshape(WARP, -1) for column in whats]
        if all((table == table[0]).all() for table in tables):  # as it is mostly
            together = zip(*(table[0].tolist() for table in tables), strict=True)
            lanes = map(tuple, address.reshape(WARP, -1).T.tolist())
            yield from zip(together, lanes, strict=True)
            return
    rows = list(zip(*(column.tolist() for column in (*whats, address)), strict=True))
    own: list[list[_Event]] = [[] for _ in range(WARP)]
    for thread, begin, count in zip(*map(np.ndarray.tolist, (threads, first, counts)), strict=True):
        own[thread % WARP] = rows[begin : begin + count]
    yield from _requests(own)


def _requests(lanes: list[list[_Event]]) -> Iterator[tuple[_What, tuple[int, ...]]]:
    """The same where lanes differ: those that do the same next belong together."""
    at = [0] * len(lanes)
    while True:
        left = [lane for lane, events in enumerate(lanes) if at[lane] < len(events)]
        if not left:
            return
        # Where lanes meet, they wait for those that do something before; of these, one that has
        # done less is behind a branch that the others did not take.
        before = [lane for lane in left if lanes[lane][at[lane]][0] not in _MEETINGS]
        first = min(before or left, key=lambda lane: at[lane])
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
