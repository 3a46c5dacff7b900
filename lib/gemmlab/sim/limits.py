"""What a run may take: the watch over a launch, the time that a loop has, the memory there is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..core import memory, progress
from ..core.errors import ArgumentError, SlowRunError

# A run that would take longer is stopped, unless it was allowed to.
SLOW_SECONDS = 60.0
# How long a block may make no progress (runtime/engine/watchdog.h), unless
# $GEMMLAB_SIM_BUDGET_S says otherwise.
BUDGET_SECONDS = 10.0

_POLL = 0.05  # seconds
_FIRST_LOOK = 2.0  # an estimate from less says little
_SETTLED = 10.0  # from here on an estimate has to be far over the limit to stop the run
_SHOW_AFTER = 1.0
_AROUND = 2**18  # bytes that runtime/memory/arena.h leaves free around a buffer, at most


def budget_seconds() -> float:
    """Seconds without headway after which a block is given up."""
    text = os.environ.get("GEMMLAB_SIM_BUDGET_S", "")
    try:
        budget = float(text or BUDGET_SECONDS)
    except ValueError:
        budget = 0.0
    if not 0 < budget < 1e9:
        raise ArgumentError(f"GEMMLAB_SIM_BUDGET_S: is {text!r}, expected seconds, such as 10")
    return budget


class Watch:
    """Stays with a launch until it ends: a progress bar, Ctrl-C, and an end to one that is slow.

    look: how many blocks are done and how many there are. cancel: stops the launch.
    """

    def __init__(
        self,
        name: str,
        workers: int,
        look: Callable[[], tuple[int, int]],
        cancel: Callable[[], None],
        allow_slow: bool,
    ) -> None:
        self._name, self._workers, self._allow_slow = name, workers, allow_slow
        self._look, self._cancel = look, cancel
        self._bar: Any = None  # tqdm's, once it shows

    def run(self, launch: Callable[[], None]) -> None:
        """Call `launch` on a thread of its own. Raises SlowRunError if it would take too long."""
        # An event, because an interrupted Thread.join() takes the thread for finished.
        finished = threading.Event()
        thread = threading.Thread(target=_then_set, args=(launch, finished), daemon=True)
        try:
            thread.start()
            self._stay(finished)
        except BaseException:
            self._cancel()
            while not finished.is_set():  # a second Ctrl-C must not free what the kernel uses
                with suppress(KeyboardInterrupt):
                    finished.wait()
            raise
        finally:
            if self._bar is not None:
                self._bar.close()

    def _stay(self, finished: threading.Event) -> None:
        start = time.monotonic()
        while not finished.wait(_POLL):
            seconds = time.monotonic() - start
            done, blocks = self._look()
            if seconds > _SHOW_AFTER:
                self._show(done, blocks)
            if seconds > _FIRST_LOOK and not self._allow_slow:
                self._judge(seconds, done, blocks)

    def _show(self, done: int, blocks: int) -> None:
        if self._bar is None:
            self._bar = progress.count(blocks, f"{self._name} in the simulator", "block", done)
        self._bar.total = blocks
        self._bar.update(done - self._bar.n)

    def _judge(self, seconds: float, done: int, blocks: int) -> None:
        # Each worker has a block in hand, which takes at least as long as it has taken so far.
        estimate = seconds / max(done, min(self._workers, blocks)) * blocks
        if estimate > SLOW_SECONDS * (1 if seconds < _SETTLED else 2):
            raise SlowRunError(
                f"{self._name}: would take about {_duration(estimate)} in the simulator "
                f"({done:,} of {blocks:,} blocks done in {seconds:.0f} s), and it stops at "
                f"{SLOW_SECONDS:.0f} s; use smaller M, N and K (what a warp does is the same in "
                "all), or pass allow_slow=True (in a shell: --allow-slow)"
            )


def _then_set(launch: Callable[[], None], finished: threading.Event) -> None:
    try:
        launch()
    finally:
        finished.set()


def check_memory(name: str, sizes: Sequence[int], available: int) -> None:
    """Refuse matrices A, B and C of `sizes` bytes if they do not fit. Raises ArgumentError."""
    if sum(sizes) + len(sizes) * _AROUND > available:
        there_is = f"the simulator has {memory.size_text(available)} of global memory"
        raise memory.too_large(name, list(zip("ABC", sizes, strict=True)), there_is)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
