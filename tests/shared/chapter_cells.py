"""Plugin of the run of chapters: cells that are dear are run in a sample of the chapters.

Every chapter is opened, and most of its cells run. What takes longest are verdicts: a judge or a
check tries a kernel at many shapes, and a trace counts every access. So outside of the chapters
that tests/sample.toml names ([chapters] whole), these are left to `make campaign`: the solutions of
exercises, and cells that ask for a verdict or a trace and define nothing that a later cell needs.
With `--all-cells` every cell of every chapter runs.
"""

from __future__ import annotations

import ast
import re
from itertools import groupby
from typing import Any

import pytest
import sampling

DEAR = ("check", "judge", "rung", "trace")
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
    left, needed = [], set()
    for item in reversed(items):
        made, used, called = names(item.cell.source)
        if is_solution(item) or (called.intersection(DEAR) and not made & needed):
            left.append(item)
        else:
            needed |= used
    return left[::-1]


def is_solution(item: Any) -> bool:
    return "solution" in item.cell.metadata.get("tags", [])


def names(source: str) -> tuple[set[str], set[str], set[str]]:
    """What a cell defines, what it uses, and what it calls (of `lab.exercises.judge`: judge)."""
    if kernel := _MAGIC.match(source):
        return {kernel[1]}, set(), set()
    if source.startswith("%%"):
        return set(), set(), set()
    tree = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "", source))
    made, used, called = set(), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Call):
            called.add(getattr(node.func, "attr", getattr(node.func, "id", "")))
    return made, used, called
