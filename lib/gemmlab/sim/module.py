"""Run a compiled kernel: copy the matrices in, launch, copy the result out, read the counters."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..errors import ArgumentError, BuildError, LaunchError
from . import build
from .findings import Finding, Findings, RawFinding, explain
from .trace import Trace, count_lines

MAX_STATIC_SHARED = 48 * 1024
_CUDA_ERRORS = {
    1: "invalid value: the launcher refused its arguments",
    2: "out of memory: the fibers' stacks could not be allocated",
    9: "invalid configuration: the grid is empty or a block has more than 1024 threads; check that "
    "M, N and K are not smaller than the tile",
}


class GemmArgs(ctypes.Structure):
    """kernels/common/host.cuh's structure of this name."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in "ABC"),
        *((name, ctypes.c_int) for name in "MNK"),
        ("alpha", ctypes.c_float),
        ("beta", ctypes.c_float),
    )


class CountRow(ctypes.Structure):
    """runtime/api.cpp's row: the counters of one instruction."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("pc", "op", "width", "reserved")),
        *((name, ctypes.c_uint64) for name in ("requests", "lanes", "wavefronts")),
        *((name, ctypes.c_uint64) for name in ("wavefronts_min", "sectors", "sectors_min")),
    )


class Runtime:
    """The runtime library's functions. One launch at a time: the lock is held around it."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        self.lock = threading.Lock()
        self.module = library.gemmlab_sim_module
        self.module.restype = ctypes.c_void_p
        self.allocate = library.gemmlab_sim_allocate
        self.allocate.restype = ctypes.c_void_p
        self.free_all = library.gemmlab_sim_free_all
        self.begin = library.gemmlab_sim_begin
        self.cancel = library.gemmlab_sim_cancel
        self._library = library

    def counts(self) -> list[CountRow]:
        """Counters of the launches since `begin`."""
        rows = (CountRow * self._library.gemmlab_sim_count_rows())()
        self._library.gemmlab_sim_counts(rows)
        return list(rows)

    def findings(self) -> list[RawFinding]:
        """Findings of the launches since `begin`."""
        read = self._library.gemmlab_sim_findings
        read.restype = ctypes.POINTER(RawFinding)
        return [read()[i] for i in range(self._library.gemmlab_sim_finding_rows())]


# By name, which is hashed over the contents: the dynamic linker, too, loads a name only once.
_RUNTIMES: dict[str, Runtime] = {}


def _load_runtime(path: Path) -> Runtime:
    if path.name not in _RUNTIMES:
        _RUNTIMES[path.name] = Runtime(str(path))
    return _RUNTIMES[path.name]


@dataclass(frozen=True)
class Shape:
    """One problem: C = alpha * A @ B + beta * C."""

    M: int
    N: int
    K: int
    alpha: float
    beta: float


class SimModule:
    """A kernel file, compiled for this machine's processor."""

    def __init__(self, name: str, built: build.KernelLibrary, runtime: build.Runtime) -> None:
        self.name = name
        self._built = built
        self._runtime = _load_runtime(runtime.library)
        self._source = built.source.read_text().splitlines()
        self._entry = ctypes.CDLL(str(built.library)).gemmlab_sim_entry
        self._handle = self._register()

    def launch(
        self,
        A: np.ndarray,
        B: np.ndarray,
        C: np.ndarray,
        M: int,
        N: int,
        K: int,
        alpha: float = 1.0,
        beta: float = 0.0,
        *,
        threads: int | None = None,
    ) -> None:
        """Run the kernel without counting. C is read and written.

        A, B, C: contiguous NumPy arrays. threads: OS threads to use, by default one a processor.
        Raises LaunchError if the kernel did not run to its end (out of bounds, deadlock, ...).
        """
        _, findings = self._run((A, B, C), Shape(M, N, K, alpha, beta), False, threads)
        fatal = [finding for finding in findings if finding.fatal]
        if fatal:
            text = "\n".join(str(finding) for finding in fatal)
            raise LaunchError(f"{self.name}: stopped in the simulator\n{text}")

    def trace(
        self,
        A: np.ndarray,
        B: np.ndarray,
        C: np.ndarray,
        M: int,
        N: int,
        K: int,
        alpha: float = 1.0,
        beta: float = 0.0,
        *,
        threads: int | None = None,
    ) -> Trace:
        """Run the kernel and count its memory requests by source line; look for races and the like.

        What is wrong with the kernel is in the trace's `findings`, not raised.
        """
        rows, findings = self._run((A, B, C), Shape(M, N, K, alpha, beta), True, threads)
        return Trace(self.name, M, N, K, count_lines(rows, self._line_of), Findings(findings))

    def _run(
        self, matrices: Sequence[np.ndarray], shape: Shape, traced: bool, threads: int | None
    ) -> tuple[list[CountRow], list[Finding]]:
        for name, matrix in zip("ABC", matrices, strict=True):
            _check_matrix(name, matrix)
        runtime = self._runtime
        with runtime.lock:
            try:
                code = self._launch(matrices, shape, traced, threads or _processors())
                rows, raw = runtime.counts(), runtime.findings()
            finally:
                runtime.free_all()
        if code:
            raise LaunchError(
                f"{self.name}: launch failed with cudaError {code}, "
                f"{_CUDA_ERRORS.get(code, 'see cudaError_t')}; M={shape.M}, N={shape.N}, "
                f"K={shape.K}"
            )
        return rows, explain(raw, self._line_of)

    def _launch(
        self, matrices: Sequence[np.ndarray], shape: Shape, traced: bool, threads: int
    ) -> int:
        runtime = self._runtime
        buffers = [self._copy_in(matrix) for matrix in matrices]
        problem = (shape.M, shape.N, shape.K, shape.alpha, shape.beta)
        runtime.begin(ctypes.c_void_p(self._handle), int(traced), threads)
        code = self._call(GemmArgs(*buffers, *problem))
        result = matrices[2]
        ctypes.memmove(result.ctypes.data, buffers[2], result.nbytes)
        return code

    def _copy_in(self, matrix: np.ndarray) -> int:
        buffer = self._runtime.allocate(ctypes.c_size_t(matrix.nbytes))
        if buffer is None:
            raise LaunchError(
                f"{self.name}: the simulator's 2 GiB of global memory cannot hold these matrices; "
                "use smaller ones"
            )
        ctypes.memmove(buffer, matrix.ctypes.data, matrix.nbytes)
        return buffer

    def _call(self, args: GemmArgs) -> int:
        """The launcher, on a thread of its own, so that Ctrl-C is seen while it runs."""
        codes: list[int] = []
        thread = threading.Thread(target=lambda: codes.append(self._entry(ctypes.byref(args))))
        thread.start()
        try:
            thread.join()
        except KeyboardInterrupt:
            self._runtime.cancel()
            while thread.is_alive():  # a second Ctrl-C must not free what the kernel still uses
                with suppress(KeyboardInterrupt):
                    thread.join()
            raise
        return codes[0]

    def _register(self) -> int:
        table = self._built.table
        static = sum(array.bytes for array in table.static_arrays)
        if static > MAX_STATIC_SHARED:
            raise BuildError(
                f"{self.name}: {static} bytes of static __shared__ arrays, at most "
                f"{MAX_STATIC_SHARED} are allowed; use smaller tiles or dynamic shared memory"
            )
        handle = self._runtime.module(
            ctypes.cast(self._entry, ctypes.c_void_p),
            *(_integers(table.starts), _integers(table.sites), len(table.starts)),
            _integers([n for a in table.static_arrays for n in (a.offset, a.bytes)]),
            len(table.static_arrays),
            ctypes.c_int64(table.dynamic_offset),
        )
        if handle is None:
            raise LaunchError(f"{self.name}: its library is not where the dynamic linker put it")
        return handle

    def _line_of(self, pc: int) -> tuple[str, int, str] | None:
        """(file, line, text) of the kernel line that a program counter belongs to."""
        frame = self._built.table.locate(pc, self._built.source, build.INCLUDE)
        if frame is None:
            return None
        file, line, _ = frame
        own = file == str(self._built.source)
        text = self._source[line - 1].strip() if own and line <= len(self._source) else ""
        return build.display_name(file), line, text


@lru_cache(maxsize=64)
def open_module(name: str, built: build.KernelLibrary, runtime: build.Runtime) -> SimModule:
    """The module of a compiled kernel; one and the same for the same library."""
    return SimModule(name, built, runtime)


def _integers(values: Sequence[int]) -> ctypes.Array:
    return (ctypes.c_uint32 * len(values))(*values)


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _check_matrix(name: str, matrix: np.ndarray) -> None:
    if not isinstance(matrix, np.ndarray):
        raise ArgumentError(f"{name}: got {type(matrix).__name__}, expected a NumPy array")
    if not matrix.flags.c_contiguous:
        raise ArgumentError(f"{name}: is not contiguous; use numpy.ascontiguousarray({name})")
    if name == "C" and not matrix.flags.writeable:
        raise ArgumentError("C: is read-only, and the kernel writes its result there; use C.copy()")
