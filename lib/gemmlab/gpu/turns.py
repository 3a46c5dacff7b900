"""Turns at the GPU for several processes: a measurement has it alone, launches share it.

`tools.execute` runs several chapters at a time. $GEMMLAB_TURNS names the file that their processes
lock; without it nothing waits for anything. Only what this package launches takes turns, not what
a chapter asks of torch by itself.

Who waits stands in line at a gate. With the lock alone a measurement waited for ever: launches let
each other in as long as one of them was there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "GEMMLAB_TURNS"


class _Turn:
    """What this process holds; a turn within a turn is the same one."""

    def __init__(self) -> None:
        self.held = False

    @contextmanager
    def take(self, how: int) -> Iterator[None]:
        path = os.environ.get(VARIABLE, "")
        if not path or self.held:
            yield
            return
        with open(path, "a") as file:
            with open(f"{path}.gate", "a") as gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                fcntl.flock(file, how)
            self.held = True
            try:
                yield
                _wait()
            finally:
                self.held = False  # closing the file gives the turn back


def _wait() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


_TURN = _Turn()


@contextmanager
def alone() -> Iterator[None]:
    """For the time of a block no other process launches: it begins when none does any more."""
    with _TURN.take(fcntl.LOCK_EX):
        yield


@contextmanager
def together() -> Iterator[None]:
    """For the time of a block, and until what it launched has ended, no other process measures."""
    with _TURN.take(fcntl.LOCK_SH):
        yield
