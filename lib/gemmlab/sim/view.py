"""A trace beside its source: in a notebook, in the book (light and dark, 390 px), in a terminal."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence
from typing import Protocol

from ..display.code import STYLE as CODE_STYLE
from ..display.table import STYLE as TABLE_STYLE
from ..display.table import text_table
from .counts import LineCount
from .findings import Finding, explained_once
from .passage import Shown, passage

# Nested below three classes, to count for more than a page's own rules for tables and code.
_STYLE = """<style>
.gl-trace{--bad:#8a3b00;--badbg:#fde4d3;--far:#0b4a75;--farbg:#dcebf7;--mark:#d55e00;
--bar:#0072b2;container-type:inline-size;max-width:1100px}
html[data-theme=dark] .gl-trace,[data-jp-theme-light=false] .gl-trace{--bad:#ffb98a;
--badbg:#4a2408;--far:#8cc7f0;--farbg:#0d2f48;--mark:#e69f00;--bar:#56b4e9}
.gl-trace .gl-tag{display:inline-block;border-radius:4px;padding:0 .45em;font-size:.76rem;
margin-right:.5em;color:var(--far);background:var(--farbg)}
.gl-trace .gl-hot{color:var(--bad);background:var(--badbg)}
.gl-trace a.gl-tag{text-decoration:underline}
.gl-trace ul{margin:.7rem 0 0;padding-left:1.2rem;font-size:.88rem;line-height:1.45}
.gl-trace li{margin:.2rem 0;max-width:80ch}
.gl-trace p.gl-ok{margin:.7rem 0 0;font-size:.88rem;color:inherit}
.gl-table.gl-code.gl-trace{
table{display:block;font-size:.82rem}
caption,thead,tbody{display:block}
caption{text-align:left;padding:0 0 .5rem;color:inherit;font-size:.9rem}
tr{display:grid;grid-template-columns:2.3rem minmax(0,1fr) calc(12.6rem + var(--access));
padding:0;line-height:1.45}
th,td{border:0!important;padding:.1rem 0!important;text-align:left;white-space:normal;
line-height:inherit}
td:first-child,th:first-child{text-align:right;padding-right:.7rem!important;color:var(--no);
font-size:.78rem;user-select:none;border-left:4px solid transparent!important}
thead tr{border-bottom:2px solid var(--rule)}
thead th{color:var(--quiet);font-weight:600;font-size:.78rem}
td:nth-child(2){padding-right:.6rem!important}
td.gl-wide{grid-column:2/-1}
td:empty{display:none}
code{display:block;background:none;border:0;padding:0 0 0 1.2em;text-indent:-1.2em;margin:0;
color:var(--fg);white-space:pre-wrap;overflow-wrap:anywhere;font-size:.78rem;line-height:1.55}
.gl-line,.gl-line+:not(.gl-line){border-top:1px solid var(--rule)}
.gl-line td{background:var(--bg)}
.gl-bad td:first-child{border-left-color:var(--mark)!important}
.gl-far td:first-child{border-left-color:var(--bar)!important}
.gl-fold td{color:var(--quiet)}
.gl-cost{display:grid;grid-template-columns:var(--access) 3.7rem 6.3rem 2.6rem;align-items:baseline;
padding-right:.3rem}
.gl-cost>:nth-child(n+2){text-align:right}
.gl-cost>.gl-more{grid-column:1/-1;text-align:left;padding:.05rem 0 .25rem}
:target{outline:2px solid var(--mark);outline-offset:-2px}
@container (max-width:640px){
tr{grid-template-columns:2.2rem minmax(0,1fr)}
td:first-child{grid-row:1/span 2}
:is(td,th):nth-child(3){grid-column:2}
th:nth-child(2){display:none}
th:nth-child(3){grid-row:1}
.gl-cost{grid-template-columns:minmax(5.6rem,1fr) 3.2rem 6.1rem 2.2rem}}}
</style>"""

_HEAD = ("line", "access", "requests", "a request takes", "at least", "too many, in all")
_COSTS = ("access", "requests", "each takes", "least")
_NO_FINDINGS = "Nothing found: no race, no access out of bounds, no uninitialised read."


class Traced(Protocol):
    """What is shown of a `Trace`."""

    @property
    def kernel(self) -> str:
        """The step's name."""

    @property
    def title(self) -> str:
        """What was run, in a line."""

    @property
    def lines(self) -> Sequence[LineCount]:
        """What each line asks of memory."""

    @property
    def findings(self) -> Sequence[Finding]:
        """What is wrong."""

    @property
    def file(self) -> str:
        """The kernel's file."""

    @property
    def source(self) -> Sequence[str]:
        """Its lines."""


def as_html(trace: Traced) -> str:
    """The counted passage with each line's requests beside it, then the findings."""
    names = Anchors(trace)
    own = [line for line in trace.lines if line.file == trace.file]
    numbers = {line.line for line in own} | names.lines()
    rows = [
        _row(shown, [line for line in own if line.line == shown.number], names)
        for shown in passage(trace.source, numbers)
    ]
    for line in trace.lines:
        if line.file != trace.file:
            rows.append(_row(Shown(line.line, html.escape(line.file)), [line], names))
    costs = "".join(f"<span>{name}</span>" for name in _COSTS)
    return (
        f"{TABLE_STYLE}{CODE_STYLE}{_STYLE}"
        '<div class="gl-table gl-code gl-trace" tabindex="0" role="region" '
        f'style="--access:{_access_width(trace.lines)}rem" '
        f'aria-label="Trace of {html.escape(trace.kernel)}">'
        f"<table><caption>{html.escape(trace.title)}</caption>"
        '<thead><tr><th scope="col">line</th><th scope="col">source</th>'
        f'<th scope="col"><div class="gl-cost">{costs}</div></th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>{_listed(trace.findings, names)}</div>"
    )


def _access_width(lines: Sequence[LineCount]) -> float:
    """Width of the column for "ld.shared 4 B": more where a name is long."""
    longest = max((len(_cells(line)[0]) for line in lines), default=0)
    return max(6, 0.42 * longest)


class Anchors:
    """Names of lines in a page, the same for the same trace, and which lines have findings."""

    def __init__(self, trace: Traced) -> None:
        content = repr((trace.title, trace.lines, trace.findings))
        self._prefix = f"gl-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
        self._file = trace.file
        self._findings = trace.findings
        self._length = len(trace.source)

    def lines(self) -> set[int]:
        """Lines of the kernel's file at which something was found."""
        sides = [(f.file, f.line) for f in self._findings]
        sides += [(f.other_file, f.other_line) for f in self._findings]
        return {line for file, line in sides if line and self.name(file, line)}

    def name(self, file: str | None, line: int | None) -> str:
        """The id of a line, empty if the line is not shown."""
        shown = file == self._file and line and line <= self._length
        return f"{self._prefix}-{line}" if shown else ""

    def at(self, number: int) -> list[tuple[Finding, str | None, int | None]]:
        """The findings at a line, each with its other side."""
        found = []
        for f in self._findings:
            if (f.file, f.line) == (self._file, number):
                found.append((f, f.other_file, f.other_line))
            elif (f.other_file, f.other_line) == (self._file, number):
                found.append((f, f.file, f.line))
        return found

    def link(self, file: str, line: int) -> str:
        """A place in words, as a link if it is shown."""
        text = f"{html.escape(file)}:{line}"
        return f'<a href="#{name}">{text}</a>' if (name := self.name(file, line)) else text


def _row(shown: Shown, lines: Sequence[LineCount], names: Anchors) -> str:
    if shown.folded:
        return f'<tr class="gl-fold"><td>⋯</td><td>{shown.folded} lines</td><td></td></tr>'
    marks = [_mark(*found, names) for found in names.at(shown.number)]
    bad = bool(marks) or any(line.conflicts for line in lines)
    far = any(line.sectors > line.sectors_min for line in lines)
    classes = ("gl-line" if lines or marks else "", "gl-bad" if bad else "gl-far" if far else "")
    anchor = f' id="{names.name(names._file, shown.number)}"' if marks else ""
    return (
        f"<tr{_class(' '.join(classes).strip())}{anchor}><td>{shown.number}</td>"
        f"<td{'' if lines else ' class=gl-wide'}><code>{shown.code}</code>{''.join(marks)}</td>"
        f"<td>{''.join(map(_cost, lines))}</td></tr>"
    )


def _mark(finding: Finding, file: str | None, line: int | None, names: Anchors) -> str:
    """What was found at a line, linked with its other side."""
    text = f"✗ {html.escape(finding.kind)}"
    if not file or (file, line) == (finding.file, finding.line) == (
        finding.other_file,
        finding.other_line,
    ):
        return _tag(text, " gl-hot")
    where = f"line {line}" if names.name(file, line) else f"{html.escape(file)}:{line}"
    if not (name := names.name(file, line)):
        return _tag(f"{text}, with {where}", " gl-hot")
    return f'<a class="gl-tag gl-hot" href="#{name}">{text}, with {where}</a>'


def _cost(line: LineCount) -> str:
    """The requests of one kind: how many, what each takes, what it could, and the surplus."""
    access, requests, takes, at_least, surplus = _cells(line)
    notes = "".join(_notes(line, surplus))
    more = f'<span class="gl-more">{notes}</span>' if notes else ""
    cells = "".join(f"<span>{cell}</span>" for cell in (access, requests, takes, at_least))
    return f'<div class="gl-cost">{cells}{more}</div>'


def _notes(line: LineCount, surplus: str) -> list[str]:
    notes = []
    if line.conflicts:
        noun = "bank conflict" if line.conflicts == 1 else "bank conflicts"
        notes.append(_tag(f"▲ {surplus} {noun}", " gl-hot"))
    elif line.sectors > line.sectors_min:
        noun = "extra sector" if surplus == "1" else "extra sectors"
        notes.append(_tag(f"△ {surplus} {noun}"))
    if line.by_lanes and line.lanes != 32:
        notes.append(f"{_number(line.lanes)} lanes active")
    return notes


def as_text(trace: Traced) -> str:
    """The same for a terminal, the source line at the end of each row."""
    rows = []
    for line in trace.lines:
        access, *others = _cells(line)
        some = line.by_lanes and line.lanes != 32
        lanes = f", {_number(line.lanes)} lanes" if some else ""
        place = f"{line.line}" if line.file == trace.file else f"{line.file}:{line.line}"
        rows.append((place, access + lanes, *others, line.source))
    notes = [f"{_seen(f)}{f}" for f in trace.findings] or [_NO_FINDINGS]
    return "\n".join((trace.title, text_table((*_HEAD, "source"), rows, "ntnnnnt", notes)))


def _cells(line: LineCount) -> tuple[str, ...]:
    """Access, requests, what one takes, the least it could, and the surplus, as text."""
    total, least, noun = _total(line)
    takes = _plural(total / line.requests, noun) if total else ""
    at_least = _number(least / line.requests) if total else ""
    access = f"{line.op} {line.width_bytes} B" if line.by_lanes else line.op
    return access, f"{line.requests:,}", takes, at_least, f"{total - least:,}" if total else ""


def _total(line: LineCount) -> tuple[int, int, str]:
    """What the line's requests take together, the least they could, and of what."""
    if line.wavefronts:
        return line.wavefronts, line.wavefronts_min, "wavefront"
    return line.sectors, line.sectors_min, "sector"


def findings_html(findings: Sequence[Finding]) -> str:
    """The findings alone, as a list."""
    return f'{_STYLE}<div class="gl-trace">{_listed(findings)}</div>'


def _listed(findings: Sequence[Finding], names: Anchors | None = None) -> str:
    if not findings:
        return f'<p class="gl-ok">✓ {_NO_FINDINGS}</p>'
    rows = (f"<li>{_finding(one, names)}</li>" for one in explained_once(findings))
    return f"<ul>{''.join(rows)}</ul>"


def _finding(finding: Finding, names: Anchors | None) -> str:
    tag = f'<span class="gl-tag gl-hot">✗ {finding.kind}</span> '
    where = ""
    if finding.file and finding.line is not None:
        place = f"{html.escape(finding.file)}:{finding.line}"
        where = f"<b>{names.link(finding.file, finding.line) if names else place}</b> "
    return f"{where}{tag}{html.escape(finding.message)}. {_seen(finding)}".strip()


def _seen(finding: Finding) -> str:
    return f"(seen {finding.count:,} times) " if finding.count > 1 else ""


def _plural(count: float, noun: str) -> str:
    return f"{_number(count)} {noun}{'' if count == 1 else 's'}"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _tag(text: str, extra: str = "") -> str:
    return f'<span class="gl-tag{extra}">{text}</span>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
