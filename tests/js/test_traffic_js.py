"""What a warp, a block and a thread load is the same in JavaScript and Python; needs node."""

import random

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.shared.banks import sectors
from gemmlab.layouts.traffic.block_tile import BlockTile
from gemmlab.layouts.traffic.patch import FLOAT, SHAPES, Patch
from gemmlab.layouts.traffic.thread_tile import ThreadTile
from gemmlab.layouts.traffic.words import plural, quotient

DIVISORS = [(n, tile) for n in (1, 6, 32, 48, 64) for tile in range(1, n + 1) if n % tile == 0]


@pytest.mark.twin("traffic/patch")
def test_random_patches_agree(ask):
    rng = random.Random(7)
    drawn = [Patch(rng.choice(SHAPES), rng.randrange(9), rng.randrange(40)) for _ in range(300)]
    expected = [
        [
            [list(p.place(lane)) for lane in range(32)],
            [[*at, used] for at, used in p.sectors().items()],
            p.moved,
            p.percent,
            p.describe(),
        ]
        for p in drawn
    ]
    assert ask([("patch", vars(p)) for p in drawn]) == expected
    # The rule of the hardware's own counter, for a matrix whose rows are whole sectors.
    for p in drawn:
        addresses = [FLOAT * (row * 64 + column) for row, column in map(p.place, range(32))]
        assert len(p.sectors()) == sectors(addresses, FLOAT)


@pytest.mark.twin("traffic/block_tile")
def test_tiles_along_k_agree(ask):
    cases = [(n, tile, step) for n, tile in DIVISORS for step in {0, 1, n // tile}]
    expected = []
    for n, tile, step in cases:
        b = BlockTile(n, tile)
        counts = [b.steps, b.blocks, b.loaded, b.loaded_after(step), b.fmas_after(step)]
        expected.append([*counts, b.describe(step)])
        assert b.blocks * b.fmas_after(b.steps) == n**3
        assert b.loaded * tile == BlockTile(n, 1).loaded
    assert ask([("block_tile", {"n": n, "tile": t, "step": s}) for n, t, s in cases]) == expected


@pytest.mark.twin("traffic/thread_tile")
def test_thread_tiles_agree(ask):
    tiles = [ThreadTile(m, n) for m in range(1, 18) for n in range(1, 18)]
    expected = [
        [
            *(t.values, t.fmas, t.registers, t.fits, t.percent, t.describe()),
            [list(t.element(i)) for i in range(t.fmas)],
        ]
        for t in tiles
    ]
    assert ask([("thread_tile", vars(t)) for t in tiles]) == expected
    assert ThreadTile(8, 8).fits and not ThreadTile(16, 16).fits


@pytest.mark.twin("traffic/words")
def test_numbers_are_written_alike(ask):
    pairs = [(a, b) for a in (0, 1, 2, 7, 15, 999, 12345) for b in (1, 2, 3, 4, 20)]
    said = [[plural(a, "tile"), quotient(a, b)] for a, b in pairs]
    assert ask([("traffic_words", {"a": a, "b": b}) for a, b in pairs]) == said


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Patch(3), "rows"),
        (lambda: Patch(32, -1), "row"),
        (lambda: BlockTile(64, 3), "tile"),
        (lambda: ThreadTile(0, 8), "m"),
    ],
)
def test_what_cannot_be_is_refused(make, name):
    with pytest.raises(ArgumentError, match=f"^{name}: "):
        make()
