"""The simulator's counts of whole steps beside those that Nsight Compute read on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import measurements, sim
from ..core.arguments import choice, one_or_several
from ..core.errors import MeasurementError
from ..display.numbers import short
from ..display.table import Table
from ..measurements.metrics import COUNTED_SIZE
from ..run.kernel import Kernel, kernel
from ..steps import registry
from . import merged_loads
from .merged_loads import is_merged

_GLOBAL = {
    "global loads, sectors": ("ld.global sectors", "global_load_sectors"),
    "global stores, sectors": ("st.global sectors", "global_store_sectors"),
}
_16_BIT = {
    "ldmatrix, wavefronts": ("ldmatrix wavefronts", "ldmatrix_wavefronts"),
    "ldmatrix, instructions": ("ldmatrix requests", "ldmatrix_instructions"),
}
_PLAIN_WAVEFRONTS = {
    "shared loads, wavefronts": ("ld.shared wavefronts", "shared_load_wavefronts"),
    "shared stores, wavefronts": ("st.shared wavefronts", "shared_store_wavefronts"),
}
COUNTED = {  # family -> column -> the simulator's count, the recorded counter
    "sgemm": {
        **_PLAIN_WAVEFRONTS,
        "shared loads, instructions": ("ld.shared requests", "shared_load_instructions"),
        "shared stores, instructions": ("st.shared requests", "shared_store_instructions"),
        **_GLOBAL,
    },
    "hgemm": {
        **_16_BIT,
        "cp.async, wavefronts": ("cp.async.shared wavefronts", "copy_wavefronts"),
        **_PLAIN_WAVEFRONTS,
        **_GLOBAL,
    },
    # What the copy engine moves is neither of these: no thread asks for it.
    "tma": {**_16_BIT, **_PLAIN_WAVEFRONTS, **_GLOBAL},
    "wgmma": {**_16_BIT, **_PLAIN_WAVEFRONTS, **_GLOBAL},
}
_LOADS = dict.fromkeys(("sgemm", "hgemm"), "Global loads: with cp.async")
_LOADS |= dict.fromkeys(("tma", "wgmma"), "Global loads and stores: without the copy engine's")
_SHARED = {  # the simulator's operation -> what the table calls it, the recorded counter
    "ldmatrix": ("ldmatrix", "ldmatrix_wavefronts"),
    "cp.async.shared": ("cp.async", "copy_wavefronts"),
    "ld.shared": ("loads", "shared_load_wavefronts"),
    "st.shared": ("stores", "shared_store_wavefronts"),
    "stmatrix": ("stmatrix", "stmatrix_wavefronts"),
}


def counted_as(what: str, totals: dict[str, dict[str, int]]) -> int:
    """The simulator's count that ncu's counter holds: that of global loads has cp.async in it.

    what: an operation and a count, "ld.global sectors"; totals: of a trace.
    """
    op, _, count = what.partition(" ")
    also = ("cp.async.global",) if op == "ld.global" else ()
    return sum(totals.get(one, {}).get(count, 0) for one in (op, *also))


def agreement(family: str = "sgemm") -> Table:
    """Simulator against ncu for every step of a family, at the size of the recorded counters.

    The simulator's numbers are counted now; a pair that differs is marked. Where nvcc leaves out
    loads of the source (`merged_loads.MERGED`), the pair is marked as such, and a note says why. A
    counter that ncu does not have on that GPU is "not counted". Raises ArgumentError for an unknown
    family.
    """
    columns = COUNTED[choice("family", family, COUNTED)]
    section = measurements.load(family=family).section("counters")
    size = section["size"]
    rows, recorded, different = [], [], 0
    for spec in (spec for spec in registry.KERNELS if spec.family == family):
        read = section["kernels"].get(spec.name)
        if read is None:
            rows.append((spec.name, *("not recorded" for _ in columns)))
            continue
        counted = sim.trace(spec, size, size, size).totals()
        cells = [
            pair(counted_as(what, counted), read.get(key), is_merged(spec.name, key))
            for what, key in columns.values()
        ]
        different += sum("differs" in cell for cell in cells)
        recorded.append(spec.name)
        rows.append((spec.name, *cells))
    verdict = f"Pairs that differ: {different}"
    why = merged_loads.notes(recorded)
    if not different:
        verdict = f"All {'other ' * bool(why)}pairs are equal"
    notes = (
        f"M = N = K = {size}; simulator / Nsight Compute. {verdict}. {_LOADS[family]}.",
        *why,
        f"Nsight Compute recorded on {measurements.origin(section['environment'])}.",
    )
    return Table(("kernel", *columns), tuple(rows), "t" + "n" * len(columns), notes)


def pair(counted: int, read: int | None, fewer: bool = False) -> str:
    """Two counts of one thing, marked if they differ. fewer: the second may be the smaller."""
    if read is None:
        return f"{counted:,} / not counted"
    mark = "" if counted == read else "  merged" if fewer and read < counted else "  differs"
    return f"{counted:,} / {read:,}{mark}"


def conflicts(kernels: str | Kernel | Sequence[str | Kernel]) -> Table:
    """What steps ask of shared memory, by kind of access: wavefronts, and their minimum.

    kernels: a step, or several. The simulator counts now, in the steps' usual types; beside its
    counts are those of ncu when it was recorded. Conflicts are wavefronts above the minimum, by the
    simulator. Raises ArgumentError without a kernel, UnknownKernelError, MeasurementError if
    nothing was recorded, BackendError.
    """
    example = "['sgemm_01_naive'], or one step"
    handles = [kernel(k) for k in one_or_several("kernels", kernels, str | Kernel, example)]
    found = {name: _recorded(name) for name in dict.fromkeys(h.spec.family for h in handles)}
    size = found[handles[0].spec.family][1]
    rows = [row for h in handles for row in _accesses(h, size, found[h.spec.family][0])]
    notes = (
        f"M = N = K = {size}. Wavefronts: at least, as the simulator counts, and as Nsight Compute "
        "counted; conflicts are those above the minimum.",
        *dict.fromkeys(origin for _, _, origin in found.values()),
    )
    head = ("kernel", "access", "requests", "minimum", "simulator", "Nsight Compute", "conflicts")
    return Table(head, tuple(rows), "ttnnnnn", notes)


def _recorded(family: str) -> tuple[dict, int, str]:
    """Counters by step, their size, and where they come from, or why there are none."""
    try:
        section = measurements.load(family=family).section("counters")
    except MeasurementError as error:
        return {}, COUNTED_SIZE, f"Nsight Compute: {error}."
    origin = f"Nsight Compute recorded on {measurements.origin(section['environment'])}."
    return section["kernels"], section["size"], origin


def _accesses(handle: Kernel, size: int, read: dict) -> Iterator[tuple[str, ...]]:
    """A row for each kind of access to shared memory that a step makes."""
    totals = sim.trace(handle, size, size, size).totals()
    name = short(handle.title)
    for op, (access, key) in _SHARED.items():
        if op not in totals:
            continue
        counted = totals[op]
        numbers = [counted[what] for what in ("requests", "wavefronts_min", "wavefronts")]
        by_ncu = _read(read.get(handle.title), key, counted["wavefronts"], handle.name)
        shown = (*(f"{n:,}" for n in numbers), by_ncu, f"{counted['conflicts']:,}")
        yield name, access, *shown
        name = ""


def _read(counters: dict | None, key: str, counted: int, name: str) -> str:
    """ncu's count, marked if it is another than the simulator's."""
    if counters is None:
        return "not recorded"
    if (value := counters.get(key)) is None:
        return "not counted"
    fewer = is_merged(name, key) and value < counted
    return f"{value:,}" + ("" if value == counted else "  merged" if fewer else "  differs")
