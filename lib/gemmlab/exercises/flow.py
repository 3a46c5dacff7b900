"""What the journal of a run tells of a kernel's loop: when its tiles come, and when they are used.

A tile is BK of k. Fetching is a load of A or B from global memory, by whatever instruction;
products are seen by what they read: shared memory, as `ld.shared` or `ldmatrix`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..run.kernel import Kernel
from ..sim.journal import KINDS, Journal
from ..sim.places import SHARED, Place
from ..sim.trace import Trace

READS = ("ld.shared", "ldmatrix", "wgmma.shared")
FETCHES = ("ld.global", "cp.async.global")
BARRIERS = ("mark barrier", "mark other.barrier")
WRITES = ("st.shared", "cp.async.shared")


def is_of(rows: np.ndarray, *kinds: str) -> np.ndarray:
    """Which rows are of one of these kinds."""
    return np.isin(rows["kind"], [i for i, kind in enumerate(KINDS) if kind in kinds])


@dataclass(frozen=True)
class Seen:
    """A traced run with its journal. tile: BM, BN, BK of the kernel."""

    trace: Trace
    tile: tuple[int, int, int]
    kernel: Kernel | None = None

    @cached_property
    def journal(self) -> Journal:
        """The events of block 0."""
        return self.trace.events()

    @cached_property
    def threads(self) -> dict[int, np.ndarray]:
        """The rows of each thread of block 0, in its order."""
        return self.journal.threads()

    def place(self, name: str) -> Place:
        """Where the matrix `name` lies."""
        return next(one for one in self.trace.places if one.name == name)

    @property
    def at(self) -> str:
        """The size of the run, in words."""
        return f"M={self.trace.M} N={self.trace.N} K={self.trace.K}"

    def elements(self, rows: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the rows that use the matrix `name`: which they are, and the row and column there."""
        place = self.place(name)
        address = rows["address"].astype(np.int64)
        inside = (address >= place.start) & (address < place.start + place.bytes)
        inside &= is_of(rows, *FETCHES, "st.global")
        index = (address[inside] - place.start) // place.element_bytes
        return inside, index // place.shape[1], index % place.shape[1]

    def k_tiles(self, rows: np.ndarray) -> np.ndarray:
        """Of each row the k tile that it fetches a part of, -1 for all others."""
        tiles = np.full(len(rows), -1)
        for name, axis in (("A", 1), ("B", 0)):
            inside, *at = self.elements(rows, name)
            tiles[inside] = at[axis] // self.tile[2]
        return tiles


@dataclass(frozen=True)
class Flow:
    """One thread's main loop, in products: how many tiles' worth it had done at each event.

    issued: by k tile, when its last part was fetched. arrived: when the thread waited for it, or
    stored it: NaN if it did not. barriers: each __syncthreads.
    """

    issued: np.ndarray
    arrived: np.ndarray
    barriers: np.ndarray


def flows(seen: Seen) -> list[Flow]:
    """Of each thread of block 0 that fetches something and reads shared memory."""
    found = (_flow(seen, rows) for rows in seen.threads.values())
    return [flow for flow in found if flow is not None]


def sharing_unevenly(seen: Seen) -> list[int]:
    """The threads of block 0 that fetch parts of some k tiles, and none of others."""
    count = -(-seen.trace.K // seen.tile[2])
    fetched = {t: len(set(seen.k_tiles(rows)) - {-1}) for t, rows in seen.threads.items()}
    return [t for t, tiles in fetched.items() if 0 < tiles < count]


def place_is_used_atomically(seen: Seen, name: str) -> bool:
    """Whether block 0 uses the matrix `name` by atomic operations."""
    place = seen.place(name)
    for rows in seen.threads.values():
        at = rows["address"][is_of(rows, "atom.global")].astype(np.int64)
        if ((at >= place.start) & (at < place.start + place.bytes)).any():
            return True
    return False


def _flow(seen: Seen, rows: np.ndarray) -> Flow | None:
    tiles = seen.k_tiles(rows)
    count = -(-seen.trace.K // seen.tile[2])
    if (tiles < 0).all():
        return _boxes(seen, rows, count)
    last = np.array([_last(tiles, t) for t in range(count)])
    if (last < 0).any():
        return None
    done = np.cumsum(is_of(rows, *READS))
    scaled = done / max(_reads_of_a_tile(done, last), 1)
    # Where the copy engine brings nothing, an mbarrier only lets threads wait for each other.
    barriers = scaled[is_of(rows, *BARRIERS, "mark mbarrier.wait")]
    issued = scaled[last]
    return Flow(issued, _arrivals(rows, scaled, last), barriers)


def _boxes(seen: Seen, rows: np.ndarray, count: int) -> Flow | None:
    """The same of a thread that fetches by the copy engine: so many boxes to a tile."""
    starts = np.flatnonzero(is_of(rows, "mark tma.load"))
    if len(starts) < count or len(starts) % count:
        return None
    last = starts[len(starts) // count - 1 :: len(starts) // count]
    done = np.cumsum(is_of(rows, *READS))
    scaled = done / max(_reads_of_a_tile(done, last), 1)
    waits, arrivals = (is_of(rows, f"mark mbarrier.{what}") for what in ("wait", "arrive"))
    arrived = np.full(count, np.nan)
    for t, at in enumerate(last):
        # The barrier that the thread has told of the bytes, and its next wait there.
        told = np.flatnonzero(arrivals[:at])
        if not len(told):
            continue
        own = waits & (rows["address"] == rows["address"][told[-1]])
        after = np.flatnonzero(own[at:])
        arrived[t] = scaled[at + after[0]] if len(after) else np.nan
    return Flow(scaled[last], arrived, scaled[is_of(rows, *BARRIERS)])


def _last(tiles: np.ndarray, t: int) -> int:
    found = np.flatnonzero(tiles == t)
    return int(found[-1]) if len(found) else -1


def _reads_of_a_tile(done: np.ndarray, last: np.ndarray) -> int:
    """Reads between the fetches of two tiles that follow each other, as it mostly is."""
    return _of_a_tile(done[last]) or (int(done[-1]) if len(done) else 0)


def _of_a_tile(done: np.ndarray) -> int:
    """The most frequent step of what had been done when each tile was fetched; 0 without steps."""
    steps = np.diff(done)
    values, counts = np.unique(steps[steps > 0], return_counts=True)
    return int(values[np.argmax(counts)]) if len(values) else 0


def _arrivals(rows: np.ndarray, scaled: np.ndarray, last: np.ndarray) -> np.ndarray:
    """When each tile's values were there: at the wait for its copies, or when it was stored."""
    stores = np.flatnonzero(is_of(rows, "st.shared"))
    finished = _finished(rows)
    arrived = np.full(len(last), np.nan)
    for t, at in enumerate(last):
        if is_of(rows[at : at + 1], "cp.async.global")[0]:
            if (end := finished.get(int(at))) is not None:
                arrived[t] = scaled[end]
        elif len(after := stores[stores > at]):
            arrived[t] = scaled[after[0]]
    return arrived


def _finished(rows: np.ndarray) -> dict[int, int]:
    """Of each cp.async of a thread, by its row, the row of the wait that it has finished at."""
    open_: list[int] = []
    groups: list[list[int]] = []
    ends: dict[int, int] = {}
    kinds = rows["kind"]
    copy, commit, wait = (KINDS.index(k) for k in ("cp.async.global", "mark commit", "mark wait"))
    for i in np.flatnonzero(np.isin(kinds, (copy, commit, wait))):
        if kinds[i] == copy:
            open_.append(int(i))
        elif kinds[i] == commit:
            groups.append(open_)
            open_ = []
        else:
            while len(groups) > int(rows["address"][i]):
                ends |= dict.fromkeys(groups.pop(0), int(i))
            if int(rows["address"][i]) == 0:
                ends |= dict.fromkeys(open_, int(i))
                open_ = []
    return ends


def buffers(seen: Seen) -> dict[str, float]:
    """How many k tiles have room in shared memory: of each array, or part of it, that holds some.

    That is the places that are written, by those of one tile. A part is what the same lines write.
    """
    found = {part: rooms for part in _parts(seen) if (rooms := _rooms(seen, part))}
    names = {part: _array(seen, part) for part in found}
    of_name: dict[str, set[float]] = {name: set() for name in names.values()}
    for part, rooms in found.items():
        of_name[names[part]].add(rooms)
    return {
        name if len(of_name[name]) == 1 else f"{name} (line {part.line})": found[part]
        for part, name in names.items()
    }


@dataclass(frozen=True)
class _Part:
    """What is written to shared memory by lines that write the same places; line: the first."""

    line: int
    lines: frozenset[int]
    first: int


def _parts(seen: Seen) -> list[_Part]:
    every = seen.journal.own
    rows = every[is_of(every, *WRITES, "mark tma.load")]
    of_line = {int(n): _halves(rows[rows["line"] == n]) for n in np.unique(rows["line"])}
    joined: list[tuple[frozenset[int], frozenset[int]]] = []
    for line, places in of_line.items():
        same = [one for one in joined if one[1] & places]
        joined = [one for one in joined if one not in same]
        lines = frozenset({line}).union(*(one[0] for one in same))
        joined.append((lines, places.union(*(one[1] for one in same))))
    parts = (_Part(min(lines), lines, min(places)) for lines, places in joined)
    return sorted(parts, key=lambda part: part.line)


def _array(seen: Seen, part: _Part) -> str:
    """The name of the array that a part of shared memory belongs to."""
    shared = (one for one in seen.trace.places if one.memory == SHARED and one.holds(part.first))
    return next((one.name for one in shared), "shared memory")


def _rooms(seen: Seen, part: _Part) -> float:
    """How many k tiles have room in a part of shared memory; 0 if no tile is stored there."""
    places, each = set[int](), 0
    for rows in seen.threads.values():
        stores = np.flatnonzero(is_of(rows, *WRITES, "mark tma.load"))
        stores = stores[np.isin(rows["line"][stores], list(part.lines))]
        last = _last_fetches(seen, rows)
        if not len(stores) or not len(last):
            continue
        tile = _of_a_tile(np.searchsorted(stores, last))
        # What a thread stores behind its last tile is C on its way out.
        own = [_halves(rows[stores[i * tile : (i + 1) * tile]]) for i in range(len(last))]
        places = places.union(*own)
        each += len(own[0])
    return len(places) / each if each else 0.0


def _last_fetches(seen: Seen, rows: np.ndarray) -> np.ndarray:
    """Where a thread has fetched its parts of one k tile after the other."""
    tiles = seen.k_tiles(rows)
    if (tiles >= 0).any():
        return np.array([_last(tiles, t) for t in np.unique(tiles[tiles >= 0])])
    starts = np.flatnonzero(is_of(rows, "mark tma.load"))
    count = -(-seen.trace.K // seen.tile[2])
    boxes = len(starts) // count
    return starts[boxes - 1 :: boxes] if boxes and len(starts) % count == 0 else starts[:0]


def _halves(rows: np.ndarray) -> frozenset[int]:
    """The addresses of all 2 bytes that rows write; of a box the first."""
    found = set[int]()
    for address, width in zip(rows["address"], rows["width"], strict=True):
        found.update(range(int(address), int(address) + max(int(width), 1), 2))
    return frozenset(found)
