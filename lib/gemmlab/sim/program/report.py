"""What came of a program's run on the simulator."""

from __future__ import annotations

import html
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..findings import Finding
from ..trace import Findings
from ..view import findings_html
from .launch import Launch

# Exit statuses of `gemmlab sim`.
CLEAN, FOUND, CANNOT_RUN, PARTLY = 0, 1, 2, 3

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;
max-width:1100px;padding:0 1rem}}pre{{overflow-x:auto;padding:.7rem;border:1px solid #8888}}
section{{margin:2rem 0}}</style></head><body>{body}</body></html>
"""


@dataclass(frozen=True)
class ProgramReport:
    """The run of a program.

    name: of its file. exit_status: what main() returned, None if it did not come to its end.
    output: what it has printed. launches: a Launch for each kernel and size, in order. host: what
    is wrong with its host's code. gaps: why the run says less than it could, in sentences. notes:
    what else a reader should know.
    """

    name: str
    exit_status: int | None
    output: str
    launches: tuple[Launch, ...]
    host: Findings = field(default_factory=Findings)
    gaps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def findings(self) -> Findings:
        """All mistakes that were found, the host's first."""
        return Findings((*self.host, *(f for launch in self.launches for f in launch.mistakes)))

    @property
    def status(self) -> int:
        """0: nothing found; 1: mistakes; 3: none, but not all was run."""
        if self.findings:
            return FOUND
        return PARTLY if self.gaps else CLEAN

    def verdict(self) -> str:
        """The result in a line."""
        count = len(self.findings)
        launched = sum(launch.runs for launch in self.launches)
        what = f"{launched} launch{'' if launched == 1 else 'es'}"
        found = f"{count} finding{'' if count == 1 else 's'}" if count else "nothing found"
        return f"{self.name}: {what}, {found}{', incomplete' if self.gaps else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for `sim --json`."""
        return {
            "program": self.name,
            "status": self.status,
            "exit_status": self.exit_status,
            "output": self.output,
            "host": [asdict(finding) for finding in self.host],
            "launches": [launch.to_dict() for launch in self.launches],
            "incomplete": list(self.gaps),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """All but the program's output, for a terminal."""
        parts = [repr(launch) for launch in self.launches]
        parts += [_lines("Host code", map(str, self.host))] if self.host else []
        parts += [_lines("Incomplete", self.gaps)] if self.gaps else []
        parts += [_lines("Note", self.notes)] if self.notes else []
        return "\n\n".join((*parts, self.verdict()))

    def __repr__(self) -> str:
        return f"{self.output}{_new_line(self.output)}{self.summary()}"

    def _repr_html_(self) -> str:
        parts = [f"<pre>{html.escape(self.output)}</pre>"] if self.output else []
        parts += [_launch_html(launch) for launch in self.launches]
        parts += [findings_html(self.host)] if self.host else []
        parts += [
            f"<p><b>{kind}:</b> {html.escape(text)}</p>"
            for kind, texts in (("Incomplete", self.gaps), ("Note", self.notes))
            for text in texts
        ]
        return "".join((*parts, f"<p>{html.escape(self.verdict())}</p>"))

    def page(self) -> str:
        """A page of its own, which needs no other file and no network."""
        body = f"<h1>{html.escape(self.name)}</h1>{self._repr_html_()}"
        return _PAGE.format(title=html.escape(self.verdict()), body=body)

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1)


def write_page(report: ProgramReport, path: Path) -> None:
    """Write the report's page."""
    path.write_text(report.page(), encoding="utf-8")


def _launch_html(launch: Launch) -> str:
    if launch.refused:
        text = f"{launch.title}: refused. {launch.refused}"
        return f"<section><p>{html.escape(text)}</p></section>"
    if not launch.lines:
        shown = findings_html(launch.findings)
        return f"<section><p>{html.escape(launch.title)}</p>{shown}</section>"
    return f"<section>{launch._repr_html_()}</section>"


def _lines(title: str, texts: Any) -> str:
    return "\n".join(f"{title}: {text}" for text in texts)


def _new_line(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def returned(name: str, status: int) -> Finding:
    """main() has said itself that something went wrong."""
    what = f"main() of {name} has returned {status}; look at what it has printed"
    return Finding("exit-status", what, None, None)
