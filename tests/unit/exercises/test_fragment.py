"""The judge of fragments' indices: right answers pass, wrong ones fail with the place named."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab import exercises
from gemmlab.core.errors import ArgumentError
from gemmlab.layouts.fragments import FRAGMENTS


def a(lane, register, half):
    return lane // 4 + register % 2 * 8, lane % 4 * 2 + half + register // 2 * 8


def b(lane, register, half):
    return lane % 4 * 2 + half + register * 8, lane // 4


def c(lane, register):
    return lane // 4 + register // 2 * 8, lane % 4 * 2 + register % 2


@pytest.mark.parametrize(("answer", "name"), [(a, "A"), (b, "B"), (c, "C/D")])
def test_right_indices_pass(answer, name):
    verdict = exercises.fragment_layout(answer, f"mma.m16n8k16 {name}")
    assert verdict.solved, verdict
    assert "all" in verdict.message


@pytest.mark.parametrize("name", FRAGMENTS)
def test_what_the_layouts_say_passes_for_every_fragment(name):
    assert exercises.fragment_layout(FRAGMENTS[name].element, name).solved


def test_integers_may_be_numpy_s():
    assert exercises.fragment_layout(lambda *at: np.array(a(*at))).solved


@pytest.mark.parametrize(
    ("answer", "name", "hint"),
    [
        # Registers 1 and 2 exchanged.
        (
            lambda lane, r, h: (lane // 4 + r // 2 * 8, lane % 4 * 2 + h + r % 2 * 8),
            "A",
            "128 of 256 are right. For lane 0, register 1, low half you say row 0, column 8; "
            "that element is in lane 0, register 2, low half.",
        ),
        # Pairs along n, as ldmatrix without .trans gives them.
        (
            lambda lane, r, h: (lane // 4 + r * 8, lane % 4 * 2 + h),
            "B",
            "16 of 128 are right. For lane 0, register 0, high half you say row 0, column 1; "
            "that element is in lane 4, register 0, low half.",
        ),
        (
            lambda lane, r: (lane // 4 + r % 2 * 8, lane % 4 * 2 + r // 2),
            "C/D",
            "For lane 0, register 1 you say row 8, column 0; that element is in lane 0, register 2",
        ),
        (lambda lane, r, h: (16 + lane, 0), "A", "and there are 16 rows and 16 columns."),
        (lambda lane, r, h: (lane // r, 0), "A", "lane 0, register 0, low half: "),
        (lambda lane, r, h: (lane / 4, 0), "A", "integers (// for /?)"),
        (lambda lane, r, h: (0, True), "A", "integers"),
        (lambda lane, r, h: lane, "A", "must take lane, register, half and return"),
        (lambda lane, r: (0, 0), "A", "must take lane, register, half and return"),
        (lambda lane, r, h: (0, 0), "C/D", "must take lane, register and return"),
        (lambda lane, r, h: None, "A", "return (row, column)"),
    ],
)
def test_wrong_indices_fail(answer, name, hint):
    verdict = exercises.fragment_layout(answer, f"mma.m16n8k16 {name}")
    assert not verdict.solved
    assert hint in verdict.message


def test_a_fragment_that_there_is_not_is_refused():
    with pytest.raises(ArgumentError, match="name"):
        exercises.fragment_layout(a, "mma.m16n8k16")
