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
from ..sim.places import Place
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
    steps = np.diff(done[last])
    steps = steps[steps > 0]
    if not len(steps):
        return int(done[-1]) if len(done) else 0
    values, counts = np.unique(steps, return_counts=True)
    return int(values[np.argmax(counts)])


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


def buffers(seen: Seen) -> float:
    """How many tiles of A and B have room in shared memory: places written, by those of a tile."""
    tiles = -(-seen.trace.K // seen.tile[2])
    written, places = 0, set[int]()
    for rows in seen.threads.values():
        reads = np.flatnonzero(is_of(rows, *READS))
        fetches = np.flatnonzero(seen.k_tiles(rows) >= 0)
        if not len(fetches):
            continue
        # What a thread stores behind its last tile is C on its way out.
        stores = np.flatnonzero(is_of(rows, *WRITES))
        each = len(stores[stores < (reads[0] if len(reads) else len(rows))])
        ahead = len({t for t in seen.k_tiles(rows[: stores[each - 1]]) if t >= 0}) if each else 1
        tile = max(each // max(ahead, 1), 1)
        for first in range(0, tile * tiles, tile):
            # Each place once: what is written there again has no room of its own.
            own = _halves(rows[stores[first : first + tile]])
            places |= own
            written += len(own)
    return len(places) / (written / tiles) if written else _boxes_kept(seen)


def _halves(rows: np.ndarray) -> set[int]:
    """The addresses of all 2 bytes that rows write."""
    found = set[int]()
    for address, width in zip(rows["address"], rows["width"], strict=True):
        found.update(range(int(address), int(address) + int(width), 2))
    return found


def _boxes_kept(seen: Seen) -> float:
    """The same of boxes that the copy engine brings."""
    rows = seen.journal.own
    to = rows["address"][is_of(rows, "mark tma.load")]
    tiles = -(-seen.trace.K // seen.tile[2])
    return len(np.unique(to)) / (len(to) / tiles) if len(to) else 0.0
