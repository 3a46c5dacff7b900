"""Where the kernels and recordings are, and where built kernels are kept."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from .errors import BackendError

_PACKAGE = Path(__file__).resolve().parents[1]
_ELSEWHERE = "set GEMMLAB_CACHE to a folder that you alone may write to"


def repository_root() -> Path:
    """The folder that holds `kernels/` and `book/measurements/`.

    $GEMMLAB_ROOT, or the checkout of this file; of an installed package, the copy that it brought.
    """
    if root := os.environ.get("GEMMLAB_ROOT"):
        return Path(root).resolve()
    checkout = _PACKAGE.parents[1]
    # site-packages has neither, whatever else lies two folders further up.
    is_checkout = _PACKAGE.parent.name == "lib" and (checkout / "kernels" / "ptx").is_dir()
    return checkout if is_checkout else _PACKAGE / "_data"


def cache_dir(*parts: str) -> Path:
    """Where built kernels are kept: $GEMMLAB_CACHE or ~/.cache/gemmlab, and `parts` below it.

    Folders that are missing are made, for this user alone. What lies there is run, so one that
    others may write to is refused: BackendError, as where nothing can be written.
    """
    base = Path(os.environ.get("GEMMLAB_CACHE") or Path.home() / ".cache" / "gemmlab").absolute()
    path = base.joinpath(*parts)
    why = "permission denied"
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        for folder in (base, *(base.joinpath(*parts[: i + 1]) for i in range(len(parts)))):
            folder.mkdir(mode=0o700, exist_ok=True)
            _refuse_others(folder)
        _refuse_replaceable(base)
        writable = os.access(path, os.W_OK)
    except OSError as error:
        writable, why = False, (error.strerror or str(error)).lower()
    if not writable:
        raise BackendError(
            f"GEMMLAB_CACHE: built kernels cannot be kept in {path} ({why}); {_ELSEWHERE}"
        )
    return path


def _refuse_others(folder: Path) -> None:
    """Refuse a folder of the cache that another user owns or may write to."""
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise BackendError(
            f"GEMMLAB_CACHE: {folder} belongs to another user (number {status.st_uid}), who could "
            f"put there what is run here; {_ELSEWHERE}"
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BackendError(
            f"GEMMLAB_CACHE: others may write to {folder}, and what lies there is run; remove it, "
            f"or run chmod go-w {shlex.quote(str(folder))} if you trust what is in it"
        )


def _refuse_replaceable(base: Path) -> None:
    """Refuse a cache below a folder in which everybody may rename it; /tmp, being sticky, is fine.

    The owner of a folder further up could, too, but what he put there would be his.
    """
    for folder in {*base.parents, *base.resolve().parents}:
        mode = folder.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise BackendError(
                f"GEMMLAB_CACHE: everybody may write to {folder} and so replace {base}, and what "
                f"lies there is run; {_ELSEWHERE}"
            )


def kernels_folder() -> Path:
    """Where the steps are, and `#include <ptx/...>` is looked for. Raises BackendError without it.

    The simulator has twins of those headers.
    """
    folder = repository_root() / "kernels"
    if not folder.is_dir():
        raise BackendError(f"kernels: {root_without('kernels')}")
    return folder


def root_without(folder: str) -> str:
    """What an error says of a root that does not have a folder."""
    return (
        f"there is no folder {folder} in {repository_root()}; set GEMMLAB_ROOT to a checkout of "
        "the course, or unset it to use what the installed package brings"
    )


def measurements_folder() -> Path:
    """Where recorded runs lie."""
    return repository_root() / "book" / "measurements"
