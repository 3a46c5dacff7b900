"""The declarations that a kernel file consists of: where each begins and ends, what it names.

No parser of C++: it relies on what clang-format and the house keep, a declaration beginning on a
line of its own and ending on one with `;` or `}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from .cuda_text import masked

_NAMESPACE = re.compile(r"\s*(?:inline )?namespace\b[\w\s]*\{\s*$")
_CLASS = re.compile(r"\s*(?:struct|class)\s+(\w+)")
_MACRO_CALL = re.compile(r"[A-Z][A-Z0-9_]*\(.*\)\s*$")
_BOUNDS = re.compile(r"__launch_bounds__\([^()]*(?:\([^()]*\)[^()]*)*\)")
_DECLARATOR = re.compile(r"[\w\s:*&]*?(\w+)\s*(?:\[[^\]]*\]\s*)*(?:[={].*)?", re.DOTALL)
_WORD = re.compile(r"\b[A-Za-z_]\w*")


@dataclass(frozen=True, eq=False)
class Declaration:
    """One declaration, or a comment that stands alone.

    text: its lines, with the comment above it and the empty lines below it. parts: what a class or
    a namespace contains; then `text` is only what comes before the first part, and `end` the rest.
    member: whether it stands in a class.
    """

    text: str
    parts: tuple[Declaration, ...] = ()
    end: str = ""
    member: bool = False

    @cached_property
    def code(self) -> str:
        """Its own text, without that of its parts, comments and strings blanked out."""
        return masked(self.text)

    @cached_property
    def is_comment(self) -> bool:
        """Whether there is no code in it."""
        return not self.code.strip()

    @cached_property
    def is_namespace(self) -> bool:
        """Whether it is a namespace: what it contains counts as if it stood outside of one."""
        return bool(self.end) and bool(_NAMESPACE.match(self.code))

    @cached_property
    def is_kernel(self) -> bool:
        """Whether it is a `__global__` function."""
        return "__global__" in self.code

    @cached_property
    def is_field(self) -> bool:
        """Whether each object of its class has it: without it the object would be another one."""
        declared = not self.end and not self._function and not _alias(self.code)
        return self.member and declared and "static" not in self.code

    @cached_property
    def names(self) -> frozenset[str]:
        """What others call it; several of `int a, b;`, none of a static_assert."""
        code = self.code.strip()
        if macro := re.match(r"#\s*(?:define|undef)\s+(\w+)", code):
            return frozenset({macro[1]})
        code = _without_template(code)
        if code.startswith(("#", "static_assert", "namespace")):
            return frozenset()
        if found := _CLASS.match(code) or _alias(code) or self._function:
            return frozenset({found[1]})
        if code.startswith("enum"):
            return frozenset(_WORD.findall(code)) - {"enum", "int"}
        parts = map(str.strip, code.rstrip(" \n;").split(","))
        return frozenset(one[1] for one in map(_DECLARATOR.fullmatch, parts) if one)

    @cached_property
    def words(self) -> frozenset[str]:
        """The identifiers that its own text uses."""
        return frozenset(_WORD.findall(self.code))

    @cached_property
    def _function(self) -> re.Match[str] | None:
        """The name before the first parenthesis, unless a value is given before it."""
        code = _BOUNDS.sub("", _without_template(self.code.strip()))
        return re.match(r"[^(=;]*?(\w+|operator\W+)\s*\(", code)


def declarations(text: str) -> tuple[Declaration, ...]:
    """Those of a file, in their order; their texts joined are the file."""
    return tuple(_split(text.splitlines(keepends=True)))


def flattened(found: Iterable[Declaration]) -> Iterator[Declaration]:
    """All of them, those inside of namespaces and classes too."""
    for one in found:
        yield one
        yield from flattened(one.parts)


def _split(lines: list[str], member: bool = False) -> Iterator[Declaration]:
    bare = masked("".join(lines)).splitlines(keepends=True)
    begin = 0
    while begin < len(lines):
        end = _end(lines, bare, begin)
        while end < len(lines) and not lines[end].strip():
            end += 1
        yield _declaration(lines[begin:end], bare[begin:end], member)
        begin = end


def _end(lines: list[str], bare: list[str], begin: int) -> int:
    """The line past the declaration that begins, with its comment, at `begin`."""
    at = begin
    while at < len(lines) and lines[at].strip() and not bare[at].strip():
        at += 1
    if at == len(lines) or not lines[at].strip():
        return max(at, begin + 1)  # a comment alone
    if bare[at].lstrip().startswith("#"):
        return _end_of_directive(bare, at)
    depth = 0
    for i in range(at, len(lines)):
        depth += sum(bare[i].count(c) for c in "([{") - sum(bare[i].count(c) for c in ")]}")
        line = bare[i].rstrip()
        if depth == 0 and (line.endswith((";", "}")) or (i == at and _MACRO_CALL.match(line))):
            return i + 1
    return len(lines)


def _end_of_directive(bare: list[str], at: int) -> int:
    depth = 0
    for i in range(at, len(bare)):
        line = bare[i].strip()
        depth += line.startswith("#if")
        depth -= line.startswith("#endif")
        if depth == 0 and not line.endswith("\\"):
            return i + 1
    return len(bare)


def _declaration(lines: list[str], bare: list[str], member: bool) -> Declaration:
    code = "".join(bare).strip()
    space = bool(_NAMESPACE.match(code.split("\n", 1)[0]))
    if not space and not (_CLASS.match(_without_template(code)) and code.endswith("};")):
        return Declaration("".join(lines), member=member)
    opening = next(i for i, line in enumerate(bare) if "{" in line)
    closing = max(i for i, line in enumerate(bare) if "}" in line)
    if opening >= closing:
        return Declaration("".join(lines), member=member)
    while not lines[opening + 1].strip():
        opening += 1
    parts = tuple(_split(lines[opening + 1 : closing], member=not space))
    head, end = "".join(lines[: opening + 1]), "".join(lines[closing:])
    return Declaration(head, parts, end, member)


def _alias(code: str) -> re.Match[str] | None:
    return re.match(r"\s*using\s+(\w+)\s*=", _without_template(code))


def _without_template(code: str) -> str:
    """The code behind `template <...>`."""
    code = code.lstrip()
    if not code.startswith("template"):
        return code
    depth = 0
    for i, c in enumerate(code):
        depth += (c == "<") - (c == ">")
        if c == ">" and depth == 0:
            return _without_template(code[i + 1 :])
    return code
