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


def check_memory(
    name: str,
    matrices: Sequence[tuple[str, int]],
    available: int | None = None,
    there_is: str = "this machine has {} of memory",
) -> None:
    """Refuse matrices that take more than `available` bytes. Raises ArgumentError.

    name: the argument. matrices: ("A", its bytes), ... available: this machine's memory, if not
    given; there_is: how the error says it.
    """
    available = machine_bytes() if available is None else available
    total = sum(count for _, count in matrices)
    if total <= available:
        return
    letters = [letter for letter, _ in matrices]
    names = " and ".join(filter(None, (", ".join(letters[:-1]), letters[-1])))
    each = ", ".join(f"{letter} {_size_text(count)}" for letter, count in matrices)
    alone = len(matrices) == 1
    raise ArgumentError(
        f"{name}: {names} {'takes' if alone else 'take'} {_size_text(total)}"
        f"{'' if alone else f' ({each})'}, and {there_is.format(_size_text(available))}; use "
        "smaller M, N and K (what a warp does is the same in all)"
    )


def _size_text(count: float) -> str:
    """ "12 MiB"."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GiB"
