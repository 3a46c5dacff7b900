"""Lengths that CONTRIBUTING.md names and no linter holds (kernels: steps/test_registry.py)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gemmlab import widgets
from gemmlab.widgets.shared.base import Widget

ROOT = Path(__file__).resolve().parents[2]
FUNCTION_LINES = 40
WIDGET_BYTES = 60_000  # of script and style: what a reader's browser loads


def test_functions_are_short():
    long = {}
    for path in (*(ROOT / "lib").rglob("*.py"), *(ROOT / "tools").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = node.end_lineno - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long[f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.name}"] = lines
    assert long == {}


@pytest.mark.parametrize("name", sorted(widgets.__all__))
def test_a_widget_is_light(name):
    widget = getattr(widgets, name)
    if isinstance(widget, type) and issubclass(widget, Widget):
        assert len(widget._esm.encode()) + len(widget._css.encode()) <= WIDGET_BYTES
