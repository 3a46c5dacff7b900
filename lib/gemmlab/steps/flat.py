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

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<]([^">]+)[">]).*\n?', re.MULTILINE)
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


@dataclass(frozen=True)
class _Walked:
    """The project's files that a step consists of, as the compiler comes to them.

    pieces: each with the file that it stands in, the code between `#include` lines. system: the
    lines that include CUDA's and the system's headers, each with the file that has it.
    """

    pieces: tuple[tuple[Path, str], ...]
    system: tuple[tuple[Path, str], ...]

    @property
    def files(self) -> tuple[Path, ...]:
        """Each once, in the order in which they begin."""
        return tuple(dict.fromkeys(file for file, _ in self.pieces))


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
    path = step.source.path.resolve()
    walked = _walk(path)
    complete = _complete(title, path, walked)
    return complete if everything else _to_read(complete, path, walked)


def _complete(title: str, path: Path, walked: _Walked) -> Flat:
    """All of it, also the comment at the head of each header."""
    last = {file: i for i, (file, _) in enumerate(walked.pieces)}
    begun, body = {path}, []
    for i, (file, code) in enumerate(walked.pieces):
        if file not in begun:
            body.append(f"// ---- {_shown(file)} ----\n{_heading(file)}")
            begun.add(file)
        body.append(f"{code}\n" if i == last[file] else code)
    system = dict.fromkeys(line for _, line in walked.system)
    text = _joined([_heading(path).rstrip(), *system, "", "".join(body).strip(), ""])
    return Flat(title, text, tuple(_shown(file) for file in walked.files if file != path))


def _to_read(complete: Flat, path: Path, walked: _Walked) -> Flat:
    folded = {
        part.resolve()
        for file in walked.files
        if file != path and _shown(file).startswith(_FOLDED)
        for part in included_files(file)
    }
    open_ones = [(file, code) for file, code in walked.pieces if file not in folded]
    words, texts = reached(code for _, code in open_ones)
    kept = [(file, text) for (file, _), text in zip(open_ones, texts, strict=True) if text.strip()]
    used = {file: None for file, code in walked.pieces if file in folded and named(code) & words}
    by_others = {part for file in used for part in included_files(file) if part != file}
    shown = dict.fromkeys(file for file, _ in kept)
    includes = [
        *dict.fromkeys(line for file, line in walked.system if file in shown),
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


def _walk(path: Path) -> _Walked:
    """Each header where it is included first, without `#pragma once`."""
    pieces: list[tuple[Path, str]] = []
    system: list[tuple[Path, str]] = []
    entered: set[Path] = set()

    def visit(file: Path) -> None:
        entered.add(file)
        text = _ONCE.sub("", file.read_text(encoding="utf-8").removeprefix(_heading(file)))
        begin = 0
        for line in _INCLUDE.finditer(text):
            pieces.append((file, text[begin : line.start()]))
            begin = line.end()
            header = project_header(line[2], file.parent)
            if header is None:
                system.append((file, f"#include {line[1]}"))
            elif header not in entered:
                visit(header)
        pieces.append((file, text[begin:]))

    visit(path)
    return _Walked(tuple(pieces), tuple(system))


def _heading(file: Path) -> str:
    """The comment with which it begins."""
    text = file.read_text(encoding="utf-8")
    return text[: text.index("#")] if text.startswith("//") else ""


def _joined(parts: Iterable[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip("\n") + "\n"


def _shown(file: Path) -> str:
    folder = kernels_folder().resolve()
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
