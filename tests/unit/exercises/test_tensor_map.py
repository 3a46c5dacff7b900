"""The judge of where elements of a box come from: right answers pass, wrong ones get a hint."""

from __future__ import annotations

import pytest

from gemmlab import exercises
from gemmlab.exercises.tensor_map import _TRIED, _elements


def right(m, x, y, row, column):
    r, c = y + row, x + column
    inside = 0 <= r < m.rows and 0 <= c < m.columns
    return r * m.stride_bytes + c * m.element if inside else None


def at(m, r, c):
    return r * m.stride_bytes + c * m.element


def test_the_right_answer_passes():
    verdict = exercises.box_source(right)
    assert verdict.solved, verdict
    assert f"{len(list(_elements())):,} elements" in verdict.message


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda m, x, y, r, c: at(m, y + r, x + c), "None; got 200. There is memory, the gap"),
        (lambda m, x, y, r, c: at(m, r, c), "row 32, column 64 of the matrix, byte 8320; got 0."),
        (lambda m, x, y, r, c: at(m, x + r, y + c), "x counts columns and y rows."),
        (lambda m, x, y, r, c: (y + r) * m.columns + x + c, "in bytes, not in elements."),
        (lambda m, x, y, r, c: (y + r) * m.stride_bytes + x + c, "as many bytes as an element"),
        (
            lambda m, x, y, r, c: right(m, x, y, r, c) if y + r < m.rows else 0,
            "which lies outside: None; got 0. The copy engine reads nothing outside of the matrix.",
        ),
        (
            lambda m, x, y, r, c: at(m, y + r, x + c) if y + r < m.rows and x + c < 100 else None,
            "got None.",
        ),
        (
            lambda m, x, y, r, c: (
                at(m, y + r, x + c) if y + r < m.rows and x + c < m.columns else None
            ),
            "box {-8, 0}: row 0, column 0 of the box is row 0, column -8",
        ),
        (
            lambda m, x, y, r, c: right(m, x, y, r, c) and ((y + r) * m.columns + x + c) * 2,
            "got",
        ),
        (lambda m, x, y, r, c: m.pitch_of, "has no attribute"),
        (lambda m, x, y, r: 0, "positional arguments"),
        (lambda m, x, y, r, c: r // c, "by zero"),
        (lambda m, x, y, r, c: False, "got False"),
    ],
)
def test_wrong_answers_fail_with_a_hint(answer, hint):
    verdict = exercises.box_source(answer)
    assert not verdict.solved
    assert hint in verdict.message


def test_the_judge_agrees_with_the_box_model():
    for m, boxes in _TRIED:
        for x, y in boxes:
            box = m.box(x, y)
            outside = sum(
                right(m, x, y, r, c) is None
                for r in range(m.box_rows)
                for c in range(m.box_columns)
            )
            assert outside * m.element == box.zero_bytes
