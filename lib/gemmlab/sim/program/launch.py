"""What one launch of a program asked of memory, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..counts import LineCount
from ..findings import Finding
from ..trace import Findings
from ..view import as_html, as_text

# What ends a run without being a mistake of the kernel's.
INCOMPLETE = ("not-simulated", "cancelled", "long-loop")


@dataclass(frozen=True)
class Launch:
    """The launches of one kernel at one size, by a program.

    kernel: as the program names it. grid, block, cluster: their sizes. shared_bytes: of one block.
    runs: how often it was launched; the counts are those of all of them. place: where, the first
    time. refused: why it did not run, "" if it did. lines, findings: as those of `Trace`. file,
    source: the file with most of the lines, and its text.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    shared_bytes: int
    runs: int
    place: str
    refused: str
    lines: tuple[LineCount, ...]
    findings: Findings
    file: str = ""
    source: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The kernel's name without namespaces, template arguments and parameters."""
        return base_name(self.kernel)

    @property
    def title(self) -> str:
        """What was launched, in a line."""
        size = f"<<<{_size(self.grid)}, {_size(self.block)}>>>"
        cluster = f", clusters of {_size(self.cluster)}" if max(self.cluster) > 1 else ""
        shared = f", {self.shared_bytes:,} B of shared memory" if self.shared_bytes else ""
        runs = f", {self.runs} launches counted together" if self.runs > 1 else ""
        place = f" at {self.place}" if self.place else ""
        return f"{self.kernel}{size}{place}{cluster}{shared}{runs}"

    @property
    def mistakes(self) -> Findings:
        """The findings that are the kernel's."""
        return Findings(found for found in self.findings if found.kind not in INCOMPLETE)

    @property
    def gaps(self) -> tuple[Finding, ...]:
        """Why it did not run to its end without being wrong."""
        return tuple(found for found in self.findings if found.kind in INCOMPLETE)

    def totals(self) -> dict[str, int]:
        """Requests, wavefronts, conflicts and sectors of all lines."""
        names = ("requests", "wavefronts", "conflicts", "sectors")
        return {name: sum(getattr(line, name) for line in self.lines) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        data = {k: v for k, v in asdict(self).items() if k not in ("source", "findings", "lines")}
        rows: dict[str, Sequence[Any]] = {"findings": self.findings, "lines": self.lines}
        plain = {name: [asdict(row) for row in found] for name, found in rows.items()}
        return {**data, "name": self.name, **plain, "totals": self.totals()}

    def __repr__(self) -> str:
        if self.refused:
            return f"{self.title}: refused\n{self.refused}"
        if not self.lines:
            return "\n".join((self.title, *map(str, self.findings or ["Nothing found."])))
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def base_name(kernel: str) -> str:
    """The last part of a kernel's name."""
    return kernel.split("(")[0].split("<")[0].split("::")[-1].split()[-1]


def _size(numbers: Sequence[int]) -> str:
    """(4, 2, 1) as "(4, 2)"; one number stands alone."""
    shown = list(numbers)
    while len(shown) > 1 and shown[-1] == 1:
        shown.pop()
    return str(shown[0]) if len(shown) == 1 else f"({', '.join(map(str, shown))})"
