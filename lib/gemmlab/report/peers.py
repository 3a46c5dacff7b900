"""The last steps beside other people's kernels, as they were recorded in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import measurements
from ..core.errors import MeasurementError
from ..display.numbers import short, show_rate
from ..display.table import Table
from ..measurements.provenance import made_on
from ..measurements.rows import BASELINES, BenchResult, BenchRow
from ..steps import registry

_HEAD = ("size", "mode", "torch.matmul", "our best step", "ratio", "best of the others", "ratio")
_LIBRARY = "cublaslt_best"


def peers(gpu: str | None = None) -> Table:
    """Our best step and the best of the others against torch.matmul, by size and mode.

    The others are cuBLASLt's best heuristic and kernels of CUTLASS, DeepGEMM and fast.cu, whose
    best ones have a column each; a row in which one of them is ahead of us is quiet. Ratios are
    above 1 where torch.matmul is slower; after ± is half the distance from the 10th to the 90th
    percentile of the kernel's own times. Where nothing is recorded the table says so.

    gpu: whose recording, "H200"; None: the newest. Raises MeasurementError if there is none of the
    WGMMA steps at all.
    """
    loaded = measurements.load(family="wgmma", gpu=gpu)
    try:
        section = loaded.section("peers")
        built: Mapping[str, Any] = section["built"]
    except MeasurementError as error:
        return Table(("peers",), (("not recorded",),), "t", (f"{error}.",))
    result = BenchResult.from_dict(section)
    names = list(dict.fromkeys(entry["peer"] for entry in built.values()))
    runs: dict[tuple[int, str], list[BenchRow]] = {}
    for row in result.rows:
        runs.setdefault((row.M, row.mode), []).append(row)
    rows: list[tuple[str, ...]] = []
    quiet: list[int] = []
    for (size, mode), run in runs.items():
        ours, others = _best(run, registry.names()), _best(run, (_LIBRARY, *built))
        if ours and others and _ratio(others) > _ratio(ours):
            quiet.append(len(rows))
        cells = (_speed(run), *_named(ours, built), *_named(others, built))
        rows.append((str(size), mode, *cells, *_each(run, built, names)))
    head = (*_HEAD, "cuBLASLt", *names)
    align = "ttntntn" + "n" * (1 + len(names))
    return Table(head, rows, align, _notes(result, built, section["environment"]), quiet)


def _best(run: Sequence[BenchRow], names: Sequence[str]) -> BenchRow | None:
    """The row with the highest ratio of those that have one of these names."""
    return max((row for row in run if row.kernel in names), key=_ratio, default=None)


def _ratio(row: BenchRow) -> float:
    return row.ratio or 0.0


def _speed(run: Sequence[BenchRow]) -> str:
    """What torch.matmul reaches in this run: only ratios of one run can be compared."""
    (base,) = (row for row in run if row.kernel == "cublas")
    return f"{show_rate(base.tflops)} TFLOP/s"


def _named(row: BenchRow | None, built: Mapping[str, Any]) -> tuple[str, str]:
    """A kernel's name, with what it ran, and its ratio with the spread."""
    if row is None:
        return "-", "-"
    known = built.get(row.kernel, {}).get("title") or BASELINES.get(row.kernel)
    name = known or short(row.kernel) + (f" [{row.config}]" if row.config else "")
    low, high = row.spread
    return name, f"{_ratio(row):.3f} ± {50 * (high - low) / row.time_us:.1f} %"


def _each(run: Sequence[BenchRow], built: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The best ratio of cublasLt and of each peer."""
    own = [[name for name in built if built[name]["peer"] == peer] for peer in names]
    best = [_best(run, kernels) for kernels in ([_LIBRARY], *own)]
    return ["-" if row is None else f"{_ratio(row):.3f}" for row in best]


def _notes(
    result: BenchResult, built: Mapping[str, Any], environment: dict[str, Any]
) -> tuple[str, ...]:
    commits = dict.fromkeys(f"{entry['peer']} {entry['commit'][:12]}" for entry in built.values())
    counts = sorted({row.samples for row in result.rows})
    how = (
        f"bf16, sums in fp32, medians of {counts[0]} to {counts[-1]} timings, all kernels in turns "
        "in one run a line, nn: B as (K, N), nt: B as (N, K); interleaved: with a cold L2; burst: "
        "after a rest; sustained: at steady load; graph: 24 launches in a CUDA graph."
    )
    notes = (made_on(environment), how, f"Built from {', '.join(commits)}.")
    return (*notes, f"{result.note}.") if result.note else notes
