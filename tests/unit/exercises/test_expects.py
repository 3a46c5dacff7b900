"""What a chapter's judge is given: plain values of the kind it expects, or nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count

import numpy as np
import pytest

from gemmlab import exercises
from gemmlab.core.errors import ArgumentError
from gemmlab.exercises import Verdict, answers


class Everything:
    """Equal to everything, by its own account."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class EqualNumber(int):
    __eq__ = Everything.__eq__
    __hash__ = int.__hash__


def read(answer, names="row, column", kind="integer", **options):
    """The verdict of a judge that calls the answer once, and what it was given."""
    given = []

    @exercises.expects(names, kind, **options)
    def judge(plain):
        given.append(plain(7) if callable(plain) else plain)
        return Verdict(True, "read.")

    return judge(answer), given


@pytest.mark.parametrize(
    ("kind", "value", "plain"),
    [
        ("integer", (3, 4), (3, 4)),
        ("integer", [3.0, np.int32(4)], (3, 4)),
        ("integer", np.array([3, 4]), (3, 4)),
        ("integer", map(int, "34"), (3, 4)),
        ("integer", (EqualNumber(3), 4), (3, 4)),
        ("number", (0.5, Fraction(1, 4)), (0.5, 0.25)),
        ("number", (3, np.float32(0.5)), (3.0, 0.5)),
        ("truth", (True, np.False_), (True, False)),
        ("text", ("a", np.str_("b")), ("a", "b")),
    ],
)
def test_a_right_kind_arrives_as_pythons_own(kind, value, plain):
    verdict, (given,) = read(lambda i: value, kind=kind)
    assert verdict.solved and given == plain
    assert [type(one) for one in given] == [type(one) for one in plain]


def test_one_name_is_one_value():
    assert read(lambda i: np.int64(i), "row")[1] == [7]


ROWS = "the function must return (row, column), two integers; got "


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (None, "None."),
        (3, "3."),
        ((3,), "(3,)."),
        ((3, 4, 5), "(3, 4, 5)."),
        (count(), "count(3)."),  # without an end
        ("34", "'34'."),
        ((True, 4), "(True, 4)."),
        ((3, 4.5), "(3, 4.5)."),
        ((3, math.inf), "(3, inf)."),
        ((3, [4]), "(3, [4])."),
        ((3, np.array([4])), "(3, array([4]))."),
        (Everything(), "<"),
        ((Everything(), 4), "(<"),
    ],
)
def test_a_wrong_kind_is_named(value, got):
    verdict, given = read(lambda i: value)
    assert not verdict.solved and not given
    assert f"{ROWS}{got}" in verdict.message


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("number", "0.5", "return it, a number; got '0.5'."),
        ("number", math.nan, "return it, a number; got nan."),
        ("number", True, "return it, a number; got True."),
        ("number", 1j, "return it, a number; got 1j."),
        ("truth", 1, "return it, True or False; got 1."),
        ("truth", Everything(), "return it, True or False; got <"),
        ("text", 3, "return it, a string; got 3."),
    ],
)
def test_a_wrong_value_of_each_kind_is_named(kind, value, said):
    verdict, given = read(lambda i: value, "it", kind)
    assert not verdict.solved and not given
    assert said in verdict.message


def test_what_is_no_function_is_named():
    assert "the answer must be a function; got (3, 4)." in read((3, 4))[0].message


def test_a_list_is_read_entry_by_entry():
    assert read([(1, 2), [3, 4]], listed=True)[1] == [[(1, 2), (3, 4)]]
    assert "must be a list; got None." in read(None, listed=True)[0].message
    said = read([(1, 2), 3], listed=True)[0].message
    assert said == "each entry of the list must be (row, column), two integers; got 3."


def test_a_division_by_zero_is_said_with_its_arguments():
    verdict, _ = read(lambda i: (i // 0, i))
    assert verdict.message.startswith("for (7,): ") and "by zero" in verdict.message


def test_what_the_library_refuses_is_a_verdict():
    @exercises.expects("it")
    def judge(answer):
        raise ArgumentError("start: got 1, allowed are multiples of 16")

    assert judge(lambda: 1).message == "start: got 1, allowed are multiples of 16."


def test_a_mistake_in_the_readers_function_stays_an_error():
    with pytest.raises(NameError):
        read(lambda i: nowhere)  # noqa: F821


def test_an_unknown_kind_is_refused():
    with pytest.raises(ArgumentError, match="kind"):
        exercises.expects("row", "float")


@pytest.mark.parametrize(
    "value", [None, "0", Everything(), (Everything(),) * 3, ("0", "1", "1"), (math.inf, 0, 1)]
)
def test_rings_and_boxes_are_read_as_strictly(value):
    said = exercises.parities(lambda c, k, tiles, stages: value)
    assert "must return (stage, parity, parity), three integers" in said.message
    assert not exercises.box_source(lambda m, x, y, r, c: value).solved


@pytest.mark.parametrize(
    ("reads", "value"),
    [
        (answers.whole, math.inf),
        (answers.whole, math.nan),
        (answers.real, math.inf),
        (answers.real, 10**400),
    ],
)
def test_what_is_no_number_of_a_kind_is_a_value_error(reads, value):
    """Not an OverflowError, which judges take for one of the reader's arithmetic."""
    with pytest.raises(ValueError):  # noqa: PT011  # the reader is told by the judge
        reads(value)
