"""Answers of readers' functions, read strictly: a judge says what is wrong, it does not crash.

What is compared are values of Python's own types, made from what the reader returned: an object
that says of itself that it equals everything is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Pair = tuple[int, int]


class WrongAnswerError(Exception):
    """Why an answer is wrong; its text is the verdict's message."""


def whole(value: object) -> int:
    """`value` as an integer. Raises TypeError or ValueError unless it equals one and is no bool."""
    try:
        number = int(_scalar(value))
    except OverflowError:  # infinity
        raise ValueError from None
    if value != number:
        raise TypeError
    return int(number)


def real(value: object) -> float:
    """`value` as a float. Raises TypeError or ValueError unless it is a finite number."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError
    try:
        number = float(_scalar(value))
    except OverflowError:  # an integer that no float holds
        raise ValueError from None
    if not math.isfinite(number):
        raise ValueError
    return number


def truth(value: object) -> bool:
    """`value`, Python's or NumPy's True or False. Raises TypeError for everything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError
    return bool(value)


def words(value: object) -> str:
    """`value` as a plain string. Raises TypeError unless it is one."""
    if not isinstance(value, str):
        raise TypeError
    return str.__str__(value)


def _scalar(value: Any) -> Any:
    """`value`, unless it is a truth value or an array, which int() and float() would take."""
    if isinstance(value, (bool, np.bool_)) or getattr(value, "ndim", None):
        raise TypeError
    return value


def pair(value: object) -> Pair:
    """`value` as two integers. Raises TypeError or ValueError."""
    first, second = map(whole, value)  # type: ignore[call-overload]  # whatever a reader returned
    return first, second


def pairs(answer: Callable[[int], object], count: int, names: str, where: str = "") -> list[Pair]:
    """answer(0) to answer(count - 1), each a pair of integers.

    names: what the two are, "row, column". where: stands before an arithmetic error.
    Raises WrongAnswerError.
    """
    try:
        return [pair(answer(i)) for i in range(count)]
    except ArithmeticError as error:
        raise WrongAnswerError(f"{where}{error}.") from None
    except (TypeError, ValueError):
        raise WrongAnswerError(f"the function must return a pair ({names}) of integers.") from None


def once(found: Sequence[Pair], rows: int, columns: int) -> tuple[int | None, Pair | None]:
    """The first answer outside of rows x columns, and the first place that no answer has."""
    every = {(row, column) for row in range(rows) for column in range(columns)}
    outside = next((i for i, at in enumerate(found) if at not in every), None)
    return outside, min(every - set(found), default=None)
