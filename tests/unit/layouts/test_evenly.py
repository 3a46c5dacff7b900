"""The schedule of stream-K: equal shares, nothing forgotten, impossible sizes refused."""

from collections import Counter

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.schedules.evenly import Schedule, waves_paid
from gemmlab.layouts.schedules.stream_k import whole_tiles
from gemmlab.report.diagrams import schedule_diagram

CASES = [(64, 64), (256, 128), (576, 192), (1024, 256), (6, 16), (264, 4), (1, 1), (5, 0), (0, 4)]


@pytest.mark.parametrize(("tiles", "k_tiles"), CASES)
def test_every_k_tile_is_done_once(tiles, k_tiles):
    plan = Schedule(tiles, k_tiles)
    done = Counter((p.tile, k) for p in plan.everything() for k in range(p.begin, p.end))
    assert done == Counter((t, k) for t in range(tiles) for k in range(k_tiles))
    shares = [plan.begin(b + 1) - plan.begin(b) for b in range(plan.blocks)]
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("n", [3072, 4096, 5120, 8192])
def test_a_block_leaves_two_parts_at_most_and_a_tile_has_two(n):
    plan = Schedule((n // 128) ** 2, n // 16)
    parts = [p for p in plan.everything() if p.end - p.begin < plan.k_tiles]
    assert max(Counter(p.tile for p in parts).values()) == 2
    assert max(Counter(p.block for p in parts).values()) <= 2
    assert len(parts) == plan.parts


def test_numbers_that_the_chapter_names():
    plan = Schedule(576, 192)
    assert (plan.split, plan.longest, waves_paid(576)) == (312, 419, 3)
    assert [(p.tile, p.begin, p.end) for p in plan.pieces(100)] == [
        (118, 34, 192), (119, 0, 69), (412, 0, 192)
    ]  # fmt: skip
    found = [(p.blocks, p.longest, p.parts) for p in (Schedule(64, 64, min_share=m)
             for m in (8, 16, 17, 32))]  # fmt: skip
    assert found == [(264, 16, 320), (256, 16, 256), (240, 18, 288), (128, 32, 128)]
    assert Schedule(6, 8, 4, 1).parts == 4
    assert Schedule(256, 128).parts == 0  # its wave is full to within 5 %
    assert [p.start for p in whole_tiles(5, 8, 4)] == [0, 0, 0, 0, 8]


def test_the_figure_says_what_it_shows():
    figure = schedule_diagram(Schedule(5, 8, 4, min_share=1))
    for words in (
        "Whole tiles: 16 k tiles of time, 24 of 64 places empty",
        "Shared out: 10 k tiles of time, 6 parts",
        "Block 1: tile 1 k 2 to 7, tile 2 k 0 to 3.",
    ):
        assert words in figure.alt
    assert figure.svg().startswith("<?xml")
    assert figure.png[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((-1, 4), "tiles"), ((4, 2.0), "k_tiles"), ((4, 4, 0), "most"), ((4, 4, 4, 0), "min_share")],
)
def test_impossible_sizes_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        Schedule(*arguments)
