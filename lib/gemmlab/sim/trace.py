"""What a kernel asked of the memory system, by source line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .findings import Findings, LineOf
from .places import Place
from .samples import Sample, Seen, collect

if TYPE_CHECKING:
    from ..widgets import TraceView

# runtime/types.h's Op, in its order.
OPS = (
    *("ld.shared", "st.shared", "ld.global", "st.global", "atom.shared", "atom.global"),
    *("ldmatrix", "stmatrix", "cp.async.shared", "cp.async.global"),
    *("tma.load", "tma.store", "wgmma.shared"),
    *("cp.async.shared", "cp.async.shared"),  # by other ways: past L1
)
_SUMMED = ("requests", "wavefronts", "wavefronts_min", "conflicts", "sectors", "sectors_min")


@dataclass(frozen=True)
class LineCount:
    """The requests of one kind that one source line makes.

    A request is one warp's access; of TMA it is one box, of wgmma one warpgroup's instruction.
    op: one of OPS. width_bytes: bytes a lane. lanes: mean number of active lanes. (Neither says
    anything about TMA and wgmma, whose requests are not made lane by lane.)
    wavefronts (shared memory) and sectors of 32 bytes (global memory) are sums over all requests,
    `_min` what they would be without conflicts, or with all bytes neighbours; both are 0 for the
    other kind of memory, and for atomics, which are not modelled. conflicts: wavefronts above the
    minimum.
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


@dataclass(frozen=True)
class Trace:
    """The counted run of a kernel at one size; `findings` is empty for a correct kernel.

    samples: some requests of each line, with the addresses of their lanes; places: the matrices
    and arrays that lie there. file, source: the kernel's file as it was compiled.
    """

    kernel: str
    M: int
    N: int
    K: int
    lines: tuple[LineCount, ...]
    findings: Findings
    samples: tuple[Sample, ...] = ()
    places: tuple[Place, ...] = ()
    file: str = ""
    source: tuple[str, ...] = ()

    def view(self, line: int | str | None = None, **options: object) -> TraceView:
        """A widget to look into it, opened at a line; `widgets.TraceView` has the options."""
        from ..widgets import TraceView

        return TraceView(self, line, **options)

    def totals(self) -> dict[str, dict[str, int]]:
        """Sums by op: requests, wavefronts, conflicts, sectors and the minima."""
        totals: dict[str, dict[str, int]] = {}
        for op in OPS:
            rows = [line for line in self.lines if line.op == op]
            if rows:
                totals[op] = {name: sum(getattr(row, name) for row in rows) for name in _SUMMED}
        return totals

    def to_dict(self) -> dict:
        """Plain data, for `trace --json`: the counts and the findings."""
        size = {"kernel": self.kernel, "M": self.M, "N": self.N, "K": self.K}
        rows = {
            name: [asdict(row) for row in getattr(self, name)] for name in ("lines", "findings")
        }
        return {**size, **rows, "totals": self.totals()}

    def __repr__(self) -> str:
        from .view import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .view import as_html

        return as_html(self)


def count_lines(rows: Iterable, line_of: LineOf) -> tuple[LineCount, ...]:
    """Instructions' counters (module.CountRow) added up by source line, operation and width."""
    groups: dict[tuple, list] = {}
    for row in rows:
        file, line, source = line_of(row.pc) or ("?", 0, "")
        op = OPS.index(OPS[row.op])  # some operations share a name
        groups.setdefault((file, line, op, row.width, source), []).append(row)
    return tuple(_line_count(key, groups[key]) for key in sorted(groups, key=_reading_order))


def kept_samples(seen: Seen, line_of: LineOf) -> tuple[Sample, ...]:
    """Some requests of each line, in the order of count_lines."""
    found = collect(seen, line_of, OPS)
    return tuple(
        sorted(found, key=lambda s: _reading_order((s.file, s.line, OPS.index(s.op), 0, 0)))
    )


def _reading_order(key: tuple) -> tuple:
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
