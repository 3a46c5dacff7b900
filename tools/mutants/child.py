"""Work in a child process, with limits, because a mutant may do anything."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable

MEMORY_BYTES = 8 << 30


def in_child(work: Callable[[], dict], cpu_seconds: int, wall_seconds: int) -> dict:
    """What `work` answers, or the verdict "endless" or "crash" if it does not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    answer = _read(reading, time.monotonic() + wall_seconds)
    os.close(reading)
    if answer is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if answer:
        return json.loads(answer)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if ended_by == signal.SIGXCPU:
        return {"verdict": "endless", "wrong": True}
    return {"verdict": "crash", "message": f"signal {ended_by}" if ended_by else "no answer"}


def _read(pipe: int, deadline: float) -> bytes | None:
    """All that the child writes, or None if it takes longer than it may."""
    parts: list[bytes] = []
    while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(pipe, 65536)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return None
