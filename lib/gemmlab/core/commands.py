"""Compilers and their like, run as processes: a missing or hanging one is an error in words."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .arguments import seconds_set
from .errors import BackendError

LIMIT_SECONDS = 300.0  # the longest compilation takes half a minute on a loaded machine


def run(command: Sequence[str], what: str, work: Path) -> tuple[int, str]:
    """Exit status and error output of a program, whose messages are in English.

    what: for errors, what the program is run for. work: where its temporary files lie, which are
    gone with that folder whatever happens. $GEMMLAB_COMPILE_S: seconds after which it is ended,
    with all that it started. Raises BackendError if it is not there, cannot be started, or takes
    longer.
    """
    (ended,) = run_together([command], what, work)
    return ended


def run_together(commands: Sequence[Sequence[str]], what: str, work: Path) -> list[tuple[int, str]]:
    """What `run` returns, of several programs that run at the same time."""
    limit = seconds_set("GEMMLAB_COMPILE_S", LIMIT_SECONDS)
    started: list[subprocess.Popen[str]] = []
    try:
        started.extend(_start(command, what, work) for command in commands)
        # One that is not read yet waits when its pipe is full.
        said = [one.communicate(timeout=limit)[1] for one in started]
        return [(one.returncode, text) for one, text in zip(started, said, strict=True)]
    except subprocess.TimeoutExpired:
        raise BackendError(
            f"{Path(commands[0][0]).name}: has not built {what} within {limit:g} s and was ended; "
            "see whether it runs on its own, or give it longer with GEMMLAB_COMPILE_S=SECONDS"
        ) from None
    finally:
        for one in started:
            _end(one)


def _start(command: Sequence[str], what: str, work: Path) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C", "TMPDIR": str(work)},
            text=True,
            errors="replace",
            process_group=0,  # g++ starts others, which would outlive it
        )
    except OSError as error:
        why = "not found" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise BackendError(
            f"{Path(command[0]).name}: {why}, and {what} cannot be built without it. Install it "
            "(Debian and Ubuntu: apt install g++ binutils; Fedora: dnf install gcc-c++ binutils)"
        ) from None


def _end(process: subprocess.Popen[str]) -> None:
    """End a process that still runs, with all that it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
