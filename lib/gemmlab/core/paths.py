"""Where the kernels and recordings are, and where built kernels are kept."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import BackendError

_PACKAGE = Path(__file__).resolve().parents[1]


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

    The folder is made if it is missing. Raises BackendError if nothing can be written there.
    """
    base = Path(os.environ.get("GEMMLAB_CACHE") or Path.home() / ".cache" / "gemmlab")
    path = base.joinpath(*parts)
    why = "permission denied"
    try:
        path.mkdir(parents=True, exist_ok=True)
        writable = os.access(path, os.W_OK)
    except OSError as error:
        writable, why = False, (error.strerror or str(error)).lower()
    if not writable:
        raise BackendError(
            f"GEMMLAB_CACHE: built kernels cannot be kept in {path} ({why}); set GEMMLAB_CACHE to "
            "a folder that you may write to"
        )
    return path


def kernels_folder() -> Path:
    """Where `#include <ptx/...>` is looked for; the simulator has twins of those files."""
    return repository_root() / "kernels"


def measurements_folder() -> Path:
    """Where recorded runs lie."""
    return repository_root() / "book" / "measurements"
