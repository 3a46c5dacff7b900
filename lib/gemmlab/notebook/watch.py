"""What a notebook shows of judges goes into the reader's file, without a word, when a cell ends.

A cell counts if Jupyter says which one of the book's it is (JupyterLab and Notebook do) and all
verdicts that it shows are "Solved". Chapters that are executed by tools say nothing, and
GEMMLAB_PROGRESS=0 switches it off.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..core import progress
from . import chapters, solved

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

_texts: dict[str, str] = {}  # of cells that were run, by their ids
_shown: list[bool] = []  # whether each verdict that the present cell has shown is "Solved"


def start(shell: InteractiveShell) -> None:
    """From now on look at every cell of a shell when it ends."""
    shell.events.register("post_run_cell", _cell_ended)


def verdict(is_solved: bool) -> None:
    """A verdict was shown."""
    _shown.append(is_solved)


def _cell_ended(result: ExecutionResult | None) -> None:
    verdicts = list(_shown)
    _shown.clear()
    cell_id = result.info.cell_id if result and result.info else None
    if not (result and cell_id and progress.enabled()):
        return
    _texts[cell_id] = result.info.raw_cell
    if verdicts and all(verdicts) and result.success:
        try:
            problem = _note(cell_id)
        except OSError as error:
            problem = f"This solved exercise could not be noted in {solved.unusable(error)}."
        if problem:
            print(problem, file=sys.stderr)


def _note(cell_id: str) -> str:
    """Write down the exercise that a cell has solved, if it is one of the book's."""
    exercise = chapters.exercise_of(cell_id)
    if exercise is None:
        return ""
    theirs = {cell.id: cell.solution for cell in exercise.cells}
    own = tuple(
        text for one, text in _texts.items() if one in theirs and theirs[one] == theirs[cell_id]
    )
    return solved.add(exercise.key, own, theirs[cell_id] or exercise.has_solution(own))
