"""Changes of a CUDA file's text that leave every line where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...steps.cuda_text import closing, line_at, masked, without_comments
from ..inline_ptx import translated

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b(?:\s*(?:volatile|__volatile__))*\s*(?=\()")
_SHARED_ALIGNAS = re.compile(r"\b__shared__\s+(alignas)\s*\(")
_NOINLINE = re.compile(r"(?<!\()\b__noinline__\b(?!\))")
_CLUSTER = re.compile(r"\b__cluster_dims__\s*(?=\()")
# A line that compares the architecture, as code of the device does. nvcc has no __CUDA_ARCH__ when
# it compiles the host's code: lines that ask only whether there is one are left as they are.
_ARCHITECTURE = re.compile(
    r"^[ \t]*#[ \t]*(?:el)?if\b(?=.*__CUDA_ARCH__\b\W*[<>=])(?!.*!\s*defined).*$", re.MULTILINE
)
# An exchange at the start of a statement.
_EXCHANGE = re.compile(r"(?:(?<=[;{})])|(?<=\belse)|(?<=\bdo))\s*(?<!\w)(atomicExch)\s*(?=\()")
_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_CONDITION = re.compile(r"\b(?:if|for|while)\s*(?:constexpr\s*)?$")
_NAME = re.compile(r"[\w:]")
# A launch by an array of pointers, of a kernel that is cast to void*.
_UNTYPED = re.compile(
    r"\bcudaLaunch(?:Cooperative)?Kernel\s*\(\s*(\(\s*(?:const\s+)?void\s*\*\s*\)\s*&?)"
)

# A kernel that becomes a node of a graph: `parameters.func = (void*)kernel`.
_GRAPH_KERNEL = re.compile(
    r"\bfunc\s*=\s*(\(\s*(?:const\s+)?void\s*\*\s*\)\s*&?\s*([\w:]+(?:\s*<[^;]*>)?)\s*)(?=;)"
)


@dataclass(frozen=True)
class Edit:
    """text: what stands from `start` to `end` afterwards."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Unknown:
    """A place that the simulator does not execute: its line, and what it is."""

    line: int
    what: str


def apply(text: str, edits: list[Edit]) -> str:
    """The text with all edits, each with as many line ends as what it takes the place of."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        if edit.start < at:
            continue  # inside of another one
        old = text[edit.start : edit.end]
        ends = re.findall(r"\\?\n", old)
        parts += [text[at : edit.start], edit.text, *ends[edit.text.count("\n") :]]
        at = edit.end
    return "".join([*parts, text[at:]])


def edits_of(text: str) -> tuple[list[Edit], list[Unknown]]:
    """What is to change in a file, and what of its PTX is not known."""
    code = masked(text)
    edits, unknown = _asm(without_comments(text), code)
    edits += _launches(code)
    edits += [Edit(*found.span(1), "") for found in _UNTYPED.finditer(code)]
    edits += [
        Edit(*found.span(1), f'{{{found[2]}, "{" ".join(found[2].split())}"}}')
        for found in _GRAPH_KERNEL.finditer(code)
    ]
    edits += [Edit(*found.span(1), "__align__") for found in _SHARED_ALIGNAS.finditer(code)]
    edits += [
        Edit(*found.span(), "__attribute__((noinline))") for found in _NOINLINE.finditer(code)
    ]
    edits += _cluster_sizes(text, code)
    edits += _dropped_exchanges(code)
    for line in _ARCHITECTURE.finditer(code):
        edits += [
            Edit(line.start() + found.start(), line.start() + found.end(), "GEMMLAB_CUDA_ARCH")
            for found in re.finditer(r"\b__CUDA_ARCH__\b", line[0])
        ]
    return edits, unknown


def device_code(code: str) -> Iterator[str]:
    """The bodies of functions that are said to be the device's. code: masked."""
    for found in _DEVICE.finditer(code):
        start = code.find("{", found.end())
        if 0 <= start < _statement_end(code, found.end()):
            yield code[start : closing(code, start)]


def _statement_end(code: str, at: int) -> int:
    """Where the next semicolon stands; the end of the text if there is none."""
    found = code.find(";", at)
    return found if found >= 0 else len(code)


def _asm(text: str, code: str) -> tuple[list[Edit], list[Unknown]]:
    edits, unknown = [], []
    for found in _ASM.finditer(code):
        end = closing(code, found.end())
        if end < 0:
            continue
        result = translated(text[found.end() + 1 : end])
        edits.append(Edit(found.start(), end + 1, result.code))
        if result.unknown:
            unknown.append(Unknown(line_at(text, found.start()), result.unknown))
    return edits, unknown


def _dropped_exchanges(code: str) -> Iterator[Edit]:
    """atomicExch(...); is a store: nobody looks at what was there before."""
    for found in _EXCHANGE.finditer(code):
        end = closing(code, found.end())
        before = _skip_back(code, found.start())
        if code[before - 1] == ")":  # of a condition, or of a cast or call, which takes the result
            opened = _opened(code, before - 1, "(", ")")
            if not _CONDITION.search(code[:opened]):
                continue
        if end > 0 and code[end + 1 :].lstrip().startswith(";"):
            yield Edit(*found.span(1), "gemmlab_replace")


def _launches(code: str) -> Iterator[Edit]:
    """kernel<<<...>>> becomes gemmlab_sim::configured(GEMMLAB_KERNEL(kernel), ...)."""
    at = 0
    while (opened := code.find("<<<", at)) >= 0:
        at = opened + 3
        start, closed = _kernel_start(code, opened), _configuration_end(code, at)
        if start < 0 or closed < 0:
            continue
        yield Edit(start, start, "gemmlab_sim::configured(GEMMLAB_KERNEL(")
        yield Edit(opened, opened + 3, "), ")
        yield Edit(closed, closed + 3, ")")
        at = closed


def _configuration_end(code: str, at: int) -> int:
    """Where the >>> of a launch stands; -1 if there is none before the statement's end."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
        elif depth == 0 and code.startswith(">>>", i):
            return i
        if depth < 0 or (depth == 0 and code[i] == ";"):
            return -1
    return -1


def _kernel_start(code: str, end: int) -> int:
    """Where the expression begins that names the kernel before `end`; -1 if there is none."""
    at = _skip_back(code, end)
    if at and code[at - 1] == ">":
        at = _skip_back(code, _template_start(code, at - 1))
    if at and code[at - 1] in ")]":
        at = _opened(code, at - 1, "([", ")]")
    last = at
    while at and (_NAME.match(code[at - 1]) or code.startswith("##", at - 2)):
        at -= 1 if _NAME.match(code[at - 1]) else 2
    return at if at < last or (at < end and code[at] == "(") else -1


def _opened(code: str, at: int, opening: str, closing_: str) -> int:
    """Where the bracket at `at` was opened."""
    depth = 0
    while at >= 0:
        depth += (code[at] in closing_) - (code[at] in opening)
        if depth == 0:
            return at
        at -= 1
    return 0


def _template_start(code: str, at: int) -> int:
    """Where the < stands that the > at `at` closes; not one in parentheses."""
    depth = 0
    while at > 0:
        if code[at] in ")]}":
            at = _opened(code, at, "([{", ")]}")
        depth += (code[at] == ">") - (code[at] == "<")
        if depth == 0:
            return at
        at -= 1
    return 0


def _skip_back(code: str, at: int) -> int:
    while at and (code[at - 1].isspace() or code[at - 1] == "\\"):
        at -= 1
    return at


def _cluster_sizes(text: str, code: str) -> Iterator[Edit]:
    """__cluster_dims__(x, y, z) goes into the kernel's body, where it is noted in the library."""
    for found in _CLUSTER.finditer(code):
        end = closing(code, found.end())
        parameters = code.find("(", end)
        while parameters > 0 and re.search(r"__\w+__\s*$", code[:parameters]):
            parameters = code.find("(", closing(code, parameters) + 1)
        after = closing(code, parameters) if parameters > 0 else -1
        body = re.compile(r"\s*\{").match(code, after + 1) if after > 0 else None
        if body:
            size = " ".join(text[found.end() + 1 : end].split())
            yield Edit(body.end(), body.end(), f" GEMMLAB_CLUSTER_DIMS({size});")
        yield Edit(found.start(), end + 1, "")
