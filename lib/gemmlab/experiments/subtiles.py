"""An experiment of article 001: how TM, TN, WMITER and WNITER of warp subtiles set the speed.

Each configuration is a variant of sgemm_12_warp_subtiles in which a thread has 128 elements of C.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product

from .. import measurements
from ..bench.bench import bench
from ..display.numbers import show_rate, show_share
from ..display.table import Shown, Table
from ..gpu import build, ptxas
from ..gpu.machine_code import stamp
from ..gpu.toolchain import arch
from ..layouts.shared.banks import WARP, wavefronts
from ..measurements.provenance import made_on
from ..run.backend import default_backend
from ..run.kernel import Kernel, variant
from ..run.kernel import kernel as handle_of
from ..widgets import HeatMap, Metric

STEP = "sgemm_12_warp_subtiles"
SIZE = 4096  # M = N = K
WM, WN, BK, BN = 32, 128, 32, 128  # of that step
ELEMENTS = WM * WN // WARP  # of C, a thread
ARTICLE_GPU = "RTX 5070 Ti"

# (TM, TN, WMITER, WNITER) -> the article's TFLOP/s at 4096 on that GPU.
ARTICLE: dict[tuple[int, int, int, int], float] = {
    (8, 4, 1, 4): 25.39,
    (8, 4, 2, 2): 28.70,
    (8, 4, 4, 1): 21.53,
    (4, 4, 1, 8): 21.53,
    (4, 4, 2, 4): 25.41,
    (4, 4, 4, 2): 28.73,
    (4, 4, 8, 1): 21.52,
    (4, 8, 1, 4): 21.51,
    (4, 8, 2, 2): 22.30,
    (4, 8, 4, 1): 26.23,
    (1, 16, 1, 8): 15.11,
    (1, 16, 2, 4): 19.99,
    (1, 16, 4, 2): 15.66,
    (1, 16, 8, 1): 15.59,
}


@dataclass(frozen=True, order=True)
class Configuration:
    """A thread's pieces of C: WMITER x WNITER of TM x TN elements each."""

    TM: int
    TN: int
    WMITER: int
    WNITER: int

    @property
    def name(self) -> str:
        """ "TM 8, TN 4, WMITER 2, WNITER 2": what the variant is called."""
        return ", ".join(f"{key} {value}" for key, value in asdict(self).items())

    @property
    def against(self) -> str:
        """Why this is not one of the experiment's configurations, "" if it is one."""
        elements = self.TM * self.TN * self.WMITER * self.WNITER
        if self.TN % 4:
            return f"TN = {self.TN} is no multiple of 4: B is loaded 16 bytes at a time"
        if elements != ELEMENTS:
            factors = f"{self.TM} * {self.TN} * {self.WMITER} * {self.WNITER}"
            return f"{factors} = {elements} elements a thread, not {ELEMENTS}"
        if self.WMITER * self.TM > WM:
            return f"WMITER * TM = {self.WMITER * self.TM} rows a thread, the warp has {WM}"
        if self.WNITER * self.TN > WN:
            return f"WNITER * TN = {self.WNITER * self.TN} columns a thread, the warp has {WN}"
        return ""

    @property
    def article(self) -> float | None:
        """TFLOP/s in the article, None if it did not measure this one."""
        return ARTICLE.get((self.TM, self.TN, self.WMITER, self.WNITER))

    @property
    def kernel(self) -> Kernel:
        """The step with these constants."""
        text = handle_of(STEP).spec.path.read_text()
        found = {key: _line(text, key) for key in asdict(self)}
        changes = {line: f"constexpr int {k} = {getattr(self, k)};" for k, line in found.items()}
        return variant(STEP, changes, label=self.name)

    def _lanes(self) -> list[tuple[int, int]]:
        """(row, column) of the warp's tile where each lane's first piece begins."""
        columns = WN // self.WNITER // self.TN
        return [(lane // columns * self.TM, lane % columns * self.TN) for lane in range(WARP)]

    @cached_property
    def loads_of_a(self) -> list[int]:
        """Wavefronts of each load of A for one k: 4 bytes from sA[row][k], rows of BK floats."""
        rows = [row for row, _ in self._lanes()]
        pieces = product(range(self.WMITER), range(self.TM))
        starts = [wm * (WM // self.WMITER) + i for wm, i in pieces]
        return [wavefronts([4 * BK * (row + s) for row in rows], 4).wavefronts for s in starts]

    @cached_property
    def loads_of_b(self) -> list[int]:
        """Wavefronts of each load of B for one k: 16 bytes from sB[k][column]."""
        columns = [column for _, column in self._lanes()]
        pieces = product(range(self.WNITER), range(0, self.TN, 4))
        starts = [wn * (WN // self.WNITER) + j for wn, j in pieces]
        return [wavefronts([4 * (col + s) for col in columns], 16).wavefronts for s in starts]

    @property
    def wavefronts(self) -> int:
        """Shared-memory wavefronts that a warp asks for in one k."""
        return sum(self.loads_of_a) + sum(self.loads_of_b)

    @property
    def loads(self) -> int:
        """Shared-memory loads that a warp issues in one k."""
        return len(self.loads_of_a) + len(self.loads_of_b)


def _line(text: str, name: str) -> str:
    """The line that declares a constant of the step."""
    (line,) = (s for s in text.splitlines() if s.startswith(f"constexpr int {name} = "))
    return line


def configurations() -> Iterator[Configuration]:
    """Every configuration with 128 elements a thread, all four numbers powers of two."""
    powers = [2**i for i in range(8)]
    found = (Configuration(*values) for values in product(powers, repeat=4))
    return (one for one in found if not one.against)


@dataclass(frozen=True)
class Row:
    """A configuration with what was measured: TFLOP/s, its ratio to cuBLAS, ptxas' numbers."""

    configuration: Configuration
    tflops: float | None = None
    ratio: float | None = None
    registers: int | None = None
    spill_bytes: int | None = None


@dataclass(frozen=True, repr=False)
class Subtiles(Shown):
    """The experiment's rows. source: "live", "recorded", or "" where nothing was measured."""

    rows: tuple[Row, ...]
    source: str = ""
    environment: dict | None = None
    note: str = ""

    @property
    def article(self) -> Subtiles:
        """Only the configurations that the article measured."""
        kept = tuple(row for row in self.rows if row.configuration.article is not None)
        return replace(self, rows=kept)

    def heat_map(self, metric: str | None = None, caption: str = "") -> HeatMap:
        """The rows as a map that the reader can explore; see `heat_map`."""
        return heat_map(self, metric, caption)

    def shown(self) -> Table:
        """One line a configuration, those with the fewest wavefronts first."""
        head = ["TM", "TN", "WMITER", "WNITER", "wavefronts A + B", "loads"]
        head += [f"TFLOP/s, {ARTICLE_GPU}", "TFLOP/s here", "of cuBLAS", "spills"]
        rows = []
        for row in sorted(self.rows, key=lambda r: (r.configuration.wavefronts, r.configuration)):
            one = row.configuration
            a, b = sum(one.loads_of_a), sum(one.loads_of_b)
            counted = (f"{a} + {b} = {a + b}", str(one.loads))
            speeds = (_shown(one.article, "{:.2f}".format), _shown(row.tflops, show_rate))
            rest = (_shown(row.ratio, show_share), _shown(row.spill_bytes, "{} B".format))
            rows.append((*(str(value) for value in asdict(one).values()), *counted, *speeds, *rest))
        return Table(head, rows, "nnnnnnnnnn", self._notes())

    def _notes(self) -> list[str]:
        lines = [
            f"Wavefronts and loads of shared memory: a warp, one k; counted. M = N = K = {SIZE}.",
            f"{ARTICLE_GPU}: article 001.",
        ]
        if self.source:
            lines.append(made_on(self.environment or {}, self.source))
        return lines + ([f"{self.note}."] if self.note else [])


def _shown(value: float | None, show) -> str:
    return "-" if value is None else show(value)


def subtiles(every: bool = False) -> Subtiles:
    """The article's 14 configurations, or every one of the 56: counted, and measured on a GPU.

    One interleaved run with cuBLAS at 4096. Without a GPU the recorded run is shown, or, if there
    is none, the article's own numbers and what is counted.
    """
    wanted = [one for one in configurations() if every or one.article is not None]
    if default_backend() == "gpu":
        return from_section({**measure(wanted), "source": "live"}, wanted)
    loaded = measurements.load()
    if "subtiles" not in loaded.sections:
        note = "Not measured on this book's GPU yet"
        return Subtiles(tuple(Row(one) for one in wanted), note=note)
    return from_section({**loaded.section("subtiles"), "source": "recorded"}, wanted)


def from_section(data: dict, wanted: list[Configuration]) -> Subtiles:
    """The rows of these configurations in a section that `measure` gave."""
    speeds = {row["kernel"]: row for row in data["rows"]}
    used = data["resources"]
    rows = []
    for one in wanted:
        row, needs = speeds.get(one.name, {}), used.get(one.name, {})
        spills = needs and needs["spill_stores_bytes"] + needs["spill_loads_bytes"]
        rows.append(
            Row(
                configuration=one,
                tflops=row.get("tflops"),
                ratio=row.get("ratio"),
                registers=needs.get("registers"),
                spill_bytes=spills if needs else None,
            )
        )
    return Subtiles(tuple(rows), data["source"], data["environment"])


def measure(wanted: list[Configuration] | None = None) -> dict:
    """Time these configurations (all, if not given) in one run: a section of a recording.

    Raises BuildError, LaunchError and BackendError as `bench` does.
    """
    kernels = [one.kernel for one in wanted or configurations()]
    with ThreadPoolExecutor() as pool:  # each waits for a compiler of its own
        list(pool.map(build.load, kernels))
        used = list(pool.map(lambda kernel: ptxas.resources(kernel, arch()), kernels))
    result = bench(kernels, [SIZE], baselines=("cublas",))
    names = [kernel.title for kernel in kernels]
    resources = {name: asdict(one) for name, one in zip(names, used, strict=True)}
    data = replace(result, source="recorded").to_dict()
    digests = stamp((kernel, kernel.spec.precisions[:1]) for kernel in (handle_of(STEP), *kernels))
    return {**data, **digests, "resources": resources}


def heat_map(found: Subtiles, metric: str | None = None, caption: str = "") -> HeatMap:
    """A HeatMap of the experiment's rows; `metric` is "tflops", "ratio", "article",
    "wavefronts" or "loads" (default: the first that has values).

    The article's configurations stand as its table has them, (TM, TN) against (WMITER, WNITER). All
    56 would leave most of that map empty: there the columns are WMITER, which fixes WNITER.
    """
    every = any(row.configuration.article is None for row in found.rows)
    return HeatMap(
        [_row(row, every) for row in found.rows],
        _metrics(found),
        columns_by=("WMITER",) if every else ("WMITER", "WNITER"),
        metric=metric,
        invalid=_too_many if every else _against,
        together="wavefronts",
        caption=caption,
    )


def _metrics(found: Subtiles) -> dict[str, Metric]:
    made = made_on(found.environment or {}, found.source or "recorded")
    here = (found.environment or {}).get("gpu", "this GPU").removeprefix("NVIDIA ")
    counted = f"Counted: one warp, one k, A and B; sA has rows of {BK} floats."
    article = f"From the article SGEMM and mixed precision (001), {ARTICLE_GPU}, M = N = K = 4096."
    return {
        "tflops": Metric(f"measured, {here}", "TFLOP/s", made, 1),
        "ratio": Metric("ratio to cuBLAS", "of cuBLAS", made, 3),
        "article": Metric(f"published, {ARTICLE_GPU}", "TFLOP/s", article),
        "wavefronts": Metric("wavefronts", "wavefronts per k", counted, 0, less=True),
        "loads": Metric("loads", "loads per k", counted, 0, less=True),
    }


def _row(row: Row, every: bool) -> dict:
    one = row.configuration
    note = f"A: {_loads(one.loads_of_a)}. B: {_loads(one.loads_of_b)}."
    if row.spill_bytes:
        note += f" {row.spill_bytes} bytes of registers spilled."
    values = {"tflops": row.tflops, "ratio": row.ratio, "article": one.article}
    counts = {"wavefronts": one.wavefronts, "loads": one.loads}
    also = f"WNITER {one.WNITER}" if every else ""
    return {**asdict(one), **values, **counts, "note": note, "also": also}


def _loads(each: list[int]) -> str:
    """ "2 loads of 4 wavefronts each"; every load of one operand costs the same."""
    many = "1 load" if len(each) == 1 else f"{len(each)} loads"
    cost = "1 wavefront" if each[0] == 1 else f"{each[0]} wavefronts"
    return f"{many} of {cost}" + (" each" if len(each) > 1 else "")


def _against(keys: dict) -> str:
    return Configuration(**keys).against


def _too_many(keys: dict) -> str:
    """Why no WNITER goes with these."""
    elements = keys["TM"] * keys["TN"] * keys["WMITER"]
    if elements > 128:
        factors = f"{keys['TM']} * {keys['TN']} * {keys['WMITER']}"
        return f"{factors} = {elements} elements, more than 128"
    return Configuration(**keys, WNITER=128 // elements).against
