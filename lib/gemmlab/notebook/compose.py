"""The text of a `%%kernel` cell made into a kernel file, each line with where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..core.errors import ArgumentError
from ..steps.cuda_text import without_comments
from ..steps.program import Origins
from ..steps.spec import KernelSpec
from ..steps.text import passages_of
from .constants import Constant, numbers, read_constants
from .passages import FIRST, Passage, at, at_offset, canonical, read_passages
from .plain import Shape, declared, read_plain

_WHOLE = re.compile(r"\blaunch_\w+\s*\(|\b__global__\b|<<<")
_LAUNCHES = re.compile(r"\blaunch_\w+\s*\(")
_LAUNCHER = re.compile(r"\bcudaError_t\s+(launch_\w+)\s*\(([^()]*)\)\s*\{")
_PARAMETERS = re.compile(r"const\s+GemmArgs\s*&\s*\w*\s*,\s*cudaStream_t(\s+\w+)?\s*")


@dataclass(frozen=True)
class Draft:
    """A kernel file made from a cell.

    text: the file. origins: where each of its lines comes from. whole: the cell is a file of its
    own. constants: those that the cell sets. braces: passages that do not close what they open, in
    words. facts: fields of KernelSpec that a kernel without a launcher has by itself.
    """

    text: str
    origins: Origins
    whole: bool
    constants: dict[str, str] = field(default_factory=dict)
    braces: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


def compose(
    body: str, name: str, parent: KernelSpec | None, options: Mapping[str, Any] | None = None
) -> Draft:
    """The kernel file of a cell's text: passages put into the parent's file, or a file of its own.

    options: what the cell's first line says; a kernel without a launcher is launched by its `block`
    and `tile`. Raises ArgumentError, naming the line of the cell, for what cannot be placed.
    """
    lines = body.splitlines()
    if not any(line.strip() for line in lines):
        raise ArgumentError(
            "line 2 of the cell: there is no text; write a kernel, __global__ void "
            f"{name}(const float* A, ...), or passages of a step (// [dot] ... // [/dot])"
        )
    found = read_passages(lines)
    inside = {i for p in found for i in range(p.start - 1, p.stop + 1)}
    outside = without_comments(
        "\n".join("" if i in inside else line for i, line in enumerate(lines))
    )
    code = without_comments(body)
    if _WHOLE.search(outside) or (parent is None and not found and _looks_like_code(code)):
        if _LAUNCHES.search(outside):
            return _whole_file(lines, code, name)
        return _plain_file(lines, code, name, options or {})
    if parent is None:
        raise ArgumentError(
            f"line 1 of the cell: passages and constants are those of a step; name it, as in "
            f"%%kernel {name} --like sgemm_06_swizzled_a. (A kernel of your own needs no --like: "
            f"__global__ void {name}(const float* A, ...).)"
        )
    return _changed_file(lines, found, _cell_constants(outside, name), parent)


def _whole_file(lines: list[str], code: str, name: str) -> Draft:
    """The cell as it is, below one line that makes the file's line numbers those of the cell."""
    _check_launcher(code, f"launch_{name}", len(lines))
    text = [f"// {name}: written in a notebook.", *(canonical(line) for line in lines)]
    constants = {key: str(number) for key, number in numbers(code).items()}
    origins = Origins(tuple(range(1, len(text) + 1)))
    return Draft("\n".join(text) + "\n", origins, True, constants)


def _looks_like_code(code: str) -> bool:
    """Whether a text without passages and marks is more than constants: it has functions."""
    return re.search(r"\)\s*\{", code) is not None


def _plain_file(lines: list[str], code: str, name: str, options: Mapping[str, Any]) -> Draft:
    """A kernel without a launcher: the cell's lines at their numbers, and a launcher below them."""
    known = numbers(code)
    _refuse_two_tiles(known, options)
    shape = declared(lines, known, options)
    plain = read_plain(code, name, shape)
    half = "_half" * (plain.types.given != "float32")
    text = [f'#include "../common/launch/plain{half}.cuh"  // {name}: written in a notebook.']
    text += ["" if i in plain.lines else canonical(line) for i, line in enumerate(lines)]
    below = plain.launcher(name)
    origins = (*range(1, len(text) + 1), *(line + FIRST if line >= 0 else 0 for _, line in below))
    whole = "\n".join((*text, *(line for line, _ in below))) + "\n"
    facts = _plain_facts(shape, plain.types.bytes[0]) | {
        "precisions": (plain.types.name,),
        "scales": plain.scales,
    }
    constants = {key: str(number) for key, number in known.items()}
    return Draft(whole, Origins(origins), True, constants, facts=facts)


def _refuse_two_tiles(known: Mapping[str, int], options: Mapping[str, Any]) -> None:
    """Refuse a first line that still says how an earlier kernel was launched."""
    own = [known.get(key, 0) for key in ("BM", "BN", "BK")]
    given = options.get("tile", ())
    if any(mine and mine != side for mine, side in zip(own, given, strict=False)):
        said = " ".join(f"{key}={n}" for key, n in zip(("BM", "BN", "BK"), own, strict=True) if n)
        raise ArgumentError(
            f"line 1 of the cell: says --tile {'x'.join(map(str, given))}, and the constants below "
            f"say {said}; leave out --block and --tile, or make them agree"
        )


def _plain_facts(shape: Shape, element: int) -> dict[str, Any]:
    """What a kernel without a launcher takes: whole tiles, if it says what its tile is."""
    (x, y), (BM, BN, BK) = shape.block, shape.tile
    tile = (BM or 1, BN or 1, BK or 1)
    # A block whose threads have an element each can guard it.
    whole = x * y < BM * BN or BK > 0
    return {
        "tile": tile,
        "threads": x * y,
        "multiple_of": tile if whole else (1, 1, 1),
        "alignment": 16 if whole else element,
    }


def _check_launcher(code: str, wanted: str, lines: int) -> None:
    signature = f"cudaError_t {wanted}(const GemmArgs&, cudaStream_t)"
    launchers = list(_LAUNCHER.finditer(code))
    for match in launchers:
        if match[1] != wanted:
            continue
        if not _PARAMETERS.fullmatch(match[2].strip()):
            raise ArgumentError(
                f"{at_offset(code, match.start())}: {wanted} takes "
                f"({' '.join(match[2].split())}); it is to be {signature}"
            )
        return
    if launchers:
        other = launchers[-1]
        raise ArgumentError(
            f"{at_offset(code, other.start())}: defines {other[1]}, but the kernel of this cell "
            f"is launched by {signature}; give the function that name"
        )
    if named := re.search(rf"\b{wanted}\s*\(", code):
        raise ArgumentError(
            f"{at_offset(code, named.start())}: {wanted} has another signature; it is to be "
            f"{signature}, with its body"
        )
    raise ArgumentError(
        f"lines {FIRST} to {lines + FIRST - 1} of the cell: a whole kernel needs a function that "
        f"launches it, {signature}; see the end of lab.source('sgemm_02_coalesced')"
    )


def _changed_file(
    lines: list[str],
    found: list[Passage],
    constants: list[tuple[Constant, str, int]],
    parent: KernelSpec,
) -> Draft:
    """The parent's file with the cell's passages and constants in it."""
    text = parent.path.read_text()
    old = text.splitlines()
    spans = passages_of(old)
    for p in found:
        if p.name not in spans:
            known = ", ".join(f"[{name}]" for name in spans) or "none"
            raise ArgumentError(
                f"{at(p.start - 1)}: kernels/{parent.file} has no passage [{p.name}]; "
                f"it has {known}"
            )
    replaced = sorted(((*spans[p.name], p) for p in found), key=lambda span: span[:2])
    for (_, stop, first), (start, _, second) in pairwise(replaced):
        if start < stop:
            raise ArgumentError(
                f"{at(second.start - 1)}: in kernels/{parent.file}, [{second.name}] is a part of "
                f"[{first.name}]; give one of them"
            )
    new, origins = _set_constants(text, constants, replaced, parent)
    for start, stop, p in reversed(replaced):
        new[start:stop] = _indented(lines[p.start : p.stop], old[start:stop], old[start - 1])
        origins[start:stop] = [i + FIRST for i in range(p.start, p.stop)]
    return Draft(
        "\n".join(new) + "\n",
        Origins(tuple(origins), f"kernels/{parent.file}"),
        whole=False,
        constants={constant.name: value for constant, value, _ in constants},
        braces=tuple(_braces(lines, old, replaced)),
    )


def _set_constants(
    text: str,
    constants: list[tuple[Constant, str, int]],
    replaced: list[tuple[int, int, Passage]],
    parent: KernelSpec,
) -> tuple[list[str], list[int]]:
    """The parent's lines with the cell's values in them, and where each line comes from."""
    origins = [-(i + 1) for i in range(len(text.splitlines()))]
    declared = list(read_constants(without_comments(text)))
    changes = []
    for constant, value, line in constants:
        known = _the_parents(constant, declared, line, parent)
        row = text.count("\n", 0, known.value[0])
        if inside := [p for start, stop, p in replaced if start <= row < stop]:
            raise ArgumentError(
                f"line {line} of the cell: {constant.name} is declared in the passage "
                f"[{inside[0].name}], which the cell replaces; set it there"
            )
        origins[row] = line
        changes.append((known.value, value))
    for (start, stop), value in sorted(changes, reverse=True):
        text = text[:start] + value + "\n" * text.count("\n", start, stop) + text[stop:]
    return text.splitlines(), origins


def _the_parents(
    constant: Constant, declared: list[Constant], line: int, parent: KernelSpec
) -> Constant:
    """The parent's declaration of a constant. Raises ArgumentError unless there is exactly one."""
    own = [known for known in declared if known.name == constant.name]
    if not own:
        names = ", ".join(dict.fromkeys(known.name for known in declared)) or "none"
        raise ArgumentError(
            f"line {line} of the cell: kernels/{parent.file} has no constant {constant.name}; it "
            f"has {names}. A new one goes into a passage"
        )
    if len(own) > 1:
        raise ArgumentError(
            f"line {line} of the cell: kernels/{parent.file} declares {constant.name} "
            f"{len(own)} times; set it in a passage instead"
        )
    if own[0].type != constant.type:
        raise ArgumentError(
            f"line {line} of the cell: {constant.name} is declared as {constant.type}, in "
            f"kernels/{parent.file} it is {own[0].type}; write constexpr {own[0].type}"
        )
    return own[0]


def _cell_constants(outside: str, name: str) -> list[tuple[Constant, str, int]]:
    """What stands outside the passages: constants, their values, and the cell's lines.

    Raises ArgumentError for anything else.
    """
    found = list(read_constants(outside))
    rest = list(outside)
    for constant in found:
        start, stop = constant.whole
        rest[start:stop] = [" " if c != "\n" else c for c in outside[start:stop]]
    if other := re.search(r"\S", "".join(rest)):
        i = outside.count("\n", 0, other.start())
        raise ArgumentError(
            f"{at(i)}: `{outside.splitlines()[i].strip()}` stands in no passage. There only "
            "constants of the step may stand (constexpr int BK = 8;); put it into a passage "
            f"(// [dot] ... // [/dot]), or write a whole kernel with launch_{name}"
        )
    set_: dict[str, tuple[Constant, str, int]] = {}
    for constant in found:
        line = outside.count("\n", 0, constant.value[0]) + FIRST
        if constant.name in set_:
            raise ArgumentError(f"line {line} of the cell: {constant.name} is set twice; keep one")
        value = " ".join(outside[slice(*constant.value)].split())
        set_[constant.name] = (constant, value, line)
    return list(set_.values())


def _indented(lines: list[str], old: list[str], mark: str) -> list[str]:
    """Lines moved to where the parent's stand, so that a difference is one of the code."""
    if any("\t" in line for line in lines):
        return lines
    wanted = _indent(old) if any(line.strip() for line in old) else _indent([mark])
    shift = wanted - _indent(lines)
    moved = []
    for line in lines:
        stays = line.startswith("#") or not line.strip()
        moved.append(line if stays else " " * shift + line if shift > 0 else line[-shift:])
    return moved


def _indent(lines: list[str]) -> int:
    # A preprocessor line stands at the margin whatever its surroundings.
    kept = [line for line in lines if line.strip() and not line.startswith("#")]
    return min((len(line) - len(line.lstrip()) for line in kept), default=0)


def _braces(
    lines: list[str], old: list[str], replaced: list[tuple[int, int, Passage]]
) -> Iterator[str]:
    def surplus(part: list[str]) -> int:
        code = without_comments("\n".join(part))
        return code.count("{") - code.count("}")

    for start, stop, p in replaced:
        ours, theirs = surplus(lines[p.start : p.stop]), surplus(old[start:stop])
        if ours != theirs:
            many, few = ("{", "}") if ours > theirs else ("}", "{")
            yield f"[{p.name}] has {abs(ours - theirs)} {many} too many, or {few} too few"
