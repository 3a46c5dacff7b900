"""What the time limit of mbarrier.try_wait counts: measured on this GPU, or recorded."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from ... import measurements
from ...core.errors import LaunchError
from ...core.paths import kernels_folder
from ...display.table import Table
from ...gpu import build, requirements
from ...gpu.telemetry import environment
from ...gpu.turns import alone
from ...steps import registry
from ...steps.text import included_files
from .kernels import LOAD
from .runs import FAMILY, SECTION, can_try

HINTS = (0, 1_000, 100_000, 1_000_000, 10_000_000)  # 0: none is given
TRIES = 7
KEYS = ("hint", "nanoseconds", "cycles", "shortest_ns", "longest_ns", "over")

_BINDING = """
#include <pybind11/pybind11.h>
#include <cstdint>
int run(uintptr_t out, int tries, unsigned hint, uintptr_t stream);
PYBIND11_MODULE(GEMMLAB_MODULE, m) { m.def("run", &run); }
"""
_RUN = """
#include <cstdint>
#include "{path}"
int run(uintptr_t out, int tries, unsigned hint, uintptr_t stream) {{
  const ProbeArgs args = {{nullptr, reinterpret_cast<void*>(out), hint, tries}};
  return launch_probe_try_wait(args, reinterpret_cast<cudaStream_t>(stream));
}}
"""


def try_wait() -> Table:
    """How long mbarrier.try_wait waits in vain, for each time hint, in ns.

    Measured on a GPU with TMA, else recorded. The hint is suspendTimeHint of the PTX ISA,
    "mbarrier.test_wait, mbarrier.try_wait".
    Raises MeasurementError without such a GPU and without a recording, LaunchError if the probe
    fails.
    """
    if can_try():
        return _table(measure(), environment(), "live")
    section = measurements.load(family=FAMILY).section(SECTION)
    return _table(section["try_wait"], section["environment"], "recorded")


def _table(rows: Sequence[dict], environment: dict, source: str) -> Table:
    head = ("hint", "time", "cycles", "shortest", "longest", "said to be over")
    shown = tuple(
        (
            f"{row['hint']:,}" if row["hint"] else "none",
            f"{row['nanoseconds']:,.0f} ns",
            f"{row['cycles']:,.0f}",
            *(f"{row[key]:,.0f} ns" for key in ("shortest_ns", "longest_ns")),
            f"{row['over']} of {TRIES}",
        )
        for row in rows
    )
    what = (
        "One thread and mbarrier.try_wait, for a phase that does not end: medians of "
        f"{TRIES} tries, by the GPU's timer and by the SM's cycle counter."
    )
    made = measurements.made_on(environment, source)
    return Table(head, shown, "nnnnnn", (what, made))


def measure(hints: Sequence[int] = HINTS) -> list[dict]:
    """A row of KEYS for each hint: medians of TRIES, and how often the phase was called over.

    Raises BackendError for a GPU without mbarriers.
    """
    requirements.require(registry.program(LOAD))
    _module()  # compiled before others have to leave the GPU
    with alone():
        _tries(0)  # wakes the GPU
        return [_row(hint, _tries(hint)) for hint in hints]


def _row(hint: int, tries: list[tuple[int, int, int]]) -> dict:
    times, cycles, over = zip(*tries, strict=True)
    values = (statistics.median(times), statistics.median(cycles), min(times), max(times))
    return dict(zip(KEYS, (hint, *values, sum(over)), strict=True))


def _tries(hint: int) -> list[tuple[int, int, int]]:
    """Of each try its nanoseconds, its cycles, and whether the phase was said to be over."""
    import torch

    out = torch.zeros(TRIES, 3, dtype=torch.int64, device="cuda")
    stream = torch.cuda.current_stream().cuda_stream
    if code := _module().run(out.data_ptr(), TRIES, hint, stream):
        raise LaunchError(f"probe try_wait: launch failed with CUDA error {code}")
    return [tuple(row) for row in out.tolist()]


def sources() -> tuple[str, str]:
    """C++ and CUDA text of the binding."""
    return _BINDING, _RUN.format(path=_file())


def _file() -> Path:
    return kernels_folder() / "probes" / "try_wait.cuh"


@lru_cache(maxsize=1)
def _module() -> ModuleType:
    headers = included_files(_file())
    return build.compile_binding("gemmlab_try_wait", *sources(), headers=headers)
