"""Show a step's own source: a marked passage, or what changed from its parent."""

from __future__ import annotations

import difflib
from pathlib import Path

from ..core.arguments import brief, size
from ..core.errors import ArgumentError
from ..core.paths import kernels_folder
from ..display.code import Line, Listing
from .program import Program
from .registry import program
from .spec import KernelSpec
from .text import mark, passages_of


def source(name: str | KernelSpec | Program, passage: str | None = None) -> Listing:
    """A passage of a step's file, between its `// [passage]` marks, or the whole file.

    name: a step, or a header in kernels/, such as "probes/mma.cuh". passage: its name; None: the
    file. Raises ArgumentError, naming the known passages, for an unknown one,
    UnknownKernelError, and BackendError if the kernels are missing.
    """
    path, shown_as = _file(name)
    lines = path.read_text().splitlines()
    known = passages_of(lines)
    if passage is not None and not (isinstance(passage, str) and passage in known):
        raise ArgumentError(
            f"passage: {brief(passage)} is not in {shown_as}; it has {', '.join(known) or 'none'}"
        )
    start, stop = known[passage] if passage else (0, len(lines))
    shown = [
        Line(i + 1, lines[i]) for i in range(start, stop) if passage is None or not mark(lines[i])
    ]
    return Listing(shown_as, tuple(_dedent(shown)))


def _file(name: str | KernelSpec | Program) -> tuple[Path, str]:
    """The file of a step, or a header, and what to call it."""
    if isinstance(name, str) and name.endswith(".cuh"):
        folder = kernels_folder()
        if name not in {path.relative_to(folder).as_posix() for path in folder.rglob("*.cuh")}:
            raise ArgumentError(
                f"name: there is no kernels/{name}; name a step, or a header that one includes, as "
                "in lab.source('common/elements/vec.cuh')"
            )
        return folder / name, f"kernels/{name}"
    shown = program(name)
    written = f"{shown.source.label}, written in this notebook"
    return shown.source.path, f"kernels/{shown.spec.file}" if shown.source.trusted else written


def diff(
    name: str | KernelSpec | Program,
    other: str | KernelSpec | Program | None = None,
    context: int = 1,
) -> Listing:
    """What changed from `other` (the parent step, if not given), without comments at the top.

    name: a step, a spec or a handle, such as a variant. other: the same, to compare it with.
    context: lines around each change. Lines that differ only by the step's name count as equal.
    Raises ArgumentError for a step without a parent, UnknownKernelError.
    """
    size("context", context, 0)
    new = program(name)
    if other is None and new.parent is None:
        why = "is the first step" if new.source.trusted else "was written without --like"
        raise ArgumentError(
            f"name: {new.name} {why}, so it has no parent to compare; name one: "
            f"lab.diff(..., 'sgemm_02_coalesced')"
        )
    old = program(new.parent or "" if other is None else other)
    ours, theirs = _body(new), _body(old, rename_to=new.source.entry)
    # Lines that stand everywhere would be matched across unrelated passages.
    matcher = difflib.SequenceMatcher(
        lambda text: text.strip() in ("", "}", "#pragma unroll"),
        [line.text for line in theirs],
        [line.text for line in ours],
        autojunk=False,
    )
    shown: list[Line] = []
    for group in matcher.get_grouped_opcodes(context):
        for tag, a0, a1, b0, b1 in group:
            if tag == "equal":
                shown += ours[b0:b1]
                continue
            shown += [Line(line.number, line.text, "-") for line in theirs[a0:a1]]
            shown += [Line(line.number, line.text, "+") for line in ours[b0:b1]]
    changed = new.spec.file if new.is_own_file else new.source.label or f"a variant of {old.name}"
    original = f"kernels/{old.spec.file}" if old.source.trusted else old.source.label
    return Listing(f"{original} -> {changed}", tuple(shown))


def _dedent(lines: list[Line]) -> list[Line]:
    # A preprocessor line stands at the margin whatever its surroundings.
    indents = [
        len(line.text) - len(line.text.lstrip())
        for line in lines
        if line.text.strip() and not line.text.startswith("#")
    ]
    cut = min(indents, default=0)
    return [
        line if line.text.startswith("#") else Line(line.number, line.text[cut:], line.mark)
        for line in lines
    ]


def _body(shown: Program, rename_to: str = "") -> list[Line]:
    """The file from its first #include on, without passage marks, perhaps under another name."""
    lines, own = shown.source.path.read_text().splitlines(), shown.source.entry
    first = next((i for i, line in enumerate(lines) if line.startswith("#include")), 0)
    return [
        Line(i + 1, line.replace(own, rename_to or own))
        for i, line in enumerate(lines)
        if i >= first and not mark(line)
    ]
