"""The judge of 16-bit swizzles: right answers pass, wrong ones fail with the mistake named."""

from __future__ import annotations

import pytest

from gemmlab import exercises
from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import Swizzle

SOLVED = [
    (lambda row, chunk: chunk ^ (row >> 2 & 1), 32),
    (lambda row, chunk: chunk ^ (row >> 1 & 3), 64),
    (lambda row, chunk: chunk ^ (row & 7), 128),
    (lambda row, chunk: (chunk + row) % 8, 128),  # no XOR at all
    (lambda row, chunk: chunk ^ (row & 7), 256),
    ((1, 3, 3), 32),
    ((3, 3, 3), 32),  # moves chunks into other rows
    ((2, 3, 3), 64),
    ((3, 3, 3), 64),  # the third bit does no harm
    (Swizzle(3, 3, 3), 128),
    ([3, 3, 4], 256),
]


@pytest.mark.parametrize(("answer", "row_bytes"), SOLVED)
@pytest.mark.parametrize("reader", ["ldmatrix.x4", "ldmatrix.x2.trans", "ldmatrix.x1"])
def test_swizzles_that_solve(answer, row_bytes, reader):
    verdict = exercises.swizzle16(answer, row_bytes, reader=reader)
    assert verdict.solved, verdict
    assert "the minimum" in verdict.message


@pytest.mark.parametrize(
    ("answer", "row_bytes", "hint"),
    [
        (lambda row, chunk: chunk, 64, "Phase 1: rows 0, 2, 4, 6 meet in banks 0 to 3"),
        (lambda row, chunk: chunk ^ (row & 3), 64, "rows 0, 4 meet"),
        (lambda row, chunk: chunk ^ (row & 1), 32, "2 wavefronts, 1 too many"),
        # Right for the first 16 rows only.
        (lambda row, chunk: chunk ^ (row >> 1 & 3) * (row < 16), 64, "at row 16, chunk 0"),
        (lambda row, chunk: chunk ^ (row & 7) * (chunk < 8), 256, "at row 0, chunk 8"),
        (lambda row, chunk: chunk & (row & 7), 128, "not one-to-one: in row 0, chunks 0 and 1"),
        (lambda row, chunk: chunk ^ (row & 7), 64, "row 4: chunk 0 goes to chunk 4"),
        (lambda row, chunk: chunk - row, 128, "row 1: chunk 0 goes to chunk -1"),
        (lambda row, chunk: chunk / 2, 128, "an integer"),
        (lambda row, chunk: None, 128, "an integer"),
        (lambda row, chunk: True, 128, "an integer"),
        (lambda row: row, 128, "take a row and a chunk"),
        (lambda row, chunk: chunk % row, 128, "row 0, chunk 0: integer"),
        ((3, 3, 3), 256, "8 wavefronts, the minimum is 4"),
        ((0, 3, 3), 64, "16 wavefronts"),
        ((3, 2, 4), 128, "do not stay together"),
        ((3, 3, 2), 128, "|S| must be at least B"),
        ((3, 3), 128, "(B, M, S)"),
        ("Swizzle<3,3,3>", 128, "(B, M, S)"),
    ],
)
def test_swizzles_that_fail(answer, row_bytes, hint):
    verdict = exercises.swizzle16(answer, row_bytes)
    assert not verdict.solved
    assert hint in verdict.message


def test_a_tile_or_reader_that_there_is_not_is_refused():
    with pytest.raises(ArgumentError, match="row_bytes"):
        exercises.swizzle16((3, 3, 3), 100)
    with pytest.raises(ArgumentError, match="reader"):
        exercises.swizzle16((3, 3, 3), 128, reader="ldmatrix")
    with pytest.raises(ArgumentError, match="rows"):
        exercises.swizzle16((3, 3, 3), 128, rows=8)
