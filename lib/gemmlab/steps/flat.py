"""A step with all of its headers as one file: what a reader can take away and compile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..core.arguments import file_path
from ..core.errors import ArgumentError
from ..core.paths import kernels_folder
from ..display.code import Line, Listing
from .program import Program
from .registry import program
from .spec import KernelSpec
from .text import project_header, without_comments

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">].*\n?', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True)
class Flat:
    """One file without headers of the project.

    title: the step and its file. text: the file, which CUDA's and the system's headers are enough
    to compile. headers: those of the project that it contains, below `kernels/`, in their order.
    """

    title: str
    text: str
    headers: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Lines of the file, comments and empty ones included."""
        return len(self.text.splitlines())

    @property
    def code_lines(self) -> int:
        """Lines of the file that are neither empty nor only a comment."""
        return sum(bool(line.strip()) for line in without_comments(self.text).splitlines())

    def write(self, path: str | Path) -> Path:
        """Keep it as a file; returns the path. Raises ArgumentError where none can be written."""
        path = file_path("path", path)
        try:
            path.write_text(self.text, encoding="utf-8")
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise ArgumentError(f"path: cannot write {path} ({why}); name another file") from None
        return path

    @property
    def listing(self) -> Listing:
        """The file, highlighted, with its length above."""
        title = (
            f"{self.title} with its {len(self.headers)} headers: {self.lines:,} lines, "
            f"{self.code_lines:,} of them code"
        )
        numbered = (Line(i, text) for i, text in enumerate(self.text.splitlines(), 1))
        return Listing(title, tuple(numbered))

    def __repr__(self) -> str:
        return repr(self.listing)

    def _repr_html_(self) -> str:
        return self.listing._repr_html_()


def flat(kernel: str | KernelSpec | Program) -> Flat:
    """A step, or a variant of one, with its own headers in place of their `#include` lines.

    Each header comes once, where it is included first, below a line with its name. The headers of
    CUDA and of the system come at the top, below the step's own heading.

    kernel: a name, a variant or a spec. Raises UnknownKernelError, and BackendError if the kernels
    are missing.
    """
    step, folder = program(kernel), kernels_folder()
    system: dict[str, None] = {}
    headers: dict[Path, None] = {}

    def text_of(file: Path) -> str:
        text = _ONCE.sub("", file.read_text(encoding="utf-8"))
        return _INCLUDE.sub(lambda found: included(file, found), text)

    def included(by: Path, found: re.Match[str]) -> str:
        quote, name = found.groups()
        if (file := project_header(name, by.parent)) is None:
            system[f'#include "{name}"' if quote == '"' else f"#include <{name}>"] = None
            return ""
        if file in headers:
            return ""
        headers[file] = None
        return f"// ---- {_shown(file, folder)} ----\n{text_of(file)}\n"

    path = step.source.path.resolve()
    own = path.read_text(encoding="utf-8")
    heading = own[: own.index("#")] if own.startswith("//") else ""
    body = text_of(path).removeprefix(heading)
    whole = "\n".join([heading.rstrip(), *system, "", body.strip(), ""]).lstrip("\n")
    text = re.sub(r"\n{3,}", "\n\n", whole)
    title = step.source.label or f"kernels/{step.spec.file}"
    return Flat(title, text, tuple(_shown(file, folder) for file in headers))


def _shown(file: Path, folder: Path) -> str:
    folder = folder.resolve()
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
