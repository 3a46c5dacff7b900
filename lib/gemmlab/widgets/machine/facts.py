"""What a step sends over which way of the machine, counted from its spec and its source.

A k tile of a block is BM x BK of A and BK x BN of B. How it gets into shared memory and which pipe
multiplies is read off what the kernel's file includes; the file names the warp's tile, WM, WN.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache

from ...core.precision import precision
from ...layouts.pipeline.model import Pipeline, simulate
from ...steps import registry
from ...steps.spec import KernelSpec
from ...steps.text import included_files

FMA_RATE = 128  # multiply-adds in a cycle: 32 lanes in each of four partitions
# wgmma reaches the 2,048 of the tensor cores, mma.sync two thirds of them: chapter on ceilings.
WGMMA_RATE = 2048
MMA_RATE = WGMMA_RATE * 2 // 3
COPY_RATE = 128  # bytes in a cycle into shared memory: a wavefront
LATENCY = 800  # cycles from a request to its data; a round number, not measured
TILES = 6

_MODEL = (
    "Times are cycles of a model of one block on one SM, not of a GPU, as in the timelines of the "
    f"pipeline chapters: {COPY_RATE} bytes a cycle into shared memory, {LATENCY} cycles of latency "
    f"(a round number), and {FMA_RATE} multiply-adds a cycle, or "
)

# The ways that a step is about, of geometry.WIDE["ways"].
_ABOUT: dict[str, tuple[str, ...]] = {
    "sgemm_01 sgemm_02 hgemm_01": ("l2-l1", "l1-registers"),
    "sgemm_03 hgemm_02": ("l1-registers", "registers-shared"),
    "sgemm_03b sgemm_03c sgemm_04 sgemm_15": ("shared-registers", "registers-pipes"),
    "sgemm_05 sgemm_06 sgemm_09 sgemm_10 sgemm_11 sgemm_12 sgemm_13": ("shared-registers",),
    "hgemm_03 hgemm_04 hgemm_05 hgemm_11 hgemm_12": ("shared-registers",),
    "sgemm_07 hgemm_15 hgemm_16 tma_03": ("C",),
    "sgemm_08": ("l1-registers", "registers-shared"),
    "sgemm_14 sgemm_16 hgemm_07 hgemm_13 hgemm_14": ("l1-shared",),
    "sgemm_17 hgemm_08 hgemm_09 hgemm_17": ("l1-shared", "registers-pipes"),
    "sgemm_18": ("dram-l2", "l2-l1"),
    "sgemm_19 hgemm_06 hgemm_19 tma_05": ("registers-pipes",),
    "sgemm_20 hgemm_20": ("l2-l1", "l1-shared"),
    "hgemm_10 hgemm_18": ("shared-registers", "registers-pipes"),
    "tma_01 tma_04 tma_08": ("l2-tma", "tma-shared"),
    "tma_02": ("tma-shared", "shared-registers"),
    "tma_06 tma_07": ("tma-shared", "registers-pipes"),
    "wgmma_01 wgmma_13": ("shared-tensor",),
    "wgmma_02 wgmma_03": ("tma-shared", "shared-tensor"),
    "wgmma_04 wgmma_05 wgmma_07": ("C",),
    "wgmma_06 wgmma_11": ("l2-tma", "tma-shared"),
    "wgmma_08 wgmma_10": ("dram-l2",),
    "wgmma_09": ("registers-pipes",),
    "wgmma_12 wgmma_14": ("l2-tma", "tma-shared"),
}
# Steps whose threads read both factors of every multiply-add from shared memory.
_READ_EACH = ("sgemm_09_thread_coarsening",)


@dataclass(frozen=True)
class Facts:
    """One step on the machine, for one k tile of one block; bytes, and multiply-adds.

    route: how a tile arrives, "direct" (into registers, without shared memory), "registers",
    "cp.async", "tma" or "wgmma" (as tma, and the tensor cores read shared memory themselves).
    tensor: whether the tensor cores multiply. fetched: from L2, a block's own share where a cluster
    copies together ("direct": what the threads ask for, much of which L1 has); held: in a buffer of
    shared memory; read: from shared memory, 0 without. stored: of C, at the end of the tile of C.
    """

    step: str
    route: str
    tensor: bool
    fetched: int
    held: int
    read: int
    fmas: int
    stored: int
    buffers: int

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways that a k tile takes, in its order."""
        into = {
            "direct": ("l2-l1", "l1-registers"),
            "registers": ("l2-l1", "l1-registers", "registers-shared", "shared-registers"),
            "cp.async": ("l2-l1", "l1-shared", "shared-registers"),
            "tma": ("l2-tma", "tma-shared", "shared-registers"),
            "wgmma": ("l2-tma", "tma-shared", "shared-tensor"),
        }
        return ("dram-l2", *into[self.route], "registers-pipes")

    @property
    def home(self) -> tuple[str, ...]:
        """The ways that C takes, in its order; those that are taken backwards begin with "-"."""
        if "tma_03" <= self.step < "u" or self.step >= "wgmma_04":
            return ("registers-shared", "-tma-shared", "-l2-tma", "-dram-l2")
        # From hgemm_16 on a warp puts its rows together in shared memory before it stores them.
        staged = self.step.startswith("tma_") or "hgemm_16" <= self.step < "i"
        between = ("registers-shared", "shared-registers") if staged else ()
        return (*between, "-l1-registers", "-l2-l1", "-dram-l2")

    @property
    def about(self) -> tuple[str, ...]:
        """The ways that the step is about."""
        prefix = "_".join(self.step.split("_")[:2])
        found = next((ways for steps, ways in _ABOUT.items() if prefix in steps.split()), ())
        return tuple(way.lstrip("-") for way in self.home) if found == ("C",) else found

    def events(self) -> list[tuple[str, int, int, int]]:
        """(kind, tile, begin, end) in model time: load, store, multiply; at the end C's "write"."""
        run, found = self.run(), []
        for step in run.steps:
            if step.kind == "issue":
                found.append(("load", step.tile, step.begin, step.end + LATENCY))
            elif step.kind == "products":
                found.append(("multiply", step.tile, step.begin, step.end))
            elif self.route == "registers":
                found.append(("store", step.tile, step.begin, step.end))
        writing = max(LATENCY, math.ceil(self.stored / COPY_RATE))
        return [*found, ("write", 0, run.total, run.total + writing)]

    @property
    def rate(self) -> int:
        """Multiply-adds in a cycle of the pipe that multiplies."""
        tensor = WGMMA_RATE if self.route == "wgmma" else MMA_RATE
        return tensor if self.tensor else FMA_RATE

    @property
    def model(self) -> str:
        """What the times are."""
        name = "wgmma" if self.route == "wgmma" else "mma.sync"
        return f"{_MODEL}{WGMMA_RATE if self.route == 'wgmma' else MMA_RATE:,} with {name}."

    def run(self) -> Pipeline:
        """The first k tiles of a block in the model of `layouts.pipeline`."""
        scheme = (
            "single" if self.buffers < 2 else "double" if self.route == "registers" else "async"
        )
        return simulate(
            scheme,
            stages=min(6, max(2, self.buffers)),
            issue=math.ceil(self.fetched / COPY_RATE),
            latency=LATENCY,
            products=math.ceil(self.fmas / self.rate),
            tiles=TILES,
        )


@cache
def facts(step: str) -> Facts:
    """The facts of a step of the course."""
    spec = registry.get(step)
    BM, BN, BK = spec.tile
    given, made = precision(spec.precisions[0]).bytes
    includes = {path.name for path in included_files(spec.path)}
    tensor = "mma.cuh" in includes or "<mma.h>" in spec.path.read_text(encoding="utf-8")
    tensor = tensor or "wgmma.cuh" in includes
    route = (
        "direct" if not spec.shared_bytes
        else "wgmma" if "wgmma.cuh" in includes
        else "tma" if "tma.cuh" in includes
        else "cp.async" if "cp_async.cuh" in includes
        else "registers"
    )  # fmt: skip
    values = 2 * spec.threads if route == "direct" else BM + BN
    stages, cluster = _shape(spec)
    return Facts(
        step=spec.name,
        route=route,
        tensor=tensor,
        # The blocks of a cluster are below each other and share the columns of B.
        fetched=(values if cluster == 1 else BM + BN // cluster) * BK * given,
        held=values * BK * given,
        read=0 if route == "direct" else _values_read(spec, tensor) * BK * given,
        fmas=BM * BN * BK,
        stored=BM * BN * made,
        buffers=stages if spec.shared_bytes else 0,
    )


def _values_read(spec: KernelSpec, tensor: bool) -> int:
    """Values of A and B that a block's threads, or its warps' fragments, read for one k."""
    BM, BN, _ = spec.tile
    TM, TN = spec.thread_tile
    if spec.family == "wgmma":
        # An instruction is 64 rows and the columns of a warpgroup; a lane has a fourth of these.
        return BM // 64 * (BN // (4 * TN)) * (64 + 4 * TN)
    if tensor:
        WM, WN = _warp_tile(spec)
        return BM // WM * (BN // WN) * (WM + WN)
    threads = BM * BN // (TM * TN)
    return threads * (2 * TM * TN if spec.name in _READ_EACH else TM + TN)


def _warp_tile(spec: KernelSpec) -> tuple[int, int]:
    """WM and WN of the file; a file with several has square ones."""
    found = re.search(r"constexpr int WM = (\d+), WN = (\d+);", spec.path.read_text("utf-8"))
    if found:
        return int(found[1]), int(found[2])
    side = math.isqrt(32 * math.prod(spec.thread_tile))
    return side, side


def _shape(spec: KernelSpec) -> tuple[int, int]:
    """Stages, and blocks of a cluster; of a file with several plans, of the one of the tile."""
    text = spec.path.read_text("utf-8")
    BM, BN, _ = spec.tile
    plan = re.search(rf"(?:WgmmaShape|Plan)<{BM}, {BN}, (\d+), \d+, (\d+)", text)
    if plan:
        return int(plan[1]), int(plan[2])
    found = re.search(r"constexpr int CLUSTER = (\d+);", text)
    return spec.stages, int(found[1]) if found else 1
