"""What a kernel does, as conditions of a judge: `judge(k, does=[overlap(1), barriers(1)])`.

Each looks at a traced run with its journal: at addresses and at the order of events, not at the
text. It gives a note for the verdict, or raises `NotYetError` with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core import arguments
from ..sim.replay import NOWHERE
from .answers import pairs
from .block_order import TileAt, block_order
from .flow import (
    FETCHES,
    READS,
    Flow,
    Seen,
    buffers,
    flows,
    is_of,
    place_is_used_atomically,
    sharing_unevenly,
)

ONE_TILE, GRID = (1, 1), (2, 3)  # tiles of C in a run
_LITTLE = 0.01  # of a tile's products
_PART = 0.1  # of a tile in shared memory
_MUCH = 0.75  # of what another thread reads: copies beside the products may not divide evenly


class NotYetError(Exception):
    """The first thing that keeps an answer from being a solution: a message, perhaps with items."""


@dataclass(frozen=True)
class Property:
    """A condition.

    words: what it asks for. look: gives a note, or raises NotYetError. grids: the rows and columns
    of tiles of C in the runs that it looks at. steady: each tile of C, and of k, may take the same
    requests.
    """

    words: str
    look: Callable[[Seen], str]
    grids: tuple[tuple[int, int], ...] = (ONE_TILE, GRID)
    steady: bool = True

    def __repr__(self) -> str:
        return self.words


def _main_loops(seen: Seen) -> list[Flow]:
    found = flows(seen)
    if not found:
        raise NotYetError(
            f"at {seen.at} no thread fetches every k tile of A or B; a k tile is {seen.tile[2]} "
            "deep (BK, or --tile): is that the depth of the loop?"
        )
    if some := sharing_unevenly(seen):
        raise NotYetError(
            f"thread {some[0]} fetches parts of some k tiles and none of others; let each thread "
            "do the same for each k tile"
        )
    return found


def ahead(tiles: float = 1) -> Property:
    """A condition: a tile is fetched while `tiles` tiles before it wait for their products."""

    def look(seen: Seen) -> str:
        least = min(
            float(t - flow.issued[t])
            for flow in _main_loops(seen)
            for t in range(int(np.ceil(tiles)), len(flow.issued))
        )
        if least < tiles - _LITTLE:
            raise NotYetError(
                f"when the last load of a k tile is issued, {_some(least, 'tile')} "
                f"{'is' if least == 1 else 'are'} still to be multiplied "
                f"before it; {tiles:g} should be: issue the loads of the next tile before the "
                "products of this one"
            )
        return f"loads are issued {_some(least, 'tile')} ahead"

    return Property(f"loads are issued {tiles:g} tiles ahead", look)


def overlap(tiles: float = 1) -> Property:
    """A condition: products of `tiles` tiles lie between the loads of a tile and their first use.

    Used is what a thread stores, or waits for.
    """

    def look(seen: Seen) -> str:
        least = float("inf")
        for flow in _main_loops(seen):
            wait = (flow.arrived - flow.issued)[int(np.ceil(tiles)) :]
            known = wait[~np.isnan(wait)]
            least = min(least, float(known.min()) if len(known) else 0.0)
        if least < tiles - _LITTLE:
            raise NotYetError(
                f"between the loads of a k tile and the place where the thread needs their values "
                f"(it stores them, or waits for the copies) lie the products of "
                f"{_some(least, 'tile')}; {tiles:g} should: nothing else hides their latency"
            )
        return f"the products of {_some(least, 'tile')} run while a tile is loaded"

    return Property(f"the products of {tiles:g} tiles overlap the loads of one", look)


def stored_before_products() -> Property:
    """A condition: a thread stores a tile before the products of the tile before it."""

    def look(seen: Seen) -> str:
        for flow in _main_loops(seen):
            late = [t for t in range(1, len(flow.arrived)) if flow.arrived[t] > t - 1 + _LITTLE]
            if late or np.isnan(flow.arrived[1:]).any():
                raise NotYetError(
                    "the values of a k tile are stored behind the products of the tile before it; "
                    "here the store is to come first"
                )
        return "each tile is stored before the products of the tile before it"

    return Property("the next tile is stored before the products", look)


def stages(count: int) -> Property:
    """A condition: shared memory has room for exactly `count` k tiles of A and B."""

    def look(seen: Seen) -> str:
        found = buffers(seen)
        if not found:
            raise NotYetError("no thread stores a k tile of A or B in shared memory")
        if any(abs(rooms - count) > _PART for rooms in found.values()):
            asked = "is" if count == 1 else "are"
            where = " in each" if len(set(found.values())) > 1 else ""
            raise NotYetError(f"{_kept(found)}; {count}{where} {asked} asked for")
        return f"{_some(count, 'k tile')} in shared memory at a time"

    return Property(f"{count} k tiles in shared memory", look)


def _kept(rooms: Mapping[str, float]) -> str:
    """How many k tiles have room, in whole tiles, and of each array where they differ."""
    if len(set(rooms.values())) == 1:
        return f"shared memory has room for {_whole(next(iter(rooms.values())))} of A and B"
    parts = [f"{name} for {_whole(count)}" for name, count in rooms.items()]
    return f"the arrays in shared memory have room for different numbers of k tiles, {_and(parts)}"


def _whole(rooms: float) -> str:
    whole = int(rooms + _PART)
    return _some(whole, "k tile") + " and a part of one more" * (rooms - whole > _PART)


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def barriers(most: float) -> Property:
    """A condition: each thread passes at most `most` __syncthreads for a k tile."""

    def look(seen: Seen) -> str:
        worst = max(_barriers(flow) for flow in _main_loops(seen))
        if worst > most + _LITTLE:
            raise NotYetError(
                f"each thread passes {_some(worst, 'barrier')} per k tile; at most {most:g} "
                f"{'is' if most == 1 else 'are'} allowed"
            )
        return f"{_some(worst, 'barrier')} per k tile"

    return Property(f"at most {most:g} barriers per k tile", look)


def _barriers(flow: Flow) -> float:
    """Between the first and the last tile's products."""
    tiles = len(flow.issued)
    inside = (flow.barriers > 0) & (flow.barriers <= tiles - 1 + _LITTLE)
    return float(inside.sum()) / max(tiles - 1, 1)


def outputs(rows: int, columns: int) -> Property:
    """A condition: each thread stores `rows` x `columns` elements of C."""

    def look(seen: Seen) -> str:
        for thread, (r, c) in _stored(seen).items():
            made = len(set(r)), len(set(c)), len(set(zip(r, c, strict=True)))
            if made != (rows, columns, rows * columns):
                raise NotYetError(
                    f"thread {thread} of block 0 stores {_some(made[2], 'element')} of C, in "
                    f"{_some(made[0], 'row')} and {_some(made[1], 'column')}; {rows} x {columns} "
                    "are asked for"
                )
        _refuse_unread(seen)
        _refuse_uneven(seen)
        what = "one element" if rows * columns == 1 else f"{rows} x {columns} elements"
        return f"each thread stores {what} of C"

    return Property(f"{rows} x {columns} elements of C a thread", look)


def block_tile(rows: int, columns: int) -> Property:
    """A condition: a block stores a tile of `rows` x `columns` elements of C, each of them once."""

    def look(seen: Seen) -> str:
        made = [at for r, c in _stored(seen).values() for at in zip(r, c, strict=True)]
        wanted = {(r, c) for r in range(rows) for c in range(columns)}
        if set(made) != wanted or len(made) != len(wanted):
            raise NotYetError(
                f"block 0 stores {len(made)} elements, {len(set(made) & wanted)} of them in "
                f"its tile of {rows} x {columns}; it should store each of these once, and no other"
            )
        _refuse_unread(seen)
        _refuse_uneven(seen)
        return f"a block makes {rows} x {columns} elements of C"

    return Property(f"{rows} x {columns} elements of C a block", look)


def _refuse_unread(seen: Seen) -> None:
    """Who makes elements of C reads the rows of A and the columns of B for them."""
    every = seen.journal.own
    if is_of(every, "mark tma.load").any():  # whose addresses in global memory are not kept
        return
    made = [at for r, c in _stored(seen).values() for at in zip(r, c, strict=True)]
    for name, side in (("A", 0), ("B", 1)):
        got = _fetched(seen, every, name)
        wanted = len({at[side] for at in made}) * seen.trace.K
        if made and got < wanted:
            raise NotYetError(
                f"block 0 stores elements of C that take {wanted:,} elements of {name}, and it "
                f"loads {got:,} of {name}: it is to compute what it stores"
            )


def _refuse_uneven(seen: Seen) -> None:
    """Who stores elements of C computes them: of these threads each reads as much as the others.

    Of an ldmatrix some lanes give the addresses for all, so there warps are compared.
    """
    makers = [thread for thread, (r, _) in _stored(seen).items() if r]
    every = seen.journal.own
    kinds = READS if is_of(every, *READS).any() else FETCHES
    together = 32 if is_of(every, "ldmatrix", "wgmma.shared").any() else 1
    reads: Counter[int] = Counter()
    for thread in makers:
        reads[thread // together] += int(is_of(seen.threads[thread], *kinds).sum())
    (most, many), (least, few) = reads.most_common()[0], reads.most_common()[-1]
    if few < _MUCH * many:
        what = "warp" if together > 1 else "thread"
        raise NotYetError(
            f"{what} {least} of block 0 stores elements of C and reads {few:,} times for its "
            f"products, and {what} {most} {many:,} times: each is to compute what it stores"
        )


def _refuse_elsewhere(seen: Seen) -> None:
    """What the threads of a block share lies in shared memory, not in an array of their own."""
    every = seen.journal.own
    every = every[is_of(every, *FETCHES, "st.global", "atom.global")]
    address = every["address"].astype(np.int64)
    inside = np.zeros(len(every), bool)
    for one in seen.trace.places:
        if one.name in ("A", "B", "C"):
            inside |= (address >= one.start) & (address < one.start + one.bytes)
    inside |= address == NOWHERE
    if not inside.all():
        line = int(every["line"][~inside][0])
        raise NotYetError(
            f"line {line} uses global memory that is neither A, B nor C; what the threads of a "
            "block share is to be in shared memory"
        )


def _fetched(seen: Seen, rows: np.ndarray, name: str) -> int:
    """How many different elements of a matrix are loaded."""
    place = seen.place(name)
    inside, r, c = seen.elements(rows, name)
    at, wide = r * place.shape[1] + c, rows["width"][inside] // place.element_bytes
    spread = [at[wide > i] + i for i in range(int(wide.max(initial=0)))]
    return len(np.unique(np.concatenate(spread))) if spread else 0


def _stored(seen: Seen) -> dict[int, tuple[list[int], list[int]]]:
    """Rows and columns of the elements of C that each thread of block 0 stores."""
    each = seen.place("C").element_bytes
    found = {}
    for thread, rows in seen.threads.items():
        inside, r, c = seen.elements(rows, "C")
        stores = is_of(rows[inside], "st.global")
        wide = rows["width"][inside] // each
        row_list = [int(y) for y, w, s in zip(r, wide, stores, strict=True) if s for _ in range(w)]
        column_list = [
            int(x) + i for x, w, s in zip(c, wide, stores, strict=True) if s for i in range(w)
        ]
        found[thread] = row_list, column_list
    if not any(rows for rows, _ in found.values()):
        raise NotYetError(f"at {seen.at} block 0 stores no element of C")
    return found


def reads_once() -> Property:
    """A condition: a block loads each element of A and B that it needs once from global memory."""

    def look(seen: Seen) -> str:
        every = seen.journal.own
        every = every[seen.k_tiles(every) >= 0]
        _refuse_elsewhere(seen)
        for name, side in (("A", seen.tile[0]), ("B", seen.tile[1])):
            inside, *_ = seen.elements(every, name)
            loaded = int(every["width"][inside].sum()) // seen.place(name).element_bytes
            needed = side * seen.trace.K
            if place_is_used_atomically(seen, name):
                raise NotYetError(
                    f"block 0 reads {name} by atomic operations; load each element once, and share "
                    "it in shared memory"
                )
            if loaded > needed:
                raise NotYetError(
                    f"block 0 loads {loaded:,} elements of {name} from global memory, and its tile "
                    f"needs {needed:,}: load each once, and share it in shared memory"
                )
        return "each element of A and B is loaded once a block"

    return Property("each element is loaded once a block", look)


def only(*operations: str) -> Property:
    """A condition: A and B come by `operations` alone, "cp.async.global" or "tma.load"."""

    def look(seen: Seen) -> str:
        every = seen.journal.own
        every = every[seen.k_tiles(every) >= 0]
        others = [op for op in FETCHES if op not in operations and is_of(every, op).any()]
        if others:
            line = int(every["line"][is_of(every, others[0])][0])
            raise NotYetError(
                f"line {line} still reads A or B by {others[0]}; {' or '.join(operations)} is "
                "asked for"
            )
        made = {row.op for row in seen.trace.lines}
        if missing := [op for op in operations if op not in made]:
            raise NotYetError(f"there is no {missing[0]} in it")
        return f"A and B come by {' and '.join(operations)}"

    return Property(f"A and B come by {' and '.join(operations)}", look)


def widths(**bytes_of: int) -> Property:
    """A condition: requests move so many bytes a lane. bytes_of: by operation, ld_global=16."""
    wanted = {name.replace("_", "."): bytes_ for name, bytes_ in bytes_of.items()}

    def look(seen: Seen) -> str:
        for op, most in wanted.items():
            found = [line for line in seen.trace.lines if line.op == op]
            if not found:
                raise NotYetError(f"there is no {op} in it")
            for line in found:
                if line.width_bytes < most:
                    raise NotYetError(
                        f"line {line.line} moves {line.width_bytes} bytes a lane by {op}; {most} "
                        f"are asked for: {line.source}"
                    )
        return ", ".join(f"{op} moves {most} bytes a lane" for op, most in wanted.items())

    return Property("accesses are wide", look)


def requests(operation: str, count: int) -> Property:
    """A condition: a block makes exactly `count` requests of `operation` for a k tile."""

    def look(seen: Seen) -> str:
        tiles = -(-seen.trace.K // seen.tile[2])
        found = sum(line.requests for line in seen.trace.lines if line.op == operation) / tiles
        if found != count:
            raise NotYetError(
                f"a block makes {found:.3g} requests of {operation} for a k tile; {count} "
                "are asked for"
            )
        return f"{count} requests of {operation} for a k tile"

    return Property(f"{count} {operation} for a k tile", look, (ONE_TILE,))


def arrivals(warps: int) -> Property:
    """A condition: `warps` warps arrive at an mbarrier, each as often as the others.

    In each of its phases, that is: it expects as many arrivals as they make.
    """

    def look(seen: Seen) -> str:
        told = seen.journal.own[is_of(seen.journal.own, "mark mbarrier.arrive")]
        found = {}
        for address in np.unique(told["address"]):
            of = told["thread"][told["address"] == address] // 32
            found[int(address)] = np.unique(of, return_counts=True)[1]
        at, most = max(found.items(), key=lambda one: len(one[1]), default=(0, np.zeros(0)))
        if len(most) != warps or len(np.unique(most)) != 1:
            raise NotYetError(
                f"at the mbarrier where most warps arrive, {_some(len(most), 'warp')} of block 0 "
                f"arrive{'s' * (len(most) == 1)}; {warps} should, each as often as the others"
            )
        if (count := _expected(seen, at)) % warps:
            raise NotYetError(
                f"{_some(warps, 'warp')} of block 0 arrive{'s' * (warps == 1)} at an mbarrier that "
                f"was initialized for {_some(count, 'arrival')} a phase; let each phase end "
                "when each warp has arrived, and not before"
            )
        return f"{_some(warps, 'warp')} arrive{'s' * (warps == 1)} at an mbarrier"

    return Property(f"{warps} warps arrive at an mbarrier", look)


def _expected(seen: Seen, address: int) -> int:
    """How many arrivals end a phase of the mbarrier at this address of block 0."""
    rows = seen.journal.own
    rows = rows[is_of(rows, "mark mbarrier.init") & (rows["address"] == address)]
    if not len(rows):
        raise NotYetError("warps of block 0 arrive at an mbarrier that block 0 does not initialize")
    return int(seen.journal.numbers(rows[-1:])[0])


def products(operation: str = "mma", without: str = "") -> Property:
    """A condition: tensor cores make all products, with the mark `operation`, "mma".

    without: "wmma", if not by way of nvcuda::wmma.
    """

    def look(seen: Seen) -> str:
        every = seen.journal.own
        count = int(is_of(every, f"mark {operation}").sum())
        warps = -(-len(seen.threads) // 32)
        BM, BN, _ = seen.tile
        needed = BM * BN * seen.trace.K // (16 * 8 * 16)
        if count < 32 * needed:
            raise NotYetError(
                f"the {warps} warps of block 0 issue {count // 32} {operation}.sync; its tile "
                f"takes {needed}: all products are to be made by tensor cores"
            )
        if without and is_of(every, f"mark {without}").any():
            line = int(every["line"][is_of(every, f"mark {without}")][0])
            raise NotYetError(
                f"line {line} still uses nvcuda::{without}; do it by PTX instructions"
            )
        return f"{count // 32} {operation}.sync a block"

    return Property(f"products by {operation}", look)


def order(place: TileAt, panels: int | None = None, grid: tuple[int, int] = (3, 11)) -> Property:
    """A condition: block t computes the tile (row, column) that place(t, rows, columns) gives.

    panels: what `block_order` demands of that function, if it is the reader's. grid: the rows and
    columns of tiles with which the kernel is run.
    """

    def look(seen: Seen) -> str:
        if panels is not None and not (first := block_order(place, panels)).solved:
            raise NotYetError(f"the function is not right yet: {first.message}")
        BM, BN, _ = seen.tile
        rows, columns = -(-seen.trace.M // BM), -(-seen.trace.N // BN)
        stores = seen.journal.rows[is_of(seen.journal.rows, "st.global")]
        inside, r, c = seen.elements(stores, "C")
        blocks = stores["block"][inside]
        wanted = pairs(lambda t: place(t, rows, columns), rows * columns, "row, column")
        for t, at in enumerate(wanted):
            own = np.flatnonzero(blocks == t)
            made = (int(r[own[0]]) // BM, int(c[own[0]]) // BN) if len(own) else None
            if made != at:
                raise NotYetError(
                    f"with {rows} x {columns} tiles block {t} computes {_tile(made)}; in the order "
                    f"that is asked for it is {at}"
                )
        return f"the order of blocks is as asked for with {rows} x {columns} tiles"

    # In one more grid, so that nothing is gained by knowing the first.
    return Property("an order of blocks", look, (grid, (2, 13)))


def cuts() -> Property:
    """A condition: several blocks share a tile of C along k, if it is the only one."""

    def look(seen: Seen) -> str:
        # The launch that multiplies has the most shared memory.
        blocks = max((one.shared_bytes, one.blocks) for one in seen.trace.launches)[1]
        every = seen.journal.own
        _, k, _ = seen.elements(every[is_of(every, *FETCHES)], "B")
        own = len(np.unique(k // seen.tile[2]))  # A may be packed by another kernel
        if blocks < 2 or not 0 < own < -(-seen.trace.K // seen.tile[2]):
            raise NotYetError(f"at {seen.at} one block has the whole tile of C; it is to be cut")
        return f"{blocks} blocks share a tile"

    return Property("tiles are cut along k", look, (ONE_TILE,), steady=False)


def checked(does: object) -> tuple[Property, ...]:
    """The conditions of a judge. Raises ArgumentError for anything else."""
    given = (does,) if isinstance(does, Property) else does
    found = arguments.sequence("does", given, "[lab.exercises.barriers(1)]")
    expected = "a condition such as lab.exercises.barriers(1)"
    return tuple(arguments.instance("does", one, Property, expected) for one in found)


def _tile(made: tuple[int, int] | None) -> str:
    return f"tile {made}" if made else "no tile of C"


def _some(count: float, noun: str) -> str:
    return f"{count:.3g} {noun}{'s' * (count != 1)}"
