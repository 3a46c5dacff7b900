"""A trace as a table: in a notebook, in the book (light and dark, 390 px), in a terminal."""

from __future__ import annotations

import html
from itertools import groupby
from typing import TYPE_CHECKING

from .._html import STYLE as TABLE_STYLE
from .._html import text_table
from ..source import STYLE as CODE_STYLE
from ..source import highlight

if TYPE_CHECKING:
    from .findings import Finding, Findings
    from .trace import LineCount, Trace

_STYLE = """<style>
.gl-trace{--bad:#8a3b00;--badbg:#fde4d3;--far:#0b4a75;--farbg:#dcebf7;--mark:#d55e00}
html[data-theme=dark] .gl-trace,[data-jp-theme-light=false] .gl-trace{--bad:#ffb98a;
--badbg:#4a2408;--far:#8cc7f0;--farbg:#0d2f48;--mark:#e69f00}
.gl-trace caption{caption-side:top;text-align:left;padding:0 0 .4rem;color:inherit;
font-size:.9rem;white-space:nowrap}
.gl-trace td.gl-src{text-align:left;white-space:pre-wrap;padding-bottom:0;border-bottom:0}
.gl-trace tr.gl-line td{border-bottom:0;padding:.55rem .9rem .05rem 0;color:var(--no)}
.gl-trace td.gl-src code{background:none;border:0;padding:0;color:var(--fg);font-size:.82rem}
.gl-trace tr.gl-bad td:first-child{box-shadow:inset 3px 0 var(--mark)}
.gl-trace td:first-child,.gl-trace th:first-child{padding-left:.6rem}
.gl-trace th,.gl-trace td{padding-right:.7rem!important}
.gl-trace .gl-tag{display:inline-block;border-radius:4px;padding:0 .4em;font-size:.78rem;
margin-right:.5em;color:var(--far);background:var(--farbg)}
.gl-trace .gl-tag.gl-hot{color:var(--bad);background:var(--badbg)}
.gl-trace ul{margin:.6rem 0 0;padding-left:1.2rem;font-size:.88rem;line-height:1.45}
.gl-trace li{margin:.2rem 0;max-width:80ch}
.gl-trace p.gl-ok{margin:.6rem 0 0 .6rem;font-size:.88rem;color:inherit}
</style>"""

_HEAD = ("line", "access", "requests", "a request takes", "at least", "too many, in all")


def as_html(trace: Trace) -> str:
    """Each source line with its accesses below it, then the findings; the same text every time."""
    blocks = []
    for (_, number), group in groupby(trace.lines, key=lambda line: (line.file, line.line)):
        lines = list(group)
        code = highlight([lines[0].source])[0]
        blocks.append(
            f'<tr class="gl-line"><td>{number}</td>'
            f'<td class="gl-src" colspan="5"><code>{code}</code></td></tr>'
        )
        blocks += [_row(line) for line in lines]
    classes = ["", "t", "", "", "", ""]
    head = "".join(
        f'<th scope="col"{_class(c)}>{name}</th>' for name, c in zip(_HEAD, classes, strict=True)
    )
    return (
        f"{TABLE_STYLE}{CODE_STYLE}{_STYLE}"
        '<div class="gl-table gl-code gl-trace" tabindex="0" role="region" '
        f'aria-label="Trace of {html.escape(trace.kernel)}">'
        f"<table><caption>{html.escape(_title(trace))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(blocks)}</tbody></table>"
        f"{_listed(trace.findings)}</div>"
    )


def as_text(trace: Trace) -> str:
    """The same for a terminal, the source line at the end of each row."""
    rows = [(str(line.line), *_cells(line), line.source) for line in trace.lines]
    notes = [f"{_seen(f)}{f}" for f in trace.findings] or [_NO_FINDINGS]
    return "\n".join((_title(trace), text_table((*_HEAD, "source"), rows, "ntnnnnt", notes)))


_NO_FINDINGS = "Nothing found: no race, no access out of bounds, no uninitialised read."


def _title(trace: Trace) -> str:
    return f"{trace.kernel}, M={trace.M} N={trace.N} K={trace.K}, counted by the simulator"


def _cells(line: LineCount) -> tuple[str, ...]:
    """Access, requests, what one takes, the least it could, and the surplus, as text."""
    lanes = "" if line.lanes == 32 else f", {_number(line.lanes)} lanes"
    access = f"{line.op} {line.width_bytes} B{lanes}"
    total, least, noun = _cost(line)
    takes = _plural(total / line.requests, noun) if total else ""
    at_least = _number(least / line.requests) if total else ""
    return access, f"{line.requests:,}", takes, at_least, f"{total - least:,}" if total else ""


def _cost(line: LineCount) -> tuple[int, int, str]:
    """What the line's requests take together, the least they could, and of what."""
    if line.wavefronts:
        return line.wavefronts, line.wavefronts_min, "wavefront"
    return line.sectors, line.sectors_min, "sector"


def _row(line: LineCount) -> str:
    access, requests, takes, at_least, surplus = _cells(line)
    if line.conflicts:
        surplus = _tag("bank conflicts", " gl-hot") + surplus
    elif line.sectors > line.sectors_min:
        surplus = _tag("extra sectors") + surplus
    return (
        f'<tr{_class("gl-bad" if line.conflicts else "")}><td></td><td class="t">{access}</td>'
        f"<td>{requests}</td><td>{takes}</td><td>{at_least}</td><td>{surplus}</td></tr>"
    )


def findings_html(findings: Findings) -> str:
    """The findings alone, as a list."""
    return f'{_STYLE}<div class="gl-trace">{_listed(findings)}</div>'


def _listed(findings: Findings) -> str:
    if not findings:
        return f'<p class="gl-ok">{_NO_FINDINGS}</p>'
    return f"<ul>{''.join(f'<li>{_finding(finding)}</li>' for finding in findings)}</ul>"


def _finding(finding: Finding) -> str:
    tag = f'<span class="gl-tag gl-hot">{finding.kind}</span> '
    where = f"<b>{html.escape(finding.file)}:{finding.line}</b> " if finding.file else ""
    return f"{where}{tag}{html.escape(finding.message)}. {_seen(finding)}".strip()


def _seen(finding: Finding) -> str:
    return f"(seen {finding.count:,} times) " if finding.count > 1 else ""


def _plural(count: float, noun: str) -> str:
    return f"{_number(count)} {noun}{'' if count == 1 else 's'}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


def _tag(text: str, extra: str = "") -> str:
    return f'<span class="gl-tag{extra}">{text}</span>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
