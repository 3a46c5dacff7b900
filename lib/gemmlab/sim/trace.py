"""What a kernel asked of the memory system, by source line."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..core.worker import with_tuples
from .abi import LineOf
from .counts import OPS, LineCount, reading_order
from .findings import Finding, explained_once
from .journal import Journal
from .places import Place
from .samples import Sample, Seen, collect
from .view import as_html, as_text, findings_html

_SUMMED = ("requests", "wavefronts", "wavefronts_min", "conflicts", "sectors", "sectors_min")


class Findings(tuple[Finding, ...]):
    """The findings of one run: a tuple of Finding that reads as a list."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, explained_once(self))) or "no findings"

    def _repr_html_(self) -> str:
        return findings_html(self)


@dataclass(frozen=True)
class Launched:
    """The size of a launch: its blocks, and the bytes of shared memory of one.

    threads: of a block. kernel: which of its library's kernels. run: how many blocks were run.
    """

    blocks: int
    shared_bytes: int
    threads: int = field(default=0, compare=False)
    kernel: int = field(default=0, compare=False)
    run: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Trace:
    """The counted run of a kernel at one size.

    M, N, K: the size. lines: a LineCount for each kind of request of each source line. findings:
    what is wrong, empty for a correct kernel. samples: some requests of each line, with the
    addresses of their lanes; places: the matrices and arrays that lie there. file, source: the
    kernel's file as it was compiled. launches: what its launcher has launched, in that order.
    output: what the kernel and its launcher have printed. journal: for `events`.
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
    launches: tuple[Launched, ...] = ()
    output: str = ""
    journal: Journal = field(default_factory=Journal, compare=False)

    @property
    def title(self) -> str:
        """What was run, in a line."""
        return f"{self.kernel}, M={self.M} N={self.N} K={self.K}, counted by the simulator"

    def events(self) -> Journal:
        """What block 0 did, event by event; empty unless the run was asked to keep a journal."""
        return self.journal

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

    def plain(self) -> dict:
        """All of it as plain data, for JSON."""
        journal = self.journal.text()
        return {**asdict(replace(self, journal=Journal())), "journal": journal}

    @classmethod
    def from_plain(cls, data: dict) -> Trace:
        """What `plain` gave, also after JSON."""
        data = with_tuples(data)
        kinds = {"lines": LineCount, "samples": Sample, "places": Place, "launches": Launched}
        rows: dict[str, Any] = {
            name: tuple(kind(**row) for row in data[name]) for name, kind in kinds.items()
        }
        findings = Findings(Finding(**row) for row in data["findings"])
        journal = Journal.read(data["journal"])
        return cls(**{**data, **rows, "findings": findings, "journal": journal})

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def kept_samples(seen: Seen, line_of: LineOf) -> tuple[Sample, ...]:
    """Some requests of each line, in the order of count_lines."""
    found = collect(seen, line_of, OPS)
    return tuple(
        sorted(found, key=lambda s: reading_order((s.file, s.line, OPS.index(s.op), 0, 0)))
    )
