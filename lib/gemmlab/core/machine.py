"""Where kernels can run: on Linux. Elsewhere the book can be read, and a container has the rest."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


def elsewhere() -> str:
    """What works on this system and how to run the rest, a sentence; "" on Linux, where all does.

    The simulator finds the arrays of a kernel through ELF and glibc, so Linux is not enough where
    it has another C library.
    """
    if sys.platform == "linux" and _has_glibc():
        return ""
    rest = 'in the container of .devcontainer (README.md, "Other systems")'
    if sys.platform == "win32":
        return (
            "gemmlab runs on Linux, and this is Windows, where the book's rendered pages can be "
            f"read; to run kernels, use WSL (wsl --install -d Debian) or open the folder {rest}."
        )
    here = _SYSTEMS.get(sys.platform, "Linux without glibc" if sys.platform == "linux" else "")
    return (
        f"gemmlab's simulator runs on Linux with glibc, and this is {here or sys.platform}, where "
        f"the book can be built and read (make book); to run kernels, open the folder {rest}."
    )


def _has_glibc() -> bool:
    with suppress(AttributeError, ValueError, OSError):
        return "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or "")
    return False
