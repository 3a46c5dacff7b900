"""What a run may take: the watch over a launch, and the time that a loop has."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from ..core import progress
from ..core.arguments import seconds_set
from ..core.errors import SlowRunError

# A run that would take longer is stopped, unless it was allowed to.
SLOW_SECONDS = 60.0
# How long a block may make no progress (runtime/engine/watchdog.h), unless
# $GEMMLAB_SIM_BUDGET_S says otherwise.
BUDGET_SECONDS = 10.0

_POLL = 0.05  # seconds
_FRESH = 1.0  # without headway for longer, a run may be an endless loop: no estimate
_LEFT_ALONE = 5.0  # a run that was given up has to end by then
_FIRST_LOOK = 2.0  # an estimate from less says little
_SETTLED = 10.0  # from here on an estimate has to be far over the limit to stop the run
_SHOW_AFTER = 1.0


def budget_seconds() -> float:
    """Seconds without headway after which a block is given up."""
    return seconds_set("GEMMLAB_SIM_BUDGET_S", BUDGET_SECONDS)


class Bar:
    """The progress of a launch, once it takes long enough to be shown."""

    def __init__(self, name: str) -> None:
        self._name, self._start = name, time.monotonic()
        self._bar: Any = None  # tqdm's, once it shows

    def __call__(self, done: int, blocks: int) -> None:
        """So many blocks are done."""
        if time.monotonic() - self._start < _SHOW_AFTER:
            return
        if self._bar is None:
            self._bar = progress.count(blocks, f"{self._name} in the simulator", "block", done)
        self._bar.total = blocks
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Take it away."""
        if self._bar is not None:
            self._bar.close()


class Runs(Protocol):
    """What runs the launch: library.Runtime."""

    def progress(self) -> tuple[int, int, int]:
        """Blocks done, blocks there are, and a number that grows with headway."""

    def cancel(self) -> None:
        """Stop the kernel."""

    def give_up(self) -> None:
        """Stop the launcher, if it is in a loop without end."""


@dataclass(frozen=True)
class Limits:
    """Under which a launch runs.

    workers: OS threads. allow_slow: it may take longer than a minute. budget: seconds that it may
    be without headway.
    """

    workers: int
    allow_slow: bool
    budget: float


class Watch:
    """Stays with a launch until it ends: progress, Ctrl-C, and an end to one that is slow.

    show: is told of blocks done and blocks there are. stuck: is called if the launch cannot be
    stopped; without it that is waited for.
    """

    def __init__(
        self,
        name: str,
        runs: Runs,
        limits: Limits,
        show: Callable[[int, int], None],
        stuck: Callable[[], None] | None = None,
    ) -> None:
        self._name, self._runs, self._limits = name, runs, limits
        self._show, self._stuck = show, stuck

    def run(self, launch: Callable[[], None]) -> None:
        """Call `launch` on a thread of its own. Raises SlowRunError if it would take too long."""
        # An event, because an interrupted Thread.join() takes the thread for finished.
        finished = threading.Event()
        thread = threading.Thread(target=_then_set, args=(launch, finished), daemon=True)
        try:
            thread.start()
            self._stay(finished)
        except BaseException:
            self._runs.cancel()
            while not finished.is_set():  # a second Ctrl-C must not free what the kernel uses
                with suppress(KeyboardInterrupt):
                    finished.wait()
            raise

    def _stay(self, finished: threading.Event) -> None:
        start, seen = time.monotonic(), (0, 0, 0)
        idle = 0.0  # counted in polls: a stopped process does not use it up
        while not finished.wait(_POLL):
            seconds, before, seen = time.monotonic() - start, seen, self._runs.progress()
            idle = idle + _POLL if seen == before else 0.0
            done, blocks, _ = seen
            self._show(done, blocks)
            if idle > self._limits.budget:
                self._runs.give_up()
            if self._stuck and idle > self._limits.budget + _LEFT_ALONE:
                self._stuck()
            if seconds > _FIRST_LOOK and idle < _FRESH and not self._limits.allow_slow:
                self._judge(seconds, done, blocks)

    def _judge(self, seconds: float, done: int, blocks: int) -> None:
        # Each worker has a block in hand, which takes at least as long as it has taken so far.
        estimate = seconds / max(done, min(self._limits.workers, blocks), 1) * blocks
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


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
