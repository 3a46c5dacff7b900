"""The kernels' schedules and their twins of Python give the same at 100,000 points each.

An owner that is off by one differs at one point in a hundred: a few cases do not show it.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sampling import sampled

from gemmlab.layouts import BlockOrder
from gemmlab.layouts.schedules.evenly import Schedule
from gemmlab.layouts.schedules.last_wave import LastWave
from gemmlab.layouts.schedules.owners import Owners
from gemmlab.sim.build import INCLUDE

POINTS, TURNS = 100_000, 10  # turns: points of one schedule, whose twin is slow to make
SOURCE = Path(__file__).with_name("schedules.cpp")
# Without the kernels, which nothing calls, nothing of the simulator's runtime is missing.
FLAGS = ("-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-fvisibility=hidden")
FLAGS += ("-ffunction-sections", "-Wl,--gc-sections", "-Wl,-z,defs")

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

Rows = Iterator[tuple[tuple[int, ...], tuple[int, ...]]]  # points and the twin's answers


def compiled(kernels: Path, folder: Path) -> ctypes.CDLL:
    """schedules.cpp with the headers below `kernels`."""
    built = folder / "schedules.so"
    subprocess.run(["g++", *FLAGS, f"-I{INCLUDE}", f"-I{kernels}", SOURCE, "-o", built], check=True)
    return ctypes.CDLL(str(built))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """What the headers of the repository compute."""
    root = Path(__file__).resolve().parents[3]
    return compiled(root / "kernels", tmp_path_factory.mktemp("schedules"))


def cuts(rng: random.Random) -> tuple[int, int, int]:
    """Tiles, k tiles and blocks at most; half of them of the sizes of a GPU."""
    most = rng.choice((132, 264)) if rng.random() < 0.5 else rng.randint(1, 40)
    return rng.randint(1, 900), rng.randint(0, 300), most


def evenly(rng: random.Random) -> Rows:
    """sgemm_19_stream_k."""
    shape = cuts(rng)
    plan = Schedule(*shape)
    row = plan.split * plan.k_tiles
    for _ in range(TURNS):
        any_ = rng.randrange(1 << 30)
        block = any_ % plan.blocks
        owner = plan.owner(any_ % row) if row else -1
        answers = (plan.blocks, plan.split, plan.begin(block), plan.begin(block + 1), owner)
        yield (*shape, any_), answers


def last_wave(rng: random.Random) -> Rows:
    """hgemm_19_stream_k."""
    shape = cuts(rng)
    plan = LastWave(*shape)
    row = plan.split * plan.k_tiles
    for _ in range(TURNS):
        any_ = rng.randrange(1 << 30)
        block = any_ % plan.blocks
        owner = plan.owner(any_ % row) if row else -1
        begins = plan.begin(block), plan.begin(block + 1)
        yield (*shape, any_), (plan.blocks, plan.split, plan.sharers, *begins, owner)


def owners(rng: random.Random) -> Rows:
    """tma_07_stream_k and tma_08_any_shape: common/order/stream_k.cuh."""
    shape = (*cuts(rng), rng.choice((0, 1, 3, 6)))
    plan = Owners(*shape)
    for _ in range(TURNS):
        any_ = rng.randrange(1 << 30)
        block = any_ % plan.blocks
        helper, count = -1, -1
        if plan.split:
            helper = plan.owner(any_ % (plan.split * plan.cut)) - plan.split
            count = 1 + len(_helping(plan, any_ % plan.split))
        works = plan.pieces(block)
        work = works[any_ % len(works)]
        piece = -1
        if work.end - work.begin < plan.k_tiles:
            sharing = [work.tile, *_helping(plan, work.tile)]
            piece = sharing.index(block) if work.begin else 0
        facts = (plan.blocks, plan.busiest, plan.split, plan.cut, plan.helpers)
        at = (len(works), work.tile, work.begin, work.end, piece)
        yield (*shape, any_), (*facts, helper, count, 1, *at)


def _helping(plan: Owners, tile: int) -> range:
    """The blocks that have some of what the tile's owner left, in the order of k."""
    first, last = plan.owner(tile * plan.cut), plan.owner((tile + 1) * plan.cut - 1)
    return range(first, last + 1)


def cut_of(tiles: int, depth: int, most: int, price: int, adding: int) -> tuple[int, int, int, int]:
    """How LastWave (common/order/last_wave.cuh) cuts its last wave: tiles, k tiles that each leaves
    to others, how many these are, and the time."""
    over, best = tiles % most, (0, 0, 0, depth)
    for helpers in range(1, most - over + 1) if over else ():
        traffic = price * (over + helpers) // most
        cost = 0 if adding else (price + 1) // 2 + traffic
        left = (helpers * depth - over * cost) // (over + helpers)
        time = depth - left + (adding + traffic if adding else cost * (1 + helpers // over))
        if left > 0 and over * left >= helpers and time < best[3]:
            best = (over, left, helpers, time)
    return best


def teams(rng: random.Random) -> Rows:
    """wgmma_09 to 11, and 14: common/order/last_wave.cuh, by its definition."""
    shape = tiles, depth, most = cuts(rng)
    prices = rng.choice((0, 1, 8, 10, 40)), rng.choice((0, 0, 16, 64))
    rest, cut, helpers, time = cut_of(*shape, *prices)
    waves = -(-tiles // most)
    count = -(-tiles // waves) if not rest else rest + helpers if tiles < most else most
    whole = range(tiles - rest)
    works = [[(tile, 0, depth) for tile in whole[team::count]] for team in range(count)]
    begins = [h * rest * cut // helpers for h in range(helpers + 1)] if rest else []
    for h, (begin, end) in enumerate(pairwise(begins)):
        for t in range(begin // cut, (end - 1) // cut + 1):
            at = max(0, begin - t * cut), min(cut, end - t * cut)
            works[rest + h].append((whole.stop + t, *at))
    for t in range(rest):
        works[t].append((whole.stop + t, cut, depth))
    ends = {}  # of the pieces of a tile
    for tile, _, end in sorted({work for own in works for work in own}):
        ends.setdefault(tile, []).append(end)
    facts = (count, len(whole) // count, tiles // most * depth + (time if tiles % most else 0))
    for _ in range(TURNS):
        any_ = rng.randrange(1 << 30)
        own = works[any_ % count]
        tile, begin, end = own[any_ % len(own)]
        piece = (ends[tile].index(end), len(ends[tile])) if end - begin < depth else (-1, -1)
        yield (
            (*shape, *prices, any_),
            (*facts, rest, cut, helpers, len(own), tile, begin, end, *piece, 1),
        )


def divisor(rng: random.Random) -> Rows:
    """common/order/divisor.cuh; a quotient fits into 31 bits."""
    by = rng.choice((1, 2, 3, 1 << rng.randrange(31), rng.randrange(1, 1 << rng.randrange(1, 32))))
    for _ in range(TURNS):
        least = 2**31 if by == 1 else 2**32
        near = by * rng.randrange(-(-least // by)) + rng.randrange(-1, 2)
        value = min(max(rng.choice((near, rng.randrange(least), least - 1)), 0), least - 1)
        yield (value - 2**32 if value >= 2**31 else value, by), (value // by,)


def snake(rng: random.Random) -> Rows:
    """common/order/snake.cuh, tile by tile."""
    rows, columns, most = rng.randint(1, 64), rng.randint(1, 64), rng.randint(1, 40)
    walk = []
    for first in range(0, rows, most):
        way = range(columns) if first // most % 2 == 0 else reversed(range(columns))
        walk += [(row, at) for at in way for row in range(first, min(first + most, rows))]
    for _ in range(TURNS):
        t = rng.randrange(rows * columns)
        yield (rows, columns, most, t), walk[t]


def strips(rng: random.Random) -> Rows:
    """common/order/block_order.cuh, and where sgemm_18_block_order has it inline."""
    order = BlockOrder(rng.randint(1, 128), rng.randint(1, 128), "strips")
    for _ in range(TURNS):
        t = rng.randrange(order.tiles)
        yield (order.rows, order.columns, t), order.place(t)


def edges_first(rng: random.Random) -> Rows:
    """common/order/edges_first.cuh: the definition, tile by tile."""
    M, N = rng.randint(1, 20 * 256), rng.randint(1, 20 * 128)
    rows, columns = -(-M // 256), -(-N // 128)
    low, narrow = 0 < M % 256 <= 128, 0 < N % 128 <= 64
    first = [(rows - 1, column) for column in range(columns)] if low else []
    first += [(row, columns - 1) for row in range(rows - low)] if narrow else []
    left = (rows - low, columns - narrow)
    for _ in range(TURNS):
        any_ = rng.randrange(1 << 30)
        t = any_ % (rows * columns)
        light = t < len(first)
        tile = first[t] if light else BlockOrder(*left, "strips").place(t - len(first))
        yield (M, N, any_), (rows * columns, len(first), *tile)


# Name of the function in schedules.cpp -> what its answers have to be.
TWINS: dict[str, Callable[[random.Random], Rows]] = {
    "evenly": evenly,
    "last_wave": last_wave,
    "owners": owners,
    "teams": teams,
    "divisor": divisor,
    "snake": snake,
    "strips": strips,
    "strips_of_sgemm_18": strips,
    "edges_first": edges_first,
}


def differing(library: ctypes.CDLL, name: str, points: int) -> list[str]:
    """Where the kernels' function gives something else than its twin."""
    rng = random.Random(name)
    rows = [row for _ in range(points // TURNS) for row in TWINS[name](rng)]
    asked, wanted = (np.array(side, dtype=np.int32) for side in zip(*rows, strict=True))
    found = np.full_like(wanted, -7)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (asked, found)]
    getattr(library, name)(len(asked), *pointers)
    wrong = np.flatnonzero((found != wanted).any(axis=1))
    return [f"{asked[i].tolist()}: {found[i].tolist()}, not {wanted[i].tolist()}" for i in wrong]


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_kernel_and_twin_give_the_same(kernels, name):
    assert differing(kernels, name, POINTS) == []


# ---- the test itself: each of these mistakes shows ----


@dataclass(frozen=True)
class Mistake:
    """A change of a header, and the function that it changes."""

    name: str
    file: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.name}: {self.new}"


ORDER = "common/order"
MISTAKES = (
    Mistake("evenly", "sgemm/19_stream_k.cuh", "((long long)x + 1) * blocks - 1)",
            "(long long)x * blocks)"),
    Mistake("evenly", "sgemm/19_stream_k.cuh", "min(tiles, rest + blocks)", "rest"),
    Mistake("last_wave", "hgemm/19_stream_k.cuh",
            "max(x / (length + 1), (x - longer) / length)", "x / (length + 1)"),
    Mistake("last_wave", "hgemm/19_stream_k.cuh", "+ min(block, longer)", "+ longer"),
    Mistake("owners", f"{ORDER}/stream_k.cuh", "((x + 1) * helpers - 1)", "(x * helpers)"),
    Mistake("owners", f"{ORDER}/stream_k.cuh", "(tile + 1) * cut - 1)", "(tile + 1) * cut)"),
    Mistake("owners", f"{ORDER}/stream_k.cuh", "(to - 1) / share.cut", "to / share.cut"),
    Mistake("owners", f"{ORDER}/stream_k.cuh", "? rest : 1) + 3", "? rest : 1) + 1"),
    Mistake("owners", f"{ORDER}/stream_k.cuh", "time >= least", "time > least"),
    Mistake("teams", f"{ORDER}/last_wave.cuh", "(x + 1u) * helpers - 1", "x * helpers"),
    Mistake("teams", f"{ORDER}/last_wave.cuh", "(team < longer)", "(team <= longer)"),
    Mistake("teams", f"{ORDER}/last_wave.cuh", "by_cut(begin(helper + 1) - 1)",
            "by_cut(begin(helper + 1))"),
    Mistake("teams", f"{ORDER}/last_wave.cuh", "most_pieces += helpers / rest", "most_pieces += 0"),
    Mistake("divisor", f"{ORDER}/divisor.cuh", "/ by + 1)", "/ by)"),
    Mistake("divisor", f"{ORDER}/divisor.cuh", "quotient - (static", "quotient - 0 * (static"),
    Mistake("snake", f"{ORDER}/snake.cuh", "low ? last(within)", "low ? height(within)"),
    Mistake("strips", f"{ORDER}/block_order.cuh", "min(STRIP, rows - strip)", "STRIP"),
    Mistake("strips_of_sgemm_18", "sgemm/18_block_order.cuh", "min(STRIP, rows - strip)", "STRIP"),
    Mistake("edges_first", f"{ORDER}/edges_first.cuh", "if (t < narrow * (rows - low))",
            "if (t < narrow * rows)"),
    Mistake("edges_first", f"{ORDER}/edges_first.cuh", "M % BM <= BM / 2", "M % BM < BM / 2"),
)  # fmt: skip


@pytest.mark.parametrize("mistake", sampled(MISTAKES))
def test_a_mistake_shows(root, tmp_path, mistake):
    changed = shutil.copytree(root / "kernels", tmp_path / "kernels")
    text = (changed / mistake.file).read_text()
    assert text.count(mistake.old) == 1
    (changed / mistake.file).write_text(text.replace(mistake.old, mistake.new))
    assert differing(compiled(changed, tmp_path), mistake.name, POINTS // 10)
