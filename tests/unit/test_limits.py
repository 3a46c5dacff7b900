"""What CONTRIBUTING.md says about the length of modules and functions, and no linter holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "lib" / "gemmlab"


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=relative)
def test_python_is_short(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 300
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    long = [f.name for f in functions if f.end_lineno - f.lineno + 1 > 40]
    assert not long


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.js")), ids=relative)
def test_javascript_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 250
