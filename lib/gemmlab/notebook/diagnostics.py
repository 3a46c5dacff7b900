"""What a compiler said about a file made from a `%%kernel` cell, by lines of the cell."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..core.paths import repository_root
from .compose import Draft
from .remedies import INCLUDE, remedy

MOST = 8  # errors shown: later ones are mostly consequences

# nvcc: file(12): error: ...   g++: file:12:5: error: ...   the simulator's own: file:12: ...
_PLACED = re.compile(
    r"^(?P<file>\S.*?\.(?:cuh?|cpp|hp?p?))(?:\((?P<nvcc>\d+)\)|:(?P<gxx>\d+)(?::\d+)?): "
    r"(?P<rest>.+)"
)
_KIND = re.compile(r"^(?P<kind>fatal error|error|warning|note)(?: ?#[\w-]+)?: (?P<text>.+)")
_NOWHERE = re.compile(r"^At end of source: error: (?P<text>.+)")
_PTXAS = re.compile(r"^ptxas (?:error|fatal)\s*: (?P<text>.+)")
_REQUIRED = re.compile(r"\s*(?:recursively )?required (?:from|by) ")
_HALF = re.compile(r"gemmlab_sim::Float16<gemmlab_sim::Format16<5, 10> >")
_OURS = re.compile(r" \{aka 'gemmlab_sim::[^']*'\}")  # what a type of CUDA's is in the simulator
_COPY = re.compile(r".*/variants/[^/]+/(?=kernels/)")  # a cell's own copy of the repository
_REDUCES = "the comparison reduces to"


def translate(message: str, path: Path, draft: Draft) -> str:
    """A BuildError's message with the cell's lines instead of the file's.

    What is not recognised stays as it is, rather than being lost.
    """
    found: dict[str, str] = {}
    last, asked = "", ("", "")  # asked: the line of the cell that a template is made for
    for line in message.splitlines():
        if (entry := _entry(line, path, draft)) is None:
            if _REDUCES in line and last:
                found[last] = f" ({line[line.index(_REDUCES) :]})"
            continue
        where, text, code = entry
        if _REQUIRED.match(text):
            asked = (where, code) if code else asked
            continue
        if not code and asked[0]:
            where, code = asked
        last, asked = f"{where}: {text}", ("", "")
        found.setdefault(last, f"\n    {code}" if code else "")
    if not found:
        return message
    causes = _missing_headers(found)
    shown = [head + more for head, more in (causes or found).items()][:MOST]
    if more := len(found) - len(shown):
        shown.append(f"and {more} more" + ", which may come of that" * bool(causes))
    return "\n".join([*shown, *draft.braces])


def _missing_headers(found: dict[str, str]) -> dict[str, str]:
    """The first error for each header that the cell lacks; of these come most of the others."""
    headers = {head.partition(INCLUDE)[2]: head for head in reversed(found) if INCLUDE in head}
    return {head: found[head] for head in found if head in headers.values()}


def _entry(line: str, path: Path, draft: Draft) -> tuple[str, str, str] | None:
    """Place, text and code of an error; None for any other line."""
    for pattern, where in ((_NOWHERE, "the end of the file"), (_PTXAS, "ptxas")):
        if match := pattern.match(line):
            return where, match["text"], ""
    if not (match := _PLACED.match(line)):
        return None
    kind = _KIND.match(match["rest"])
    if kind and kind["kind"] in ("warning", "note"):
        return None
    text = _HALF.sub("__half", _OURS.sub("", kind["text"] if kind else match["rest"]))
    number = int(match["nvcc"] or match["gxx"])
    if Path(match["file"]).name == path.name:
        lines = draft.text.splitlines()
        code = lines[number - 1].strip() if number <= len(lines) else ""
        return draft.origins.place(number), text + remedy(text, code), code
    if Path(match["file"]).name in ("unit.cpp", "cuda.cu", "kernel.cu"):
        return "the end of the file", text, ""  # the file that includes the kernel's
    file = _COPY.sub("", match["file"]).removeprefix(f"{repository_root()}/")
    return f"{os.path.normpath(file)}:{number}", text, ""
