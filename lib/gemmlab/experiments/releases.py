"""Three ways to give a stage back early, against the late one of the steps: how fast, how right.

A warp may arrive at a stage's mbarrier as soon as its last fragments are there, ahead of their
products. Directly behind the last `ldmatrix` an arrival can overtake its reading. In public kernels
stand an arrival in that place with nothing else, and one behind a named barrier of all warps that
multiply (CUTLASS on sm_120); a proxy fence is the third way. `release_ways()` tries and times them
all in one call, on a GPU with TMA.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..bench.bench import bench
from ..core.errors import MeasurementError
from ..display.numbers import show_rate, show_share
from ..display.table import Table
from ..gpu.telemetry import environment
from ..measurements.provenance import made_on
from ..run.kernel import Kernel, kernel
from .faults import runs
from .faults.kernels import ANY, PRODUCER, fault
from .faults.runs import Outcome

EARLY = "released behind the last loads"
WAYS = (EARLY, f"{EARLY}, with a proxy fence", f"{EARLY}, with a barrier")
# Number in the names of faults -> the step, in the configuration that they change.
STEPS = {"04": (PRODUCER, ""), "08": (ANY, "64x64")}


def release_ways(size: int = 4096) -> Table:
    """Each step as it is, and with each way: what came of 50 runs, TFLOP/s and share of cuBLAS.

    size: M = N = K of the speed. A way with a wrong result has none.
    Raises MeasurementError where there is no GPU with TMA.
    """
    if not runs.can_try():
        raise MeasurementError(
            "release_ways: needs a GPU with TMA (compute capability 9.0 or newer), and nothing is "
            "recorded that could stand in for one"
        )
    rows = []
    for number, (step, config) in STEPS.items():
        names = [f"{number}, {way}" for way in WAYS]
        outcomes = [Outcome(**one) for one in runs.measure(names)["outcomes"]]
        right = [fault(one.fault) for one in outcomes if not (one.wrong or one.end)]
        rows += _rows(kernel(step, config=config), right, outcomes, size)
    M, N, K = runs.SHAPE
    notes = (
        f"Tried with M = {M}, N = {N}, K = {K}, {runs.PRECISION}; timed with M = N = K = {size}.",
        made_on(environment(), "live"),
    )
    head = ("where a stage is released", "on the GPU", "TFLOP/s", "of cuBLAS")
    return Table(head, tuple(rows), "twnn", notes)


def _rows(
    late: Kernel, right: Iterable[Kernel], outcomes: Iterable[Outcome], size: int
) -> list[tuple[str, ...]]:
    """A row for the step and for each way, all timed in one run."""
    timed = bench([late, *right], sizes=(size,), precision=runs.PRECISION).rows
    speed = {
        row.kernel: (show_rate(row.tflops), show_share(row.ratio)) for row in timed if row.ratio
    }
    ways = [(one.fault, str(one), *speed.get(one.fault, ("-", "-"))) for one in outcomes]
    return [(late.title, "the step itself", *speed[late.title]), *ways]
