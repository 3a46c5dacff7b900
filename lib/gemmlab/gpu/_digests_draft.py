"""A fingerprint of source text that follows what is included, wherever it lies."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">][ \t]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*$", re.MULTILINE)


def source_digest_by_content(path: Path, include: Path) -> str:
    """Fingerprint of a kernel file and of the project headers it includes: 12 hex digits.

    Each header counts by its content, in the place of the first `#include` that names it. Names and
    folders of headers do not count, nor do comments, white space and `#pragma once`. Other headers,
    of CUDA or the system, count by name. path: the kernel file. include: the folder in which
    `#include <ptx/mma.cuh>` is looked for, beside that of the file itself.
    """
    text = "".join(inlined(path, include).split())
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def inlined(path: Path, include: Path) -> str:
    """The text without comments and `#pragma once`, each project header in its place, once.

    Empty if there is no such file.
    """
    seen: set[Path] = set()

    def text_of(file: Path) -> str:
        seen.add(file)
        code = _ONCE.sub("", _without_comments(file.read_text(encoding="utf-8")))
        return _INCLUDE.sub(lambda found: included(file, found), code)

    def included(by: Path, found: re.Match) -> str:
        for folder in (by.parent, include):
            if (file := (folder / found[1]).resolve()).is_file():
                return "" if file in seen else text_of(file)
        return found[0]

    return text_of(path.resolve()) if path.is_file() else ""


def _without_comments(text: str) -> str:
    return _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
