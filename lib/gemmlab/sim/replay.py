"""A block's run as the requests of its warps, on one time line: what `lab.replay` scrubs through.

Time is a model's: every warp makes one step a tick, and a barrier lets all go on when the last one
has come. The order of steps within a warp, their lines and addresses are those of the traced run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..core.errors import ArgumentError
from .journal import KINDS, NO_VALUE, Journal
from .places import GLOBAL, SHARED, Place
from .trace import Trace

WARP = 32
BARRIER = KINDS.index("mark barrier")
_COPY_FROM = KINDS.index("cp.async.global")
_BOX = KINDS.index("mark box")  # a piece of what the copy engine brings
# What a value was read from, or written to.
MEMORIES = (SHARED, GLOBAL, f"to {SHARED}", f"to {GLOBAL}")
UNKNOWN = -(1 << 15)  # a value that no access has told, or no small integer
NOWHERE = (1 << 32) - 1  # the address of a copy that reads nothing, and fills with zeros
_MOST_EPOCHS = 1 << 16  # whose values are told


def _are(*names: str) -> np.ndarray:
    """Of each kind whether it is one of these; to be indexed by columns of kinds."""
    return np.array([kind in names for kind in KINDS])


_COPIES_TO = _are("cp.async.shared")
_STORES = _COPIES_TO | _are("mark box", "st.shared", "st.global", "stmatrix")
_IN_GLOBAL = np.array(["global" in kind for kind in KINDS])
_ORDINARY = _are("ld.shared", "st.shared")
_SAYS_NO_VALUE = _are("mark mbarrier.init")
_WAITS = _are("mark barrier", "mark mbarrier.wait")
# What the lanes of a warp come to together, whatever some of them do before.
_MEETINGS = _WAITS | _are("mark other.barrier", "mark mma", "mark wmma")


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


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of one warp, in its order: a column for each field of Step, a row for each one."""

    kind: np.ndarray
    line: np.ndarray
    width: np.ndarray
    addresses: np.ndarray
    tick: np.ndarray
    until: np.ndarray
    epoch: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, number: int) -> Step:
        columns = (self.kind, self.line, self.width, self.tick, self.until, self.epoch)
        kind, line, width, *when = (int(column[number]) for column in columns)
        return Step(kind, line, width, tuple(self.addresses[number].tolist()), *when)

    def __iter__(self) -> Iterator[Step]:
        return (self[number] for number in range(len(self)))

    def at(self, tick: int) -> Step:
        """The step that the warp makes, or waits in, at a tick: the last that has begun.

        A warp without steps has none: IndexError.
        """
        return self[max(0, int(np.searchsorted(self.tick, tick, side="right")) - 1)]


@dataclass(frozen=True, eq=False)
class Values:
    """What is known of one memory: a row for each element, by epoch and then by address.

    value: a small integer, as a trace's matrices have them, or UNKNOWN.
    """

    epoch: np.ndarray
    address: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Replayed:
    """All warps of block 0, and what its accesses have read and written.

    warps: the steps of each. values: by the name of a memory: of "shared" and "global" what was
    read there, of "to shared" and "to global" what was written. Global memory has epoch 0 alone.
    """

    warps: tuple[Steps, ...]
    values: Mapping[str, Values]

    @property
    def ticks(self) -> int:
        """How long the block takes in model time."""
        return max((int(steps.until[-1]) for steps in self.warps if len(steps)), default=0)


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
    rows = journal.own
    values = _values(_told(journal), trace, dtype)
    events = rows[rows["kind"] != _BOX]
    owner = events["thread"] // WARP
    ends = np.searchsorted(owner, np.arange(1, owner.max(initial=0) + 1))
    return Replayed(_timed([_requests_of(warp) for warp in np.split(events, ends)]), values)


# ---- what was read and written ----


@dataclass(frozen=True, eq=False)
class _Told:
    """Accesses whose values are known. first: the first word of each. words: of the journal."""

    kind: np.ndarray
    width: np.ndarray
    epoch: np.ndarray
    address: np.ndarray
    first: np.ndarray
    words: np.ndarray


def _told(journal: Journal) -> _Told:
    rows = journal.own
    kind, thread, address = rows["kind"], rows["thread"], rows["address"]
    passed = np.cumsum(_WAITS[kind], dtype=np.int32)
    begins = np.searchsorted(thread, np.arange(thread.max(initial=0) + 1))
    before = np.where(begins > 0, passed[begins - 1], 0)  # by the threads in front
    has = np.flatnonzero((rows["value"] != NO_VALUE) & ~_SAYS_NO_VALUE[kind])
    # A copy has read in global memory, in the row before, what it writes to shared memory.
    copied = has[_COPIES_TO[kind[has]] & (has > 0)]
    copied = copied[(thread[copied] == thread[copied - 1]) & (kind[copied - 1] == _COPY_FROM)]
    copied = copied[address[copied - 1] != NOWHERE]
    at, owner = np.concatenate([has, copied - 1]), np.concatenate([has, copied])
    own = kind[at]
    epoch = np.where(_IN_GLOBAL[own], 0, passed[at] - before[thread[at]])
    width, first = rows["width"][at], rows["value"][owner]
    return _Told(own, width, epoch, address[at], first, journal.words)


def _values(told: _Told, trace: Trace, dtype: str) -> dict[str, Values]:
    """What is known of each memory's elements, whose sizes its arrays tell."""
    sizes = _sizes(told, trace.places, dtype)
    memory = _IN_GLOBAL[told.kind] + 2 * _STORES[told.kind]
    parts: list[list[np.ndarray]] = [[] for _ in MEMORIES]
    for size, numbers in _decoded(told.words, dtype).items():
        for width in (2, 4, 8, 16):
            fits = (sizes == size) & (told.width == width)
            for m, keys in enumerate(parts):
                which = np.flatnonzero(fits & (memory == m))
                for n in range(width // size if len(which) else 0):
                    value = numbers[told.first[which] * np.uint32(4 // size) + np.uint32(n)]
                    keys.append(_keys(told.epoch[which], told.address[which] + n * size, value))
    return {name: _agreed(keys) for name, keys in zip(MEMORIES, parts, strict=True)}


def _sizes(told: _Told, places: tuple[Place, ...], dtype: str) -> np.ndarray:
    """Bytes of an element, for each access; 0 where that is not known."""
    normal = 4 if dtype == "float32" else 2
    sizes = np.full(len(told.kind), normal, np.uint8)
    if normal == 2:  # ordinary accesses to an array without a shape may be of fp32, too
        sizes[_ORDINARY[told.kind]] = 0
    in_global = _IN_GLOBAL[told.kind]
    for one in places:
        own = (one.start <= told.address) & (told.address < one.start + one.bytes)
        if one.shape:
            sizes[own & (in_global == (one.memory == GLOBAL))] = value_bytes(one)
    return sizes


def _decoded(words: np.ndarray, dtype: str) -> dict[int, np.ndarray]:
    """By the bytes of an element, all words of a journal as elements of that size."""
    halves = words.view(np.uint16).astype(np.uint32)
    return {2: _whole(as_float(halves, 2, dtype)), 4: _whole(as_float(words, 4, dtype))}


def value_bytes(place: Place) -> int:
    """Bytes of a value in a matrix or an array whose shape is known; 0 if it holds no values."""
    size = place.element_bytes
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
        return np.where(small, found, UNKNOWN).astype(np.int16)


def _keys(epoch: np.ndarray, address: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Epoch, address and value in one number each, which sorts in this order."""
    key = epoch.astype(np.uint64) << np.uint64(48) | address.astype(np.uint64) << np.uint64(16)
    key |= (value.astype(np.int32) - UNKNOWN).astype(np.uint64)
    return key[epoch < _MOST_EPOCHS]


def _agreed(keys: list[np.ndarray]) -> Values:
    """What is known of each address; where two accesses disagree, nothing is."""
    key = np.sort(np.concatenate(keys)) if keys else np.empty(0, np.uint64)
    place = key >> np.uint64(16)
    last = np.append(place[1:] != place[:-1], True)[: len(key)]
    first = np.append(True, last[:-1])[: len(key)]
    value = (key & np.uint64(0xFFFF)).astype(np.int32) + UNKNOWN
    least, most, place = value[first], value[last], place[last]
    known = np.where(least == most, least, UNKNOWN)
    return Values(
        (place >> np.uint64(32)).astype(np.int64),
        (place & np.uint64(0xFFFFFFFF)).astype(np.int64),
        known.astype(np.int64),
    )


# ---- what the warps do ----

# A step's kind, line and width in one number; the lanes that do the same have the same.
_LINE, _WIDTH = np.int64(1 << 16), np.int64(1 << 8)


def _requests_of(events: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a warp does, request by request: a number for what it is, and 32 addresses."""
    threads, first = np.unique(events["thread"], return_index=True)
    address = events["address"].astype(np.int64)
    address[address == NOWHERE] = -1
    what = events["line"] * _LINE + events["width"] * _WIDTH + events["kind"]
    counts = np.diff(first, append=len(events))
    if len(threads) == WARP and (counts == counts[0]).all():
        table = what.reshape(WARP, -1)
        if (table == table[0]).all():  # as it is mostly
            return table[0], np.ascontiguousarray(address.reshape(WARP, -1).T)
    own = [(what[:0], address[:0])] * WARP
    for thread, begin, count in zip(*map(np.ndarray.tolist, (threads, first, counts)), strict=True):
        own[thread % WARP] = what[begin : begin + count], address[begin : begin + count]
    rows = list(_requests([what.tolist() for what, _ in own], [at.tolist() for _, at in own]))
    what, addresses = [one for one, _ in rows], [lanes for _, lanes in rows]
    # A warp may do nothing that is recorded: then it has columns without rows.
    return np.array(what, np.int64), np.array(addresses, np.int64).reshape(-1, WARP)


def _requests(whats: list[list[int]], lanes: list[list[int]]) -> Iterator[tuple[int, list[int]]]:
    """The same where lanes differ: those that do the same next belong together."""
    at, since = [0] * len(lanes), [0] * len(lanes)  # since: steps behind the last meeting
    meets = {what: bool(_MEETINGS[what % int(_WIDTH)]) for own in whats for what in set(own)}
    left = [lane for lane, own in enumerate(whats) if own]
    while left:
        # Where lanes meet, they wait for those that do something before; of these, one that has
        # done less is behind a branch that the others did not take.
        before = [lane for lane in left if not meets[whats[lane][at[lane]]]]
        first = min(before or left, key=lambda lane: since[lane])
        what = whats[first][at[first]]
        addresses = [-1] * len(lanes)
        for lane in left:
            if whats[lane][at[lane]] == what:
                addresses[lane] = lanes[lane][at[lane]]
                at[lane], since[lane] = at[lane] + 1, 0 if meets[what] else since[lane] + 1
        left = [lane for lane in left if at[lane] < len(whats[lane])]
        yield what, addresses


def _timed(warps: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Steps, ...]:
    """One tick a step; the n-th barrier ends for all when the last warp with that many has come."""
    kinds = [what % _WIDTH for what, _ in warps]
    barriers = [np.flatnonzero(kind == BARRIER) for kind in kinds]
    waited = [np.ones(len(kind), np.int64) for kind in kinds]  # ticks that each step takes
    late = [0] * len(warps)
    for n in range(max(map(len, barriers), default=0)):
        came = {w: int(at[n]) + late[w] for w, at in enumerate(barriers) if n < len(at)}
        last = max(came.values())
        for w, tick in came.items():
            waited[w][barriers[w][n]] += last - tick
            late[w] += last - tick
    done = []
    for (what, addresses), kind, ticks in zip(warps, kinds, waited, strict=True):
        until, waits = np.cumsum(ticks), _WAITS[kind]
        columns = kind, what // _LINE, what % _LINE // _WIDTH, addresses
        done.append(Steps(*columns, until - ticks, until, np.cumsum(waits) - waits))
    return tuple(done)
