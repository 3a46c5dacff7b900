"""Recorded measurements as the tables that chapters show: each names the GPU it was made on."""

from __future__ import annotations

from collections.abc import Sequence

from .. import measurements
from ..core.arguments import choice, one_or_several, sequence
from ..core.errors import ArgumentError, MeasurementError
from ..display.numbers import short, show, show_rate, show_share
from ..display.table import Table
from ..gpu.sass import main_loop_excerpt, main_loops
from ..measurements.provenance import made_on, origin
from ..measurements.rows import BenchRow, clock_notes
from ..measurements.store import Measurements
from ..run.kernel import Kernel, kernel
from ..steps import registry
from ..steps.articles import ARTICLES, covered_by
from .peers import peers
from .plots import LEVELS, recorded_points, recorded_roofs
from .recorded import recorded

__all__ = [
    "Table",
    "arbitration",
    "beside",
    "ceilings",
    "departures",
    "limits",
    "main_loop_excerpt",
    "main_loops",
    "peers",
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


def limits(kernels: str | Kernel | Sequence[str | Kernel], gpu: str | None = None) -> Table:
    """How busy each unit of the GPU was, per cent of its peak rate over the whole run, from ncu.

    kernels: a step or several. gpu: whose recording, "H200"; None: the newest. Raises
    MeasurementError if nothing was recorded, UnknownKernelError, ArgumentError without a step.
    """
    return _compared("unit", _UNITS, kernels, "{:.0f} %", "Per cent of each unit's peak", gpu)


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


def stalls(kernels: str | Kernel | Sequence[str | Kernel], gpu: str | None = None) -> Table:
    """What warps wait for: how many of a scheduler's are in each state when one is issued.

    kernels: a step or several. gpu: whose recording, "H200"; None: the newest. Raises
    MeasurementError if nothing was recorded, UnknownKernelError, ArgumentError without a step.
    """
    what = "Warps of a scheduler for each instruction issued"
    reasons = dict(_REASONS)
    if any(handle.spec.family != "sgemm" for handle in _handles(kernels)):
        reasons = {_WITH_TENSOR_CORES.get(key, label): key for label, key in reasons.items()}
    return _compared("warps that wait", reasons, kernels, "{:.2f}", what, gpu)


def _compared(
    head: str,
    keys: dict[str, str],
    kernels: str | Kernel | Sequence[str | Kernel],
    form: str,
    what: str,
    gpu: str | None,
) -> Table:
    """Some of ncu's recorded limits side by side; what is 0 for every kernel is left out."""
    specs = [handle.spec for handle in _handles(kernels)]
    found = measurements.sections((spec.family for spec in specs), "limits", gpu)
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


def arbitration(name: str | Kernel, gpu: str | None = None) -> Table:
    """Three counters that look alike: what stores need, what the data stage counted, who queued.

    name: a step. gpu: whose recording; None: the newest. All are wavefronts of shared-memory
    stores. Raises MeasurementError if the counters were not recorded.
    """
    spec = kernel(name).spec
    section = measurements.load(family=spec.family, gpu=gpu).section("arbitration")
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


def ceilings(gpu: str | None = None) -> Table:
    """What the probes measured: the FMA rate and the read bandwidths.

    gpu: whose recording; None: the newest. Raises MeasurementError if they were not recorded.
    """
    section = measurements.load(gpu=gpu).section("probes")
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
    if "clock" not in section:
        note += " The clock was read behind the launches."
    return Table(("probe", "measured"), rows, "tt", (note,))


def traffic(name: str | Kernel, size: int = 4096, gpu: str | None = None) -> Table:
    """FLOP per byte of one step at each level, and what that level's bandwidth would allow.

    name: a step. size: M = N = K. gpu: whose recording; None: the newest. Raises MeasurementError
    for what was not recorded.
    """
    spec = kernel(name).spec
    loaded = measurements.load(family=spec.family, gpu=gpu)
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


def departures(article: str) -> Table:
    """The kernels of an article, the steps that reproduce them, and how the steps differ.

    article: its number, "003", "001", "000" or "002". Raises ArgumentError for another one.
    """
    choice("article", article, tuple(one.key for one in ARTICLES))
    steps = {name: found for name, found in covered_by().items() if found}
    rows = [
        (name.partition("/")[2], short(spec.name), spec.departs)
        for name, found in steps.items()
        for spec in found
        if name.startswith(f"{article}/")
    ]
    return Table(("kernel of the article", "step", "how the step differs"), rows, "ttw")


def resources(kernels: str | Kernel | Sequence[str | Kernel], gpu: str | None = None) -> Table:
    """Registers, spills and shared memory of steps, as ptxas reported them when recorded.

    Dynamic shared memory, which ptxas does not know, is that of the step's spec; bytes of a block.

    kernels: a step or several. gpu: whose recording, "H200"; None: the newest. Raises
    MeasurementError if nothing was recorded, UnknownKernelError, ArgumentError without a step.
    """
    handles = _handles(kernels)
    found = measurements.sections((handle.spec.family for handle in handles), "resources", gpu)
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


def steady(family: str = "sgemm", gpu: str | None = None) -> Table:
    """Burst against sustained load, for the last step of a family and cuBLAS.

    family: "sgemm", "hgemm", "tma" or "wgmma". gpu: whose recording; None: the newest. Raises
    MeasurementError if it was not recorded.
    """
    section = measurements.load(family=family, gpu=gpu).section("power")
    result = measurements.BenchResult.from_dict(section)
    rows = tuple(
        (
            short(row.kernel),
            row.mode,
            f"{row.tflops:.1f}",
            show(row.clock_mhz, "{:.0f} MHz"),
            show(row.power_w, "{:.0f} W"),
        )
        for row in sorted(result.rows, key=lambda row: row.kernel)
    )
    size = result.rows[0].size
    note = f"M = N = K = {size}. {made_on(section['environment'])}"
    notes = (note, *clock_notes(result.rows))
    return Table(("kernel", "load", "TFLOP/s", "SM clock", "power"), rows, "ttnnn", notes)


def beside(family: str = "sgemm", size: int = 4096, gpus: Sequence[str] | None = None) -> Table:
    """The recorded steps of a family on several GPUs: TFLOP/s, and the share of cuBLAS there.

    family: "sgemm", "hgemm", "tma" or "wgmma". size: M = N = K. gpus: names, or parts of them, such
    as ["H200"]; None: all that are recorded. `python -m gemmlab record` on your GPU adds its
    column. A step that was not recorded there at that size is a dash. Raises MeasurementError if
    nothing was recorded, ArgumentError for an empty list.
    """
    wanted = measurements.gpus(family) if gpus is None else sequence("gpus", gpus, "['H200']")
    if not wanted:
        raise ArgumentError("gpus: is empty; name at least one, such as ['H200'], or leave it out")
    runs = [measurements.load(family=family, gpu=gpu) for gpu in wanted]
    found = [_by_kernel(run, size) for run in runs]
    own = (name for name in registry.names() if registry.get(name).family == family)
    names = [name for name in (*own, "cublas") if any(name in rows for rows in found)]
    rows = [(short(name), *(_speed(rows.get(name)) for rows in found)) for name in names]
    made = "; ".join(origin(run.environment) for run in runs)
    note = f"TFLOP/s at M = N = K = {size}, and the share of cuBLAS on the same GPU. {made}."
    stale = [
        f"{run.gpu}: {len(measurements.stale(run))}" for run in runs if measurements.stale(run)
    ]
    notes = [note]
    if stale:
        notes.append(f"Steps that may have had other machine code then: {', '.join(stale)}.")
    heads = (run.gpu.removeprefix("NVIDIA ") for run in runs)
    return Table(("step", *heads), rows, "t" + "n" * len(runs), notes, [])


def _by_kernel(run: Measurements, size: int) -> dict[str, BenchRow]:
    """The rows of the usual types at a size."""
    types = registry.KERNELS[0].precisions[0] if run.family == "sgemm" else "bf16"
    result = run.bench().only(sizes=[(size,) * 3], mode="interleaved", precision=types)
    return {row.kernel: row for row in result.rows}


def _speed(row: BenchRow | None) -> str:
    return "-" if row is None else f"{show_rate(row.tflops)} ({show_share(row.ratio)})"
