"""What tells the shapes at which a kernel is right from those at which it is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from .plan import Shape

_LEAST = 2  # shapes on each side: one has too many properties
# By axis, simplest first: its name, what there may be several of, what is different then.
_AXES = {
    2: (
        "K",
        "k tile",
        "look at what is different from the second k tile on: the sums, which go on; the k in the "
        "addresses of A and B, and K, the length of A's rows; the barriers, waits and buffers "
        "between one tile and the next",
    ),
    1: (
        "N",
        "column of tiles",
        "look at where N and blockIdx.x are used: rows of B and of C are N elements long, and the "
        "tile begins at column blockIdx.x * BN of both",
    ),
    0: (
        "M",
        "row of tiles",
        "look at where blockIdx.y is used: the tile begins at row blockIdx.y * BM of A and of C, "
        "whose rows are K and N elements long",
    ),
}
_MULTIPLES = (2, 4, 8, 16, 32, 64)


def separated(right: set[Shape], wrong: set[Shape], tile: Shape = (1, 1, 1)) -> str:
    """A sentence if one property of M, N or K separates right shapes from wrong ones, else "".

    tile: BM, BN and BK of the kernel.
    """
    if right and wrong and all(K == 0 for *_, K in wrong) and all(K for *_, K in right):
        return (
            "only K = 0 is wrong: there is no tile to load, so load the first one only if K > 0, "
            "and C becomes beta * C"
        )
    if right and wrong and (first := _one_tile(right, wrong, tile)):
        return first
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


def _one_tile(right: set[Shape], wrong: set[Shape], tile: Shape) -> str:
    """The direction in which all right shapes have one tile, and all wrong ones several."""
    for axis, (name, tiles, why) in _AXES.items():
        most = max(shape[axis] for shape in right)
        if 1 < most <= tile[axis] < min(shape[axis] for shape in wrong):
            return (
                f"it is right where there is one {tiles} ({name} is {tile[axis]} or less), and "
                f"wrong where there are more: {why}"
            )
    return ""


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
