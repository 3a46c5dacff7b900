"""Checks of arguments: each gives the value back, or says which argument is wrong and why.

The errors name the argument, what was given, and what is allowed.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Mapping, Set
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from .errors import ArgumentError

T = TypeVar("T")

MAX_SIZE = 2**31 - 1  # GemmArgs has 32-bit integers
_MAX_FACTOR = float(np.finfo(np.float32).max)
_CLOSEST = 3  # names that an error proposes
_LONGEST = 60  # characters of a wrong value that an error shows


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
        raise ArgumentError(f"{name}: got {brief(value)}, {allowed or _range(low, high)}")
    return cast(int, value)


def index(name: str, value: Any) -> int:
    """`value` if it is an integer, Python's or NumPy's."""
    return integer(name, value, kind=Integral)


def size(name: str, value: Any, low: int = 1) -> int:
    """M, N, K or a count: an integer of 32 bits, Python's or NumPy's, from `low` on."""
    return int(integer(name, value, low, MAX_SIZE, kind=Integral))


def shape(value: Any, low: tuple[int, int, int] = (1, 1, 1)) -> tuple[int, int, int]:
    """M, N and K, each from its `low` on; `value` has three elements."""
    M, N, K = (size(name, n, at_least) for name, n, at_least in zip("MNK", value, low, strict=True))
    return M, N, K


def shape_of(name: str, value: Any, low: tuple[int, int, int] = (1, 1, 1)) -> tuple[int, int, int]:
    """M, N and K that are given as one value, (M, N, K), each from its `low` on."""
    example = "(256, 128, 64), of (M, N, K)"
    sizes = sequence(name, value, example)
    if len(sizes) != 3:
        raise ArgumentError(f"{name}: got {brief(value)}, expected a shape such as {example}")
    return shape(sizes, low)


def seed(value: Any) -> int:
    """The seed of random numbers, as torch and NumPy take it."""
    return int(integer("seed", value, 0, 2**64 - 1, kind=Integral))


def number(name: str, value: Any, *, expected: str = "a number") -> float:
    """`value` if it is a number, but no bool."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentError(f"{name}: got {brief(value)}, expected {expected}")
    return cast(float, value)


def factor(name: str, value: Any) -> float:
    """alpha or beta: a number that fp32 holds; infinity and NaN are such numbers."""
    expected = f"a number that fp32 holds, up to {_MAX_FACTOR:.2g}"
    if _MAX_FACTOR < abs(number(name, value, expected=expected)) < math.inf:
        raise ArgumentError(f"{name}: got {brief(value)}, expected {expected}")
    return float(value)


def seconds(name: str, value: Any) -> float:
    """A time, finite and above 0."""
    expected = "a time above 0, in seconds"
    if not 0 < number(name, value, expected=expected) < _MAX_FACTOR:
        raise ArgumentError(f"{name}: got {brief(value)}, expected {expected}")
    return float(value)


def seconds_set(variable: str, default: float, *, zero: str = "") -> float:
    """The seconds that an environment variable sets, or the default.

    zero: what 0 stands for, as the error says it: "for no trial". Without it 0 is refused.
    """
    given = os.environ.get(variable, "")
    try:
        chosen = float(given or default)
    except ValueError:
        chosen = -1.0
    if not (0 < chosen < 1e6 or (zero and chosen == 0)):
        or_zero = f", or 0 {zero}" if zero else ""
        raise ArgumentError(
            f"{variable}: is {given!r}, expected seconds, such as {default:g}{or_zero}"
        )
    return chosen


def flag(name: str, value: Any) -> bool:
    """`value` if it is True or False, Python's or NumPy's."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}: got {brief(value)}, expected True or False")
    return bool(value)


def text(name: str, value: Any) -> str:
    """`value` if it is text."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: got {type(value).__name__}, expected text")
    return value


def sequence(name: str, value: Any, example: str, *, empty: bool = True) -> list[Any]:
    """The elements of `value` in their order; text, tables and sets are refused.

    example: what the error shows, "['cublas']". empty: whether there may be none.
    """
    unordered = isinstance(value, str | bytes | Mapping | Set)
    if unordered or not isinstance(value, Iterable):
        raise ArgumentError(f"{name}: got {brief(value)}, expected a list such as {example}")
    elements = list(value)
    if not (elements or empty):
        raise ArgumentError(f"{name}: is empty, expected a list such as {example}")
    return elements


def instance(name: str, value: T, kind: Any, expected: str) -> T:
    """`value` if it is a `kind`; expected: what the error says, "one of GPUS"."""
    if not isinstance(value, kind):
        raise ArgumentError(f"{name}: got {brief(value)}, expected {expected}")
    return value


def one_or_several(name: str, value: Any, kind: Any, example: str) -> list[Any]:
    """`value` alone if it is a `kind`, else the elements of a sequence; at least one."""
    return [value] if isinstance(value, kind) else sequence(name, value, example, empty=False)


def replacements(name: str, value: Any) -> dict[str, str]:
    """A table of texts to replace, each with what stands there instead."""
    example = "expected a table of text such as {'BK = 8': 'BK = 16'}"
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{name}: got {brief(value)}, {example}")
    for old, new in value.items():
        if not (isinstance(old, str) and isinstance(new, str) and old.strip()):
            raise ArgumentError(f"{name}: got {brief(old)}: {brief(new)}, {example}")
    return dict(value)


def file_path(name: str, value: Any) -> Path:
    """The path of a file."""
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise ArgumentError(f"{name}: got {brief(value)}, expected a file's name")
    return Path(value)


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
    if isinstance(value, bool) or not _is_in(value, known):
        given = f"{brief(value)} {unit}".rstrip()
        raise ArgumentError(f"{name}: got {given}{lead}{_listed(known, quoted)}")
    return value


def _is_in(value: object, known: tuple[Any, ...]) -> bool:
    try:
        return value in set(known)
    except TypeError:  # a list or an array: it has no hash
        return False


def one_of_many(name: str, value: Any, known: Iterable[str], what: str) -> str:
    """`value` if it is one of many names; else an error with the closest, or with the first.

    what: they are, "experiments".
    """
    names = list(known)
    if not (isinstance(value, str) and value in names):
        close = " or ".join(map(repr, closest(value, names) or names[:1]))
        some = f"{len(names)} {what}, such as {close}"
        raise ArgumentError(f"{name}: got {brief(value)}, allowed are {some}")
    return value


def closest(name: object, known: Iterable[str]) -> list[str]:
    """Those of `known` that a wrong name may have meant: a part of them, or spelled like them."""
    names, asked = list(known), str(name)
    parts = [one for one in names if asked and asked.lower() in one.lower()]
    return parts[:_CLOSEST] or difflib.get_close_matches(asked, names, n=_CLOSEST, cutoff=0.4)


def brief(value: Any) -> str:
    """A value as an error shows it: on one line, and not all of a long one."""
    try:
        words = " ".join(repr(value).split())
    except Exception:  # of an int with too many digits, or by a class of the reader's
        return f"a value of type {type(value).__name__}"
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}... ({type(value).__name__})"


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
