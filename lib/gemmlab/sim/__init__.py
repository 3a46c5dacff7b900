"""Kernels without a GPU: their CUDA source runs on the CPU, and its accesses are counted.

Every CUDA thread is a fiber, every block runs on one OS thread, and the compiler reports every load
and store. What is modelled: values, barriers, warp collectives, asynchronous copies, the copy
engine, tensor cores, clusters, shared-memory wavefronts, global sectors, races in shared and global
memory. What is not: time, caches, occupancy, registers, and the order in which a tensor core adds
within an instruction. What PTX leaves open is done as late as it allows, so that a missing wait
shows.
Nor is memory better than it has to be: a matrix that is a view begins where the caller's does, a
__shared__ array is aligned as declared and no better, and what nobody has written is NaN. In a
reader's kernel a local variable without a value holds a pattern that shows in C (unset.py).

Blocks that may communicate (their kernel has atomics, fences or volatile accesses) take turns: up
to 132 are resident, and a loop that polls global memory lets others run. Between blocks only an
atomic with __threadfence() on both sides orders anything. A race is found if nothing orders the two
accesses in this run, whatever their values; other orders of blocks (`order`) may show others.

What is not seen, because nothing reports it:
- races between the copy engine's accesses to global memory and others, as far as their end counts:
  they stand for accesses of the thread that starts them, when it does;
- a pointer that walks from one __shared__ array straight into the next (an index out of an array
  is seen, and so is a pointer that leaves all arrays);
- memcpy of more than 16 bytes, and __device__ and __constant__ variables: executed, not counted;
- the wavefronts and sectors of atomics, the accesses to other blocks' shared memory, and the
  wavefronts of the copy engine: checked, not counted;
- barriers of a cluster in a part of a warp, or two arrivals without a wait between them.
An untraced run (`launch`) checks only what costs nothing: deadlock, index bounds, unmapped memory,
the operands of barriers, copies and tensor cores.
A loop without end is given up after a while, and a run that would take minutes has to be allowed.
The steps' own files run in this process, all other kernels in one of their own (apart.py), and so
does a whole CUDA program (`program`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core import arguments, machine
from ..core import precision as precisions
from ..core.errors import ArgumentError, BackendError
from ..core.layout import LAYOUTS, PLAIN
from ..core.layout import layout as layout_of
from ..core.memory import check_memory
from ..core.paths import repository_root
from ..core.precision import Precision
from ..steps import patch, registry
from ..steps.program import Program
from ..steps.spec import KernelSpec
from .apart import ApartModule
from .counts import LineCount
from .findings import Finding
from .journal import EVENTS, VALUES
from .module import SimModule, open_module

# A verb has the name of the package that it stands in: `sim.program` means the verb.
from .program import LoadedKernel, ProgramReport, load, program
from .samples import Sample
from .source import SimSource, source_of
from .trace import Findings, Trace
from .unset import looks_unset, unset_variable

__all__ = [
    "Finding",
    "LineCount",
    "LoadedKernel",
    "ProgramReport",
    "Sample",
    "SimModule",
    "Trace",
    "compile_source",
    "compile_step",
    "integer_matrices",
    "load",
    "program",
    "trace",
]

_FUNCTION = re.compile(r"[A-Za-z_][\w:]*(<.*>)?")  # perhaps with a template's arguments


def compile_step(
    kernel: str | KernelSpec | Program, precision: str = "", layout: str = PLAIN
) -> SimModule:
    """The step in a precision (its first, if not given), compiled for this machine at first use.

    kernel: a step, a variant or a spec. precision: such as "fp16". layout: such as "nt".
    Raises BackendError without g++, BuildError if the source does not compile, ArgumentError for a
    precision or a layout that the step does not have.
    """
    step = registry.program(kernel)
    return _open(source_of(step, precision, layout), apart=not step.is_own_file)


def compile_source(
    path: str | Path,
    launch_name: str,
    *,
    changes: dict[str, str] | None = None,
    portable: bool = False,
    workspace: bool = False,
    apart: bool = False,
) -> SimModule:
    """Any kernel file with a function `launch_name` (const GemmArgs&, cudaStream_t) -> cudaError_t.

    path: absolute, or from the repository's root, "tests/sim/fixtures/gemm_cp_async.cu". changes:
    text to replace in a copy of it, {"STAGES = 3": "STAGES = 2"}; the file then has to be one of
    this repository. portable: switch stacks by ucontext, as on processors for which the simulator
    has no switch of its own. workspace: for launch_x the file also has workspace_x(const GemmArgs&)
    -> size_t, the bytes of scratch memory that a launch needs. apart: run it in a process of its
    own, as `compile_step` does with all but the steps' own files.
    Raises ArgumentError for a file that is not there, an impossible name, and text that is not in
    the file, BackendError without g++, BuildError if the source does not compile.
    """
    file = repository_root() / arguments.file_path("path", path)  # an absolute one stays as it is
    if not file.is_file():
        raise ArgumentError(f"path: there is no file {file}; name a kernel's file")
    if not (isinstance(launch_name, str) and _FUNCTION.fullmatch(launch_name)):
        raise ArgumentError(
            f"launch_name: got {arguments.brief(launch_name)}, expected the name of a function in "
            f"{file.name}, such as 'launch_sgemm_01_naive'"
        )
    if changes:
        text = patch.replace(file.read_text(encoding="utf-8"), changes, file.name)
        file = patch.keep(text, file.resolve().relative_to(repository_root()))
    source = SimSource(file.stem, file, launch_name, portable, workspace)
    return _open(source, apart)


def trace(
    kernel: str | KernelSpec | Program,
    M: int = 256,
    N: int = 256,
    K: int = 64,
    alpha: float = 1.0,
    beta: float = 0.0,
    *,
    precision: str = "",
    layout: str = PLAIN,
    allow_slow: bool = False,
    order: int = 0,
    journal: bool = False,
) -> Trace:
    """What a step asks of the memory system, by source line, on small integers (always the same).

    kernel: a step, a variant or a spec. alpha, beta: of C = alpha * A @ B + beta * C.
    M, N, K: sizes that the step takes, by default small ones: what a warp does is the same in all.
    precision: one that the step is compiled for; its first, if not given. layout: "nt" for B as
    (N, K), "tn" for A as (K, M), "tt" for both. allow_slow: take longer than a minute instead of
    raising SlowRunError. order: a seed, by which blocks take turns. journal: keep block 0's events.
    Raises UnknownKernelError, ArgumentError, BackendError, BuildError and LaunchError.
    """
    spec = (step := registry.program(kernel)).spec
    spec.check_sizes(*arguments.shape((M, N, K)))
    alpha, beta = arguments.factor("alpha", alpha), arguments.factor("beta", beta)
    spec.check_factors(alpha, beta)
    how: dict[str, Any] = {"allow_slow": allow_slow, "journal": journal}
    for name, value in how.items():
        arguments.flag(name, value)
    how["config"] = spec.config_index(getattr(kernel, "config", ""))
    module = compile_step(step, precision, layout_of(layout))
    how |= {"layout": LAYOUTS.index(layout), "order": order, "journal": VALUES * journal}
    types = precisions.precision(precision or spec.precisions[0])
    module.check_memory([(given := types.bytes[0]) * M * K, given * K * N, types.bytes[1] * M * N])
    *both, C = integer_matrices(M, N, K, types=types)
    A, B = (_as_it_lies(matrix, letter) for matrix, letter in zip(both, layout, strict=True))
    return _traced(step, module, (A, B, C, M, N, K, alpha, beta), how, precision, layout)


def _traced(
    step: Program,
    module: SimModule,
    problem: tuple[Any, ...],
    how: dict[str, Any],
    precision: str,
    layout: str,
) -> Trace:
    """A run, and if its C shows it, what was read before it had a value.

    problem: the arguments of `SimModule.trace` by their places. how: those by name.
    """
    A, B, C, *rest = problem
    made = C.copy()
    seen = module.trace(A, B, made, *rest, **how)
    print(seen.output, end="")
    types = precisions.precision(precision or step.spec.precisions[0])
    if not looks_unset(made, types.made):
        return seen

    def again(other: SimModule) -> bytes:
        bits = C.copy()
        other.trace(A, B, bits, *rest, **{**how, "journal": 0})
        return bits.tobytes()

    found = unset_variable(step, made.tobytes(), again, precision, layout)
    return replace(seen, findings=Findings((*seen.findings, found))) if found else seen


def events(kernel: str | KernelSpec | Program, M: int, N: int, K: int) -> Trace:
    """A trace with block 0's events, but not what they read and write: that is most of a journal.

    Raises as `trace` does.
    """
    spec = (step := registry.program(kernel)).spec
    spec.check_sizes(*arguments.shape((M, N, K)))
    module = compile_step(step)
    types = precisions.precision(spec.precisions[0])
    config = spec.config_index(getattr(kernel, "config", ""))
    A, B, C = integer_matrices(M, N, K, types=types)
    return module.trace(A, B, C, M, N, K, config=config, journal=EVENTS)


def _as_it_lies(matrix: np.ndarray, letter: str) -> np.ndarray:
    return np.ascontiguousarray(matrix.T) if letter == "t" else matrix


def integer_matrices(
    M: int, N: int, K: int, seed: int = 0, types: Precision = precisions.PRECISIONS["fp32"]
) -> tuple[np.ndarray, ...]:
    """A, B and C of small integers: sums of their products are exact in any order.

    M, N, K: A is (M, K), B (K, N), C (M, N), with integers from -4 to 4. seed: of the random
    numbers. types: a value of `registry.PRECISIONS`; elements of bfloat16, which NumPy does not
    have, are given as their 16 bits. Raises ArgumentError for impossible sizes and seeds.
    """
    M, N, K = arguments.shape((M, N, K), low=(0, 0, 0))
    arguments.instance("types", types, Precision, "one of lab.registry.PRECISIONS.values()")
    # Drawn as 64-bit integers, and then turned into float32.
    wanted = [("A", 12 * M * K), ("B", 12 * K * N), ("C", 12 * M * N)]
    check_memory("M, N, K", wanted)
    random = np.random.default_rng(arguments.seed(seed))
    shapes = ((M, K), (K, N), (M, N))
    A, B, C = (random.integers(-4, 5, shape).astype(np.float32) for shape in shapes)
    return stored(A, types.given), stored(B, types.given), stored(C, types.made)


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    """float32 values that are exact in `dtype`, as a kernel finds them in memory."""
    if dtype == "bfloat16":
        return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(dtype)


def _open(source: SimSource, apart: bool) -> SimModule:
    if elsewhere := machine.elsewhere():
        raise BackendError(elsewhere)
    return (
        ApartModule(source)
        if apart
        else open_module(source.name, source.kernel(), source.runtime())
    )
