"""Which lines of a kernel's file a trace shows: the counted ones, what stands between, and gaps."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..display.code import highlight

_BLOCK = re.compile(r"\s*(\}\s*)?(for|while|do|if|else)\b")
_ORDER = re.compile(r"\s*\w*(sync|wait|arrive|commit|fence)\w*(<[^>]*>)?\(")  # barriers, waits
_MOST = 3  # lines in a row that are shown though they count for nothing


@dataclass(frozen=True)
class Shown:
    """A line: its number in the file and its text as HTML; or a gap of `folded` lines."""

    number: int
    code: str
    folded: int = 0


def passage(source: Sequence[str], counted: Collection[int]) -> list[Shown]:
    """The file from the first counted line (or the loop that holds it) to the last.

    The loops and branches around counted lines are shown, and barriers and waits; longer stretches
    of anything else are folded. Blank lines, pragmas and lines of comment are left out.
    """
    wanted = {number for number in counted if 0 < number <= len(source)}
    if not wanted:
        return []
    around = {at for number in wanted for at in _around(source, number)}
    first = min(wanted | around)
    last = _closing(source, first, max(wanted))
    coloured = highlight(_dedented(source, first, last))
    shown: list[Shown] = []
    gap: list[int] = []
    for number in range(first, last + 1):
        text = source[number - 1]
        if number in wanted or number in around or _ORDER.match(text):
            shown += _fold(gap, coloured)
            gap = []
            shown.append(Shown(number, coloured[number - 1]))
        elif text.strip() and not text.lstrip().startswith(("#", "//")):
            gap.append(number)
    return shown + _fold(gap, coloured)


def _around(source: Sequence[str], number: int) -> list[int]:
    """The first lines of the loops and branches around a line, by indentation."""
    found, depth = [], _indent(source[number - 1])
    for at in range(number - 1, 0, -1):
        text = source[at - 1]
        if not text.strip() or text.startswith("#") or _indent(text) >= depth:
            continue
        if not _BLOCK.match(text):
            break
        found.append(at)
        depth = _indent(text)
    return found


def _closing(source: Sequence[str], first: int, last: int) -> int:
    """The last line, or that of the braces that close what was opened since the first one."""
    margin = _indent(source[first - 1])
    while last < len(source) and re.fullmatch(r"\s*\}", source[last]):
        if _indent(source[last]) < margin:
            break
        last += 1
    return last


def _fold(gap: Sequence[int], coloured: Sequence[str]) -> list[Shown]:
    if len(gap) > _MOST:
        return [Shown(gap[0], "", len(gap))]
    return [Shown(number, coloured[number - 1]) for number in gap]


def _dedented(source: Sequence[str], first: int, last: int) -> list[str]:
    """All lines, so much further left that one of those from `first` to `last` has no margin."""
    shown = [text for text in source[first - 1 : last] if text.strip() and text[0] != "#"]
    cut = min(map(_indent, shown))
    return [text if text[:cut].strip() else text[cut:] for text in source]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
