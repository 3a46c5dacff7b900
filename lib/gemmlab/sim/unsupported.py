"""CUDA that the simulator does not have: named in the kernel's own terms, with what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ..core.errors import BuildError
from ..steps.cuda_text import without_comments

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b(?:\s*(?:volatile|__volatile__))?\s*\(")
_LAUNCH = re.compile(r"(\w+)\s*(?:<[^<>;]*>)?\s*<<<")
_STRING = re.compile(r'\s*"((?:\\.|[^"\\\n])*)"')
# What may stand before an instruction: braces, a label, a predicate, a directive to its semicolon.
_BEFORE_PTX = re.compile(r"(?:[{}\s;]|\\[nt]|%%?\w+:|\w+:|@!?%?\w+|\.[a-z]\w*[^;]*;)*")
_MNEMONIC = re.compile(r"[a-z][\w.:]*")

_UNKNOWN = re.compile(
    r"^(.+?):(\d+):\d+: error: (?:there are no arguments to )?'([\w:]+)' "
    r"(?:was not declared|does not name a type|has not been declared|is not a member|that depend)"
)
_MISSING_HEADER = re.compile(r"^(.+?):(\d+):\d+: fatal error: (\S+): No such file")
# Names that CUDA has and a reader's own code hardly ever.
_OF_CUDA = re.compile(
    r"__\w+|cuda\w*|cu[A-Z]\w*|CU\w+|nv\w*::\w*|nvcuda|cooperative_groups|atomic\w+|make_\w+|"
    r"(tex|surf)[123]D\w*|clock(64)?|half2?|nv_\w+|h(exp|log|sqrt|rcp|sin|cos|floor|ceil)\w*"
)


def refuse_unsupported(files: Iterable[Path], known: Path, shown: Callable[[Path], str]) -> None:
    """Raise BuildError where a kernel's files have what no C++ compiler takes.

    files: those to look at. known: the folder of the PTX functions. shown: how to name a file.
    """
    for file in files:
        text = without_comments(file.read_text())
        for found in _ASM.finditer(text):
            if operation := _operation(text[found.end() :]):
                headers = ", ".join(sorted(path.name for path in known.glob("*.cuh")))
                raise BuildError(
                    f"{_place(file, text, found.start(), shown)}: {operation} is PTX that the "
                    "simulator does not execute. It knows the functions of kernels/ptx "
                    f"({headers}): call one of those, write it in C++, or run on a GPU"
                )
        if launch := _LAUNCH.search(text):
            raise BuildError(
                f"{_place(file, text, launch.start(), shown)}: {launch[1]}<<<...>>> is a syntax "
                "that only nvcc has; call launch(kernel, grid, block, smem_bytes, stream, "
                'arguments...) of "../common/launch/host.cuh", which works on a GPU and here'
            )


_OURS = re.compile(r"^(\.\./)*(kernels/)?(?=common/)")  # a header of the course, as one may name it


def explain(message: str) -> str:
    """Sentences about CUDA's names and headers among g++'s errors, a line each; empty if none."""
    sentences: dict[str, None] = {}
    for line in message.splitlines():
        if found := _MISSING_HEADER.match(line):
            file, number, header = found.groups()
            what = f"the simulator has no header {header}; leave it out, or run on a GPU"
            if _OURS.search(header):
                beside = _OURS.sub("", header)
                what = f'there is no {header} beside a step; write #include "../{beside}"'
            sentences[f"{file}:{number}: {what}"] = None
        elif what := explained(line):
            file, number, *_ = line.split(":")
            sentences[f"{file}:{number}: {what}"] = None
    return "".join(f"{sentence}\n" for sentence in sentences)


def explained(line: str) -> str:
    """What a line of g++'s says about a name of CUDA's, with what to do; "" for others."""
    found = _UNKNOWN.match(line)
    if not found or not _OF_CUDA.fullmatch(found[3]):
        return ""
    return f"the simulator has no {found[3]}; write it with what it has, or run on a GPU"


def _operation(rest: str) -> str:
    """The first instruction of an asm statement whose operands start `rest`; empty if none."""
    template, at = "", 0
    while found := _STRING.match(rest, at):
        template, at = template + found[1], found.end()
    before = _BEFORE_PTX.match(template)
    instruction = _MNEMONIC.match(template, before.end() if before else 0)
    return instruction[0] if instruction else ""


def _place(file: Path, text: str, at: int, shown: Callable[[Path], str]) -> str:
    return f"{shown(file)}:{text.count(chr(10), 0, at) + 1}"
