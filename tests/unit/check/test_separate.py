"""What tells right shapes from wrong ones."""

from __future__ import annotations

import pytest

from gemmlab.check.report import Case, CheckReport
from gemmlab.check.separate import separated


def cases(right, wrong):
    good = [Case(*shape, 1.0, 0.0, 0.0) for shape in right]
    return (*good, *(Case(*shape, 1.0, 0.0, 9.0, "wrong") for shape in wrong))


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        (
            [(8, 8, 4), (9, 7, 12)],
            [(8, 8, 1), (9, 8, 6), (7, 7, 3)],
            "right at all 2 shapes where K is a multiple of 4, and wrong at all 3 where it is not",
        ),
        (
            [(33, 8, 4), (65, 7, 12)],
            [(64, 8, 1), (96, 8, 8)],
            "right at all 2 shapes where M is odd, and wrong at all 2 where it is a multiple of 32",
        ),
        # Whether a multiple of 4 is enough, no shape tells.
        (
            [(8, 8, 8), (9, 7, 24)],
            [(8, 8, 2), (9, 8, 6)],
            "right at all 2 shapes where K is a multiple of 8, and wrong at all 2 where it is not "
            "a multiple of 4",
        ),
        (
            [(8, 2, 4), (9, 6, 8)],
            [(8, 3, 4), (9, 7, 8)],
            "right at all 2 shapes where N is even, and wrong at all 2 where it is not",
        ),
        (
            [(8, 8, 4), (9, 7, 2)],
            [(8, 8, 8), (9, 8, 16)],
            "right at all 2 shapes where K is not a multiple of 8, and wrong at all 2 where it is",
        ),
        (
            [(33, 8, 3), (64, 7, 16)],
            [(64, 8, 17), (33, 7, 34)],
            "where K is 16 or less, and wrong at all 2 where it is 17 or more",
        ),
        # One run without any k is enough.
        ([(8, 8, 4), (16, 8, 8)], [(8, 8, 0)], "only K = 0 is wrong: there is no tile to load"),
        ([(8, 8, 4), (16, 8, 0)], [(8, 8, 0)], ""),
        # One shape has too many properties, and none separates these.
        ([(8, 8, 4)], [(8, 8, 1), (9, 8, 6)], ""),
        ([(8, 8, 4), (16, 16, 8)], [(8, 8, 8), (16, 16, 4)], ""),
    ],
)
def test_the_property_that_separates_shapes(right, wrong, says):
    found = separated(set(right), set(wrong))
    assert says in found and bool(found) == bool(says)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ([(64, 64, 16)], [(128, 64, 64), (64, 192, 32)], "one k tile (K is 16 or less), and wrong"),
        ([(64, 64, 16), (128, 64, 64)], [(64, 192, 32)], "one column of tiles (N is 64 or less)"),
        ([(64, 64, 16), (64, 192, 32)], [(128, 64, 64)], "one row of tiles (M is 64 or less)"),
        ([(64, 192, 64)], [(128, 192, 64), (64, 192, 16)], ""),
    ],
)
def test_one_tile_is_told_from_several_by_one_shape_of_each(right, wrong, says):
    found = separated(set(right), set(wrong), (64, 64, 16))
    assert says in found and bool(found) == bool(says)
    assert not separated(set(right), set(wrong))  # a tile of one element says nothing


def test_a_report_says_it_below_the_wrong_cases():
    both = cases([(8, 8, 4), (9, 7, 12)], [(8, 8, 1), (9, 8, 6)])
    assert repr(CheckReport("k", "sim", both)).endswith("and wrong at all 2 where it is not")
    # With alpha = 0 nothing depends on the product.
    zero = Case(8, 8, 1, 0.0, 1.0, 0.0)
    assert repr(CheckReport("k", "sim", (*both, zero))).endswith("where it is not")
    # A shape that is right with some factors only is no right one.
    some = Case(8, 8, 1, 1.0, 0.0, 0.0)
    assert "where" not in repr(CheckReport("k", "sim", (*both, some)))
