"""Whether C depends on a local variable that has no value yet, and on which.

No instruction tells: a register that nobody has written holds something. So a reader's kernel is
compiled with a pattern in such variables, and if C looks wrong, once more with zeros: what makes a
difference is read before it is written. Which variable it is, more such builds tell, in which the
text gives variables a value: all that it declares without one, and all but one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..core.errors import BuildError, LaunchError
from ..core.layout import PLAIN
from ..steps import patch
from ..steps.cuda_text import line_at, without_comments
from ..steps.program import Program
from . import build
from .apart import ApartModule
from .findings import Finding
from .module import SimModule
from .replay import as_float
from .source import SimSource, source_of

_MOST = 6  # declarations tried, a compilation each
_HUGE = 1e30  # no sum of products of small numbers
_NAME = r"[A-Za-z_]\w*(?:\s*\[[^\[\];]*\])*"
_DECLARATION = re.compile(
    r"(?<=[;{}])(?P<before>\s*)(?P<type>(?:(?:const|volatile|unsigned|signed|long)\s+)*[A-Za-z_][\w:]*"
    rf"(?:\s*<[^;{{}}()=]*>)?)\s+(?P<names>{_NAME}(?:\s*,\s*{_NAME})*)\s*(?=;)"
)
_NO_TYPE = {"return", "goto", "using", "else", "delete", "typename", "struct", "class", "extern"}
_NO_TYPE |= {"__shared__", "namespace", "enum", "throw", "new", "case", "default"}


@dataclass(frozen=True)
class _Declared:
    """A variable that is declared without a value: its line, type and name, and where that ends."""

    line: int
    type: str
    name: str
    end: int


def looks_unset(C: np.ndarray, dtype: str) -> bool:
    """Whether elements of C, computed from small numbers, are none that these could give.

    dtype: of C, which may be a type that NumPy does not have.
    """
    values = as_float(C.view(f"u{C.itemsize}").astype(np.uint32), C.itemsize, dtype)
    with np.errstate(invalid="ignore"):
        return bool((~(np.abs(values) < _HUGE)).any())


def unset_variable(
    program: Program,
    made: bytes,
    run: Callable[[SimModule], bytes],
    precision: str = "",
    layout: str = PLAIN,
) -> Finding | None:
    """The variable of a reader's text whose first content shows in C; None if there is none.

    made: C as the kernel has left it. run: launches it again, as another module has it compiled,
    and returns C. Needs a compiler that `build.knows_fills`.
    """
    if program.source.trusted or not build.knows_fills():
        return None
    source = source_of(program, precision, layout)
    declared = _declarations(program, source.path.read_text())
    if not declared or _ran(source, run) != made:  # else C is another one each time
        return None
    if _ran(replace(source, fill="zero"), run) in (None, made):
        return None
    # The one that counts may be none of those that are found in the text.
    settled = _with_zeros(program, source, declared, run)
    if settled in (None, made):
        return None
    for one in declared[:_MOST]:
        others = [other for other in declared if other is not one]
        if _with_zeros(program, source, others, run) not in (None, settled):
            return _finding(source.path, one)
    return None


def _ran(source: SimSource, run: Callable[[SimModule], bytes]) -> bytes | None:
    """C; None if it does not compile, or its launcher does not launch."""
    try:
        return run(ApartModule(source))
    except (BuildError, LaunchError):
        return None


def _with_zeros(
    program: Program,
    source: SimSource,
    declared: list[_Declared],
    run: Callable[[SimModule], bytes],
) -> bytes | None:
    """C if these variables begin with 0, and all others with the pattern."""
    text = source.path.read_text()
    for one in reversed(declared):
        text = f"{text[: one.end]} = {{}}{text[one.end :]}"
    path = patch.keep(text, f"kernels/{program.spec.file}")
    return _ran(replace(source, path=path), run)


def _declarations(program: Program, text: str) -> list[_Declared]:
    """Those on lines that a reader has written, in the order of the text."""
    code, found = without_comments(text), []
    for match in _DECLARATION.finditer(code):
        line = line_at(code, match.start("type"))
        words = match["type"].split()
        if "fragment" in match["type"]:
            continue  # of WMMA: one that nothing has filled is a finding of its own
        if _NO_TYPE & {*words, words[0].partition("<")[0]} or not _is_own(program, line):
            continue
        if code.count("{", 0, match.start()) == code.count("}", 0, match.start()):
            continue  # outside of functions
        start = match.start("names")
        for name in re.finditer(_NAME, match["names"]):
            found.append(_Declared(line, match["type"], name[0], start + name.end()))
    return found


def _is_own(program: Program, line: int) -> bool:
    origins = program.source.origins
    return origins is None or (line <= len(origins.lines) and origins.lines[line - 1] > 0)


def _finding(path: Path, one: _Declared) -> Finding:
    value = "{}" if "[" in one.name or "<" in one.type else "0"
    return Finding(
        "uninitialised-variable",
        f"Line {one.line} declares `{one.type} {one.name}` without a value, and C depends on what "
        f"happens to stand there; begin with `{one.type} {one.name} = {value};`",
        build.display_name(path),
        one.line,
    )
