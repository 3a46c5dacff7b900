"""A reader's kernel runs in a process of its own, altogether.

What it may do wrong depends on data, so a run that went well proves nothing about the next one, and
nothing of it is repeated here. Matrices go there and back in memory that both processes share;
findings and counts come back as text.

One process is kept warm. It forks a copy of itself for each kernel, in milliseconds, and that one
loads the kernel's library and runs it; whatever becomes of it, the next kernel gets another.
"""

from __future__ import annotations

import atexit
import mmap
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

import numpy as np

from ..core import errors
from ..core.errors import BackendError
from ..core.worker import Worker
from .findings import Finding
from .limits import Bar
from .module import ALLOCATED, How, Shape, SimModule, place_in_memory
from .samples import Seen
from .source import SimSource
from .trace import Trace

_SILENCE = 30.0  # seconds: a process that runs a kernel says several times a second that it lives
CONNECTION_LOST = 3  # exit status
_KEEP = 2**26  # bytes of shared memory that stay from one launch to the next

_WHERE = "The process of its own in which the kernel runs"
_UNHARMED = "This notebook is unharmed"
_STUCK = (
    "A loop without end, in a function that the kernel or its launcher calls: for {:g} s nothing "
    "was launched, and no thread has returned or passed a barrier"
)
_CLOSED = ": it cannot answer any more, because its launcher has closed all files"
_DAMAGE = (
    ", before it could say where: memory that the launcher or the runtime uses is damaged, as by a "
    "write far outside of an array or through a wild pointer"
)
# What a process is at that says nothing, by the letter that Linux gives for it.
_STATES = {
    "R": "It was computing; look for a loop that cannot be interrupted, as with signals blocked",
    "S": "It was asleep; look for what waits in the launcher: sleep(), a lock, a read",
    "T": "It was stopped by a signal; look for raise(SIGSTOP) and kill() in the launcher",
    "Z": "It had ended; look for what the launcher has started, and what holds its files open",
}
_HINTS: dict[int, str] = {
    signal.SIGSEGV: _DAMAGE,
    signal.SIGBUS: _DAMAGE,
    signal.SIGABRT: _DAMAGE,
    signal.SIGKILL: (
        ", which nothing here has sent: look for raise() and kill() in the launcher; the system "
        "sends it where memory runs out, and then its log (dmesg) names the process"
    ),
    signal.SIGXCPU: ": it has used more processor time than a launch may",
}


@dataclass(frozen=True)
class Lost:
    """How a kernel's process ended before it answered: an exit status, or minus a signal."""

    status: int
    said: str

    def __str__(self) -> str:
        if self.status < 0:
            how = f"was ended by {signal.Signals(-self.status).name}"
            hint = _HINTS.get(-self.status, "")
        else:
            how = f"has ended, with exit status {self.status}"
            hint = _CLOSED if self.status == CONNECTION_LOST else ""
        said = f" ({self.said})" if self.said else ""
        return f"{how}{said}{hint}"


@dataclass(frozen=True)
class Silent:
    """A process that gave no answer, and was ended for it. known: what is known of it."""

    known: str

    def __str__(self) -> str:
        return f"gave no answer, and was ended: {self.known}"


class ApartModule(SimModule):
    """A kernel file that is run in a process of its own. source: what that one loads."""

    def __init__(self, source: SimSource) -> None:
        super().__init__(source.name, source.kernel(), source.runtime())
        self._of = source

    def run(self, matrices: Sequence[np.ndarray], shape: Shape, how: How) -> Trace:
        """One launch there. That its process was lost is a finding, which ends the launch."""
        request = {"shape": astuple(shape), "how": asdict(how), "environment": _settings()}
        bar = Bar(self.name)
        try:
            answer = PROCESS.launch(self._of, matrices, request, bar)
        finally:
            bar.close()
        if isinstance(answer, Lost | Silent):
            return self._nothing_but(shape, "process", f"{_WHERE} {answer}. {_UNHARMED}")
        if "stuck" in answer:
            text = _STUCK.format(answer["stuck"])
            return self._nothing_but(shape, "endless-loop", f"{text}. {_UNHARMED}")
        if "error" in answer:
            raise getattr(errors, answer["error"])(answer["text"])
        return Trace.from_plain(answer["trace"])

    def _nothing_but(self, shape: Shape, kind: str, text: str) -> Trace:
        finding = Finding(kind, text, None, None, fatal=True)
        return self._trace(shape, [finding], Seen((), (), ()), "")


class Process:
    """The warm process, the copy of it that has a kernel loaded, and the memory shared with it.

    processor_seconds: what all launches have taken that were answered.
    """

    def __init__(self) -> None:
        self.processor_seconds = 0.0
        self._start_anew()
        atexit.register(self.end)
        os.register_at_fork(after_in_child=self._start_anew)  # the parent's is not for its children

    def _start_anew(self) -> None:
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._memory = -1  # descriptor of the shared memory
        self._loaded: SimSource | None = None  # what the copy has
        self._pid = 0  # of the copy, 0 if there is none
        self._begun = False  # whether it has said that it has the present request

    def warm(self) -> None:
        """Start it, so that it is ready when a kernel is."""
        with self._lock:
            self._ready_worker()

    def end(self) -> None:
        """End it; the next launch starts another."""
        if self._pid:
            _kill(self._pid)
        self._pid, self._loaded = 0, None
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def launch(
        self, source: SimSource, matrices: Sequence[np.ndarray], request: dict, bar: Bar
    ) -> dict | Lost | Silent:
        """What the kernel's process answers; C is written if it ran. bar: is told how far it is."""
        with self._lock:
            worker = self._ready_worker()
            if self._loaded not in (None, source):
                self._leave(worker, {"close": True})
            laid = _lay_out(matrices)
            with _Shared(self._memory, laid[-1].end) as memory:
                for place, matrix in zip(laid, matrices, strict=True):
                    place.view(memory)[...] = matrix
                places = [astuple(place) for place in laid]
                message = {**request, "source": source.plain(), "matrices": places}
                answer = self._ask(worker, source, message, bar)
                if isinstance(answer, dict) and "trace" in answer:
                    matrices[2][...] = laid[2].view(memory)
                    self.processor_seconds += answer["seconds"]
            return answer

    def _ask(
        self, worker: Worker, source: SimSource, message: dict, bar: Bar
    ) -> dict | Lost | Silent:
        """Send a request and wait for its answer, whatever happens there or here."""
        self._begun = False
        try:
            if refused := worker.send(message):
                raise EOFError(refused)
            self._loaded = source
            answer = self._await(worker, bar)
            if isinstance(answer, dict) and answer["last"]:
                self._leave(worker)
            return answer
        except (EOFError, ValueError, TimeoutError, KeyError) as error:
            if not worker.ready:
                said = worker.last_words()
                self.end()
                raise BackendError(
                    f"{source.name}: the process that kernels run in did not start: {said}"
                ) from None
            silent = Silent(self._known(worker, error))
            self.end()
            return silent
        except BaseException:  # Ctrl-C
            if self._begun:
                _kill(self._pid)
                self._leave(worker)
            else:  # it is not known which copy has the request
                self.end()
            raise

    def _known(self, worker: Worker, error: Exception) -> str:
        """What is known of a process that gave no answer, and what to look at next."""
        if isinstance(error, TimeoutError):
            state = _state(self._pid)
            look = _STATES.get(state, f"The system calls its state {state!r}" if state else "")
            return f"for {_SILENCE:g} s it has said nothing. {look}".rstrip()
        if isinstance(error, EOFError):
            return (
                f"the process that it was copied from has ended ({worker.last_words()}). Look for "
                "kill() in the launcher, and in the system's log (dmesg)"
            )
        return (
            "what it wrote is no answer. Look for what writes to files that the launcher has not "
            "opened itself"
        )

    def _await(self, worker: Worker, bar: Bar) -> dict | Lost:
        """What the copy answers that has the request, or how it ended."""
        while True:
            answer = worker.receive(_SILENCE)
            if "pid" in answer:
                self._pid, self._begun = answer["pid"], True
            elif "blocks" in answer:
                bar(*answer["blocks"])
            elif "ended" in answer:
                was_idle = self._pid and not self._begun  # then another one gets the request
                self._pid = 0
                if not was_idle:
                    self._loaded = None
                    return Lost(answer["ended"], worker.last_line())
            else:
                return answer

    def _leave(self, worker: Worker, request: dict | None = None) -> None:
        """Wait for the end of the copy, which `request` asks for."""
        try:
            if request:
                worker.send(request)
            while "ended" not in worker.receive(_SILENCE):
                pass
        except (EOFError, ValueError, TimeoutError):
            self.end()
        except BaseException:  # Ctrl-C
            self.end()
            raise
        self._pid, self._loaded = 0, None

    def _ready_worker(self) -> Worker:
        if self._worker is None:
            if self._memory < 0:
                self._memory = os.memfd_create("gemmlab")
            command = (sys.executable, "-m", "gemmlab.sim.apart_process", str(self._memory))
            # NumPy's library for products starts threads, which a fork would not have.
            self._worker = Worker(command, {"OPENBLAS_NUM_THREADS": "1"}, [self._memory])
        return self._worker


PROCESS = Process()


@dataclass(frozen=True)
class Place:
    """Where a matrix stands in the shared memory."""

    start: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.start + np.dtype(self.dtype).itemsize * int(np.prod(self.shape))

    def view(self, memory: np.ndarray) -> np.ndarray:
        """The matrix."""
        return memory[self.start : self.end].view(self.dtype).reshape(self.shape)


class _Shared:
    """The shared memory, as an array of at least `size` bytes, while the block runs."""

    def __init__(self, file: int, size: int) -> None:
        self._file, self._size = file, max(size, 1)

    def __enter__(self) -> np.ndarray:
        os.ftruncate(self._file, max(self._size, os.fstat(self._file).st_size))
        return shared_array(self._file, self._size)

    def __exit__(self, *_: object) -> None:
        if self._size > _KEEP:
            os.ftruncate(self._file, 0)


def shared_array(file: int, size: int) -> np.ndarray:
    """The shared memory, as bytes."""
    return np.frombuffer(mmap.mmap(file, max(size, 1)), np.uint8)


def _lay_out(matrices: Sequence[np.ndarray]) -> list[Place]:
    """Places as far behind a multiple of ALLOCATED as the matrices are."""
    places, end = [], 0
    for matrix in matrices:
        start = -(-end // ALLOCATED) * ALLOCATED + place_in_memory(matrix)
        places.append(Place(start, matrix.shape, matrix.dtype.str))
        end = places[-1].end
    return places


def _settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("GEMMLAB_")}


def _state(pid: int) -> str:
    """The letter of a process's state; "" if it is not known."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def _kill(pid: int) -> None:
    for end in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)
