"""How long a chapter takes: its words, what its cells show, its exercises, at fixed rates.

What the book folds (exercises, rungs, sections with the comment FOLD below their heading) is not in
the words; exercises and rungs have minutes of their own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WORDS_A_MINUTE = 130  # of technical prose, by a reader who follows the argument
CELL_MINUTES = 0.75  # to take in what a cell shows: a passage of code, a table, a figure
EXERCISE_MINUTES = 10
RUNG_MINUTES = 15  # to write a rung of "Your kernel", with its hints

_HIDDEN = re.compile(r"<details.*?</details>|<!--.*?-->|<[^>]+>|\]\([^)]*\)|\$\$.*?\$\$", re.DOTALL)
_EXERCISE = re.compile(r"^### Exercise \d+", re.MULTILINE)
_RUNG = re.compile(r"^## Your kernel \d+", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_HEADING = re.compile(r"(#+) (.+)")

FOLD = "<!-- fold -->"
_KINDS = {
    re.compile(r"Exercise \d+\b"): EXERCISE_MINUTES,
    re.compile(r"Your kernel \d+\b"): RUNG_MINUTES,
}


@dataclass(frozen=True)
class Reading:
    """What a chapter has: words of prose and cells that are not folded, exercises.

    rungs: of the track "Your kernel". title: its first heading.
    """

    words: int
    cells: int
    exercises: int
    rungs: int = 0
    title: str = ""

    @property
    def minutes(self) -> int:
        """To read it, exercises left out; in steps of five."""
        return max(5, 5 * round((self.words / WORDS_A_MINUTE + self.cells * CELL_MINUTES) / 5))

    @property
    def path_minutes(self) -> int:
        """To read it and to write its rungs of "Your kernel"."""
        return self.minutes + RUNG_MINUTES * self.rungs

    def __str__(self) -> str:
        extra = [
            _some(self.rungs, "rung", RUNG_MINUTES),
            _some(self.exercises, "exercise", EXERCISE_MINUTES),
        ]
        said = [f"About {self.minutes} minutes", *filter(None, extra)]
        return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"


@cache
def reading(path: Path) -> Reading:
    """What the chapter in this notebook takes."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    prose = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    words, shown = _unfolded(cells)
    title = _TITLE.search(prose)
    return Reading(
        words,
        shown,
        len(_EXERCISE.findall(prose)),
        len(_RUNG.findall(prose)),
        title[1].strip() if title else path.stem,
    )


def section_minutes(title: str) -> int | None:
    """What a section of this title takes if it is an exercise or a rung, which the book folds."""
    return next((minutes for kind, minutes in _KINDS.items() if kind.match(title)), None)


def _unfolded(cells: list[dict]) -> tuple[int, int]:
    """The words and the cells of a chapter that a reader sees who opens nothing."""
    kept: list[str] = []
    shown = 0
    shut = None  # the level of the heading of the folded section that this is in
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text, shut = _open_text("".join(cell["source"]), shut)
            kept.append(text)
        elif cell["cell_type"] == "code" and shut is None:
            shown += _shows(cell)
    return len(_HIDDEN.sub(" ", "\n\n".join(kept)).split()), shown


def _open_text(text: str, shut: int | None) -> tuple[str, int | None]:
    """What of a cell is in no folded section, and the level of the one that its end is in."""
    lines = text.splitlines()
    kept = []
    for number, line in enumerate(lines):
        if heading := _HEADING.fullmatch(line):
            level = len(heading[1])
            if shut is None or level <= shut:
                folded = FOLD in lines[number + 1 : number + 3]
                folded = folded or section_minutes(heading[2]) is not None
                shut = level if folded else None
                kept.append(line)
                continue
        if shut is None:
            kept.append(line)
    return "\n".join(kept), shut


def _some(count: int, what: str, minutes: int) -> str:
    """ "3 exercises of about 10 minutes each"; "" for none."""
    if count < 2:
        return f"1 {what} of about {minutes} minutes" * count
    return f"{count} {what}s of about {minutes} minutes each"


def _shows(cell: dict) -> bool:
    """Whether the cell is there to be read: not a solution, not folded, not taken out."""
    tags = cell["metadata"].get("tags", ())
    return not {"solution", "hide-cell", "remove-cell"} & set(tags)
