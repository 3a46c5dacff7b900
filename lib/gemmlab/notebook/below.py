"""`%%kernel` below the first line of its cell, where Jupyter knows no cell magic.

IPython calls `first` with the lines of each cell before it looks for magics.
"""

from __future__ import annotations

import ast
import re

_MAGICS = ("%%kernel", "%%cuda")
_COMMENTS = ("#", "//")
_DIRECTIVE = re.compile(r"#(?:include|define|pragma)\b")  # of C++: kept as it is


def first(lines: list[str]) -> list[str]:
    """The lines of a cell, with the magic in front if only comments or directives stand above it.

    These then stand below it, as C++ has them, so that all other lines keep their numbers. Raises
    SyntaxError, which IPython shows, if Python stands above it.
    """
    at = next((i for i, line in enumerate(lines) if _is_magic(line)), 0)
    above = [line.strip() for line in lines[:at]]
    if not at or _is_magic(lines[0]) or lines[0].startswith("%%"):
        return lines
    if all(not line or line.startswith(_COMMENTS) for line in above):
        return [lines[at], *(f"{_for_cpp(line)}\n" for line in above), *lines[at + 1 :]]
    if _is_python("".join(lines[:at])):
        magic = lines[at].split()[0]
        raise SyntaxError(
            f"{magic} stands in line {at + 1} of the cell and has to be its first line; put what "
            "stands above it into a cell of its own"
        )
    return lines


def _is_magic(line: str) -> bool:
    return bool(line.strip()) and line.split()[0] in _MAGICS and line.startswith("%%")


def _for_cpp(line: str) -> str:
    if not line or _DIRECTIVE.match(line):
        return line
    return f"// {line.lstrip('#/ ')}".rstrip()


def _is_python(text: str) -> bool:
    """Whether a text is whole statements: if not, the magic may be a line of a string in it."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
