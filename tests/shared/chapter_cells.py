"""Plugin of the run of chapters: cells that are dear are run in a sample of the chapters.

Every chapter is opened, and most of its cells run. What takes longest are verdicts: a judge or a
check tries a kernel at many shapes, and a trace counts every access. So outside of the chapters
that tests/sample.toml names ([chapters] whole), these are left to `make campaign`: the solutions of
exercises, and cells that ask for a verdict or for counts (DEAR, or a function of the chapter's that
asks for one, or whose name begins with `judge_`) and define nothing that a later cell needs. So are
`%%kernel` cells, each of which takes the compiler, if what needs their kernels is left out. Should
one be needed after all, that cell fails for want of a name.
With `--all-cells` every cell of every chapter runs.
"""

from __future__ import annotations

import ast
import re
from itertools import groupby
from typing import Any

import pytest
import sampling

_COMPILED = "%%kernel"  # as if the cell called it
DEAR = ("agreement", "check", "conflicts", "judge", "rung", "trace", _COMPILED)
_MAGIC = re.compile(r"%%kernel\s+(\w+)")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-cells", action="store_true", help="of every chapter, not of some")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[sampling.LEFT] = sampling.Left()
    config.pluginmanager.register(config.stash[sampling.LEFT])


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[sampling.LEFT].tell(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all-cells"):
        return
    whole, left = sampling.whole_chapters(), []
    for path, cells in groupby(items, lambda item: item.path):
        if path.suffix == ".ipynb" and path.stem not in whole:
            left += left_out([item for item in cells if hasattr(item, "cell")])
    config.stash[sampling.LEFT].count(len(left), len(items))
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


def left_out(items: list[Any]) -> list[Any]:
    """Of a chapter's cells in their order those that are left to the campaign."""
    left: list[Any] = []
    needed: set[str] = set()
    dear = dear_functions([item.cell.source for item in items])
    for item in reversed(items):
        made, used, called = names(item.cell.source)
        if is_solution(item) or (is_dear(called, dear) and not made & needed):
            left.append(item)
        else:
            needed = needed - made | used
    return left[::-1]


def is_solution(item: Any) -> bool:
    return "solution" in item.cell.metadata.get("tags", [])


def is_dear(called: set[str], dear: set[str]) -> bool:
    return any(name in dear or name.startswith("judge_") for name in called)


def dear_functions(sources: list[str]) -> set[str]:
    """DEAR, and the functions that cells of a chapter define and that call one of these."""
    dear = set(DEAR)
    for source in sources:
        for statement in _statements(source):
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef) and is_dear(_called(node), dear):
                    dear.add(node.name)
    return dear


def names(source: str) -> tuple[set[str], set[str], set[str]]:
    """What a cell defines, what it uses of others', and what it calls (judge of `lab.x.judge`)."""
    if kernel := _MAGIC.match(source):
        return {kernel[1]}, set(), {_COMPILED}
    made: set[str] = set()
    used: set[str] = set()
    called: set[str] = set()
    for statement in _statements(source):
        nodes = list(ast.walk(statement))
        named = [node for node in nodes if isinstance(node, ast.Name)]
        stored = {node.id for node in named if not isinstance(node.ctx, ast.Load)}
        loaded = {node.id for node in named if isinstance(node.ctx, ast.Load)}
        given = {node.arg for node in nodes if isinstance(node, ast.arg)}
        called |= _called(statement)
        if isinstance(statement, ast.AugAssign):
            loaded |= stored
        # What a loop or a comprehension runs over is its own; `x = x + 1` uses an x of before.
        used |= loaded - made - given - (stored - _targets(statement))
        scope = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        made |= _defined(statement) if scope else stored | _defined(statement)
    return made, used, called


def _statements(source: str) -> list[ast.stmt]:
    """Those of a cell in Python, without its magics."""
    if source.startswith("%%"):
        return []
    return ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", source)).body


def _called(tree: ast.AST) -> set[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {getattr(func, "attr", getattr(func, "id", "")) for func in calls}


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).partition(".")[0] for one in statement.names}
    return set()


def _targets(statement: ast.stmt) -> set[str]:
    """The names that an assignment is to."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    else:
        return set()
    return {node.id for one in targets for node in ast.walk(one) if isinstance(node, ast.Name)}
