"""Changed copies of kernel files, kept in the cache at a place where their includes are found."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..core.arguments import brief, replacements
from ..core.cache import DIGITS, Store, delete
from ..core.errors import ArgumentError
from ..core.files import write_whole
from ..core.paths import repository_root
from .text import INCLUDE

VARIANTS = Store("variants")


def replace(text: str, changes: Mapping[str, str], shown_as: str, remedy: str = "") -> str:
    """`text` with each key of `changes` replaced by its value, in the given order.

    shown_as: how an error names the text; remedy: what it tells the reader to do.
    Raises ArgumentError for a key that does not stand in the text, or is empty.
    """
    for old, new in replacements("changes", changes).items():
        if old not in text:
            raise ArgumentError(f"changes: {brief(old)} does not stand in {shown_as}{remedy}")
        text = text.replace(old, new)
    return text


def keep(text: str, place: str | Path) -> Path:
    """Write a changed file to the cache, once; the path that it has there.

    place: where the file would stand in the repository, "kernels/sgemm/06_swizzled_a.cuh". The
    copy stands at the same place below a folder of its own. What it includes by relative paths is
    linked to from there.
    """
    root, place = repository_root(), Path(place)
    # Two checkouts that share a cache may differ in what the file includes.
    digest = hashlib.sha256(f"{root}\0{place}\0{text}".encode()).hexdigest()[:DIGITS]
    folder = VARIANTS.folder(f"{place.stem}-{digest}")
    copy = folder / place
    copy.parent.mkdir(parents=True, exist_ok=True)
    for name in INCLUDE.findall(text):
        _link(root, folder, place, Path(os.path.normpath(place.parent / name)))
    return copy if _has(copy, text) else write_whole(copy, text)


def _has(copy: Path, text: str) -> bool:
    """Whether a copy is as it was written; one in the cache may be damaged."""
    try:
        return not copy.is_symlink() and copy.read_bytes() == text.encode()
    except OSError:
        return False


def _link(root: Path, folder: Path, place: Path, included: Path) -> None:
    """Make `included` visible below `folder` by one link, beside the folders that hold `place`."""
    if included.is_absolute() or ".." in included.parts or not (root / included).exists():
        return  # a header that the compiler looks for in its own folders
    parts = included.parts
    shared = next(i for i, part in enumerate(parts) if place.parts[i : i + 1] != (part,))
    target = Path(*parts[: shared + 1])
    link = folder / target
    if os.path.lexists(link) and not (link.is_symlink() and link.readlink() == root / target):
        delete(link)
    with suppress(FileExistsError):
        link.symlink_to(root / target)
