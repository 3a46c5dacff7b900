"""Checks of arguments: each gives the value back, or says which argument is wrong and why.

The errors name the argument, what was given, and what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from .errors import ArgumentError

T = TypeVar("T")


def integer(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    allowed: str = "",
    kind: type[Any] = int,
) -> int:
    """`value` if it is an integer from `low` to `high`; a bool is refused.

    allowed: what the error says instead of the range. kind: numbers.Integral takes NumPy's, too.
    """
    whole = isinstance(value, kind) and not isinstance(value, bool)
    if not (whole and low <= value <= high):
        raise ArgumentError(f"{name}: got {value!r}, {allowed or _range(low, high)}")
    return cast(int, value)


def index(name: str, value: Any) -> int:
    """`value` if it is an integer, Python's or NumPy's."""
    return integer(name, value, kind=Integral)


def number(name: str, value: Any, *, expected: str = "a number") -> float:
    """`value` if it is a number, but no bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentError(f"{name}: got {value!r}, expected {expected}")
    return cast(float, value)


def text(name: str, value: Any) -> str:
    """`value` if it is text."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: got {type(value).__name__}, expected text")
    return value


def choice(
    name: str,
    value: T,
    allowed: Iterable[T],
    *,
    lead: str = ", allowed are ",
    quoted: bool = False,
    unit: str = "",
) -> T:
    """`value` if it is one of `allowed`; a bool is not taken for 0 or 1.

    lead: what stands between what was given and what is allowed. quoted: names stand in quotes.
    unit: follows what was given, "bytes".
    """
    known = tuple(allowed)
    if isinstance(value, bool) or value not in known:
        given = f"{value!r} {unit}".rstrip()
        raise ArgumentError(f"{name}: got {given}{lead}{_listed(known, quoted)}")
    return value


def _listed(values: tuple[Any, ...], quoted: bool) -> str:
    """ "a, b, c"; numbers as in a sentence, "1, 2 and 4"."""
    words = [repr(value) if quoted else str(value) for value in values]
    if len(words) > 1 and not isinstance(values[0], str):
        return f"{', '.join(words[:-1])} and {words[-1]}"
    return ", ".join(words)


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "expected an integer"
    return f"allowed is an integer from {low} " + ("on" if math.isinf(high) else f"to {high}")
