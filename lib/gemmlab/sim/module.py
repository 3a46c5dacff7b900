"""Run a compiled kernel: copy the matrices in, launch, copy the result out, read the counters."""

from __future__ import annotations

import ctypes
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from ..core.arguments import factor, flag, integer, size
from ..core.errors import ArgumentError, BuildError, LaunchError, RefusedError
from ..core.memory import check_memory
from ..steps import refusal
from . import build
from .abi import GemmArgs, WorkspaceCall
from .counts import count_lines
from .findings import Finding, explain
from .journal import Journal, with_lines
from .library import RUNTIMES, Runtime
from .limits import Bar, Limits, Watch, budget_seconds
from .lines import LineTable
from .places import GLOBAL, Place, array_places, matrix_places, plain_name
from .samples import Seen
from .trace import Findings, Launched, Trace, kept_samples

MAX_STATIC_SHARED = 48 * 1024
# SMs of the device that the simulator stands in for (include/gemmlab_sim/device.h).
SMS = 132
_AROUND = 2**18  # bytes that runtime/memory/arena.h leaves free around a buffer, at most
ALLOCATED = 256  # what the addresses of cudaMalloc are multiples of, at least
MALLOCATED = 16  # and those of this machine's memory


@dataclass(frozen=True)
class Shape:
    """One problem: C = alpha * A @ B + beta * C, the step's configuration, -1 if it chooses, and
    GemmArgs.layout."""

    M: int
    N: int
    K: int
    alpha: float
    beta: float
    config: int
    layout: int = 0


@dataclass(frozen=True)
class How:
    """How to run it: counted or not, on how many OS threads, and whether it may take long.

    sms: how many SMs the launcher is told of. journal: EVENTS to keep what a block does, event by
    event, VALUES with what it reads and writes. order: a seed, by which blocks are dispatched and,
    if they may communicate, take turns: 0 by number, 1 from the last one, others are permutations.
    clusters: how many of each launch are run, the first ones, 0: all.
    """

    traced: bool
    threads: int
    allow_slow: bool
    sms: int = SMS
    order: int = 0
    journal: int = 0
    clusters: int = 0


class SimModule(ABC):
    """A kernel file, compiled for this machine's processor; `compile_step` makes it.

    name: as it is shown. built: the compiled kernel. runtime: the simulator's library. Raises
    BuildError for more static shared memory than a block may have.
    """

    def __init__(self, name: str, built: build.KernelLibrary, runtime: Path) -> None:
        self.name = name
        self._built = built
        self._runtime = RUNTIMES.at(runtime)
        self._source = built.source.read_text().splitlines()
        _check_static_shared(name, built.table)
        self._arrays = array_places(built.table.arrays, self._source)
        self._lines: dict[int, tuple[str, int, str] | None] = {}  # what `_line_of` has found

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
        config: int = -1,
        layout: int = 0,
        threads: int | None = None,
        allow_slow: bool = False,
        order: int = 0,
    ) -> None:
        """Run the kernel without counting. C is read and written.

        A, B, C: contiguous NumPy arrays. Of a view the kernel gets an address as far behind a
        multiple of 256 as the view begins behind the memory that it shows. config and layout: of
        GemmArgs; a matrix that is turned is given as it lies in memory.
        threads: OS threads to use, by default one a processor. allow_slow: let it take longer than
        a minute. order: a seed, by which blocks are dispatched and, if they may communicate, take
        turns; 0: by their numbers, 1: from the last one.
        Raises LaunchError if the launch is refused, would take too long, or the kernel did not run
        to its end (out of bounds, deadlock, ...).
        """
        how = How(False, _workers(threads), allow_slow, order=order)
        trace = self._checked((A, B, C), Shape(M, N, K, alpha, beta, config, layout), how)
        print(trace.output, end="")
        fatal = [finding for finding in trace.findings if finding.fatal]
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
        config: int = -1,
        layout: int = 0,
        threads: int | None = None,
        allow_slow: bool = False,
        sms: int = SMS,
        order: int = 0,
        journal: int = 0,
        clusters: int = 0,
    ) -> Trace:
        """Run the kernel and count its memory requests by source line; look for races and the like.

        Arguments as those of `launch`. sms: how many SMs the launcher is told of. journal: for
        `Trace.events`, EVENTS to keep what block 0 does, VALUES with what it reads and writes.
        clusters: how many of each launch are run, the first ones; 0: all. What is wrong with the
        kernel is in the trace's `findings`, not raised.
        """
        how = How(True, _workers(threads), allow_slow, sms, order, journal, clusters)
        return self._checked((A, B, C), Shape(M, N, K, alpha, beta, config, layout), how)

    def check_memory(self, sizes: Sequence[int]) -> None:
        """Refuse matrices A, B and C of `sizes` bytes if they do not fit. Raises ArgumentError."""
        available = self._runtime.memory - len(sizes) * _AROUND
        there_is = "the simulator has {} of global memory"
        check_memory(self.name, list(zip("ABC", sizes, strict=True)), available, there_is)

    def _checked(self, matrices: Sequence[np.ndarray], shape: Shape, how: How) -> Trace:
        for name, matrix in zip("ABC", matrices, strict=True):
            _check_matrix(name, matrix)
        self.check_memory([matrix.nbytes for matrix in matrices])
        budget_seconds()  # refuses a wrong one
        return self.run(matrices, _checked_shape(shape), _checked_how(how))

    @abstractmethod
    def run(self, matrices: Sequence[np.ndarray], shape: Shape, how: How) -> Trace:
        """One launch with arguments that have been checked. `lines` is empty if not traced."""

    def _trace(self, shape: Shape, findings: Iterable[Finding], seen: Seen, output: str) -> Trace:
        return Trace(
            kernel=self.name,
            M=shape.M,
            N=shape.N,
            K=shape.K,
            lines=count_lines(seen.counts, self._line_of),
            findings=Findings(findings),
            samples=kept_samples(seen, self._line_of),
            places=tuple(seen.places),
            file=build.display_name(self._built.source),
            source=tuple(self._source),
            launches=tuple(
                Launched(row.blocks, row.shared_bytes, row.threads, row.kernel, row.run)
                for row in seen.launches
            ),
            output=output,
            journal=with_lines(seen.journal, self._line_of) if seen.journal else Journal(),
        )

    def _line_of(self, pc: int) -> tuple[str, int, str] | None:
        """(file, line, text) of the kernel line that a program counter belongs to."""
        if pc not in self._lines:
            self._lines[pc] = self._found_line(pc)
        return self._lines[pc]

    def _found_line(self, pc: int) -> tuple[str, int, str] | None:
        built = self._built
        frame = built.table.locate(pc, {str(built.source)}, build.INCLUDE, built.helpers)
        if frame is None:
            return None
        file, line, _ = frame
        own = file == str(built.source)
        text = self._source[line - 1].strip() if own and line <= len(self._source) else ""
        return build.display_name(file), line, text


class LoadedModule(SimModule):
    """A kernel file whose library is loaded into this process, at its first run.

    show, stuck: of limits.Watch.
    """

    def __init__(
        self,
        name: str,
        built: build.KernelLibrary,
        runtime: Path,
        show: Callable[[int, int], None] | None = None,
        stuck: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(name, built, runtime)
        self._show, self._stuck = show, stuck
        self._handle: int | None = None

    def run(self, matrices: Sequence[np.ndarray], shape: Shape, how: How) -> Trace:
        """One launch in this process, of which there is one at a time."""
        args = GemmArgs(None, None, None, *astuple(shape)[:-2], None, shape.config, shape.layout)
        runtime = self._runtime
        with runtime.lock:
            try:
                if self._handle is None and not self._load(how):
                    return self._trace(shape, self._explained(), Seen((), (), ()), runtime.output())
                code, places = self._launch(matrices, args, how)
                kept = runtime.journal() if how.journal else None
                seen = Seen(runtime.counts(), runtime.samples(), places, runtime.launches(), kept)
                findings, output = self._explained(), runtime.output()
                error = runtime.error(code)
                words = refusal.take(self._library) if code else ""
            finally:
                runtime.free_all()
        if error:
            kind = RefusedError if code in RefusedError.CODES else LaunchError
            why = "; ".join(filter(None, (error, words)))
            raise kind(f"{self.name}: {why}; M={shape.M}, N={shape.N}, K={shape.K}")
        return self._trace(shape, findings, seen, output)

    def _explained(self) -> list[Finding]:
        return explain(self._runtime.findings(), self._line_of)

    def _watched(self, call: Callable[[], None], how: How) -> None:
        """Call what runs the kernel's own code. Raises SlowRunError."""
        limits = Limits(how.threads, how.allow_slow, budget_seconds())
        bar = Bar(self.name)
        try:
            Watch(self.name, self._runtime, limits, self._show or bar, self._stuck).run(call)
        finally:
            bar.close()

    def _load(self, how: How) -> bool:
        """Load the library. False if one of its initialisers has failed, which is a finding."""
        runtime, path = self._runtime, os.fsencode(self._built.library)
        self._watched(lambda: runtime.load(path, budget_seconds()), how)
        if runtime.findings():
            return False
        self._library = library = ctypes.CDLL(str(self._built.library))
        self._entry = library.gemmlab_sim_entry
        self._workspace = library.gemmlab_sim_workspace if self._built.workspace else None
        self._handle = self._register()
        return True

    def _launch(
        self, matrices: Sequence[np.ndarray], args: GemmArgs, how: How
    ) -> tuple[int, tuple[Place, ...]]:
        """The launcher's result, and what lies where."""
        runtime = self._runtime
        args.A, args.B, args.C = self._copy_in(matrices)
        starts = [runtime.offset(buffer) for buffer in (args.A, args.B, args.C)]
        places = (*matrix_places(matrices, starts), *self._arrays)
        begin = (how.traced + how.journal, how.threads, budget_seconds(), how.sms, how.order)
        runtime.begin(self._handle, *begin)
        runtime.limit(how.clusters)
        scratch = self._allocate_workspace(args)
        if scratch is None:
            return 0, places  # its function has failed, which is a finding
        codes: list[int] = []
        self._watched(lambda: codes.append(runtime.call(self._entry, ctypes.byref(args))), how)
        result = matrices[2]
        ctypes.memmove(result.ctypes.data, args.C, result.nbytes)
        return codes[0], (*places, *scratch)

    def _allocate_workspace(self, args: GemmArgs) -> tuple[Place, ...] | None:
        """Set args.workspace to scratch memory in which every float is NaN and every int -1.

        Returns where it lies, nothing if the step needs none, None if its function has failed.
        """
        if self._workspace is None:
            return ()
        unknown = ctypes.c_size_t(-1).value
        call = WorkspaceCall(args, unknown)
        self._runtime.call(self._workspace, ctypes.byref(call))
        if call.bytes == unknown:
            return None
        if call.bytes == 0:
            return ()
        args.workspace = self._runtime.allocate(call.bytes, 0)
        if args.workspace is None:
            raise LaunchError(
                f"{self.name}: its workspace takes {call.bytes} bytes, and there is no memory left"
            )
        ctypes.memset(args.workspace, 0xFF, call.bytes)
        start = self._runtime.offset(args.workspace)
        return (Place("workspace", GLOBAL, start, call.bytes),)

    def _copy_in(self, matrices: Sequence[np.ndarray]) -> list[int]:
        buffers = [self._runtime.allocate(m.nbytes, place_in_memory(m)) for m in matrices]
        if None in buffers:
            raise LaunchError(f"{self.name}: this machine has no memory left for A, B and C")
        for buffer, matrix in zip(buffers, matrices, strict=True):
            ctypes.memmove(buffer, matrix.ctypes.data, matrix.nbytes)
        return buffers

    def _register(self) -> int:
        handle = register(self._runtime, self._built.table, self._entry)
        if handle is None:
            raise LaunchError(f"{self.name}: its library is not where the dynamic linker put it")
        return handle


def register(runtime: Runtime, table: LineTable, entry: Any) -> int | None:
    """Tell the runtime of a library that is loaded and has the function `entry`."""
    arrays = table.static_arrays
    handle = runtime.module(
        ctypes.cast(entry, ctypes.c_void_p),
        _integers(table.starts),
        _integers(table.sites),
        len(table.starts),
        _integers([n for array in arrays for n in (array.offset, array.bytes)]),
        len(arrays),
        _integers([n for kernel in table.kernels for n in astuple(kernel)]),
        len(table.kernels),
        int(table.plain_order),
        ctypes.c_int64(table.dynamic_offset),
        int(table.communicates),
    )
    if handle is not None:
        names = [plain_name(array.name).encode() for array in arrays]
        runtime.array_names(handle, (ctypes.c_char_p * len(names))(*names), len(names))
    return handle


@lru_cache(maxsize=64)
def open_module(name: str, built: build.KernelLibrary, runtime: Path) -> LoadedModule:
    """The module of a compiled kernel; one and the same for the same library."""
    return LoadedModule(name, built, runtime)


def place_in_memory(matrix: np.ndarray) -> int:
    """How far a matrix begins behind a multiple of ALLOCATED bytes, where CUDA's memory begins.

    A matrix that is no view is such memory itself. A view counts from the start of the array that
    it is a view of, so that the result does not depend on where this process has found memory.
    """
    whole = matrix
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    odd = whole.ctypes.data % MALLOCATED
    return (odd + matrix.ctypes.data - whole.ctypes.data) % ALLOCATED


def _check_static_shared(name: str, table: LineTable) -> None:
    static = max((kernel.static_bytes for kernel in table.kernels), default=0)
    if static > MAX_STATIC_SHARED:
        raise BuildError(
            f"{name}: {static} bytes of static __shared__ arrays, at most {MAX_STATIC_SHARED} are "
            "allowed; use smaller tiles or dynamic shared memory"
        )


def _checked_shape(shape: Shape) -> Shape:
    """Python's numbers, as a launcher's arguments can hold them."""
    expected = "expected a whole number of 32 bits"

    def whole(name: str) -> int:
        number = getattr(shape, name)
        return int(integer(name, number, -(2**31), 2**31 - 1, allowed=expected, kind=Integral))

    alpha, beta = (factor(name, getattr(shape, name)) for name in ("alpha", "beta"))
    config, layout = whole("config"), whole("layout")
    return Shape(whole("M"), whole("N"), whole("K"), alpha, beta, config, layout)


def _checked_how(how: How) -> How:
    order = int(integer("order", how.order, 0, 2**32 - 1, kind=Integral))
    allow_slow, sms = flag("allow_slow", how.allow_slow), size("sms", how.sms)
    return replace(how, allow_slow=allow_slow, sms=sms, order=order)


def _integers(values: Sequence[int]) -> ctypes.Array:
    return (ctypes.c_uint32 * len(values))(*values)


def _workers(threads: int | None) -> int:
    """`threads`, or one a processor."""
    return len(os.sched_getaffinity(0)) if threads is None else size("threads", threads)


def _check_matrix(name: str, matrix: np.ndarray) -> None:
    if not isinstance(matrix, np.ndarray):
        raise ArgumentError(f"{name}: got {type(matrix).__name__}, expected a NumPy array")
    if not matrix.flags.c_contiguous:
        raise ArgumentError(f"{name}: is not contiguous; use numpy.ascontiguousarray({name})")
    if name == "C" and not matrix.flags.writeable:
        raise ArgumentError("C: is read-only, and the kernel writes its result there; use C.copy()")
