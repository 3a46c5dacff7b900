"""What tells the shapes at which a kernel is right from those at which it is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from .plan import Shape

_LEAST = 2  # shapes on each side: one has too many properties
_MULTIPLES = (2, 4, 8, 16, 32, 64)


def separated(right: set[Shape], wrong: set[Shape]) -> str:
    """A sentence if one property of M, N or K separates right shapes from wrong ones, else ""."""
    if right and wrong and all(K == 0 for *_, K in wrong) and all(K for *_, K in right):
        return (
            "only K = 0 is wrong: there is no tile to load, so load the first one only if K > 0, "
            "and C becomes beta * C"
        )
    if right & wrong or min(len(right), len(wrong)) < _LEAST:
        return ""
    said = next(_properties(right, wrong), None)
    if said is None:
        return ""
    here, there = said
    return (
        f"it is right at all {len(right)} shapes where {here}, and wrong at all {len(wrong)} where "
        f"{there}"
    )


def _properties(right: set[Shape], wrong: set[Shape]) -> Iterator[tuple[str, str]]:
    """What holds for all right shapes, and for all wrong ones; the simplest first."""
    sizes = {
        name: [{shape[axis] for shape in some} for some in (right, wrong)]
        for name, axis in (("K", 2), ("M", 0), ("N", 1))
    }
    for name, (ours, theirs) in sizes.items():
        if of := _divisors(ours, theirs):
            others = _no_multiple(of[0]) if len(of) > 1 else "not"
            yield f"{name} is {_multiple(of[-1])}", f"it is {others}"
        if of := _divisors(theirs, ours):
            others = f" {_multiple(of[-1])}" if len(of) > 1 else ""
            yield f"{name} is {_no_multiple(of[0])}", f"it is{others}"
    for name, (ours, theirs) in sizes.items():
        if max(ours) < min(theirs):
            yield f"{name} is {max(ours)} or less", f"it is {min(theirs)} or more"
        if min(ours) > max(theirs):
            yield f"{name} is {min(ours)} or more", f"it is {max(theirs)} or less"


def _divisors(these: set[int], others: set[int]) -> list[int]:
    """Those of _MULTIPLES that divide all of these and none of the others, in their order."""
    return [
        of
        for of in _MULTIPLES
        if all(size % of == 0 for size in these) and all(size % of for size in others)
    ]


def _multiple(of: int) -> str:
    return "even" if of == 2 else f"a multiple of {of}"


def _no_multiple(of: int) -> str:
    return "odd" if of == 2 else f"not a multiple of {of}"
