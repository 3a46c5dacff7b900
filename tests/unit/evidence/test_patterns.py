"""Copies by the shape of their rows, and the judge of copy mappings."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab.evidence import patterns
from gemmlab.exercises.copies import copies

LANES = np.arange(32)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (LANES, 512),
        (LANES // 4 * 512 + LANES % 4, 64),
        (LANES // 8 * 512 + LANES % 8, 128),
        (LANES // 4 * 6 + LANES % 4, None),  # some rows begin within a line
        (LANES // 4 * 513 + LANES % 4, None),
        (LANES[::-1], None),
    ],
)
def test_rows_of_a_source(pieces, expected):
    assert patterns.row_bytes(pieces * 16) == expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (LANES, "in order"),
        (LANES ^ LANES // 8, "XORed"),
        (LANES ^ 7, "XORed"),
        (LANES ^ LANES % 2, None),
        (LANES ^ 8, None),
        (LANES // 8 * 8 + (LANES + 1) % 8, None),
    ],
)
def test_orders_of_destinations(pieces, expected):
    assert patterns.order(pieces * 16) == expected


def test_measured_copies_depend_on_rows_alone():
    table = patterns.copies_past_l1()
    counts = {row[0]: row[1:] for row in table.rows}
    assert counts["8 rows of 64 bytes"] == ("8", "8")
    assert counts["4 rows of 128 bytes"] == ("4", "4")
    assert counts["512 bytes on end"] == ("4", "4")
    assert "NVIDIA H200" in repr(table)


@pytest.mark.parametrize("bits", [0, 3])
def test_mappings_that_solve(bits):
    assert copies(lambda t: (t // 8, t % 8), 128, bits=bits).solved
    assert copies(lambda t: (t // 8, t % 8 ^ 5), 128, bits=bits).solved
    assert copies(lambda t: (t // 32 * 4 + t % 4, t // 4 % 8), 128, bits=bits).solved
    assert copies(lambda t: (t // 4, t % 4), 64, wavefronts=8).solved


@pytest.mark.parametrize(
    ("chunk_of", "hint"),
    [
        (lambda t: (t // 4 % 128, t % 4 + t // 512 * 4), "8 lines of global memory, 16 sectors"),
        (lambda t: (t % 128, t // 128), "32 lines of global memory, 32 sectors"),
        (lambda t: (t // 4, t % 4), "copy 512 moves (128, 0), which is outside"),
        (lambda t: (t // 8, 0), "chunk (0, 1) is never copied"),
        (lambda t: (t / 8, t % 8), "of integers"),
        (lambda t: t, "a pair"),
        (lambda t: (t // (t - 3), 0), "zero"),
    ],
)
def test_mappings_that_fail(chunk_of, hint):
    verdict = copies(chunk_of, 128, bits=3)
    assert not verdict.solved
    assert hint in verdict.message


def test_a_row_of_half_a_line_cannot_do_it_in_four():
    assert not copies(lambda t: (t // 4, t % 4), 64).solved
