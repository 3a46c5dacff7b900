"""Imports of our own modules stand at the top of a file, where import-linter and a reader see them.

Which of them may import which is in pyproject.toml, under [tool.importlinter] (`make lint`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [*(ROOT / "lib").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]
OWN = ("gemmlab", "tools")
# The face of the package, which resolves its names at their first use, what lists them, and the
# command line, of which the simulator's part needs fewer packages than the rest.
BY_NAME = (
    ROOT / "lib/gemmlab/__init__.py",
    ROOT / "lib/gemmlab/__main__.py",
    ROOT / "tools/reference/__main__.py",
)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def inside(tree: ast.AST) -> Iterator[ast.AST]:
    """All that stands in a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from ast.walk(node)


def is_own(node: ast.AST) -> bool:
    """Whether it imports a module of ours, if only by a name made at run time."""
    if isinstance(node, ast.ImportFrom):
        return bool(node.level) or (node.module or "").partition(".")[0] in OWN
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in OWN for alias in node.names)
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")


@pytest.mark.parametrize("path", sorted(FILES), ids=relative)
def test_own_modules_are_imported_at_the_top(path):
    if path in BY_NAME:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [f"line {node.lineno}" for node in inside(tree) if is_own(node)] == []
