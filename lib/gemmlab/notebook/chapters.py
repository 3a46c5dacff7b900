"""The exercises of the book's chapters, and which cell of a notebook belongs to which."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.paths import repository_root

_HEADING = re.compile(
    r"^#{1,3} (?:(?P<kind>Exercise|Your kernel) (?P<number>\d+): )?(?P<title>.*)$", re.MULTILINE
)
TRACK = "your_kernel"  # the page whose exercises stand in the chapters, too
# A cell calls a judge, or shows a verdict, which a function of the chapter has made.
_JUDGE, _VERDICT = (
    re.compile(r"\bexercises\.\w+\("),
    re.compile(r"^(Not yet|Solved): ", re.MULTILINE),
)


@dataclass(frozen=True)
class Cell:
    """A code cell of an exercise. solution: whether it belongs to the book's solution."""

    id: str
    text: str
    solution: bool
    judged: bool


@dataclass(frozen=True)
class Exercise:
    """An exercise of a chapter, with the cells below its heading in the stored notebook."""

    chapter: str
    number: int
    title: str
    cells: tuple[Cell, ...] = ()

    @property
    def key(self) -> str:
        """What it is known by: "sgemm_naive/1"."""
        return f"{self.chapter}/{self.number}"

    @property
    def judged(self) -> bool:
        """Whether a judge looks at the answer; others are in words, or in the browser."""
        return any(cell.judged for cell in self.cells)

    def has_solution(self, texts: Iterable[str]) -> bool:
        """Whether one of these cells' texts is that of a cell of the book's solution."""
        known = {_body(cell.text) for cell in self.cells if cell.solution}
        return any(_body(text) in known for text in texts)


def exercises() -> list[Exercise]:
    """Those of all chapters, in the order of the book; none without a checkout."""
    found: dict[str, Exercise] = {}
    for one in (one for path in _chapters() for one in _exercises(path)):
        known = found.get(one.key)
        found[one.key] = replace(known, cells=(*known.cells, *one.cells)) if known else one
    return list(found.values())


def exercise_of(cell_id: str) -> Exercise | None:
    """The exercise with a cell of that id, with all its cells. Ids are unique in the book."""
    for path in _chapters():
        if f'"{cell_id}"' not in path.read_text(encoding="utf-8", errors="replace"):
            continue  # a chapter takes longer to parse than all of them to read
        for one in _exercises(path):
            if any(cell.id == cell_id for cell in one.cells):
                return one if one.chapter != TRACK else _known(one.key)
    return None


def _known(key: str) -> Exercise | None:
    """An exercise of the track, whose cells stand in more than one notebook."""
    return next((one for one in exercises() if one.key == key), None)


def _chapters() -> list[Path]:
    root = repository_root()
    contents = root / "_toc.yml"
    if not contents.is_file():
        return []
    found = re.findall(r"(?:file|root): (\S+)", contents.read_text(encoding="utf-8"))
    paths = [root / f"{name}.ipynb" for name in found]
    return [path for path in paths if path.is_file()]


def _exercises(path: Path) -> Iterator[Exercise]:
    """Those of a notebook; none of one that cannot be read."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError):
        return
    current: tuple[str, int, str] | None = None
    found: list[Cell] = []
    for cell in cells:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and current:
            found.append(_cell(cell, text))
        for heading in _HEADING.finditer(text) if cell["cell_type"] == "markdown" else ():
            if current:
                yield Exercise(*current, tuple(found))
            found = []
            chapter = TRACK if heading["kind"] == "Your kernel" else path.stem
            number = heading["number"]
            current = (chapter, int(number), heading["title"]) if number else None
    if current:
        yield Exercise(*current, tuple(found))


def _cell(cell: dict[str, Any], text: str) -> Cell:
    shown = (
        "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        for output in cell["outputs"]
    )
    judged = bool(_JUDGE.search(text)) or any(map(_VERDICT.search, shown))
    solution = "solution" in cell["metadata"].get("tags", [])
    return Cell(cell.get("id", ""), text, solution, judged)


def _body(text: str) -> str:
    """A cell's text without what an editor may change, and without the name of its kernel."""
    return " ".join(re.sub(r"\A%%kernel.*", "", text).split())
