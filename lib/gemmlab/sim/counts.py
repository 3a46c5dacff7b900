"""Memory requests added up by source line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .abi import LineOf

# runtime/memory/types.h's Op, in its order.
OPS = (
    "ld.shared",
    "st.shared",
    "ld.global",
    "st.global",
    "atom.shared",
    "atom.global",
    "ldmatrix",
    "stmatrix",
    "cp.async.shared",
    "cp.async.global",
    "tma.load",
    "tma.store",
    "wgmma.shared",
    "cp.async.shared",
    "cp.async.shared",  # by other ways: past L1
)


@dataclass(frozen=True)
class LineCount:
    """The requests of one kind that one source line makes.

    A request is one warp's access; of TMA it is one box, of wgmma one warpgroup's instruction.

    file, line, source: the line and its text. op: one of OPS. width_bytes: bytes a lane. lanes:
    mean number of active lanes. (Neither says anything about TMA and wgmma, whose requests are not
    made lane by lane.) wavefronts, sectors: of shared memory, and of global memory, 32 bytes each,
    as sums over all requests; wavefronts_min, sectors_min: what they would be without conflicts, or
    with all bytes adjacent. Both are 0 for the other kind of memory, and for atomics, which are not
    modeled. conflicts: wavefronts above the minimum.
    """

    file: str
    line: int
    source: str
    op: str
    width_bytes: int
    requests: int
    wavefronts: int
    wavefronts_min: int
    conflicts: int
    sectors: int
    sectors_min: int
    lanes: float

    @property
    def by_lanes(self) -> bool:
        """Whether each lane has an address of its own."""
        return not self.op.startswith(("tma", "wgmma"))


def count_lines(rows: Iterable, line_of: LineOf) -> tuple[LineCount, ...]:
    """Instructions' counters (module.CountRow) added up by source line, operation and width."""
    groups: dict[tuple, list] = {}
    for row in rows:
        file, line, source = line_of(row.pc) or ("?", 0, "")
        op = OPS.index(OPS[row.op])  # some operations share a name
        groups.setdefault((file, line, op, row.width, source), []).append(row)
    return tuple(_line_count(key, groups[key]) for key in sorted(groups, key=reading_order))


def reading_order(key: tuple) -> tuple:
    """By line; what a line loads before what it stores."""
    file, line, op, width, _ = key
    return file, line, OPS[op].startswith("st"), op, width


def _line_count(key: tuple, rows: list) -> LineCount:
    file, line, op, width, source = key

    def total(name: str) -> int:
        return sum(getattr(row, name) for row in rows)

    wavefronts, minimum = total("wavefronts"), total("wavefronts_min")
    return LineCount(
        file=file,
        line=line,
        source=source,
        op=OPS[op],
        width_bytes=width,
        requests=total("requests"),
        wavefronts=wavefronts,
        wavefronts_min=minimum,
        conflicts=wavefronts - minimum,
        sectors=total("sectors"),
        sectors_min=total("sectors_min"),
        lanes=total("lanes") / total("requests"),
    )
