"""A process that runs kernels, seen from here: requests, answers with a time limit, its end."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

START_SECONDS = 120.0  # Python, torch and a CUDA context: 3 to 5 s, more from a cold disk


def with_tuples(data: Any) -> Any:
    """What was sent as JSON with its tuples, of which JSON makes lists, on every level."""
    if isinstance(data, list):
        return tuple(map(with_tuples, data))
    if isinstance(data, dict):
        return {name: with_tuples(value) for name, value in data.items()}
    return data


class Worker:
    """The other process: started once, asked again and again, stopped when it cannot go on.

    command: what it runs: a program that reads a request a line and answers each by a line of JSON.
    variables: further ones of its environment. files: descriptors that it shares with us.
    """

    def __init__(
        self,
        command: Sequence[str],
        variables: Mapping[str, str] | None = None,
        files: Sequence[int] = (),
    ) -> None:
        self.ready = False  # whether it came as far as taking requests
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        environment = {**os.environ, **(variables or {})}
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
            pass_fds=files,
        )
        assert self._process.stdin and self._process.stdout
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._pending = b""

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request, as the process gives it; also the one at its start, if bad.

        Raises TimeoutError after `seconds`, EOFError if the process ended, ValueError for an answer
        that is not a table in JSON.
        """
        if refused := self.send({**request, "seconds": seconds}):
            return refused
        return self.receive(seconds)

    def begin(self) -> dict[str, Any] | None:
        """Wait until the process takes requests; what it says at its start if it will not.

        Raises as `receive` does.
        """
        if not self.ready:
            first = self.receive(START_SECONDS)
            if "ready" not in first:
                return first
            self.ready = True
        return None

    def send(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Send a request, once the process is ready; what it says at its start if it is not.

        Raises as `receive` does.
        """
        if refused := self.begin():
            return refused
        with suppress(BrokenPipeError):  # it ended: the missing answer says so
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        return None

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
        return self.last_line() or f"exit status {code}"

    def last_line(self) -> str:
        """The last line that was written to standard error; "" if there is none."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def receive(self, seconds: float) -> dict[str, Any]:
        """The next line of the process. Raises TimeoutError, EOFError and ValueError, as `ask`."""
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
