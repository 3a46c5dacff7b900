"""Three ways to give a stage back early, against the late one of the steps: how fast, how right.

A warp may arrive at a stage's mbarrier as soon as its last fragments are there, ahead of their
products. Directly behind the last `ldmatrix` an arrival can overtake its reading. In public kernels
stand an arrival in that place with nothing else, and one behind a named barrier of all warps that
multiply (CUTLASS on sm_120); a proxy fence is the third way. `release_ways()` tries and times them
all in one call, on a GPU with TMA; without one it shows the recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import measurements
from ..bench.bench import bench
from ..display.numbers import show_rate, show_share
from ..display.table import Table
from ..gpu.telemetry import environment
from ..measurements.provenance import made_on
from ..run.kernel import kernel
from .faults import runs, table
from .faults.kernels import ANY, PRODUCER, fault
from .faults.runs import Outcome

EARLY = "released behind the last loads"
WAYS = (EARLY, f"{EARLY}, with a proxy fence", f"{EARLY}, with a barrier")
SIZE = 4096  # M = N = K at which they are timed
# Number in the names of faults -> the step, in the configuration that they change.
STEPS = {"04": (PRODUCER, ""), "08": (ANY, "64x64")}


def release_ways(size: int = SIZE) -> Table:
    """Each step as it is, and with each way: what came of 50 runs, TFLOP/s and share of cuBLAS.

    size: M = N = K of the speed. A way with a wrong result has none. Without a GPU with TMA the
    recorded run is shown. Raises MeasurementError if there is none.
    """
    if runs.can_try():
        names = [f"{number}, {way}" for number in STEPS for way in WAYS]
        data = runs.measure(names)
        data["releases"] = speeds(data["outcomes"], size)
        made = made_on(environment(), "live")
    else:
        data = measurements.load(family=runs.FAMILY).section(runs.SECTION)
        made = made_on(data["environment"])
    outcomes = {one["fault"]: Outcome(**one) for one in data["outcomes"]}
    timed = data.get("releases", {"size": size, "speeds": {}})
    rows = []
    for number, (step, config) in STEPS.items():
        late = kernel(step, config=config).title
        rows.append((late, "the step itself", *_speed(timed, late)))
        for name in (f"{number}, {way}" for way in WAYS):
            what = str(outcomes[name]) if name in outcomes else "not recorded"
            rows.append((name, what, *_speed(timed, name)))
    M, N, K = runs.SHAPE
    notes = (
        f"Tried with M = {M}, N = {N}, K = {K}, {runs.PRECISION}; timed with M = N = K = "
        f"{timed['size']}.",
        made,
    )
    head = ("where a stage is released", "on the GPU", "TFLOP/s", "of cuBLAS")
    return Table(head, tuple(rows), "twnn", notes)


def speeds(outcomes: Iterable[Mapping[str, Any]], size: int = SIZE) -> dict[str, Any]:
    """How fast the steps and those of the ways are that were right: kernel -> TFLOP/s and ratio.

    outcomes: as `runs.measure` gives them. Each step is timed in one run with its ways.
    """
    found = [Outcome(**one) for one in outcomes]
    right = [one.fault for one in found if not (one.wrong or one.end)]
    timed: dict[str, list[float]] = {}
    for number, (step, config) in STEPS.items():
        ways = [fault(name) for way in WAYS if (name := f"{number}, {way}") in right]
        late = kernel(step, config=config)
        rows = bench([late, *ways], sizes=(size,), precision=runs.PRECISION).rows
        timed |= {row.kernel: [row.tflops, row.ratio] for row in rows if row.ratio}
    return {"size": size, "speeds": timed}


def record() -> dict[str, Any]:
    """The section of a recording: every mistake, and what an early release gains."""
    data = table.record()
    return {**data, "releases": speeds(data["outcomes"])}


def _speed(timed: Mapping[str, Any], name: str) -> tuple[str, str]:
    if name not in timed["speeds"]:
        return "-", "-"
    tflops, ratio = timed["speeds"][name]
    return show_rate(tflops), show_share(ratio)
