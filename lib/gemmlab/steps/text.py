"""The text of kernel files: what they include, their marked passages, their fingerprint."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ..core.paths import kernels_folder

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def workspace_name(launch: str) -> str:
    """The function that says how much scratch memory a launch needs: launch_x -> workspace_x."""
    return f"workspace_{launch.removeprefix('launch_')}"


def included_files(path: Path) -> tuple[Path, ...]:
    """`path` and every project file it includes, recursively, each once, in a fixed order."""
    seen: dict[Path, None] = {}

    def visit(file: Path) -> None:
        file = file.resolve()
        if file in seen or not file.exists():
            return
        seen[file] = None
        for name in INCLUDE.findall(file.read_text()):
            visit(file.parent / name)
            visit(kernels_folder() / name)

    visit(path)
    return tuple(seen)


_ANCHOR = re.compile(r"^\s*// \[(/?)(\w+)\]\s*$")


def mark(text: str) -> re.Match | None:
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


def without_comments(text: str) -> str:
    """The text with its comments blanked out, every character where it was."""

    def blank(found: re.Match) -> str:
        return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])

    return _COMMENT.sub(blank, text)


def source_digest(path: Path) -> str:
    """Fingerprint of a kernel file and of what it includes, whatever the comments and spaces."""
    digest = hashlib.sha256()
    for file in included_files(path):
        code = re.sub(r"//[^\n]*", "", file.read_text())
        digest.update("".join(code.split()).encode())
    return digest.hexdigest()[:12]
