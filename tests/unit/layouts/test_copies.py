"""cp.async by hand: what a warp's copy of a tile costs, and what is refused."""

import numpy as np
import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.shared.copies import copy

LANE = np.arange(32)


def rows(row: int, pitch: int, width: int = 16) -> np.ndarray:
    """Where the pieces of rows of `row` bytes are, `pitch` bytes apart."""
    return LANE * width // row * pitch + LANE * width % row


@pytest.mark.parametrize(
    ("row", "to_pitch", "from_pitch", "through_l1", "past_l1"),
    [
        # A row of 128 bytes, one line: a phase of eight lanes, or one line to one line.
        (128, 128, 2048, (4, 16), (4, 16)),
        # Two rows a phase, whose sources meet in banks; two lines to each line.
        (64, 64, 2048, (8, 16), (8, 16)),
        (32, 32, 2048, (16, 16), (16, 16)),
        # Padded rows of 64 bytes. Destinations meet once, sources all: three wavefronts a phase.
        # Past L1, every second row's sectors are torn in two.
        (64, 80, 2048, (12, 16), (15, 24)),
    ],
)
def test_rows_of_a_tile(row, to_pitch, from_pitch, through_l1, past_l1):
    to, source = rows(row, to_pitch), rows(row, from_pitch)
    for past, expected in ((False, through_l1), (True, past_l1)):
        found = copy(to, source, 16, past_l1=past)
        assert (found.wavefronts, found.sectors) == expected
        assert found.minimum == 4
        assert found.conflicts == found.wavefronts - 4


def test_a_swizzle_in_lines_of_128_bytes_costs_nothing():
    to = rows(128, 128)
    swizzled = to ^ (to >> 3 & 0x70)
    for past in (False, True):
        assert copy(swizzled, rows(128, 4096), 16, past_l1=past).wavefronts == 4


def test_zeros_are_not_read():
    to, source = rows(128, 128), rows(128, 2048)
    half = copy(to, source, 16, reads=LANE < 16)
    assert (half.wavefronts, half.sectors) == (4, 8)
    # Past L1, the zeros are written as through L1, for all lanes: four wavefronts more.
    half = copy(to, source, 16, reads=LANE < 16, past_l1=True, zero_fill=True)
    assert (half.wavefronts, half.sectors) == (2 + 4, 8)
    nothing = copy(to, source + 3, 16, reads=LANE < 0)  # where it points does not matter
    assert (nothing.wavefronts, nothing.sectors) == (4, 0)


def test_the_same_word_is_a_collision():
    assert copy(LANE * 0, LANE * 4, 4).wavefronts == 32
    assert copy(LANE * 4, LANE * 0, 4).wavefronts == 32
    # Past L1 only the first lane of a destination counts.
    assert copy(LANE * 0, LANE * 16, 16, past_l1=True).wavefronts == 1


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((LANE * 2, LANE * 2, 2), {}, "width"),
        ((LANE * 8, LANE * 8, 8), {"past_l1": True}, "width"),
        ((LANE * 16 + 4, LANE * 16, 16), {}, "addresses"),
        ((LANE * 16, LANE * 16 + 8, 16), {}, "addresses"),
        ((LANE * 16, LANE[:31] * 16, 16), {}, "addresses"),
        ((LANE * 16, LANE * 16, 16, LANE), {}, "active"),
        ((LANE * 16, LANE * 16, 16), {"reads": [True]}, "reads"),
    ],
)
def test_bad_copies_are_refused(arguments, options, name):
    with pytest.raises(ArgumentError, match=name):
        copy(*arguments, **options)
