"""Kernels of a notebook whose cell was run again and did not compile: they are older than its text.

The variable keeps the kernel that it was, so that a typing mistake costs nothing. A judge has to
know, or it would judge what the reader no longer sees.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from ..run.kernel import Kernel

_STALE: WeakValueDictionary[int, Kernel] = WeakValueDictionary()  # by id, which lives as long


def note(kernel: Kernel) -> None:
    """The cell that made it has not compiled again."""
    _STALE[id(kernel)] = kernel


def reason(kernel: Kernel) -> str:
    """Why a kernel is not what its cell says; "" if it is."""
    if _STALE.get(id(kernel)) is not kernel:
        return ""
    return (
        f"the %%kernel cell above, {kernel.title}, did not compile; {kernel.title} is still the "
        "kernel from before, which is not judged. Mend what the cell's error names, and run it "
        "again."
    )
