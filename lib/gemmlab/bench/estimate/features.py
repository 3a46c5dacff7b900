"""What a kernel asks for one multiply-add: counted in the simulator, registers from ptxas."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ... import measurements, sim
from ...core.cuda_tools import find_nvcc
from ...core.errors import ArgumentError, BackendError
from ...core.precision import precision
from ...gpu import ptxas
from ...layouts.tiling.occupancy import occupancy
from ...run.kernel import Kernel
from ...sim.counts import LineCount
from ...sim.trace import Trace
from ...steps.cuda_text import without_comments
from ...steps.text import included_files
from .model import GPU, Work

# K of the two runs whose difference is the main loop, in tiles: more than any step has stages.
TILES_K = (8, 16)
SHARED = ("ld.shared", "st.shared", "ldmatrix", "stmatrix", "cp.async.shared")
LOADED = ("ld.global", "cp.async.global", "tma.load")
_TENSOR = {"wgmma": r"\bwgmma_m64", "mma": r"\bmma_m16n8|\bwmma::mma_sync|\bmma_sync\("}


def work_of(kernel: Kernel, registers: int | None = None, shared_bytes: int | None = None) -> Work:
    """Trace a kernel at two lengths of K and take the difference: what its main loop asks for.

    registers: of a thread; None: as ptxas says, or as of the step that the kernel is like.
    shared_bytes: of a block; None: as it was launched. Raises what `lab.trace` raises, and
    ArgumentError for a kernel whose tile does not say how its blocks share C.
    """
    spec = kernel.spec
    M, N, K = map(max, spec.tile, spec.multiple_of, (64, 64, 16))
    short, long = (_traced(kernel, M, N, K * tiles) for tiles in TILES_K)
    added = M * N * K * (TILES_K[1] - TILES_K[0])
    launched = max(short.launches, key=lambda one: one.shared_bytes)
    taken = launched.shared_bytes if shared_bytes is None else shared_bytes
    per = _difference(short, long, added)
    own = registers or registers_of(kernel)
    held = occupancy(spec.threads, own, taken, GPU).blocks
    if held == 0:
        raise ArgumentError(
            f"kernel: a block of {spec.threads} threads with {own} registers each and {taken} "
            f"bytes of shared memory does not fit on an SM of the {GPU.name}"
        )
    given, made = precision(spec.precisions[0]).bytes
    BM, BN, BK = spec.tile
    return Work(
        tile=spec.tile,
        threads=spec.threads,
        resident=min(held, spec.blocks_per_sm) if spec.persistent else held,
        tensor=_tensor(kernel),
        overlapped=taken > 1.9 * (BM + BN) * BK * given,
        even=bool(spec.cuts),
        given_bytes=given,
        c_bytes=made,
        **per,
    )


def registers_of(kernel: Kernel) -> int:
    """Registers of a thread: as ptxas says; without nvcc, as it was recorded for its step."""
    if find_nvcc():
        return ptxas.resources(kernel, precision=kernel.spec.precisions[0]).registers
    family = kernel.spec.family
    recorded = measurements.load(family=family).section("resources")["kernels"]
    for name in (kernel.name, kernel.parent):
        if name in recorded:
            return int(recorded[name]["registers"])
    raise BackendError(
        f"registers: nvcc, which would tell how many {kernel.title} takes, is not here, and it is "
        "like no recorded step; pass registers, such as registers=128"
    )


def l1_cycles(line: LineCount) -> float:
    """Cycles of L1 for the loads of a line: 64 bytes each, or a cache line where lanes scatter."""
    if line.op != "ld.global":
        return 0.0
    scattered = line.sectors > line.sectors_min
    return max(float(line.requests), line.sectors if scattered else line.sectors / 2)


def _traced(kernel: Kernel, M: int, N: int, K: int) -> Trace:
    found = sim.trace(kernel, M, N, K)
    if not found.launches:
        raise ArgumentError(f"kernel: {kernel.title} has launched nothing at {M}x{N}x{K}")
    return found


def _difference(short: Trace, long: Trace, added: int) -> dict[str, float]:
    """What the longer run asks for beyond the shorter one, for each multiply-add."""
    counts = {
        "wavefronts": lambda one: (
            _sum(one.lines, SHARED, "wavefronts") + _sum(one.lines, ("tma.load",), "sectors") / 4
        ),  # 128 bytes a wavefront
        "l1_cycles": lambda one: sum(map(l1_cycles, one.lines)),
        "requests": lambda one: _sum(one.lines, (*SHARED, "ld.global"), "requests"),
        "sectors": lambda one: _sum(one.lines, LOADED, "sectors"),
    }
    return {name: (count(long) - count(short)) / added for name, count in counts.items()}


def _sum(lines: Iterable[LineCount], ops: tuple[str, ...], what: str) -> int:
    return sum(getattr(line, what) for line in lines if line.op in ops)


def _tensor(kernel: Kernel) -> str:
    """The instruction by which it multiplies on tensor cores, "" if it does on CUDA cores."""
    files = included_files(kernel.source.path)
    own = [path for path in files if path.parent.name != "ptx"]  # which define what others call
    text = "\n".join(without_comments(path.read_text()) for path in own)
    return next((name for name, pattern in _TENSOR.items() if re.search(pattern, text)), "")
