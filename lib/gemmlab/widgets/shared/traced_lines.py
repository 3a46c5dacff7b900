"""The lines of a trace that have samples, and the one at which a widget opens."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import ArgumentError
from ...sim.counts import LineCount
from ...sim.samples import Sample
from ...sim.trace import Trace


def shown_lines(trace: Trace) -> list[tuple[LineCount, list[Sample]]]:
    """The lines of which there are samples, in the order of the trace."""
    of: dict[tuple, list[Sample]] = {}
    for sample in trace.samples:
        key = (sample.file, sample.line, sample.op, sample.width_bytes)
        of.setdefault(key, []).append(sample)
    keys = [(line.file, line.line, line.op, line.width_bytes) for line in trace.lines]
    found = [(line, of[key]) for line, key in zip(trace.lines, keys, strict=True) if key in of]
    if not found:
        raise ArgumentError("trace: it has no request to shared or global memory to show")
    return found


def _surplus(line: LineCount) -> int:
    return line.conflicts or line.sectors - line.sectors_min


def first_line(lines: Sequence[LineCount], line: int | str | None, op: str | None) -> int:
    """Number of the entry at which the widget opens."""

    def fits(entry: LineCount) -> bool:
        here = line in entry.source if isinstance(line, str) else line in (None, entry.line)
        return here and op in (None, entry.op)

    fitting = [i for i, entry in enumerate(lines) if fits(entry)]
    if not fitting:
        given = " with ".join(repr(value) for value in (line, op) if value is not None)
        known = ", ".join(f"{entry.line} ({entry.op})" for entry in lines)
        raise ArgumentError(f"line: nothing is counted for {given}; there are lines {known}")
    if isinstance(line, str):  # the first line that has the text
        fitting = [i for i in fitting if lines[i].line == lines[fitting[0]].line]
    return max(fitting, key=lambda i: (lines[i].conflicts > 0, _surplus(lines[i]), -i))
