"""What makes a tiling impossible, and by how much: sentences, and the changes that mend it.

`widgets/tiling.js` says the same. Everything here takes a mapping with the sizes of CHOICES.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..shared.banks import WARP

MAX_THREADS = 1024  # of a block, on every GPU
Sizes = Mapping[str, int]

# What a reader may choose, and what a repair is looked for among.
CHOICES: dict[str, tuple[int, ...]] = {
    "BM": (16, 32, 64, 128, 256),
    "BN": (16, 32, 64, 128, 256),
    "BK": (4, 8, 16, 32, 64),
    "WM": (4, 8, 16, 32, 64, 128, 256),
    "WN": (4, 8, 16, 32, 64, 128, 256),
    "WMITER": (1, 2, 4, 8),
    "WNITER": (1, 2, 4, 8),
    "TM": (1, 2, 4, 8, 16),
    "TN": (1, 2, 4, 8, 16),
}


def number(value: float) -> str:
    """With at most one decimal, 5 rounded up, and commas between thousands."""
    tenths = math.floor(value * 10 + 0.5)
    return f"{tenths // 10:,}" if tenths % 10 == 0 else f"{tenths / 10:,.1f}"


def problems(s: Sizes) -> list[str]:
    """What makes a tiling of these sizes impossible, a sentence each; [] if nothing does."""
    found = []
    for of in "MN":
        block, warp = s[f"B{of}"], s[f"W{of}"]
        if block % warp:
            found.append(
                f"B{of} = {block} is no multiple of W{of} = {warp}: {block % warp} left over."
            )
    for of in "MN":
        warp, count, size = s[f"W{of}"], s[f"W{of}ITER"], s[f"T{of}"]
        if warp % (count * size):
            found.append(
                f"W{of} = {warp} is no multiple of W{of}ITER x T{of} = {count} x {size}: "
                f"{warp % (count * size)} left over."
            )
    for name in ("BK", "BN"):
        if s[name] % 4:
            found.append(f"{name} = {s[name]} is no multiple of 4: a row is no whole float4.")
    return found or _lanes(s) or _threads(s)


def _lanes(s: Sizes) -> list[str]:
    """A warp tile must take 32 lanes."""
    rows, cols = s["WM"] // (s["WMITER"] * s["TM"]), s["WN"] // (s["WNITER"] * s["TN"])
    lanes, subtiles = rows * cols, s["WMITER"] * s["WNITER"]
    if lanes == WARP:
        return []
    cut = f"{s['WMITER']} x {s['WNITER']} subtiles of " if subtiles > 1 else ""
    much = f"{number(lanes / WARP)} times too many"
    if lanes < WARP:
        much = f"{WARP - lanes} of them have nothing to do"
    return [
        f"A warp tile of {s['WM']} x {s['WN']} in {cut}{rows} x {cols} pieces of "
        f"{s['TM']} x {s['TN']} takes {lanes} lanes, and a warp has 32: {much}."
    ]


def _threads(s: Sizes) -> list[str]:
    """A block has at most 1,024 threads."""
    rows, cols = s["BM"] // s["WM"], s["BN"] // s["WN"]
    threads = rows * cols * WARP
    if threads <= MAX_THREADS:
        return []
    much = number(threads / MAX_THREADS)
    return [
        f"{rows} x {cols} = {rows * cols} warps are {threads:,} threads, and a block has at most "
        f"1,024: {much} times too many."
    ]


def repairs(s: Sizes) -> list[tuple[str, int]]:
    """The single changes, (name, value), that make an impossible tiling possible."""
    return [
        (name, choice)
        for name, choices in CHOICES.items()
        for choice in choices
        if choice != s[name] and not problems({**s, name: choice})
    ]
