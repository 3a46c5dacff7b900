"""A reader's progress as a table: which exercises of which chapter are solved, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..display.table import Shown, Table
from . import chapters, solved
from .chapters import Exercise
from .solved import Solved

_NO_BOOK = (
    "The chapters are not here, so only what was solved is listed; GEMMLAB_ROOT names a checkout."
)


@dataclass(frozen=True, repr=False)
class Progress(Shown):
    """What a reader has solved of the exercises that have a judge.

    problem: what was wrong with the file.
    """

    exercises: tuple[Exercise, ...]
    solved: dict[str, Solved]
    problem: str = ""

    def shown(self) -> Table:
        """A row for each exercise."""
        rows = [self._row(one) for one in self.exercises]
        return Table(("chapter", "exercise", "solved", "when"), rows, "tttt", self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; with the answers."""
        rows = [self._data(one) for one in self.exercises]
        return {"file": str(solved.path()), "problem": self.problem, "exercises": rows}

    def _row(self, exercise: Exercise) -> tuple[str, ...]:
        entry = self.solved.get(exercise.key)
        title = f"{exercise.number}: {exercise.title}".removesuffix(": ")
        if entry is None:
            return exercise.chapter, title, "not yet", ""
        return exercise.chapter, title, "solution" if entry.shown else "yes", entry.when[:10]

    def _data(self, exercise: Exercise) -> dict[str, Any]:
        entry = self.solved.get(exercise.key)
        return {
            "chapter": exercise.chapter,
            "exercise": exercise.number,
            "title": exercise.title,
            "solved": bool(entry and not entry.shown),
            "solution_shown": bool(entry and entry.shown),
            "when": entry.when if entry else None,
            "answer": list(entry.answer) if entry else [],
        }

    def _notes(self) -> list[str]:
        own = sum(not entry.shown for entry in self.solved.values())
        shown = len(self.solved) - own
        counted = f"{own} of {len(self.exercises)} solved"
        counted += f", {shown} with the book's solution only" * bool(shown)
        notes = [f"{counted}. Exercises in words or in the browser have no judge.", self.problem]
        notes += [] if any(one.title for one in self.exercises) else [_NO_BOOK]
        return [*filter(None, notes), f"Kept in {solved.path()}."]


def progress() -> Progress:
    """What the reader's file says of the chapters' exercises, and of those that are gone since.

    Raises OSError where it cannot be read.
    """
    entries, problem = solved.load()
    judged = [one for one in chapters.exercises() if one.judged]
    known = {one.key for one in judged}
    gone = [_unknown(key) for key in entries if key not in known]
    return Progress((*judged, *gone), entries, problem)


def _unknown(key: str) -> Exercise:
    chapter, _, number = key.rpartition("/")
    return Exercise(chapter, int(number) if number.isdecimal() else 0, "")
