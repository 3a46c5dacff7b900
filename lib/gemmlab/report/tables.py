"""Recorded measurements as the tables that chapters show: each names the GPU it was made on."""

from __future__ import annotations

from collections.abc import Sequence

from .. import measurements
from ..core.arguments import one_or_several
from ..core.errors import MeasurementError
from ..display.numbers import short
from ..display.table import Table
from ..gpu.sass import main_loop_excerpt, main_loops
from ..measurements.provenance import made_on
from ..run.kernel import Kernel, kernel
from .plots import LEVELS, recorded_points, recorded_roofs
from .recorded import recorded

__all__ = [
    "Table",
    "arbitration",
    "ceilings",
    "limits",
    "main_loop_excerpt",
    "main_loops",
    "recorded",
    "resources",
    "stalls",
    "steady",
    "traffic",
]

_UNITS = {  # what is shown -> the recorded share of the unit's peak rate over the whole run
    "tensor cores, instructions": "tensor_pipe",
    "tensor cores, cycles": "tensor_cycles",
    "FMA pipe": "fma_pipe",
    "issue slots": "issue_slots",
    "L1 data stage (wavefronts)": "l1_data",
    "L1 input (requests)": "l1_requests",
    "L2 sectors": "l2",
    "DRAM": "dram",
    "resident warps, of 64": "warps_active",
}


def limits(kernels: str | Kernel | Sequence[str | Kernel]) -> Table:
    """How busy each unit of the GPU was, per cent of its peak rate over the whole run, from ncu.

    kernels: a step or several. Raises MeasurementError if nothing was recorded, UnknownKernelError,
    ArgumentError without a step.
    """
    return _compared("unit", _UNITS, kernels, "{:.0f} %", "Per cent of each unit's peak")


_REASONS = {  # what is shown -> the recorded counter
    "at a barrier": "stall_barrier",
    "for shared memory": "stall_short_scoreboard",
    "for global memory": "stall_long_scoreboard",
    "for the shared-memory queue": "stall_mio_throttle",
    "for the global-memory queue": "stall_lg_throttle",
    "for the FMA pipe": "stall_math_pipe_throttle",
    "for dispatch": "stall_dispatch_stall",
    "ready, another warp was chosen": "stall_not_selected",
}
_WITH_TENSOR_CORES = {"stall_math_pipe_throttle": "for tensor cores or the FMA pipe"}


def stalls(kernels: str | Kernel | Sequence[str | Kernel]) -> Table:
    """What warps wait for: how many of a scheduler's are in each state when one is issued.

    kernels: a step or several. Raises MeasurementError if nothing was recorded, UnknownKernelError,
    ArgumentError without a step.
    """
    what = "Warps of a scheduler for each instruction issued"
    reasons = dict(_REASONS)
    if any(handle.spec.family != "sgemm" for handle in _handles(kernels)):
        reasons = {_WITH_TENSOR_CORES.get(key, label): key for label, key in reasons.items()}
    return _compared("warps that wait", reasons, kernels, "{:.2f}", what)


def _compared(
    head: str,
    keys: dict[str, str],
    kernels: str | Kernel | Sequence[str | Kernel],
    form: str,
    what: str,
) -> Table:
    """Some of ncu's recorded limits side by side; what is 0 for every kernel is left out."""
    specs = [handle.spec for handle in _handles(kernels)]
    found = measurements.sections((spec.family for spec in specs), "limits")
    rows = []
    read = [found[spec.family]["kernels"].get(spec.name) for spec in specs]
    for label, key in keys.items():
        values = [(counters or {}).get(key) for counters in read]
        shown = tuple(
            "not recorded" if counters is None else "-" if value is None else form.format(value)
            for counters, value in zip(read, values, strict=True)
        )
        if any(value and form.format(value) != form.format(0) for value in values):
            rows.append((label, *shown))
    size = found[specs[0].family]["size"]
    made = measurements.origins(section["environment"] for section in found.values())
    note = f"{what}, M = N = K = {size}, Nsight Compute, recorded on {made}."
    names = tuple(short(spec.name) for spec in specs)
    if not any(read):
        how = "`python -m gemmlab record --only limits` on a GPU adds it."
        cells = ("not recorded", *("-" for _ in specs))
        return Table((head, *names), (cells,), "t" + "n" * len(specs), (how,))
    return Table((head, *names), tuple(rows), "t" + "n" * len(specs), (note,))


def _handles(kernels: str | Kernel | Sequence[str | Kernel]) -> list[Kernel]:
    example = "['sgemm_01_naive'], or one step"
    return [kernel(k) for k in one_or_several("kernels", kernels, str | Kernel, example)]


def arbitration(name: str | Kernel) -> Table:
    """Three counters that look alike: what stores need, what the data stage counted, who queued.

    name: a step. All are wavefronts of shared-memory stores. Raises MeasurementError if the
    counters were not recorded.
    """
    spec = kernel(name).spec
    section = measurements.load(family=spec.family).section("arbitration")
    read = section["kernels"][spec.name]
    rows = tuple(
        (label, section["metrics"][key], f"{read[key]:,}")
        for label, key in (
            ("what the instructions need", "needed"),
            ("what the data stage counted", "counted"),
            ("reported as bank conflicts", "conflicts"),
            ("of all requests: warps queueing", "arbitration"),
        )
        if key in read
    )
    note = f"{spec.name}, M = N = K = {section['size']}, shared stores. "
    note += made_on(section["environment"])
    return Table(("", "Nsight Compute counter (.sum)", "wavefronts"), rows, "ttn", (note,))


def ceilings() -> Table:
    """What the probes measured: the FMA rate and the read bandwidths.

    Raises MeasurementError if they were not recorded.
    """
    section = measurements.load().section("probes")
    clock = section["ffma_clock_mhz"]
    rows = (
        ("FMAs on registers", f"{section['ffma_tflops']:.1f} TFLOP/s at {clock:.0f} MHz"),
        ("", f"{section['ffma_flop_per_clk_sm']:.0f} FLOP per clock and SM, 256 possible"),
        (
            f"reading {section['l2_read_footprint_mib']:.0f} MiB, from L2",
            f"{section['l2_read_tbs']:.2f} TB/s",
        ),
        (
            f"reading {section['dram_read_footprint_mib'] / 1024:.0f} GiB, from DRAM",
            f"{section['dram_read_tbs']:.2f} TB/s",
        ),
        ("copying, bytes read + written", f"{section['copy_tbs']:.2f} TB/s"),
    )
    note = f"Median of {section['samples']}. {made_on(section['environment'])}"
    return Table(("probe", "measured"), rows, "tt", (note,))


def traffic(name: str | Kernel, size: int = 4096) -> Table:
    """FLOP per byte of one step at each level, and what that level's bandwidth would allow.

    name: a step. size: M = N = K. Raises MeasurementError for what was not recorded.
    """
    spec = kernel(name).spec
    loaded = measurements.load(family=spec.family)
    rows = []
    if spec.name not in loaded.section("traffic")["kernels"]:
        how = "`python -m gemmlab record --only traffic --only counters` on a GPU adds it"
        return Table((spec.name,), (("traffic: not recorded",),), "t", (how,))
    for level, meaning in LEVELS.items():
        point = next((p for p in recorded_points(loaded, level, size) if p.name == spec.name), None)
        if point is None:
            raise MeasurementError(f"traffic: {spec.name} was not recorded ({level})")
        slope = next((r for r in recorded_roofs(loaded, level) if r.unit == "TB/s"), None)
        allows = f"{_three(point.intensity * slope.value)} TFLOP/s" if slope else "-"
        bandwidth = f"{slope.value:.2f} TB/s" if slope else "-"
        moved = 2 * size**3 / point.intensity / 1e9
        what = meaning.removeprefix("FLOP per byte ")
        rows.append((what, f"{moved:.3g} GB", _three(point.intensity), bandwidth, allows))
    timed = loaded.bench().only(mode="interleaved", precision=spec.precisions[0])
    done = timed.row(spec.name, size).tflops
    note = f"{spec.name} runs at {done:.3g} TFLOP/s at M = N = K = {size}. "
    note += made_on(loaded.section("traffic")["environment"])
    head = ("bytes that are counted", "moved", "FLOP/byte", "bandwidth", "would allow")
    return Table(head, tuple(rows), "tnnnn", (note,))


def _three(value: float) -> str:
    """Three digits, never as a power of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def resources(kernels: str | Kernel | Sequence[str | Kernel]) -> Table:
    """Registers, spills and shared memory of steps, as ptxas reported them when recorded.

    Dynamic shared memory, which ptxas does not know, is that of the step's spec; bytes of a block.

    kernels: a step or several. Raises MeasurementError if nothing was recorded, UnknownKernelError,
    ArgumentError without a step.
    """
    handles = _handles(kernels)
    found = measurements.sections((handle.spec.family for handle in handles), "resources")
    rows = []
    for handle in handles:
        name = handle.source.label or handle.name
        used = found[handle.spec.family]["kernels"][name]
        spills = used["spill_stores_bytes"] + used["spill_loads_bytes"]
        shared = _shared(handle, used["shared_bytes"])
        rows.append((name, str(used["registers"]), f"{spills} B", shared))
    versions = dict.fromkeys(str(section["environment"].get("cuda")) for section in found.values())
    note = f"ptxas, CUDA {' and '.join(versions)}."
    head = ("kernel", "registers a thread", "spills", "shared memory a block")
    return Table(head, tuple(rows), "tnnn", (note,))


def _shared(handle: Kernel, static: int) -> str:
    """A block's shared memory: what ptxas says, or what the launch asks for, and then says so."""
    if not handle.dynamic_shared:
        return f"{static:,} B"
    # Of a text other than the step's own, only its launcher knows.
    return f"{handle.spec.shared_bytes:,} B, dynamic" if handle.is_own_file else "dynamic"


def steady(family: str = "sgemm") -> Table:
    """Burst against sustained load, for the last step of a family and cuBLAS.

    family: "sgemm", "hgemm" or "tma". Raises MeasurementError if it was not recorded.
    """
    section = measurements.load(family=family).section("power")
    result = measurements.BenchResult.from_dict(section)
    rows = tuple(
        (
            short(row.kernel),
            row.mode,
            f"{row.tflops:.1f}",
            f"{row.clock_mhz:.0f} MHz",
            "-" if row.power_w is None else f"{row.power_w:.0f} W",
        )
        for row in sorted(result.rows, key=lambda row: row.kernel)
    )
    size = result.rows[0].size
    note = f"M = N = K = {size}. {made_on(section['environment'])}"
    return Table(("kernel", "load", "TFLOP/s", "SM clock", "power"), rows, "ttnnn", (note,))
