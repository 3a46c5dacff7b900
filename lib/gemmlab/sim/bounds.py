"""What a process that runs a reader's code may use of the machine."""

from __future__ import annotations

import resource
from contextlib import suppress

from ..core.memory import machine_bytes
from .limits import SLOW_SECONDS, budget_seconds

_MOST_BYTES = 8 << 30  # that it may have, or three quarters of the machine's
_MOST_WRITTEN = 16 << 20  # to any file


def limit_memory() -> None:
    """Limits of memory and files. If memory runs out all the same, this process has to go first."""
    # Not RLIMIT_AS: the simulator reserves far more addresses than it uses.
    bounds = {
        resource.RLIMIT_DATA: min(_MOST_BYTES, machine_bytes() * 3 // 4),
        resource.RLIMIT_FSIZE: _MOST_WRITTEN,
        resource.RLIMIT_CORE: 0,
    }
    for which, most in bounds.items():
        _lower(which, most)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def limit_time(threads: int, allow_slow: bool, seconds: float = SLOW_SECONDS) -> None:
    """Processor time, more than the watch allows a launch: for the case that nobody watches."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    most = int(used + 4 * threads * (seconds + budget_seconds()))
    _lower(resource.RLIMIT_CPU, resource.RLIM_INFINITY if allow_slow else most)


def _lower(which: int, most: int) -> None:
    """Set a limit, at most to what this process may have."""
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY and (most == resource.RLIM_INFINITY or most > hard):
        most = hard
    resource.setrlimit(which, (most, hard))
