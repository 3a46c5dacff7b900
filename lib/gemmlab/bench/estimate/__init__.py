"""How long a kernel would take on an H200, told from what it asks of each pipe: no GPU needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.arguments import integer
from ...core.errors import ArgumentError
from ...display.numbers import show_rate, show_size, show_time
from ...display.table import Shown, Table
from ...run.kernel import kernel as handle_of
from ...steps.program import Program
from ...steps.spec import KernelSpec
from ..shapes import shapes_of
from . import calibration
from .features import work_of
from .model import GPU, Work, pipes, time_us

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class EstimateRow:
    """One size. time_us, tflops: estimated; low, high: TFLOP/s between which 80 % of the recorded
    steps would have been, if this one were as well described as they are.
    """

    kernel: str
    M: int
    N: int
    K: int
    time_us: float
    tflops: float
    low: float
    high: float

    @property
    def size(self) -> str:
        """ "4096" for a cube, else "MxNxK"."""
        return show_size((self.M, self.N, self.K))


@dataclass(frozen=True, repr=False)
class Estimate(Shown):
    """What a kernel asks of an SM, and the time that follows.

    rows: an EstimateRow for each size. pipes: the time that each pipe alone needs at the first
    size, in microseconds. work: what was counted. bound: the slowest pipe.
    """

    kernel: str
    rows: tuple[EstimateRow, ...]
    pipes: dict[str, float]
    work: Work

    @property
    def bound(self) -> str:
        """The pipe that needs most time."""
        return max(self.pipes, key=lambda name: self.pipes[name])

    def row(self, size: int | None = None) -> EstimateRow:
        """The row of a size, M = N = K. Raises ArgumentError if it was not asked for."""
        found = [row for row in self.rows if size is None or row.size == str(size)]
        if not found:
            raise ArgumentError(
                f"size: {size} was not estimated; there is {', '.join(r.size for r in self.rows)}"
            )
        return found[0]

    def shown(self) -> Table:
        """The sizes, and below them what each pipe needs."""
        head = ("size", "time", "TFLOP/s", "80 % of the steps would be at")
        rows = [
            (r.size, show_time(r.time_us), show_rate(r.tflops), f"{r.low:.3g} to {r.high:.3g}")
            for r in self.rows
        ]
        return Table(head, rows, "tnnn", self._notes())

    def _notes(self) -> list[str]:
        first, work = self.rows[0], self.work
        alone = ", ".join(f"{name} {show_time(time)}" for name, time in self.pipes.items())
        loads = "during the products" if work.overlapped else "before the products"
        return [
            f"{self.kernel}: estimated for an {GPU.name}, not measured.",
            f"Each pipe alone at {first.size}: {alone}.",
            f"{work.resident} {'block' if work.resident == 1 else 'blocks'} of {work.threads} "
            f"threads on an SM; loads run {loads}.",
        ]


def estimate(
    kernel: str | Program | KernelSpec,
    sizes: int | Sequence[int | Shape] = (4096,),
    *,
    registers: int | None = None,
    shared_bytes: int | None = None,
) -> Estimate:
    """How long a kernel would take on an H200, without a GPU.

    The kernel is traced in the simulator at two lengths of K, and the difference is the work of its
    main loop. The pipe of an SM that needs most cycles for it sets the bound. A fitted share of the
    other pipes' cycles is added.

    kernel: a step, a variant, a cell's kernel. sizes: M = N = K, or (M, N, K). registers: of a
    thread; None: as ptxas says, or those of the step that the kernel is like. shared_bytes: of a
    block; None: as it is launched. Raises what `lab.trace` raises, ArgumentError for other numbers
    and for a block that fits on no SM, BackendError if the number of registers is unknown.
    """
    handle, shapes = handle_of(kernel), shapes_of(sizes)
    if registers is not None:
        integer("registers", registers, 1, 255)
    if shared_bytes is not None:
        integer("shared_bytes", shared_bytes, 0, GPU.shared_block)
    for shape in shapes:
        handle.spec.check_sizes(*shape)
    work, known = work_of(handle, registers, shared_bytes), calibration.load()
    rows = tuple(_row(handle.title, work, shape, known) for shape in shapes)
    M, N, K = shapes[0]
    clock = known.constants.clock_tensor if work.tensor else known.constants.clock_fma
    alone = {
        name: cycles * M * N * K / GPU.sms / (clock * 1e3)
        for name, cycles in pipes(work, known.constants).items()
        if cycles
    }
    return Estimate(handle.title, rows, alone, work)


def _row(title: str, work: Work, shape: Shape, known: calibration.Calibration) -> EstimateRow:
    M, N, K = shape
    time = time_us(work, shape, known.constants)
    rate = 2 * M * N * K / time / 1e6
    least, most = known.spread()  # measured / estimated time
    return EstimateRow(title, M, N, K, time, rate, rate / most, rate / least)


def errors() -> calibration.Calibration:
    """How far off the estimate is for each recorded step, fitted without it."""
    return calibration.load()
