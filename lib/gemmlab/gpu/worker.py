"""The process that tries kernels, seen from here: requests, answers with a time limit, its end."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

START_SECONDS = 120.0  # Python, torch and a CUDA context: 3 to 5 s, more from a cold disk


class Worker:
    """The other process: started once, asked again and again, stopped when it cannot go on.

    command: what it runs: a program that reads a request a line and answers each by a line of JSON.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.ready = False  # whether it came as far as taking requests
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        # Each matrix an allocation of its own, so that leaving it is more often seen.
        environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        paths = [str(Path(__file__).resolve().parents[2]), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        # A session of its own: the notebook's Ctrl-C is not for it.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            start_new_session=True,
        )
        assert self._process.stdin and self._process.stdout
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._pending = b""

    def ask(self, request: dict, seconds: float) -> dict:
        """The answer to a request, as the process gives it; also the one at its start, if bad.

        Raises TimeoutError after `seconds`, EOFError if the process ended, ValueError for an answer
        that is not a table in JSON.
        """
        if not self.ready:
            first = self._answer(START_SECONDS)
            if "ready" not in first:
                return first
            self.ready = True
        with suppress(BrokenPipeError):  # it ended: the missing answer says so
            self._requests.write(json.dumps({**request, "seconds": seconds}).encode() + b"\n")
            self._requests.flush()
        return self._answer(seconds)

    def stop(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):  # the driver may take its time
            self._process.wait(timeout=10)
        for stream in (self._requests, self._answers, self._errors):
            with suppress(BrokenPipeError):
                stream.close()

    def last_words(self) -> str:
        """How the process ended: a signal's name, or the last line that it wrote."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        code = self._process.returncode
        if code is not None and code < 0:
            return signal.Signals(-code).name
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else f"exit status {code}"

    def _answer(self, seconds: float) -> dict:
        deadline = time.monotonic() + seconds
        pipe = self._answers.fileno()
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not poll.poll(left * 1000):
                raise TimeoutError
            if not (part := os.read(pipe, 65536)):
                raise EOFError
            self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError(line)
        return answer
