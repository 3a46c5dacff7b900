"""Whether a kernel does at large sizes what it does at the small ones that a judge can run whole.

Its launcher is run at large sizes, and of what it launches the first block alone (of clusters, the
first cluster): what is launched, what the block computes, and its requests, line by line, have to
be those of the small runs, continued. Large is each of M, N and K alone, and all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import sim
from ..core import precision as precisions
from ..run.kernel import Kernel
from ..sim.findings import told
from ..sim.journal import EVENTS
from ..sim.replay import as_float
from ..sim.trace import Launched, Trace
from .flow import Seen
from .properties import ONE_TILE, Property
from .work import STEPS, WHOLE, Runs, Sizes, counts, refuse_unlike_parent

_SIDE, _DEPTH = 4096, 1024  # about, of M and N and of K, together
_ALONE = 16384  # about, of M or N; of K as well if a block is small
_PRODUCTS = 1 << 24  # of the first block, where K alone is large: a second or less
_PERIOD = 10007  # elements, a prime number: rows and columns differ
_LOOKED_AT = 1 << 16  # elements of C
_FOLLOWED = 1 << 21  # events of the first block, at most


@dataclass(frozen=True)
class _Large:
    """Such a run. trace: of the first block. problem: what is wrong with what it computed."""

    trace: Trace
    problem: str


def refuse_small_only(
    handle: Kernel, tile: Sizes, depth: int, runs: Runs, does: Sequence[Property] = ()
) -> None:
    """Refuse another way, or other values, at large sizes, unless the parent has them, too.

    tile, depth: as of `refuse_unsteady`. does: what holds at small sizes, and has to here.
    """
    refuse_unlike_parent(handle, tile, lambda kernel: _differences(kernel, tile, depth, runs))
    everywhere = [one for one in does if ONE_TILE in one.grids]
    M, N, K = tile
    events = 32 * sum(line.requests for line in runs.trace(handle, *tile).lines)
    for rows, columns, steps in _larger(tile, depth)[1:] if everywhere else ():
        shape = M * rows, N * columns, K + depth * steps
        if events * shape[2] // K > _FOLLOWED:
            continue  # too many to follow them
        trace = _first_block(handle, shape, EVENTS).trace
        seen = Seen(trace, handle.spec.tile, handle)
        if not seen.journal.is_cut and len(trace.launches) == 1:
            for one in everywhere:
                one.look(seen)


def _differences(kernel: Kernel, tile: Sizes, depth: int, runs: Runs) -> dict[str, str]:
    """By what differs, a sentence."""
    M, N, K = tile
    deeper = K + math.lcm(depth * STEPS[0], WHOLE)
    small = [runs.trace(kernel, *tile), runs.trace(kernel, M, N, deeper)]
    if any(len(one.launches) != 1 or one.findings for one in small):
        return {}  # a first kernel makes what a second one needs: a block of each is too little
    found: dict[str, str] = {}
    for more in _larger(tile, deeper - K):
        found |= _differences_at(kernel, tile, deeper - K, more, small)
    return found


def _larger(tile: Sizes, step: int) -> list[Sizes]:
    """How many times a tile's rows and columns, and how many more steps of K."""
    M, N, K = tile
    deepest = min(max(_PRODUCTS // (M * N), _DEPTH), _ALONE)
    return [
        (_SIDE // M + 1, _SIDE // N + 3, max((_DEPTH - K) // step, 1)),
        (_ALONE // M + 1, 1, 1),
        (1, _ALONE // N + 1, 1),
        (1, 1, max((deepest - K) // step, 1)),
    ]


def _differences_at(
    kernel: Kernel, tile: Sizes, step: int, more: Sizes, small: list[Trace]
) -> dict[str, str]:
    """The same of one large size. more: as `_larger` has it. small: a tile, and a step deeper."""
    (M, N, K), (rows, columns, steps) = tile, more
    shape = M * rows, N * columns, K + step * steps
    large = _first_block(kernel, shape)
    at = "at M={} N={} K={}".format(*shape)
    if said := _launched_otherwise(small[0].launches[0], large.trace.launches, rows * columns):
        return {f"launch {more}": f"{at} {said}; it is to do the same at all sizes"}
    if large.trace.findings:
        return {f"findings {more}": f"{at} the simulator finds: {told(large.trace.findings)[0]}"}
    found = {f"values {more}": f"{at} {large.problem}"} if large.problem else {}
    if large.trace.launches[0].run == small[0].launches[0].blocks:
        otherwise = _requested_otherwise(small, large.trace, steps, at)
        found |= {f"{what} {more}": said for what, said in otherwise.items()}
    return found


def _first_block(kernel: Kernel, shape: Sizes, journal: int = 0) -> _Large:
    types = precisions.precision(kernel.spec.precisions[0])
    M, N, K = shape
    # Sums of products of -1, 0 and 1 are exact in each type that C may have.
    values = np.random.default_rng(0).integers(-1, 2, _PERIOD).astype(np.float32)
    A, B = np.resize(values, (M, K)), np.resize(values[::-1], (K, N))
    C = sim.stored(np.full((M, N), np.nan, np.float32), types.made)
    config = kernel.spec.config_index(kernel.config)
    given_a, given_b = (sim.stored(one, types.given) for one in (A, B))
    module = sim.compile_step(kernel)
    trace = module.trace(given_a, given_b, C, M, N, K, config=config, clusters=1, journal=journal)
    bits = C.view(f"u{C.itemsize}").astype(np.uint32)
    return _Large(trace, _wrong(A, B, as_float(bits, C.itemsize, types.made)))


def _wrong(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> str:
    """What is wrong with the elements of C that are there."""
    at = np.argwhere(~np.isnan(C))[:_LOOKED_AT]
    if not len(at):
        return "the first block writes nothing to C"
    rows, columns = (np.unique(at[:, axis]) for axis in (0, 1))
    made, right = C[np.ix_(rows, columns)], A[rows] @ B[:, columns]
    wrong = np.argwhere(~np.isnan(made) & (made != right))
    if not len(wrong):
        return ""
    r, c = wrong[0]
    return (
        f"{len(wrong):,} elements of the first block are wrong; the first is "
        f"C[{rows[r]}, {columns[c]}] = {made[r, c]:g}, expected {right[r, c]:g}"
    )


def _launched_otherwise(one: Launched, launches: tuple[Launched, ...], tiles: int) -> str:
    """What is launched for so many tiles of C, if it is not what `one` would be for each."""
    if len(launches) != 1:
        return f"its launcher launches {len(launches)} kernels, and 1 for a single tile of C"
    large = launches[0]
    if large.kernel != one.kernel:
        return "its launcher launches another kernel than for a single tile of C"
    if (large.threads, large.shared_bytes) != (one.threads, one.shared_bytes):
        return (
            f"a block has {large.threads} threads and {large.shared_bytes:,} bytes of shared "
            f"memory, and for a single tile of C {one.threads} and {one.shared_bytes:,}"
        )
    if large.blocks != one.blocks * tiles:
        return (
            f"it launches {large.blocks:,} blocks for {tiles:,} tiles of C, and {one.blocks} for "
            "a single one"
        )
    return ""


def _requested_otherwise(small: list[Trace], large: Trace, steps: int, at: str) -> dict[str, str]:
    """Counts that are not what the small runs make expect, and new lines."""
    found = {}
    one, deeper, most = counts(*small, large)
    for what in sorted({*one, *deeper, *most}):
        expected = one[what] + (deeper[what] - one[what]) * steps
        if most[what] != expected:
            found[what] = (
                f"{at} its first block makes {most[what]:,} {what}, and by what it does at small "
                f"sizes it would be {expected:,}; it is to do the same at all sizes"
            )
    known = {(row.file, row.line) for trace in small for row in trace.lines}
    for row in large.lines:
        if (row.file, row.line) not in known:
            found[f"line {row.line}"] = (
                f"{at} line {row.line} makes requests, and at small sizes it makes none: "
                f"{row.source}; it is to do the same at all sizes"
            )
    return found
