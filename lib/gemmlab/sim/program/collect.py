"""From the runtime's rows to a program's launches, by the lines of the user's own files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ...core.paths import repository_root
from .. import build
from ..abi import RecordRow
from ..counts import LineCount, count_lines
from ..findings import Finding, explain
from ..library import Runtime
from ..lines import LineTable
from ..trace import Findings
from .cells import NAME, is_cell
from .launch import Launch


class Places:
    """The lines of a program's files, by program counter."""

    def __init__(self, table: LineTable, sources: Sequence[str]) -> None:
        self._table, self._sources = table, frozenset(sources)
        self._known: dict[int, tuple[str, int, str] | None] = {}

    def line_of(self, pc: int) -> tuple[str, int, str] | None:
        """File, line and text that an instruction belongs to."""
        if pc not in self._known:
            frame = self._table.locate(pc, self._sources, build.INCLUDE)
            self._known[pc] = None
            if frame is not None:
                file, line, _ = frame
                lines = self.lines.get(file, ())
                text = lines[line - 1].strip() if line <= len(lines) else ""
                self._known[pc] = shown(file), line, text
        return self._known[pc]

    @cached_property
    def lines(self) -> dict[str, tuple[str, ...]]:
        """The text of each file."""
        return {
            file: tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
            for file in self._sources
        }

    def source(self, file: str) -> tuple[str, ...]:
        """The text of the file that is shown under this name."""
        return next((text for path, text in self.lines.items() if shown(path) == file), ())


def shown(file: str) -> str:
    """A file as it is shown: from the working folder or the repository, if it lies in one of them.

    A cell has a name of its own.
    """
    if is_cell(file):
        return NAME
    path = Path(file)
    root = next((one for one in (Path.cwd(), repository_root()) if path.is_relative_to(one)), None)
    return path.relative_to(root).as_posix() if root else file


def launches_of(runtime: Runtime, places: Places) -> list[Launch]:
    """What the program has launched, in its order."""
    return [_launch(runtime, number, places) for number in range(runtime.records())]


def host_findings(runtime: Runtime, places: Places) -> Findings:
    """What is wrong with the program's host code."""
    runtime.show(-1)
    return Findings(explain(runtime.findings(), places.line_of))


def _launch(runtime: Runtime, number: int, places: Places) -> Launch:
    row = runtime.show(number)
    lines = count_lines(runtime.counts(), places.line_of)
    findings = explain(runtime.findings(), places.line_of)
    place = f"{shown(row.file.decode())}:{row.line}" if row.file else ""
    if row.error:
        findings.append(_refusal(row, place))
    file = _main_file(lines, findings)
    return Launch(
        kernel=row.name.decode() if row.name else "a kernel without a name",
        grid=_size(row.grid),
        block=_size(row.block),
        cluster=_size(row.cluster),
        shared_bytes=row.dynamic_bytes + row.static_bytes,
        runs=row.runs,
        place=place,
        refused=row.reason.decode() if row.error and not lines else "",
        lines=lines,
        findings=Findings(findings),
        file=file,
        source=places.source(file),
    )


def _refusal(row: RecordRow, place: str) -> Finding:
    file, _, line = place.rpartition(":")
    number = int(line) if file else None
    text = f"The launch is refused, and nothing ran: {row.reason.decode()}"
    return Finding("launch-refused", text, file or None, number)


def _main_file(lines: Sequence[LineCount], findings: Sequence[Finding]) -> str:
    """The file in which most of it is."""
    files = Counter([line.file for line in lines] or [f.file for f in findings if f.file])
    return files.most_common(1)[0][0] if files else ""


def _size(index: object) -> tuple[int, ...]:
    return tuple(getattr(index, axis) for axis in "xyz")
