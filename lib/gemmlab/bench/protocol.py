"""The live half of `bench`: operands, cuBLAS's two baselines, and one size measured on this GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.errors import BackendError, LaunchError, WrongResultError
from ..core.layout import PLAIN
from ..core.precision import Precision, precision
from ..gpu import cublaslt
from ..gpu.turns import alone, together
from ..measurements.rows import OTHER_PRECISION, BenchRow
from ..run.kernel import Kernel, LaunchPlan
from .cycles import Modules, count, second_builds
from .interleaving import Budget, burst, interleaved, sustained
from .timer import BATCH_BELOW_US, STEADY_BELOW_US, GpuTimer, Launch, Timing, batch_size

if TYPE_CHECKING:
    import torch

# A product that is off by more than this (relative to cuBLAS, Frobenius norm) is not worth timing:
# fp32 sums differ by 1e-6 or so from order to order, TF32 inputs by 3e-4. Where C has 16 bits, each
# result is rounded once more, by 0.4 of the unit roundoff in the mean.
_WRONG = 1e-4

GRAPH_LAUNCHES = 24  # that mode "graph" captures together


@dataclass(frozen=True)
class Entry:
    """A kernel or baseline: `prepare(A, B, C)` gives a launch on what is then the stream.

    arrange: makes what `prepare` takes of the operands of the run, such as a B that lies otherwise;
    it runs before anything is timed or captured. layout: how A and B then lie, "" for as they were.
    """

    name: str
    prepare: Callable[..., Callable[[], object]]
    arrange: Callable[[tuple], tuple] = tuple
    layout: str = ""


@dataclass(frozen=True)
class Protocol:
    """How to measure: the mode, the L2's state, the baselines to report, how long, whether
    cycles are counted, too, and how A and B lie in memory."""

    mode: str
    warm_l2: bool
    baselines: tuple[str, ...]
    samples: int
    seconds: float | None
    precision: str = "fp32"
    clock: bool = False
    layout: str = PLAIN

    @property
    def l2(self) -> str:
        """ "cold" or "warm"; launches back to back are never flushed."""
        return "warm" if self.warm_l2 or self.mode == "sustained" else "cold"


@contextmanager
def tf32_off() -> Iterator[None]:
    """fp32 products in fp32 for the time of a block; what was set before comes back.

    torch has an older and a newer switch, and refuses to read either after they were mixed. Writing
    the older one puts both in agreement.
    """
    import torch

    matmul = torch.backends.cuda.matmul
    try:
        precision = torch.get_float32_matmul_precision()
    except RuntimeError:
        precision = None  # only the newer switch was used
    newer = getattr(matmul, "fp32_precision", None)
    matmul.allow_tf32 = False
    try:
        yield
    finally:
        if precision is not None:
            torch.set_float32_matmul_precision(precision)
        if newer is not None:
            matmul.fp32_precision = newer


def measure(
    handles: dict[str, Kernel],
    shape: tuple[int, int, int],
    protocol: Protocol,
    others: Sequence[Entry] = (),
) -> tuple[list[BenchRow], dict, str]:
    """Rows of one size, the conditions meanwhile, and a note on what was left out.

    others: what is neither a step nor a baseline, and takes its turns with them. All that has to be
    compiled is compiled first, many at a time, while others may still have the GPU, and what is not
    timed is launched beside their launches.
    """
    with ThreadPoolExecutor() as pool:
        how = protocol.precision, protocol.layout
        for each in [pool.submit(handle.build, *how) for handle in handles.values()]:
            each.result()
    second = second_builds(handles, *how) if protocol.clock else {}
    entries = [Entry(name, handle.launcher) for name, handle in handles.items()]
    entries = [*entries, *others, Entry("cublas", launch_cublas)]
    with together():
        operands = random_operands(shape, protocol.precision, layout=protocol.layout)
        _refuse_wrong(entries, operands, precision(protocol.precision))
    with alone():
        return _measured(handles, shape, protocol, others, second, entries, operands)


def _measured(
    handles: dict[str, Kernel],
    shape: tuple[int, int, int],
    protocol: Protocol,
    others: Sequence[Entry],
    second: Modules,
    entries: list[Entry],
    operands: tuple,
) -> tuple[list[BenchRow], dict, str]:
    timer = GpuTimer(cold=protocol.l2 == "cold")
    note = ""
    if "cublaslt_best" in protocol.baselines and protocol.layout != PLAIN:
        note = "cublasLt left out: asked for row-major A and B only"
    elif "cublaslt_best" in protocol.baselines:
        best, note = _cublaslt(operands, timer)
        entries += [best] if best else []
    if "cublas_tf32" in protocol.baselines:
        entries.append(Entry("cublas_tf32", launch_cublas_tf32))
    launches, times_us, ran = _launches(entries, operands, timer, protocol)
    timings = _run(protocol, launches, timer, times_us, base=len(handles) + len(others))
    shown = {*handles, *protocol.baselines, *(entry.name for entry in others)}
    rows = [
        _row(launch, timing, shape, protocol, ran.get(launch.name, ""))
        for launch, timing in zip(launches, timings, strict=True)
        if launch.name in shown
    ]
    lying = {entry.name: entry.layout for entry in others if entry.layout}
    rows = [replace(row, layout=lying.get(row.kernel, row.layout)) for row in rows]
    if protocol.clock:
        rows = _with_cycles(rows, handles, operands, timer, protocol, second)
    return rows, timer.monitor.summary(), note


def _launches(
    entries: Sequence[Entry], operands: tuple, timer: GpuTimer, protocol: Protocol
) -> tuple[list[Launch], list[float], dict[str, str]]:
    """Every entry ready to be timed, the short ones as batches, how long each takes, and the
    configuration that each runs.
    """
    plans = {entry.name: entry.prepare(*entry.arrange(operands)) for entry in entries}
    launches = [Launch(name, plan) for name, plan in plans.items()]
    ran = {name: plan.config for name, plan in plans.items() if isinstance(plan, LaunchPlan)}
    times_us = [timer.estimate(launch) for launch in launches]
    batches = _batches(entries, times_us, protocol.mode)
    for i, (entry, batch) in enumerate(zip(entries, batches, strict=True)):
        if batch > 1:
            graph = _graph(entry, operands, batch, protocol.l2)
            launches[i] = Launch(entry.name, graph, batch)
            times_us[i] = timer.estimate(launches[i])
    return launches, times_us, ran


def _batches(entries: Sequence[Entry], times_us: Sequence[float], mode: str) -> list[int]:
    """How many launches of each entry share one timing.

    All of fp32 are treated alike, by the fastest of them: a ratio is one of equals. TF32 is so much
    faster that it would decide for all, so it is batched by its own time.
    """
    if mode == "graph":
        return [GRAPH_LAUNCHES] * len(entries)
    below_us = STEADY_BELOW_US if mode == "sustained" else BATCH_BELOW_US
    timed = list(zip(entries, times_us, strict=True))
    fastest = min(us for entry, us in timed if entry.name not in OTHER_PRECISION)
    alike = batch_size(fastest, below_us)
    return [
        batch_size(us, below_us) if entry.name in OTHER_PRECISION else alike for entry, us in timed
    ]


def _run(
    protocol: Protocol, launches: list[Launch], timer: GpuTimer, times_us: list[float], base: int
) -> list[Timing]:
    if protocol.mode == "burst":
        return burst(launches, timer, times_us, base)
    if protocol.mode == "sustained":
        return sustained(launches, timer, times_us, base, protocol.seconds or 5.0)
    budget = Budget(protocol.samples, seconds=protocol.seconds or 1.0)
    return interleaved(launches, timer, times_us, base, budget)


def _row(
    launch: Launch, timing: Timing, shape: tuple[int, int, int], protocol: Protocol, config: str
) -> BenchRow:
    M, N, K = shape
    per_second = 2 * M * N * K / (timing.time_us * 1e-6)
    return BenchRow(
        kernel=launch.name,
        M=M,
        N=N,
        K=K,
        time_us=timing.time_us,
        spread=timing.spread,
        tflops=per_second / 1e12,
        ratio=timing.ratio,
        flop_per_clk_sm=None,
        clock_mhz=None,
        power_w=timing.power_w,
        samples=len(timing.samples),
        batch=launch.batch,
        l2=protocol.l2,
        mode=protocol.mode,
        config=config,
        precision=protocol.precision,
        layout=protocol.layout,
    )


def _with_cycles(
    rows: list[BenchRow],
    handles: dict[str, Kernel],
    operands: tuple,
    timer: GpuTimer,
    protocol: Protocol,
    second: Modules,
) -> list[BenchRow]:
    """The rows of steps with their cycles; a library's kernels cannot be built a second time."""
    import torch

    sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
    found = []
    for row in rows:
        if row.kernel in handles:
            plan = handles[row.kernel].launcher(*operands)
            row = count(plan, second[row.kernel], timer, protocol.mode).into(row, sms)
        found.append(row)
    return found


def random_operands(
    shape: tuple[int, int, int], types: str = "fp32", seed: int = 0, layout: str = PLAIN
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A, B normal random and C, on the GPU. Zeros or repeats would draw less power.

    layout: where it has a t, A or B is a transposed view.
    """
    import torch

    M, N, K = shape
    given, made = (getattr(torch, name) for name in (precision(types).given, precision(types).made))
    generator = torch.Generator("cuda").manual_seed(seed)
    A, B = (
        torch.randn(size, device="cuda", generator=generator).to(given) for size in ((M, K), (K, N))
    )
    A, B = (
        t.t().contiguous().t() if how == "t" else t for t, how in zip((A, B), layout, strict=True)
    )
    return A, B, torch.empty(M, N, dtype=made, device="cuda")


def launch_cublas(A: torch.Tensor, B: torch.Tensor, C: torch.Tensor) -> Callable[[], object]:
    """A function that runs torch.matmul on these tensors, or torch.mm where C has another type."""
    import torch

    if A.dtype == C.dtype:
        return lambda: torch.matmul(A, B, out=C)
    return lambda: torch.mm(A, B, out_dtype=C.dtype, out=C)


def launch_cublas_tf32(A: torch.Tensor, B: torch.Tensor, C: torch.Tensor) -> Callable[[], None]:
    """A function that runs torch.matmul with TF32 on, and leaves it off, as `tf32_off` does."""
    import torch

    def launch() -> None:
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            torch.matmul(A, B, out=C)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False

    return launch


def _cublaslt(operands: tuple, timer: GpuTimer) -> tuple[Entry | None, str]:
    """The fastest of cublasLt's heuristics for these operands; if there is none, why."""
    try:
        plan = cublaslt.Plan(*operands)
    except (BackendError, LaunchError, AttributeError) as error:
        return None, f"cublasLt left out: {error}"
    times = {}
    for i in range(len(plan)):
        try:
            times[i] = timer.estimate(Launch("cublaslt_best", plan.launcher(i, *operands)))
        except LaunchError:
            continue  # proposed, yet refused for these operands
    if not times:
        return None, "cublasLt left out: none of its heuristics runs"
    best = min(times, key=times.__getitem__)
    return Entry("cublaslt_best", lambda A, B, C: plan.launcher(best, A, B, C)), ""


def _graph(entry: Entry, operands: tuple, batch: int, l2: str) -> Callable[[], None]:
    """`batch` launches as one CUDA graph, which starts them without Python in between.

    With a cold L2 the launches have operands of their own, or take turns with as many as the L2
    cannot hold, so that none finds what another one read.
    """
    import torch

    count = 1 if l2 == "warm" else min(batch, _sets_beyond_l2(operands))
    copies = [operands] if l2 == "warm" else [_copied(operands) for _ in range(count)]
    sets = [entry.arrange(each) for each in copies]
    graph, launches = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        for i in range(batch):
            launches.append(entry.prepare(*sets[i % count]))
            launches[-1]()

    # The graph holds addresses; these hold the tensors and the scratch memory.
    def replay(keep: tuple = (sets, launches)) -> None:
        graph.replay()

    return replay


def _copied(operands: tuple) -> tuple:
    return tuple(t.clone() for t in operands)


def _sets_beyond_l2(operands: tuple) -> int:
    """How many copies of the operands have four times the bytes of the L2, two at least."""
    import torch

    device = torch.cuda.current_device()
    l2_bytes = torch.cuda.get_device_properties(device).L2_cache_size
    own = sum(t.numel() * t.element_size() for t in operands)
    return max(2, math.ceil(4 * l2_bytes / own))


def _refuse_wrong(entries: Sequence[Entry], operands: tuple, types: Precision) -> None:
    """Run each entry once: a wrong kernel's time means nothing. The last entry is the reference."""
    import torch

    A, B, C = operands
    limit = max(_WRONG, types.roundoff)
    entries[-1].prepare(A, B, C)()
    right = C.to(torch.float32, copy=True)
    for entry in entries[:-1]:
        C.fill_(float("nan"))
        entry.prepare(*entry.arrange(operands))()
        torch.cuda.synchronize()
        error = float((C - right).norm() / right.norm())
        if not error <= limit:
            raise WrongResultError(
                f"{entry.name}: its result at {A.shape[0]}x{B.shape[1]}x{A.shape[1]} is wrong "
                f"(relative error {error:.2g}), so its time would mean nothing; see "
                f"lab.check({entry.name!r})"
            )
