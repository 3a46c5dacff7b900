"""Fill in the recorded numbers of chapters' prose, and find measured numbers that name no row.

    python -m tools.figures [--check] book/x.ipynb ...

A measured number stands in `<span data-figure="sgemm_06 4096 tflops">29.1</span>`, whose key names
a row of a recording (gemmlab.measurements.quoted); this writes what the row says into the span. A
number that no recording has stands in `<span data-once="H200, 2026-11-23">`, which says where and
when it was measured; one of a source in `<span data-cited="...">`, which says whose it is; one that
follows from others in `<span data-computed="...">`, which says how. Then the numbers that look
measured and stand in no span are listed. --check writes nothing, and fails if a number is not that
of its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from gemmlab.core.errors import ArgumentError
from gemmlab.core.files import write_whole
from gemmlab.measurements.quoted import SPAN, Runs, quoted, rewritten

from . import command

_OPENED = re.compile(r"<span ([^>]*)>")
_KINDS = re.compile(r'data-(figure|once|cited|computed)="([^"]+)"')
_ONCE = re.compile(r"[^,]+, \d{4}-\d\d-\d\d(?:, .+)?")
_ANY_SPAN = re.compile(r'<span data-(?:figure|once|cited|computed)="[^"]*">[^<]*</span>')
# Code, formulas and addresses are not prose; a line of `~~~` or ``` opens and closes a block.
_NOT_PROSE = re.compile(
    r"^(?P<fence>```+|~~~+)(?!\{).*?^(?P=fence)|`[^`\n]+`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
_NUMBER = r"(?<![\w.,])\d[\d.,]*(?:(?: to | and | or |–)\d[\d.,]*)?"
_UNIT = re.compile(rf"{_NUMBER}[ \u00a0]?(?:[TG]FLOP/s|[TG]B/s|[GM]Hz|µs|us|ms|ns|W)(?![\w/])")
_PERCENT = re.compile(rf"{_NUMBER}[ \u00a0]?(?:%|per ?cent)")
_TIMES = re.compile(rf"{_NUMBER} times (?:as fast|as slow|faster|slower|the speed|cuBLAS)")
# A percentage is a measured one if its sentence speaks of speed or of what a unit did.
_SPEED = re.compile(
    r"cuBLAS|fast|slow|speed|gain|los[et]|loss|cost|busy|behind|ahead|of the (?:time|cycles|peak)"
)
# What the data sheet says of the H200: its highest clock, its power limit.
_CONSTANT = re.compile(r"1,?980 MHz|700 W")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n(?=[#|*-])")


@dataclass(frozen=True)
class Fault:
    """Something wrong with a number: of which cell, and what."""

    cell: str
    what: str


def refused(text: str, runs: Runs | None = None) -> Iterator[str]:
    """What is wrong with the spans of a piece of markdown, a sentence each."""
    for span in _OPENED.finditer(text):
        if "data-" not in span[1]:
            continue
        kind = _KINDS.fullmatch(span[1])
        whole = _ANY_SPAN.match(text, span.start())
        if kind is None or whole is None:
            yield f"{span[0]}: a number's span has one of data-figure, -once, -cited, -computed"
        elif kind[1] == "once" and not _ONCE.fullmatch(kind[2]):
            yield f"{span[0]}: data-once says a GPU and a date, as in 'H200, 2026-11-23'"
    for figure in SPAN.finditer(text):
        try:
            now = quoted(figure[1], runs).text
        except ArgumentError as error:
            yield str(error)
            continue
        if now != figure[2]:
            yield f"{figure[1]}: the page has {figure[2]}, the recording {now}"


def unmarked(text: str) -> Iterator[str]:
    """The measured numbers of a piece of markdown that stand in no span, with what is around."""
    prose = _NOT_PROSE.sub(" ", _ANY_SPAN.sub("…", text))
    for sentence in _SENTENCE.split(prose):
        found = [*_UNIT.finditer(sentence), *_TIMES.finditer(sentence)]
        if _SPEED.search(sentence):
            found += _PERCENT.finditer(sentence)
        for number in sorted(found, key=lambda match: match.start()):
            if _CONSTANT.fullmatch(number[0]):
                continue
            around = sentence[max(0, number.start() - 40) : number.end() + 25]
            yield " ".join(around.split())


def prose(path: Path) -> list[tuple[str, str]]:
    """The markdown of a page, as (cell, text); a page that is no notebook is one cell."""
    if path.suffix != ".ipynb":
        return [("", path.read_text(encoding="utf-8"))]
    cells = nbformat.read(path, as_version=4).cells
    return [(cell.get("id", ""), cell.source) for cell in cells if cell.cell_type == "markdown"]


def fill(nb: Any) -> bool:
    """Write into the spans of a notebook what the recording says; whether any was another."""
    changed = False
    for cell in nb.cells:
        if cell.cell_type == "markdown" and (new := rewritten(cell.source)) != cell.source:
            cell.source, changed = new, True
    return changed


def _fill_file(path: Path) -> bool:
    nb = nbformat.read(path, as_version=4)
    changed = fill(nb)
    if changed:
        write_whole(path, nbformat.writes(nb) + "\n")
    return changed


def main() -> int:
    """The command line."""
    parser = command.parser("figures", __doc__)
    parser.add_argument("chapters", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args()
    if missing := [str(path) for path in given.chapters if not path.is_file()]:
        parser.error(f"no such chapter: {', '.join(missing)}")
    wrong = 0
    for path in given.chapters:
        faults = [Fault(cell, what) for cell, text in prose(path) for what in refused(text)]
        refusals = [fault for fault in faults if "the recording " not in fault.what]
        if not given.check and not refusals and _fill_file(path):
            print(f"{path}: numbers brought up to date")
            faults = []
        for fault in faults:
            print(f"{path} [{fault.cell}] {fault.what}")
        wrong += len(faults)
        open_ones = [(cell, what) for cell, text in prose(path) for what in unmarked(text)]
        for cell, what in open_ones:
            print(f"{path} [{cell}] in no span: {what}")
        print(f"{path}: {len(faults)} to mend, {len(open_ones)} in no span")
    return 1 if wrong else 0


if __name__ == "__main__":
    command.run(main)
