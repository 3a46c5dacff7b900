"""Whether the tile that a reader's cell declares is the one that its kernel works on.

Blocks are launched for the declared tile. If the kernel has another one, blocks overlap or leave
gaps, and what is found then, such as a race, says nothing of the cause.
"""

from __future__ import annotations

import math

import numpy as np

from .. import sim
from ..core.errors import GemmlabError
from ..core.precision import precision
from ..run.kernel import Kernel
from ..sim.replay import as_float
from ..sim.trace import Trace
from ..steps.cuda_text import without_comments

_SIDES = 4  # declared tiles each way, so that a larger one fits
_LEAST = 128
_UNWRITTEN = {4: 0x7FC12345, 2: 0x7E5A}  # bits by size: no NaN that is computed has them
_GAPS = " with gaps"
_DEPTHS = (128, 33)  # K that a loop in steps takes, and K that it does not


def misfit(handle: Kernel) -> str:
    """A sentence if a kernel that is no version of a step works on another tile; else "".

    Raises nothing: a kernel that does not run says so elsewhere.
    """
    spec = handle.spec
    if handle.source.trusted or handle.parent is not None or spec.tile[:2] == (1, 1):
        return ""
    try:
        return _area(handle) or _depth(handle)
    except GemmlabError:
        return ""


def _area(handle: Kernel) -> str:
    """What the first block writes, if it has other rows or columns than the tile."""
    BM, BN, BK = handle.spec.tile
    side = max(_SIDES * max(BM, BN), _LEAST)
    units = (math.lcm(n, m) for n, m in zip((BM, BN, 1), handle.spec.multiple_of, strict=True))
    M, N, K = (-(-side // unit) * unit for unit in units)
    rows, columns = _written(handle, M, N, K)
    made = len(rows), len(columns)
    if not len(rows) or made == (BM, BN):
        return ""
    # A block that takes tile after tile writes more of a larger C, and has no other tile.
    if made != tuple(map(len, _written(handle, 2 * M, N, K))):
        return ""
    spans = _span(rows, "rows"), _span(columns, "columns")
    depth = f"x{BK}" * (BK > 1)
    agree = f"make the two agree: say {made[0]}x{made[1]}{depth}, or change what the kernel writes"
    if any(_GAPS in span for span in spans):
        agree = "look at the row and the column of the store: a row of C has N elements"
    return (
        f"a block is said to compute {BM} rows and {BN} columns of C (--tile, or BM and BN), and "
        f"the first block writes {made[0]} rows and {made[1]} columns, {spans[0]} and {spans[1]}; "
        f"{agree}"
    )


def _written(handle: Kernel, M: int, N: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and the columns of C that the first block writes; none if that cannot be told."""
    trace, bits = _run(handle, M, N, K, clusters=1)
    written = bits != _UNWRITTEN[bits.itemsize]
    several = any(launch.run > 1 for launch in trace.launches)  # blocks of a cluster
    if several or any(found.fatal for found in trace.findings):
        written[:] = False
    return np.flatnonzero(written.any(axis=1)), np.flatnonzero(written.any(axis=0))


def _span(of: np.ndarray, noun: str) -> str:
    apart = "" if len(of) == of[-1] - of[0] + 1 else _GAPS
    return f"{noun} {of[0]} to {of[-1]}{apart}"


def _depth(handle: Kernel) -> str:
    """Where nothing says how deep a tile is: whether the kernel takes any K."""
    spec = handle.spec
    text = without_comments(handle.source.path.read_text())
    if spec.tile[2] > 1 or spec.multiple_of[2] > 1 or "__shared__" not in text:
        return ""
    BM, BN, _ = spec.tile
    M, N = (math.lcm(n, m) for n, m in zip((BM, BN), spec.multiple_of[:2], strict=True))
    whole, ragged = (_is_right(handle, M, N, K) for K in _DEPTHS)
    if not whole or ragged:
        return ""
    return (
        f"--tile has no third number, so K may be any; the kernel is right at K={_DEPTHS[0]}, and "
        f"not at K={_DEPTHS[1]}. If its loop takes k in steps of 32, say --tile "
        f"{BM}x{BN}x32; K is then a multiple of 32"
    )


def _is_right(handle: Kernel, M: int, N: int, K: int) -> bool:
    A, B, _ = sim.integer_matrices(M, N, K)
    trace, bits = _run(handle, M, N, K)
    types = precision(handle.spec.precisions[0])
    made = as_float(bits.astype(np.uint32), bits.itemsize, types.made)
    return not trace.findings and bool((made == A @ B).all())


def _run(handle: Kernel, M: int, N: int, K: int, clusters: int = 0) -> tuple[Trace, np.ndarray]:
    """A run on small integers, and the bits of C. clusters: of SimModule.trace."""
    types = precision(handle.spec.precisions[0])
    A, B, _ = sim.integer_matrices(M, N, K, types=types)
    bits = np.full((M, N), _UNWRITTEN[types.bytes[1]], f"u{types.bytes[1]}")
    C = bits if types.made == "bfloat16" else bits.view(types.made)
    trace = sim.compile_step(handle).trace(A, B, C, M, N, K, clusters=clusters)
    return trace, bits
