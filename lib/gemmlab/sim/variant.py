"""A kernel file with some of its text replaced, for "what if"."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from .. import registry, variants
from ..errors import ArgumentError


def write_variant(path: Path, changes: dict[str, str]) -> Path:
    """A changed copy of a file of this repository, in the cache, where it finds what it includes.

    Raises ArgumentError for text that does not stand in the file.
    """
    root = registry.repository_root()
    place = path.resolve().relative_to(root)
    text = path.read_text(encoding="utf-8")
    for old, new in changes.items():
        if old not in text:
            raise ArgumentError(f"changes: {old!r} does not stand in {path.name}")
        text = text.replace(old, new)
    if place.parts[0] == "kernels":  # below the link to kernels/ is no room for a copy
        return variants.write(text, str(place.relative_to("kernels")))
    # Files include others by relative paths; checkouts that share a cache may differ in those.
    digest = hashlib.sha256(f"{root}\0{text}".encode()).hexdigest()[:12]
    folder = registry.cache_dir("variants", digest)
    with suppress(FileExistsError):
        (folder / "kernels").symlink_to(root / "kernels")
    copy = folder / place
    if not copy.exists():  # in one step: another process may want the same
        copy.parent.mkdir(parents=True, exist_ok=True)
        draft = copy.with_suffix(f".{os.getpid()}")
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, copy)
    return copy
