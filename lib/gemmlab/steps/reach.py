"""What of a step and its headers its kernels reach, by the names that declarations use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .declarations import Declaration, declarations, flattened
from .text import mark


def reached(texts: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """What remains of each text: the kernels, and the declarations whose names something uses.

    Of a class, members that nothing names go too. Names decide, not types: of functions with one
    name all remain. Marks of passages go. Also returns all identifiers in what remains.
    """
    files = [declarations(text) for text in texts]
    kept = _reached(files)
    words = frozenset().union(*(one.words for one in kept))
    return words, tuple(_shown(file, kept) for file in files)


def _reached(files: list[tuple[Declaration, ...]]) -> dict[Declaration, None]:
    words: set[str] = set()
    kept: dict[Declaration, None] = {}

    def visit(found: Iterable[Declaration]) -> None:
        for one in found:
            if one.is_namespace:
                visit(one.parts)
                continue
            if one not in kept and (one.is_kernel or _needed(one, words)):
                kept[one] = None
                words.update(one.words)
            if one in kept:
                visit(one.parts)

    before = -1
    while len(kept) > before:
        before = len(kept)
        for file in files:
            visit(file)
    return kept


def _needed(one: Declaration, words: set[str]) -> bool:
    if one.is_comment:
        return False
    # A static_assert of a class counts as soon as the class does.
    return one.is_field or bool(one.names & words) or (one.member and not one.names)


def _shown(file: Iterable[Declaration], kept: Mapping[Declaration, None]) -> str:
    """The kept declarations as they stand in the file."""
    text = "".join(_texts(file, kept))
    return "".join(line for line in text.splitlines(keepends=True) if not mark(line))


def _texts(found: Iterable[Declaration], kept: Mapping[Declaration, None]) -> Iterator[str]:
    for one in found:
        inside = list(_texts(one.parts, kept))
        if one in kept or (one.is_namespace and inside):
            if inside and not one.is_namespace:
                inside[-1] = inside[-1].rstrip("\n") + "\n"
            yield from (one.text, *inside, one.end)


def named(text: str) -> frozenset[str]:
    """What a file gives names to, outside of its classes."""
    return frozenset().union(
        *(one.names for one in flattened(declarations(text)) if not one.member)
    )
