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
    tool, limit = Path(command[0]).name, seconds_set("GEMMLAB_COMPILE_S", LIMIT_SECONDS)
    try:
        process = subprocess.Popen(
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
            f"{tool}: {why}, and {what} cannot be built without it. Install it (Debian and Ubuntu: "
            "apt install g++ binutils; Fedora: dnf install gcc-c++ binutils)"
        ) from None
    try:
        _, said = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise BackendError(
            f"{tool}: has not built {what} within {limit:g} s and was ended; see whether it runs "
            "on its own, or give it longer with GEMMLAB_COMPILE_S=SECONDS"
        ) from None
    finally:
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, said
