"""The lengths that CONTRIBUTING.md names and no linter holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gemmlab import widgets
from gemmlab.widgets.shared.base import Widget

ROOT = Path(__file__).resolve().parents[2]
FILES = [*(ROOT / "lib").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]
FUNCTION_LINES = 40
WIDGET_BYTES = 60_000  # of script and style: what a reader's browser loads


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", sorted(FILES), ids=relative)
def test_functions_are_short(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {f.name: f.end_lineno - f.lineno + 1 for f in functions}
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("name", sorted(widgets.__all__))
def test_a_widget_is_light(name):
    widget = getattr(widgets, name)
    if isinstance(widget, type) and issubclass(widget, Widget):
        assert len(widget._esm.encode()) + len(widget._css.encode()) <= WIDGET_BYTES
