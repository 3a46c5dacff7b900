"""Wrong answers and cheats, as data: what they change in a chapter's solution, and what is said.

A file a chapter, `tests/unit/exercises/answers/<chapter>.toml`. The chapter's cells that hold the
texts of `needs` run first, and `setup`; then, for each answer, the cells of its exercise that are
no stub and no solution, for what they define, and the cells of the solution with the answer's
replacements in them. The last cell's value is the verdict.
"""

from __future__ import annotations

import contextlib
import io
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from gemmlab import exercises
from gemmlab.exercises import Verdict
from gemmlab.notebook import chapters, magic

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "unit" / "exercises" / "answers"


@dataclass(frozen=True)
class Answer:
    """An answer that no judge may accept. cell: a kernel instead of the solution's.

    says: what the verdict has to contain; an error of Python's is none.
    """

    chapter: str
    exercise: int
    why: str
    replace: tuple[tuple[str, str], ...] = ()
    cell: str = ""
    cheat: bool = False
    says: str = ""
    setup: str = ""

    def __str__(self) -> str:
        return f"{self.chapter}-{self.exercise}-{self.why.replace(' ', '_')}"


def answers() -> list[Answer]:
    """All of them, in the order of their files."""
    found = []
    for path in sorted(DATA.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        for one in data["answer"]:
            one["replace"] = tuple(map(tuple, one.get("replace", ())))
            found.append(Answer(path.stem, setup=_setup(path.stem, data), **one))
    return found


def _setup(chapter: str, data: dict[str, Any]) -> str:
    """What runs before an exercise: code cells of the chapter, then the file's own code."""
    needs = data.get("needs", ())
    cells = json.loads(_notebook(chapter).read_text(encoding="utf-8"))["cells"] if needs else ()
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    first = [next(text for text in texts if need in text) for need in needs]
    return "\n".join([*dict.fromkeys(first), data.get("setup", "")])


def _notebook(chapter: str) -> Path:
    return ROOT / "book" / f"{chapter}.ipynb"


def solutions() -> list[tuple[str, int]]:
    """The chapter and number of each exercise that answers are written for."""
    return list(dict.fromkeys((one.chapter, one.exercise) for one in answers()))


def verdict(chapter: str, exercise: int, answer: Answer | None = None, setup: str = "") -> Verdict:
    """What the exercise's judge says of an answer, or of the book's solution."""
    cells = _cells(chapter, exercise)
    solution = [cell for cell in cells if cell.solution]
    # Its own code may use what the cells above the stub define, and nothing of the stub's.
    above = [cell.text for cell in cells if not cell.solution and not cell.text.startswith("%%")]
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    magic.load_ipython_extension(shell)
    shell.run_cell("import gemmlab as lab", silent=True).raise_error()
    shell.run_cell(answer.setup if answer else setup, silent=True).raise_error()
    with contextlib.redirect_stdout(io.StringIO()):
        with mock.patch.object(exercises, "judge"):  # of the stub
            for text in above:
                if "rung(" not in text:
                    shell.run_cell(text, silent=True)
        return _run(shell, _changed([cell.text for cell in solution], answer))


def _run(shell: InteractiveShell, texts: list[str]) -> Verdict:
    result = None
    for text in texts:
        result = shell.run_cell(text, store_history=False)
        try:
            result.raise_error()
        except Exception as error:  # a cell that is refused is no answer
            return Verdict(False, f"{type(error).__name__}: {error}")
    assert result is not None and isinstance(result.result, Verdict), texts[-1]
    return result.result


def _changed(texts: list[str], answer: Answer | None) -> list[str]:
    if answer is None:
        return texts
    if answer.cell:
        kernel = next(i for i, text in enumerate(texts) if text.startswith("%%kernel"))
        texts[kernel] = texts[kernel].splitlines()[0] + "\n" + answer.cell
    for old, new in answer.replace:
        assert any(old in text for text in texts), f"{answer}: {old!r} is not in the solution"
        texts = [text.replace(old, new) for text in texts]
    return texts


def _cells(chapter: str, exercise: int) -> list[chapters.Cell]:
    assert json.loads(_notebook(chapter).read_text(encoding="utf-8"))["cells"]
    found = [one for one in chapters.exercises() if one.key == f"{chapter}/{exercise}"]
    cells = found[0].cells
    # The track's exercises stand in two places.
    return list(cells[: len(cells) // 2]) if chapter == chapters.TRACK else list(cells)
