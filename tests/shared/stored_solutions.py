"""The book's solutions, each run with what it takes of its chapter and without the rest.

A solution's cells use names that earlier cells of the chapter make: these cells run first, the stub
and its verdict do not unless the solution uses them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import symtable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from gemmlab import exercises
from gemmlab.exercises import Verdict
from gemmlab.notebook import chapters, magic

ROOT = Path(__file__).resolve().parents[2]
_KERNEL = re.compile(r"\A%%kernel (\w+)")
_VERDICT = re.compile(r"^(Not yet|Solved): .*$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What came of a solution. accepted: None where no judge looks at it."""

    accepted: bool | None
    said: str


def solved_exercises() -> list[str]:
    """The keys of all exercises whose solution is code: "sgemm_naive/1"."""
    return [
        one.key
        for one in chapters.exercises()
        if any(cell.solution and _body(cell.text) for cell in one.cells)
    ]


def outcome(key: str) -> Outcome:
    """Run the solution of an exercise, and say what its judge says."""
    needed, own = _slice(key)
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    magic.load_ipython_extension(shell)
    printed = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), mock.patch.object(exercises, "judge"):
        for text in needed:
            shell.run_cell(text, silent=True)  # a verdict of what is not there fails
    value = None
    with contextlib.redirect_stdout(printed):
        for text in own:
            result = shell.run_cell(text, store_history=False)
            if error := result.error_before_exec or result.error_in_exec:
                return Outcome(False, f"{type(error).__name__}: {error}")
            value = result.result
    return _read(value, printed.getvalue())


def _read(value: object, printed: str) -> Outcome:
    if isinstance(value, Verdict):
        items = " | ".join((value.message, *value.items))
        return Outcome(value.solved, items)
    words = [match[0] for match in _VERDICT.finditer(printed)]
    if words:
        return Outcome(all(word.startswith("Solved") for word in words), " | ".join(words))
    return Outcome(None, "it ran")


def _slice(key: str) -> tuple[list[str], list[str]]:
    """The earlier cells that a solution uses, and its own."""
    one = next(one for one in chapters.exercises() if one.key == key)
    if one.chapter == chapters.TRACK:  # its exercises stand in two places, and use nothing else
        own = [cell.text for cell in one.cells[: len(one.cells) // 2] if cell.solution]
        return ["import gemmlab as lab"], own
    own = [cell.text for cell in one.cells if cell.solution]
    first = next(cell.id for cell in one.cells if cell.solution)
    names = set().union(*map(_used, own)) - set(_KERNEL.findall("\n".join(own)))
    direct, needed = set(names), list[str]()
    for text in reversed(_code_before(one.chapter, first)):
        made = _made(text)
        if made & names:
            # A stub that only its own judge looks at is not compiled.
            is_stub = text.startswith("%%kernel") and not made & direct
            needed.insert(0, f"{min(made)} = None" if is_stub else text)
            names = (names - made) | _used(text)
    return needed, own


def _code_before(chapter: str, cell_id: str) -> list[str]:
    path = ROOT / "book" / f"{chapter}.ipynb"
    found: list[str] = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell.get("id") == cell_id:
            return found
        if cell["cell_type"] == "code":
            found.append("".join(cell["source"]))
    raise KeyError(cell_id)


def _body(text: str) -> str:
    return "" if not text.startswith("%%") and not ast.parse(text).body else text


def _used(text: str) -> set[str]:
    """The names that a cell reads and does not make."""
    if text.startswith("%%"):
        return {"lab"}
    table = symtable.symtable(text, "cell", "exec")
    own = _made(text)
    here = {one.get_name() for one in table.get_symbols() if one.is_referenced()} - own
    scopes, inner = list(table.get_children()), set[str]()
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        inner |= {one.get_name() for one in scope.get_symbols() if one.is_global()}
    return here | (inner - own)


def _made(text: str) -> set[str]:
    """The names that a cell gives a value."""
    if text.startswith("%%"):
        return set(_KERNEL.findall(text))
    table = symtable.symtable(text, "cell", "exec")
    return {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
