"""The schedule of tma_07: nothing forgotten, and the numbers that the chapter names."""

from collections import Counter

import pytest

from gemmlab.layouts.schedules.evenly import waves_paid
from gemmlab.layouts.schedules.owners import Owners
from gemmlab.report.diagrams import schedule_diagram

CASES = [(332, 128), (512, 64), (800, 80), (1, 96), (1, 64), (5, 0), (0, 4), (132, 9), (140, 256)]


def cube(n: int) -> Owners:
    return Owners((n // 256) * (n // 128), n // 64)


@pytest.mark.parametrize(("tiles", "k_tiles"), CASES)
@pytest.mark.parametrize("price", [1, 6])
def test_every_k_tile_is_done_once(tiles, k_tiles, price):
    plan = Owners(tiles, k_tiles, price=price)
    done = Counter((p.tile, k) for p in plan.everything() for k in range(p.begin, p.end))
    assert done == Counter((t, k) for t in range(tiles) for k in range(k_tiles))
    shares = [plan.begin(b + 1) - plan.begin(b) for b in range(plan.split, plan.blocks)]
    assert not plan.split or max(shares[: plan.helpers]) - min(shares[: plan.helpers]) <= 1


@pytest.mark.parametrize(
    ("n", "split", "helpers", "cut", "before", "longest", "parts"),
    [
        (1024, 0, 0, 0, 16, 16, 0),
        (2048, 0, 0, 0, 32, 32, 0),
        (4096, 0, 0, 0, 256, 256, 0),
        (5120, 8, 23, 58, 560, 502, 38),
        (8192, 68, 63, 57, 2048, 1991, 197),
        (16384, 8, 47, 218, 16128, 15910, 62),
    ],
)
def test_numbers_that_the_chapter_names(n, split, helpers, cut, before, longest, parts):
    plan = cube(n)
    assert waves_paid(plan.tiles, 132) * plan.k_tiles == before
    assert (plan.split, plan.helpers, plan.cut) == (split, helpers, cut)
    assert (plan.longest, plan.parts) == (longest, parts)


def test_it_is_drawn():
    assert "k tiles of time" in schedule_diagram(Owners(5, 16, 4, price=1)).alt
