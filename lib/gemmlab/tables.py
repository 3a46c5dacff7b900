"""Recorded measurements as the tables that chapters show: each names the GPU it was made on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import _html, measurements, merged, registry
from .errors import MeasurementError
from .measurements import made_on
from .merged import is_merged
from .plots import LEVELS, recorded_points, recorded_roofs
from .results import short
from .run import Kernel, kernel


@dataclass(frozen=True)
class Table:
    """A table with its origin below; `rows` holds the numbers as text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return _html.text_table(self.head, self.rows, self.align, ["", *self.notes])

    def _repr_html_(self) -> str:
        return _html.table(self.head, self.rows, self.align, self.notes)


COUNTED = {  # column -> the simulator's count, the recorded counter
    "shared loads, wavefronts": ("ld.shared wavefronts", "shared_load_wavefronts"),
    "shared stores, wavefronts": ("st.shared wavefronts", "shared_store_wavefronts"),
    "shared loads, instructions": ("ld.shared requests", "shared_load_instructions"),
    "shared stores, instructions": ("st.shared requests", "shared_store_instructions"),
    "global loads, sectors": ("ld.global sectors", "global_load_sectors"),
    "global stores, sectors": ("st.global sectors", "global_store_sectors"),
}


def counted_as(what: str, totals: dict[str, dict[str, int]]) -> int:
    """The simulator's count that ncu's counter holds: that of global loads has cp.async in it.

    what: an operation and a count, "ld.global sectors"; totals: of a trace.
    """
    op, _, count = what.partition(" ")
    also = ("cp.async.global",) if op == "ld.global" else ()
    return sum(totals.get(one, {}).get(count, 0) for one in (op, *also))


def agreement() -> Table:
    """Simulator against ncu for every step, at the size of the recorded counters.

    The simulator's numbers are counted now; a pair that differs is marked. Where nvcc leaves out
    loads of the source (`merged.MERGED`), the pair is marked as such, and a note says why.
    """
    from . import sim

    section = measurements.load().section("counters")
    size = section["size"]
    rows, recorded, different = [], [], 0
    for spec in registry.KERNELS:
        read = section["kernels"].get(spec.name)
        if read is None:
            rows.append((spec.name, *("not recorded" for _ in COUNTED)))
            continue
        counted = sim.trace(spec, size, size, size).totals()
        cells = [
            pair(counted_as(what, counted), read[key], is_merged(spec.name, key))
            for what, key in COUNTED.values()
        ]
        different += sum("differs" in cell for cell in cells)
        recorded.append(spec.name)
        rows.append((spec.name, *cells))
    verdict = f"Pairs that differ: {different}"
    why = merged.notes(recorded)
    if not different:
        verdict = f"All {'other ' * bool(why)}pairs are equal"
    notes = (
        f"M = N = K = {size}; simulator / Nsight Compute. {verdict}. Global loads: with cp.async.",
        *why,
        f"Nsight Compute recorded on {measurements.origin(section['environment'])}.",
    )
    return Table(("kernel", *COUNTED), tuple(rows), "t" + "n" * len(COUNTED), notes)


def pair(counted: int, read: int, fewer: bool = False) -> str:
    """Two counts of one thing, marked if they differ. fewer: the second may be the smaller."""
    mark = "" if counted == read else "  merged" if fewer and read < counted else "  differs"
    return f"{counted:,} / {read:,}{mark}"


_UNITS = {  # what is shown -> the recorded share of the unit's peak rate over the whole run
    "FMA pipe": "fma_pipe",
    "issue slots": "issue_slots",
    "L1 data stage (wavefronts)": "l1_data",
    "L1 input (requests)": "l1_requests",
    "L2 sectors": "l2",
    "DRAM": "dram",
    "resident warps, of 64": "warps_active",
}


def limits(kernels: str | Kernel | Sequence[str | Kernel]) -> Table:
    """How busy each unit of the GPU was, per cent of its peak rate, from ncu."""
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


def stalls(kernels: str | Kernel | Sequence[str | Kernel]) -> Table:
    """What warps wait for: how many of a scheduler's are in each state when one is issued."""
    what = "Warps of a scheduler for each instruction issued"
    return _compared("warps that wait", _REASONS, kernels, "{:.2f}", what)


def _compared(
    head: str,
    keys: dict[str, str],
    kernels: str | Kernel | Sequence[str | Kernel],
    form: str,
    what: str,
) -> Table:
    """Some of ncu's recorded limits side by side; what is 0 for every kernel is left out."""
    specs = _specs(kernels)
    section = measurements.load().section("limits")
    rows = []
    read = [section["kernels"].get(spec.name) for spec in specs]
    for label, key in keys.items():
        values = [(counters or {}).get(key) for counters in read]
        shown = tuple(
            "not recorded" if counters is None else "-" if value is None else form.format(value)
            for counters, value in zip(read, values, strict=True)
        )
        if any(value and form.format(value) != form.format(0) for value in values):
            rows.append((label, *shown))
    note = f"{what}, M = N = K = {section['size']}, Nsight Compute, recorded on "
    note += f"{measurements.origin(section['environment'])}."
    names = tuple(short(spec.name) for spec in specs)
    if not any(read):
        how = "`python -m gemmlab record --only limits` on a GPU adds it."
        cells = ("not recorded", *("-" for _ in specs))
        return Table((head, *names), (cells,), "t" + "n" * len(specs), (how,))
    return Table((head, *names), tuple(rows), "t" + "n" * len(specs), (note,))


def _specs(kernels: str | Kernel | Sequence[str | Kernel]) -> list[registry.KernelSpec]:
    return [kernel(k).spec for k in ([kernels] if isinstance(kernels, str | Kernel) else kernels)]


def arbitration(name: str | Kernel) -> Table:
    """Three counters that look alike: what stores need, what the data stage counted, who queued."""
    spec = kernel(name).spec
    section = measurements.load().section("arbitration")
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
    """What the probes measured: the FMA rate and the read bandwidths."""
    section = measurements.load().section("probes")
    clock = section["ffma_clock_mhz"]
    rows = (
        ("FMAs on registers", f"{section['ffma_tflops']:.1f} TFLOP/s at {clock:.0f} MHz"),
        ("", f"{section['ffma_flop_per_clk_sm']:.0f} FLOP per clock and SM, 256 possible"),
        (f"reading {section['l2_read_footprint_mib']:.0f} MiB, from L2",
         f"{section['l2_read_tbs']:.2f} TB/s"),
        (f"reading {section['dram_read_footprint_mib'] / 1024:.0f} GiB, from DRAM",
         f"{section['dram_read_tbs']:.2f} TB/s"),
        ("copying, bytes read + written", f"{section['copy_tbs']:.2f} TB/s"),
    )  # fmt: skip
    note = f"Median of {section['samples']}. {made_on(section['environment'])}"
    return Table(("probe", "measured"), rows, "tt", (note,))


def traffic(name: str | Kernel, size: int = 4096) -> Table:
    """FLOP per byte of one step at each level, and what that level's bandwidth would allow."""
    spec = kernel(name).spec
    loaded = measurements.load()
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
    done = loaded.bench().only(mode="interleaved").row(spec.name, size).tflops
    note = f"{spec.name} runs at {done:.3g} TFLOP/s at M = N = K = {size}. "
    note += made_on(loaded.section("traffic")["environment"])
    head = ("bytes that are counted", "moved", "FLOP/byte", "bandwidth", "would allow")
    return Table(head, tuple(rows), "tnnnn", (note,))


def _three(value: float) -> str:
    """Three digits, never as a power of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def resources(kernels: str | Kernel | Sequence[str | Kernel]) -> Table:
    """Registers, spills and shared memory of steps, as ptxas reported them when recorded."""
    specs = _specs(kernels)
    section = measurements.load().section("resources")
    rows = []
    for spec in specs:
        used = section["kernels"][spec.label or spec.name]
        spills = used["spill_stores_bytes"] + used["spill_loads_bytes"]
        shared = f"{used['shared_bytes']:,} B"
        name = spec.label or spec.name
        rows.append((name, str(used["registers"]), f"{spills} B", shared))
    note = f"ptxas, CUDA {section['environment'].get('cuda')}."
    head = ("kernel", "registers a thread", "spills", "shared memory a block")
    return Table(head, tuple(rows), "tnnn", (note,))


def steady() -> Table:
    """Burst against sustained load, for the last step and cuBLAS."""
    section = measurements.load().section("power")
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
