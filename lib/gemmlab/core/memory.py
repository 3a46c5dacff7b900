"""How much memory this process may use, so that a product that is too large is refused in words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .errors import ArgumentError

_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container


def machine_bytes() -> int:
    """This machine's memory, or what the container that we are in may have of it."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(whole, int(_LIMIT.read_text()))
    except (OSError, ValueError):  # no such limit, or "max"
        return whole


def check_memory(name: str, matrices: Sequence[tuple[str, int]]) -> None:
    """Refuse matrices that this machine has no memory for. Raises ArgumentError.

    name: the argument. matrices: ("A", its bytes), ...
    """
    available = machine_bytes()
    if sum(count for _, count in matrices) > available:
        raise too_large(name, matrices, f"this machine has {size_text(available)} of memory")


def too_large(name: str, matrices: Sequence[tuple[str, int]], there_is: str) -> ArgumentError:
    """The error that names an argument, its matrices, their bytes, and what there is."""
    total = sum(count for _, count in matrices)
    letters = [letter for letter, _ in matrices]
    names = " and ".join(filter(None, (", ".join(letters[:-1]), letters[-1])))
    each = ", ".join(f"{letter} {size_text(count)}" for letter, count in matrices)
    alone = len(matrices) == 1
    return ArgumentError(
        f"{name}: {names} {'takes' if alone else 'take'} {size_text(total)}"
        f"{'' if alone else f' ({each})'}, and {there_is}; use smaller M, N and K (what a warp "
        "does is the same in all)"
    )


def size_text(count: float) -> str:
    """ "12 MiB"."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GiB"
