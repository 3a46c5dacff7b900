"""How long a chapter takes: its words, what its cells show, its exercises, at fixed rates."""

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


@dataclass(frozen=True)
class Reading:
    """What a chapter has: words of prose that are not folded, cells that show, exercises.

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

    @property
    def all_minutes(self) -> int:
        """With the exercises."""
        return self.path_minutes + EXERCISE_MINUTES * self.exercises

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
    shown = [c for c in cells if c["cell_type"] == "code" and _shows(c)]
    words = len(_HIDDEN.sub(" ", prose).split())
    title = _TITLE.search(prose)
    return Reading(
        words,
        len(shown),
        len(_EXERCISE.findall(prose)),
        len(_RUNG.findall(prose)),
        title[1].strip() if title else path.stem,
    )


def _some(count: int, what: str, minutes: int) -> str:
    """ "3 exercises of about 10 minutes each"; "" for none."""
    if count < 2:
        return f"1 {what} of about {minutes} minutes" * count
    return f"{count} {what}s of about {minutes} minutes each"


def _shows(cell: dict) -> bool:
    """Whether the cell is there to be read: not a solution, not one that is taken out."""
    tags = cell["metadata"].get("tags", ())
    return not {"solution", "remove-cell"} & set(tags)
