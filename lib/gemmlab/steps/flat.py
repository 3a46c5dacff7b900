"""A step with its headers as one file: to read, or to take away and compile."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core.arguments import file_path, flag
from ..core.errors import ArgumentError
from ..core.paths import kernels_folder
from ..display.code import Line, Listing
from .cuda_text import without_comments
from .program import Program
from .reach import named, reached
from .registry import program
from .spec import KernelSpec
from .text import included_files, project_header

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">].*\n?', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*\n", re.MULTILINE)

# What stays an #include in a file to read: single instructions, host code, conversions, and where
# an element stands in memory. What they include stays one with them.
_FOLDED = (
    "ptx/",
    "common/launch/",
    "common/elements/",
    "common/order/block_order.cuh",
    "common/store/warpgroup_store.cuh",
    "common/store/warp_store.cuh",
    "common/tile/gemm_maps.cuh",
    "common/tile/stage_operand.cuh",
    "common/tile/swizzle.cuh",
    "common/tile/operand_boxes.cuh",
    "common/tile/wgmma_descriptor.cuh",
)


@dataclass(frozen=True)
class Flat:
    """One file made of several.

    title: the step and its file. text: the file. headers: those of the project that it contains,
    below `kernels/`, in their order. included: those that it still uses through its `#include`
    lines; with none, CUDA's and the system's headers are enough to compile it.
    """

    title: str
    text: str
    headers: tuple[str, ...]
    included: tuple[str, ...] = ()

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


def flat(kernel: str | KernelSpec | Program, *, whole: bool = False) -> Flat:
    """A step, or a variant of one, with its own headers in place of their `#include` lines.

    Made to be read: only what the kernel reaches is there, and PTX, host code, conversions and
    addresses stay `#include` lines (compile with `-I kernels`). The file says how many lines it
    leaves out, the function that launches the kernel among them. With `whole`, nothing is left out:
    each header comes once, where it is included first, below a line with its name, and CUDA's and
    the system's headers are enough to compile it.

    kernel: a name, a variant or a spec. Raises UnknownKernelError, ArgumentError for a `whole`
    that is no bool, and BackendError if the kernels are missing.
    """
    step, everything = program(kernel), flag("whole", whole)
    title = step.source.label or f"kernels/{step.spec.file}"
    complete = _complete(title, step.source.path.resolve())
    return complete if everything else _to_read(complete, step.source.path.resolve())


def _complete(title: str, path: Path) -> Flat:
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
        return f"// ---- {_shown(file)} ----\n{text_of(file)}\n"

    heading = _heading(path)
    body = text_of(path).removeprefix(heading)
    text = _joined([heading.rstrip(), *system, "", body.strip(), ""])
    return Flat(title, text, tuple(map(_shown, headers)))


def _to_read(complete: Flat, path: Path) -> Flat:
    segments = _segments(path)
    folded = {
        part.resolve()
        for file in dict.fromkeys(file for file, _ in segments)
        if file != path and _shown(file).startswith(_FOLDED)
        for part in included_files(file)
    }
    open_ones = [(file, code) for file, code in segments if file not in folded]
    words, texts = reached(code for _, code in open_ones)
    kept = [(file, text) for (file, _), text in zip(open_ones, texts, strict=True) if text.strip()]
    used = {file: None for file, code in segments if file in folded and named(code) & words}
    by_others = {part for file in used for part in included_files(file) if part != file}
    shown = dict.fromkeys(file for file, _ in kept)
    includes = [
        *_system_includes(shown),
        *(f"#include <{_shown(file)}>" for file in used if file not in by_others),
    ]
    heading, parts = _heading(path).rstrip(), _marked(kept, path)
    unused = sum(map(_lines, (code for _, code in open_ones))) - sum(map(_lines, texts))
    text = _joined([heading, *includes, "", *parts, ""])
    note = _note(complete.lines, _lines(text), unused)
    text = _joined([heading, *note, *includes, "", *parts, ""])
    headers = tuple(_shown(file) for file in shown if file != path)
    return Flat(complete.title, text, headers, tuple(map(_shown, used)))


def _marked(kept: Iterable[tuple[Path, str]], path: Path) -> list[str]:
    """The texts in their order, each header's below a line with its name."""
    return [
        f"{text.strip()}\n" if file == path else f"// ---- {_shown(file)} ----\n{text.strip()}\n"
        for file, text in kept
    ]


def _note(complete: int, shown: int, unused: int) -> tuple[str, ...]:
    """What a file to read says of what it leaves out."""
    hidden = complete - shown - unused
    return (
        f"// Left out, of {complete:,} lines: {hidden:,} of the headers that are included, and "
        f"{unused:,} that",
        "// the kernel does not use, its launch among them. With whole=True, all are here.",
    )


def _lines(text: str) -> int:
    return len(text.strip().splitlines())


def _segments(path: Path) -> list[tuple[Path, str]]:
    """What the compiler sees of the project's files, in its order: the code between includes."""
    found: list[tuple[Path, str]] = []
    entered: set[Path] = set()

    def visit(file: Path) -> None:
        entered.add(file)
        text = _ONCE.sub("", file.read_text(encoding="utf-8").removeprefix(_heading(file)))
        begin = 0
        for line in _INCLUDE.finditer(text):
            found.append((file, text[begin : line.start()]))
            begin = line.end()
            header = project_header(line[2], file.parent)
            if header is not None and header not in entered:
                visit(header)
        found.append((file, text[begin:]))

    visit(path)
    return found


def _system_includes(files: Iterable[Path]) -> Iterable[str]:
    found: dict[str, None] = {}
    for file in files:
        for _, name in _INCLUDE.findall(file.read_text(encoding="utf-8")):
            if project_header(name, file.parent) is None:
                found[f"#include <{name}>"] = None
    return found


def _heading(file: Path) -> str:
    """The comment with which it begins."""
    text = file.read_text(encoding="utf-8")
    return text[: text.index("#")] if text.startswith("//") else ""


def _joined(parts: Iterable[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip("\n") + "\n"


def _shown(file: Path) -> str:
    folder = kernels_folder().resolve()
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
