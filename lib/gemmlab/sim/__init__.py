"""Kernels without a GPU: their CUDA source runs on this machine's processor, and is counted.

Every CUDA thread is a fiber, every block runs on one OS thread, and the compiler reports every load
and store. What is modelled: values, barriers, warp collectives, asynchronous copies, the copy
engine, tensor cores, clusters, shared-memory wavefronts, global sectors, races. What is not: time,
caches, occupancy, registers, and the order in which a tensor core adds within an instruction. What
PTX leaves open is done as late as it allows, so that a missing wait shows.

What is not seen, because nothing reports it:
- races in global memory, between blocks or within one;
- a pointer that walks from one __shared__ array straight into the next (an index out of an array
  is seen, and so is a pointer that leaves all arrays);
- memcpy of more than 16 bytes, and __device__ variables: executed, not counted;
- the wavefronts and sectors of atomics, the accesses to other blocks' shared memory, and the
  wavefronts of the copy engine: checked, not counted;
- barriers of a cluster in a part of a warp, or two arrivals without a wait between them;
- TMA boxes at negative coordinates: filled with zeros here, and an illegal instruction on the H200
  in the one case that was tried, for a reason not yet known.
An untraced run (`launch`) checks only what costs nothing: deadlock, index bounds, unmapped memory,
the operands of barriers, copies and tensor cores.
A loop without end is given up after a while, and a run that would take minutes has to be allowed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .. import registry
from ..errors import ArgumentError
from . import build
from .findings import Finding
from .module import SimModule, open_module
from .samples import Sample
from .trace import LineCount, Trace
from .variant import write_variant

__all__ = ["Finding", "LineCount", "Sample", "SimModule", "Trace", "load", "load_source", "trace"]


def load(spec: registry.KernelSpec) -> SimModule:
    """The step, compiled for this machine at its first use.

    Raises BackendError without g++, BuildError if the source does not compile.
    """
    return _open(spec.name, spec.path, spec.launch, workspace=spec.workspace)


def load_source(
    path: str | Path,
    launch_name: str,
    *,
    changes: dict[str, str] | None = None,
    portable: bool = False,
    workspace: bool = False,
) -> SimModule:
    """Any kernel file with a function `launch_name` (const GemmArgs&, cudaStream_t) -> cudaError_t.

    changes: text to replace in a copy of it, {"STAGES = 3": "STAGES = 2"}; the file then has to
    be one of this repository. portable: switch stacks by ucontext, as on processors that have no
    switch of ours. workspace: for launch_x the file also has workspace_x(const GemmArgs&) ->
    size_t, the bytes of scratch memory that a launch needs.
    """
    file = write_variant(Path(path), changes) if changes else Path(path)
    return _open(file.stem, file, launch_name, portable, workspace)


def trace(
    kernel: str | registry.KernelSpec,
    M: int = 256,
    N: int = 256,
    K: int = 64,
    alpha: float = 1.0,
    beta: float = 0.0,
    *,
    allow_slow: bool = False,
) -> Trace:
    """What a step asks of the memory system, by source line, on small integers (always the same).

    M, N, K: sizes that the step takes, by default small ones: what a warp does is the same in all.
    allow_slow: let it take longer than a minute; without it that raises SlowRunError.
    Raises UnknownKernelError, ArgumentError for a size, BackendError, BuildError and LaunchError.
    """
    spec = registry.get(getattr(kernel, "spec", kernel))
    spec.check_sizes(M, N, K)
    config = spec.config_index(getattr(kernel, "config", ""))
    if min(M, N, K) < 1:
        raise ArgumentError(f"M, N, K: got {M}, {N}, {K}; a trace needs sizes above 0")
    module = load(spec)
    module.check_memory([4 * M * K, 4 * K * N, 4 * M * N])
    A, B, C = integer_matrices(M, N, K)
    return module.trace(A, B, C, M, N, K, alpha, beta, config=config, allow_slow=allow_slow)


def integer_matrices(M: int, N: int, K: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """A, B and C of small integers as float32: sums of their products are exact in any order."""
    random = np.random.default_rng(seed)
    shapes = ((M, K), (K, N), (M, N))
    return tuple(random.integers(-4, 5, shape).astype(np.float32) for shape in shapes)


def _open(
    name: str, path: Path, launch: str, portable: bool = False, workspace: bool = False
) -> SimModule:
    built = build.kernel(path, launch, portable, workspace)
    return open_module(name, built, build.runtime(portable))
