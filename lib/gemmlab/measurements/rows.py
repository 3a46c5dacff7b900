"""What a benchmark gives back: rows, where they come from, and how they are shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core import arguments
from ..core.errors import MeasurementError
from ..core.layout import PLAIN
from ..core.precision import precision as types_of
from ..display.numbers import show, show_rate, show_share, show_size, show_time
from ..display.table import Shown, Table
from .provenance import made_on

BASELINES = {
    "cublas": "cuBLAS (torch.matmul)",
    "cublaslt_best": "cuBLASLt, best heuristic",
    "cublas_tf32": "cuBLAS with TF32 (torch.matmul)",
}
# Another product than fp32's: measured on request only, and in no chart beside fp32's.
OTHER_PRECISION = ("cublas_tf32",)
DEFAULT_BASELINES = tuple(name for name in BASELINES if name not in OTHER_PRECISION)
CLOCK64, NCU = "clock64", "ncu"  # who counts cycles
_READ_BEHIND = (
    "recorded when the SM clock was still read behind a launch, up to 15 % off, so it is left out"
)


@dataclass(frozen=True)
class BenchRow:
    """One kernel at one size.

    M, N, K: elements. time_us: the median of `samples` timings in microseconds; spread: their 10th
    and 90th percentile. tflops: of 2*M*N*K operations. ratio: to cuBLAS in the same run, above 1 if
    faster. cycles: of SM time, counted by `cycles_by`: "clock64", by the blocks of a second build
    from the first one's begin to the last one's end, or "ncu", its elapsed cycles; clock_mhz: the
    SM clock in that second build; flop_per_clk_sm: of these cycles. Where they are None, clock_note
    may say why. layout: how A and B lay in memory. power_w: watts, known only in mode "sustained",
    where the kernel has the GPU to itself for seconds. batch: launches that share one timing, if
    they are too short to be timed alone. l2: "cold" or "warm". mode: as in `lab.bench`. config: the
    configuration that ran, of a step that has several; empty if the step chose. precision: the
    types of A, B and C. estimated: of a kernel that was not measured, the range of TFLOP/s in which
    it may lie; spread is then that of the time.
    """

    kernel: str
    M: int
    N: int
    K: int
    time_us: float
    spread: tuple[float, float]
    tflops: float
    ratio: float | None
    flop_per_clk_sm: float | None
    clock_mhz: float | None
    power_w: float | None
    samples: int
    batch: int = 1
    l2: str = "cold"
    mode: str = "interleaved"
    config: str = ""
    precision: str = "fp32"
    cycles: float | None = None
    cycles_by: str = ""
    clock_note: str = ""
    layout: str = PLAIN
    estimated: tuple[float, float] | None = None

    @property
    def size(self) -> str:
        """ "4096" for a cube, else "MxNxK"."""
        return show_size((self.M, self.N, self.K))

    def counted(self, cycles: float, by: str, sms: int, mhz: float | None = None) -> BenchRow:
        """The row with the cycles of a launch on so many SMs, and who counted them."""
        per_sm = 2 * self.M * self.N * self.K / (cycles * sms)
        return replace(self, cycles=cycles, cycles_by=by, clock_mhz=mhz, flop_per_clk_sm=per_sm)

    def cycles_for(self, flop: float) -> float:
        """The cycles that an SM takes for so many FLOP, NaN where no cycles were counted."""
        return math.nan if self.flop_per_clk_sm is None else flop / self.flop_per_clk_sm

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> BenchRow:
        """The inverse of `asdict`. Raises TypeError or KeyError for other data.

        Rows of older recordings lose the clock that was read behind their launches, and say so.
        """
        row = BenchRow(**{**data, "spread": tuple(data["spread"])})
        if "cycles_by" in data or row.clock_mhz is None:
            return row
        return replace(row, clock_mhz=None, flop_per_clk_sm=None, clock_note=_READ_BEHIND)


@dataclass(frozen=True, repr=False)
class BenchResult(Shown):
    """Rows of one run on one GPU.

    rows: a BenchRow for each kernel and size. source: "live" or "recorded". environment: GPU,
    driver, CUDA, date and commit. conditions: for each size, the range of clock, power and
    temperature during the run. note: why a recorded run is shown where a live one was asked for.
    """

    rows: tuple[BenchRow, ...]
    source: str
    environment: dict[str, Any]
    conditions: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    def row(self, kernel: str, size: int | str | None = None) -> BenchRow:
        """The row of a kernel, at `size` if there are several. Raises MeasurementError."""
        found = [
            r for r in self.rows if r.kernel == kernel and (size is None or r.size == str(size))
        ]
        if len(found) == 1:
            return found[0]
        have = ", ".join(dict.fromkeys(f"{r.kernel} at {r.size} ({r.mode})" for r in self.rows))
        problem = "no row" if not found else f"{len(found)} rows"
        at = "" if size is None else f" at {size}"
        raise MeasurementError(f"{problem} for {kernel}{at}; there is {have or 'nothing'}")

    def only(
        self,
        kernels: Iterable[str] | None = None,
        sizes: Iterable[tuple[int, int, int]] | None = None,
        mode: str | None = None,
        l2: str | None = None,
        precision: str | None = None,
        layout: str | None = None,
    ) -> BenchResult:
        """The rows of these kernels, sizes, mode, cache state, types and layout, in their order."""
        kernels = None if kernels is None else set(kernels)
        sizes = None if sizes is None else set(sizes)
        rows = tuple(
            r
            for r in self.rows
            if (kernels is None or r.kernel in kernels)
            and (sizes is None or (r.M, r.N, r.K) in sizes)
            and (mode is None or r.mode == mode)
            and (l2 is None or r.l2 == l2)
            and (precision is None or r.precision == precision)
            and (layout is None or r.layout == layout)
        )
        return BenchResult(rows, self.source, self.environment, self.conditions, self.note)

    def at(self, size: int) -> BenchResult:
        """The rows at M = N = K = `size`. Raises MeasurementError, naming the sizes there are."""
        found = self.only(sizes=[(arguments.size("size", size),) * 3])
        if not found.rows:
            cubes = dict.fromkeys(str(row.M) for row in self.rows if row.M == row.N == row.K)
            raise MeasurementError(f"size: {size} was not recorded; there is {', '.join(cubes)}")
        return found

    @staticmethod
    def from_dict(data: dict[str, Any]) -> BenchResult:
        """The inverse of `to_dict`. Raises TypeError or KeyError for other data."""
        rows = tuple(map(BenchRow.from_dict, data["rows"]))
        return BenchResult(
            rows,
            data["source"],
            data["environment"],
            data.get("conditions", {}),
            data.get("note", ""),
        )

    def shown(self) -> Table:
        """A row for each kernel and size; what is the same in all rows is in the notes instead."""
        columns: dict[str, Callable[[BenchRow], str]] = {
            "kernel": lambda r: BASELINES.get(r.kernel, r.kernel),
            "size": lambda r: r.size,
            "configuration": lambda r: r.config or "-",
            "TFLOP/s": _rate,
            "of cuBLAS": lambda r: show_share(r.ratio),
            "time": lambda r: show_time(r.time_us),
            "FLOP/clk/SM": _show_per_clock,
            "SM clock": lambda r: show(r.clock_mhz, "{:.0f} MHz"),
            "power": lambda r: show(r.power_w, "{:.0f} W"),
            "mode": lambda r: r.mode,
            "types": lambda r: types_of(r.precision).words,
            "layout": lambda r: r.layout,
        }
        if len({row.size for row in self.rows}) == 1:
            del columns["size"]
        if all(row.config in ("", _named(row.kernel)) for row in self.rows):
            del columns["configuration"]
        if all(row.power_w is None for row in self.rows):
            del columns["power"]
        if all(row.cycles is None for row in self.rows):
            del columns["FLOP/clk/SM"], columns["SM clock"]
        if len({row.mode for row in self.rows}) == 1:
            del columns["mode"]
        if len({row.precision for row in self.rows}) == 1:
            del columns["types"]
        if {row.layout for row in self.rows} <= {PLAIN}:
            del columns["layout"]
        words = ("kernel", "configuration", "mode", "types", "layout")
        align = "".join("t" if name in words else "n" for name in columns)
        rows = [[cell(r) for cell in columns.values()] for r in self.rows]
        quiet = [i for i, row in enumerate(self.rows) if row.kernel in BASELINES]
        return Table(list(columns), rows, align, self._notes(), quiet)

    def _notes(self) -> list[str]:
        lines = [made_on(self.environment, self.source)]
        if self.rows:
            lines += filter(None, [how_measured(self.rows), *clock_notes(self.rows)])
        return lines + ([f"{self.note}."] if self.note else [])


def _rate(row: BenchRow) -> str:
    """TFLOP/s; of an estimated row with its range."""
    if row.estimated is None:
        return show_rate(row.tflops)
    low, high = row.estimated
    return f"about {show_rate(row.tflops)} ({show_rate(low)} to {show_rate(high)})"


def how_measured(rows: Iterable[BenchRow]) -> str:
    """One sentence on how these rows were timed."""
    rows = [row for row in rows if row.samples]
    if not rows:  # whose note says how they were timed
        return ""
    counts = sorted({row.samples for row in rows})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    cache = " and ".join(sorted({f"L2 {row.l2}" for row in rows}))
    how = {
        "interleaved": "launches interleaved with cuBLAS's",
        "burst": "launches in bursts after a rest",
        "sustained": "timings of back-to-back launches at steady load",
        "graph": "graphs of 24 launches interleaved with cuBLAS's",
    }
    modes = ", ".join(how[mode] for mode in dict.fromkeys(row.mode for row in rows))
    batched = any(row.batch > 1 for row in rows if row.mode != "graph")
    tail = "; launches too short to time alone run in batches" if batched else ""
    sizes = {row.size for row in rows}
    cube = rows[0].M == rows[0].N == rows[0].K
    where = f"{'M = N = K =' if cube else 'MxNxK ='} {rows[0].size}. " if len(sizes) == 1 else ""
    return f"{where}Median of {n} {modes}; {cache}; {_types(rows)}{tail}."


def clock_notes(rows: Iterable[BenchRow]) -> list[str]:
    """Who counted the cycles of these rows, and of which there are none and why."""
    rows, words = list(rows), []
    counted = {row.cycles_by for row in rows}
    if CLOCK64 in counted:
        words.append(
            "SM clock and cycles: by clock64 and the GPU's timer, in a second build of a kernel "
            "that takes within 0.5 % of the time of the timed one."
        )
    if NCU in counted:
        words.append("(ncu): of the cycles that Nsight Compute says have elapsed.")
    reasons: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.clock_note:
            reasons.setdefault(row.clock_note, {})[BASELINES.get(row.kernel, row.kernel)] = None
    for reason, names in reasons.items():
        whose = "" if reason == _READ_BEHIND else f" of {', '.join(names)}"
        words.append(f"No SM clock{whose}: {reason}.")
    return words


def _show_per_clock(row: BenchRow) -> str:
    return show(row.flop_per_clk_sm, "{:.0f}") + " (ncu)" * (row.cycles_by == NCU)


def _types(rows: list[BenchRow]) -> str:
    """The types of A, B and C, if all rows have the same."""
    names = list(dict.fromkeys(row.precision for row in rows))
    if names != ["fp32"]:
        return f"{' and '.join(types_of(name).words for name in names)}, sums in fp32"
    other = any(row.kernel in OTHER_PRECISION for row in rows)
    return f"fp32 without TF32{', but where a row says so' if other else ''}"


def _named(kernel: str) -> str:
    """The configuration that is a part of a row's name: "step [128x64]"."""
    return kernel.partition(" [")[2].partition("]")[0]
