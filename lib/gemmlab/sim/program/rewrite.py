"""A program's files as g++ takes them: changed copies, in which every line is where it was."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...steps.cuda_text import has_main, kernel_names, masked, without_comments
from .edits import Edit, Unknown, apply, device_code, edits_of

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
_ALLOCATES = re.compile(r"\bnew\b|\b(?:malloc|calloc|cudaMalloc)\s*\(")


@dataclass(frozen=True)
class NotCovered:
    """A place in the user's files that the simulator does not execute."""

    file: Path
    line: int
    what: str


@dataclass
class Rewritten:
    """Copies by original file, in the order in which they were found.

    texts: what was made of each. kernels: names of the __global__ functions. allocates: they, or
    what they call, take memory from the device's heap.
    """

    texts: dict[Path, str] = field(default_factory=dict)
    copies: dict[Path, str] = field(default_factory=dict)
    kernels: set[str] = field(default_factory=set)
    not_covered: list[NotCovered] = field(default_factory=list)
    has_main: bool = False
    allocates: bool = False

    def key(self) -> str:
        """What the copies depend on, as text."""
        return repr([(str(path), text) for path, text in self.texts.items()])


def rewrite(files: Iterable[Path], folders: Sequence[Path], known: Path) -> Rewritten:
    """Copies of files, and of all that they include from their own folders and from `folders`.

    known: the folder of the simulator's headers, which come first and are left as they are.
    """
    result = Rewritten()
    for file in files:
        _visit(file.resolve(), folders, known, result)
    return result


def write(result: Rewritten, work: Path) -> None:
    """Write the copies into a folder."""
    for path, name in result.copies.items():
        (work / name).write_text(result.texts[path], encoding="utf-8")


def _visit(file: Path, folders: Sequence[Path], known: Path, result: Rewritten) -> str:
    """The copy's name. A file is copied once, also if it includes itself."""
    if file in result.copies:
        return result.copies[file]
    mark = hashlib.sha256(str(file).encode()).hexdigest()[:8]
    result.copies[file] = f"{file.stem}-{mark}{file.suffix}"
    result.texts[file] = ""
    text = file.read_text(encoding="utf-8-sig", errors="replace").replace("\r\n", "\n")
    edits, unknown = edits_of(text)
    edits += _includes(text, file, folders, known, result)
    result.not_covered += [_place(file, one) for one in unknown]
    code = masked(text)
    result.has_main = result.has_main or has_main(code)
    result.allocates = result.allocates or any(map(_ALLOCATES.search, device_code(code)))
    result.kernels |= set(kernel_names(code))
    result.texts[file] = f'#line 1 "{file}"\n{apply(text, edits)}'
    return result.copies[file]


def _place(file: Path, unknown: Unknown) -> NotCovered:
    return NotCovered(file, unknown.line, unknown.what)


def _includes(
    text: str, file: Path, folders: Sequence[Path], known: Path, result: Rewritten
) -> list[Edit]:
    """#include of a file of the user's becomes one of its copy, which lies beside."""
    edits = []
    for found in _INCLUDE.finditer(without_comments(text)):
        quoted, name = found[1] == '"', found[2]
        beside = (file.parent,) if quoted else ()
        if (known / name).is_file() and not any((folder / name).is_file() for folder in beside):
            continue
        for folder in (*beside, *folders):
            if (target := folder / name).is_file():
                real = Path(os.path.realpath(target))
                copy = _visit(real, folders, known, result)
                edits.append(Edit(found.start(), found.end(), f'#include "{copy}"'))
                break
    return edits
