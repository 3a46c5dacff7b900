"""The judges of "Your kernel": what each rung has to do that the rung before it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core import arguments
from ..run.kernel import Kernel
from .kernel import judge
from .properties import (
    Property,
    ahead,
    barriers,
    block_tile,
    only,
    outputs,
    overlap,
    products,
    reads_once,
    stages,
    widths,
)
from .verdict import Verdict

_TILE, _HALF_TILE, _BOX = (64, 64, 16), (64, 64, 32), (64, 64, 64)
_FLOATS = (block_tile(64, 64), reads_once())
_SQUARE = (*_FLOATS, outputs(4, 4))
# Where tensor cores make the products, C may go through shared memory, and nothing else does.
_NO_SCALARS = {"wavefronts": {"ld.shared": 256}}
_ONE_BARRIER = (stages(2), overlap(1), barriers(1))


@dataclass(frozen=True)
class Rung:
    """What a kernel of a rung has to do: conditions, and limits of counters at `shape`."""

    name: str
    shape: tuple[int, int, int]
    does: tuple[Property, ...]
    limits: Mapping[str, Any] = field(default_factory=dict)


RUNGS = (
    Rung("naive", (33, 65, 17), (outputs(1, 1),)),
    Rung(
        "coalesced",
        (64, 64, 64),
        (outputs(1, 1),),
        # A warp needs a sector of A and four of B for each k, or fewer of both.
        {"sectors": {"ld.global": 128 * 64 * 5, "st.global": 512}},
    ),
    Rung(
        "a tile in shared memory",
        (32, 32, 32),
        (block_tile(32, 32), outputs(1, 1), reads_once(), barriers(2)),
        {"sectors": {"ld.global": 256}},
    ),
    Rung(
        "a column in registers",
        _TILE,
        (*_FLOATS, outputs(16, 1)),
        {"wavefronts": {"ld.shared": 17 * 128}},
    ),
    Rung("a square in registers", _TILE, _SQUARE, {"wavefronts": {"ld.shared": 16 * 128}}),
    Rung(
        "vector loads",
        _TILE,
        (*_SQUARE, widths(ld_global=16, st_shared=16, st_global=16)),
        {"wavefronts": {"ld.shared": 12 * 128}},
    ),
    Rung(
        "a transposed A",
        _TILE,
        (*_SQUARE, widths(ld_global=16, ld_shared=16, st_global=16)),
        {"wavefronts": {"ld.shared": 6 * 128}},
    ),
    Rung(
        "swizzle",
        _TILE,
        (*_SQUARE, widths(ld_global=16, ld_shared=16, st_global=16)),
        {"wavefronts": {"ld.shared": 6 * 128}, "conflicts": 0},
    ),
    Rung(
        "double buffer",
        _TILE,
        (*_SQUARE, widths(ld_global=16, ld_shared=16), ahead(1), *_ONE_BARRIER),
        {"wavefronts": {"ld.shared": 6 * 128}, "conflicts": 0},
    ),
    Rung(
        "cp.async",
        _TILE,
        (*_SQUARE, only("cp.async.global"), widths(cp_async_global=16), *_ONE_BARRIER),
    ),
    Rung("WMMA", _HALF_TILE, (*_FLOATS, widths(ld_global=16), products()), _NO_SCALARS),
    Rung(
        "mma.sync and ldmatrix",
        _HALF_TILE,
        (*_FLOATS, widths(ld_global=16), products(without="wmma")),
        {"conflicts": {"ldmatrix": 0}, "wavefronts": {"ld.shared": 0}},
    ),
    Rung(
        "a box by TMA",
        _BOX,
        (block_tile(64, 64), only("tma.load"), products(), stages(1)),
        _NO_SCALARS,
    ),
    Rung(
        "a ring of two stages",
        _BOX,
        (block_tile(64, 64), only("tma.load"), products(), *_ONE_BARRIER),
        _NO_SCALARS,
    ),
)


def rung(k: str | Kernel, number: int) -> Verdict:
    """Judge the kernel `k` as an answer to rung `number` of "Your kernel", from 1.

    Values in small products, then what the rung asks for: who computes what, what is loaded how
    often, the order of events, counters. Raises ArgumentError for an unknown rung.
    """
    one = RUNGS[arguments.integer("number", number, 1, len(RUNGS)) - 1]
    return judge(k, differs=False, shape=one.shape, does=one.does, **one.limits)
