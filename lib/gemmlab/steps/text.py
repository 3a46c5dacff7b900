"""The text of kernel files: what they include, their marked passages, their fingerprint."""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path

from ..core.paths import kernels_folder
from .cuda_text import without_comments

_ANCHOR = re.compile(r"^\s*// \[(/?)(\w+)\]\s*$")
_WHOLE_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">][ \t]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def workspace_name(launch: str) -> str:
    """The function that says how much scratch memory a launch needs: launch_x -> workspace_x."""
    return f"workspace_{launch.removeprefix('launch_')}"


def included_files(path: Path) -> tuple[Path, ...]:
    """`path` and every project file it includes, recursively, each once, in a fixed order."""
    kernels = str(kernels_folder())
    seen: dict[str, None] = {}

    def visit(file: str) -> None:
        if file in seen:
            return
        try:
            status = os.stat(file)
        except OSError:
            return
        seen[file] = None
        for name in _includes(file, status.st_ino, status.st_size, status.st_mtime_ns):
            for folder in (os.path.dirname(file), kernels):
                visit(os.path.normpath(os.path.join(folder, name)))

    visit(str(path.resolve()))
    return tuple(map(Path, seen))


@lru_cache(maxsize=4096)
def _includes(file: str, *_changes: int) -> tuple[str, ...]:
    """What a file includes. `_changes` is there for the cache: a changed file is read anew."""
    return tuple(INCLUDE.findall(Path(file).read_text()))


def mark(text: str) -> re.Match[str] | None:
    """A line's `// [name]` or `// [/name]`: groups "/" or "", and the name; None for others."""
    return _ANCHOR.match(text)


def passages_of(lines: list[str]) -> dict[str, tuple[int, int]]:
    """Passage name -> first and past-the-last line index, marks left out."""
    opened: dict[str, int] = {}
    found: dict[str, tuple[int, int]] = {}
    for i, line in enumerate(lines):
        if not (match := mark(line)):
            continue
        closing, name = match.groups()
        if closing:
            found[name] = (opened.pop(name, i), i)
        else:
            opened[name] = i + 1
    return found


def project_header(name: str, by: Path) -> Path | None:
    """The project's file that `#include "name"` in a file of the folder `by` means; else None."""
    for folder in (by, kernels_folder()):
        if (file := (folder / name).resolve()).is_file():
            return file
    return None


def inlined(path: Path) -> str:
    """The text without comments and `#pragma once`, each project header in its place, once.

    Empty if there is no such file.
    """
    if not path.is_file():
        return ""
    file = path.resolve()
    return inlined_text(file.read_text(encoding="utf-8"), file.parent, file)


def inlined_text(text: str, folder: Path, own: Path | None = None, kept: str = "") -> str:
    """As `inlined`, of a text that stands, or would stand, in `folder`; own: its file.

    kept: the beginning of names, "ptx/", whose `#include` stays.
    """
    seen: set[Path] = set() if own is None else {own}

    def text_of(text: str, folder: Path) -> str:
        code = _ONCE.sub("", without_comments(text))
        return _WHOLE_INCLUDE.sub(lambda found: included(folder, found), code)

    def included(folder: Path, found: re.Match[str]) -> str:
        if kept and found[1].startswith(kept):
            return found[0]
        if (file := project_header(found[1], folder)) is None:
            return found[0]
        if file in seen:
            return ""
        seen.add(file)
        return text_of(file.read_text(encoding="utf-8"), file.parent)

    return text_of(text, folder)


def source_digest(path: Path) -> str:
    """Fingerprint of a kernel file and of the project headers it includes: 12 hex digits.

    Each header counts by its content, in the place of the first `#include` that names it. Names and
    folders of headers do not count, nor do comments, white space and `#pragma once`. Other headers,
    of CUDA or the system, count by name.
    """
    text = "".join(inlined(path).split())
    return hashlib.sha256(text.encode()).hexdigest()[:12]
