"""Requests that a traced run keeps as they were made, with the address of every lane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .abi import LaunchRow, LineOf, SampleRow
from .journal import Journal
from .places import GLOBAL, SHARED, Place, element

WARP = 32
MOST = 6  # of one line and operation
OFFSET_IN_BLOCK = (1 << 24) - 1  # the bits above name another block of the cluster


@dataclass(frozen=True)
class Sample:
    """The first request of its shape that a source line made.

    Requests have the same shape if the addresses of their lanes differ in the same way and they
    cost the same.

    file, line: the source line. op, width_bytes: the instruction, and bytes a lane.
    block, warp: who made it; time: how often that warp had executed the instruction before, in this
    block. requests: how many of the line have this shape, 0 if it has too many shapes to tell.
    addresses: 32 byte addresses in shared or in global memory, None for lanes that take no part.
    elements: what lies there, "sA[4][17]". cost, cost_min: wavefronts or sectors.
    """

    file: str
    line: int
    op: str
    width_bytes: int
    block: int
    warp: int
    time: int
    requests: int
    cost: int
    cost_min: int
    addresses: tuple[int | None, ...]
    elements: tuple[str | None, ...]

    @property
    def memory(self) -> str:
        """The memory whose cost is counted: "shared" or "global"."""
        return GLOBAL if self.op.endswith("global") else SHARED

    @property
    def surplus(self) -> int:
        """Wavefronts or sectors above the minimum."""
        return self.cost - self.cost_min


@dataclass(frozen=True)
class Seen:
    """What the runtime has seen of a launch: rows by instruction, and what its addresses mean.

    counts: library.CountRow of each instruction. kept: the requests that were kept. launches: the
    size of each. journal: what a block did, if that was asked for.
    """

    counts: Sequence
    kept: Sequence[SampleRow]
    places: Sequence[Place]
    launches: Sequence[LaunchRow] = ()
    journal: Journal | None = None


def collect(seen: Seen, line_of: LineOf, ops: Sequence[str]) -> list[Sample]:
    """At most six requests of each line and operation.

    In the order of lines, then of blocks, warps and times: the first five shapes and the costliest.
    """
    instructions = {row.what: row for row in seen.counts}
    groups: dict[tuple, list[SampleRow]] = {}
    for sample in seen.kept:
        row = instructions[sample.what]
        if sample.cost:  # an atomic's cost is not modelled
            file, line, _ = line_of(row.pc) or ("?", 0, "")
            op = ops.index(ops[row.op])  # some operations share a name
            groups.setdefault((file, line, op, row.width), []).append(sample)
    found = []
    for (file, line, op, width), group in sorted(groups.items()):
        memory = GLOBAL if ops[op].endswith("global") else SHARED
        for sample in _choose(_merge(group)):
            addresses = _addresses(sample, memory)
            found.append(
                Sample(
                    file=file,
                    line=line,
                    op=ops[op],
                    width_bytes=width,
                    block=sample.block,
                    warp=sample.warp,
                    time=sample.time,
                    requests=sample.requests,
                    cost=sample.cost,
                    cost_min=sample.cost_min,
                    addresses=addresses,
                    elements=tuple(
                        a if a is None else element(seen.places, memory, a) for a in addresses
                    ),
                )
            )
    return found


def _merge(samples: Iterable[SampleRow]) -> list[SampleRow]:
    """One for each shape, in order; equal shapes of a line's instructions are added up."""
    shapes: dict[tuple, SampleRow] = {}
    ordered = sorted(samples, key=lambda s: (s.block, s.warp, s.time, s.what))
    known = all(sample.requests for sample in ordered)
    for sample in ordered:
        first = shapes.setdefault(_shape(sample), sample)
        if first is not sample:
            first.requests += sample.requests
    for sample in shapes.values():
        sample.requests *= known
    return list(shapes.values())


def _shape(sample: SampleRow) -> tuple:
    """Equal for requests that look alike and cost the same."""
    first = sample.address[(sample.mask & -sample.mask).bit_length() - 1]
    steps = tuple(address - first for address in sample.address)
    return sample.mask, steps, sample.cost, sample.cost_min


def _choose(samples: list[SampleRow]) -> list[SampleRow]:
    costliest = max(samples, key=lambda sample: sample.cost)  # the first of equal ones
    if len(samples) <= MOST or costliest in samples[:MOST]:
        return samples[:MOST]
    return [*samples[: MOST - 1], costliest]


def _addresses(sample: SampleRow, memory: str) -> tuple[int | None, ...]:
    bits = OFFSET_IN_BLOCK if memory == SHARED else -1
    return tuple(
        sample.address[lane] & bits if sample.mask >> lane & 1 else None for lane in range(WARP)
    )
