"""The judges: right answers pass, wrong ones fail with a hint that names the mistake."""

import pytest

from gemmlab import exercises
from gemmlab.errors import ArgumentError

STORE_16 = "row = lane%4*4; col = lane/4"
STORE_8 = "row = lane%2*4; col = lane/2"


@pytest.mark.parametrize(
    ("layout", "rows", "store"),
    [
        ("col ^ (row/4*8)", 16, STORE_16),
        ("Swizzle<2,3,6>", 16, STORE_16),
        ("col ^ (row/4*16)", 8, STORE_8),
        ("pad 4", 8, STORE_8),
    ],
)
def test_swizzles_that_solve(layout, rows, store):
    assert exercises.swizzle(layout, rows=rows, store=store).solved


@pytest.mark.parametrize(
    ("layout", "hint"),
    [
        ("col", "4 wavefronts"),
        ("col ^ (row*8)", "4 wavefronts"),  # bits 5 and 6 are no bank bits
        ("pad 2", "16 bytes"),  # conflict-free, but the rows are no longer aligned
        ("pad 4", "2 wavefronts"),
        ("col ^ row", "apart"),
        ("col / 2", "same place"),
        ("col + 1", "outside the row"),
        ("colour", "unknown name"),
        ("col ^ ((row/4 ^ row%4*(row/4))*8)", "wavefronts"),  # only the first store is right
    ],
)
def test_swizzles_that_fail(layout, hint):
    verdict = exercises.swizzle(layout, rows=16, store=STORE_16)
    assert not verdict.solved
    assert hint in verdict.message


def test_mapping():
    good = exercises.mapping(lambda lane: (lane // 16, lane % 16), rows=2, cols=16)
    assert good.solved and "A 2 + B 2 = 4" in good.message
    down = exercises.mapping(lambda lane: (lane % 2, lane // 2), rows=2, cols=16)
    assert not down.solved and "along a row" in down.message
    assert not exercises.mapping(lambda lane: (lane, 0), rows=2, cols=16).solved
    assert "pair" in exercises.mapping(lambda lane: lane, rows=2, cols=16).message


def test_thread_tile():
    assert exercises.thread_tile(8, 16, fmas_per_value=5, registers=200).solved
    assert "FMAs per value are asked" in exercises.thread_tile(8, 8, 5, 200).message
    assert "registers are allowed" in exercises.thread_tile(16, 16, 5, 200).message
    with pytest.raises(ArgumentError, match="TM"):
        exercises.thread_tile(0, 8, 5, 200)
    with pytest.raises(ArgumentError, match="TN"):
        exercises.thread_tile(8, 18, 5, 200)


def test_verdict_says_itself_in_words():
    verdict = exercises.Verdict(False, "a < b")
    assert repr(verdict) == "Not yet: a < b"
    assert "Not yet" in verdict._repr_html_() and "a &lt; b" in verdict._repr_html_()
