"""Whole kernels: the simulator's counts against ncu's, and what compute-sanitizer says of them.

tools/evidence/record_fixtures.py writes book/measurements/wavefronts/kernels_<gpu>.json,
tools/evidence/record_sanitizer.py sanitizer_<gpu>.json; `whole_kernels` and `sanitizer` read them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from .. import measurements, sim
from ..core.paths import repository_root
from ..display.table import Table
from . import merged_loads
from .counters import pair
from .recordings import load, path_of

COLUMNS = {  # the recorded counter -> what the table calls it
    "ld.shared wavefronts": "shared loads, wavefronts",
    "st.shared wavefronts": "shared stores, wavefronts",
    "ldmatrix wavefronts": "ldmatrix, wavefronts",
    "stmatrix wavefronts": "stmatrix, wavefronts",
    "cp.async.shared wavefronts": "cp.async, wavefronts",
    "wgmma.shared wavefronts": "wgmma, wavefronts",
    "ld.global requests": "global loads, requests",
    "ld.global sectors": "global loads, sectors",
    "st.global requests": "global stores, requests",
    "st.global sectors": "global stores, sectors",
    "cp.async.global requests": "cp.async, requests",
    "cp.async.global sectors": "cp.async, sectors",
}


def whole_kernels(path: str | Path | None = None) -> Table:
    """Whole kernels: what the simulator counts now, and what ncu counted when it was recorded.

    A pair that differs is marked; "-" is a counter that is 0 on both sides. path: a recorded file
    (None: the H200's). Raises MeasurementError if the file is missing or not readable.
    """
    recorded = load(path or path_of("kernels"))
    compared = {name: _pairs(entry) for name, entry in recorded["kernels"].items()}
    keys = [key for key in COLUMNS if any(key in pairs for pairs in compared.values())]
    rows = tuple(
        (name, *(_cell(name, key, pairs) for key in keys)) for name, pairs in compared.items()
    )
    different = sum("differs" in cell for row in rows for cell in row)
    every = sum(map(len, compared.values()))
    notes = (
        f"Simulator / Nsight Compute. {every} pairs, {different} of them differ.",
        *merged_loads.notes(list(compared)),
        measurements.made_on(recorded["environment"]),
    )
    head = ("kernel", *(COLUMNS[key] for key in keys))
    return Table(head, rows, "t" + "n" * len(keys), notes)


def _cell(name: str, key: str, pairs: dict[str, tuple[int, int]]) -> str:
    fewer = merged_loads.is_merged(name, key.partition(" ")[0])
    return pair(*pairs[key], fewer) if key in pairs else "-"


def _pairs(entry: dict) -> dict[str, tuple[int, int]]:
    """(counted now, recorded) by counter, without those that are 0 on both sides.

    What these kernels ask for does not depend on the values in A, B and C.
    """
    module = sim.compile_source(repository_root() / entry["file"], entry["launch"])
    A, B, C = (np.ones(size, np.uint8) for size in entry["bytes"])
    totals = module.trace(A, B, C, *entry["size"]).totals()
    pairs = {}
    for key, read in entry["counters"].items():
        op, _, what = key.rpartition(" ")
        counted = totals.get(op, {}).get(what, 0)
        if key in COLUMNS and read is not None and (counted or read):
            pairs[key] = (counted, read)
    return pairs


def sanitizer(path: str | Path | None = None) -> Table:
    """compute-sanitizer on the test kernels: what each tool reported in right and broken ones.

    path: a recorded file (None: the H200's); in it, -1 errors stand for a kernel that did not end.
    Raises MeasurementError if the file is missing or not readable.
    """
    recorded = load(path or path_of("sanitizer"))
    right: dict[str, list[int]] = defaultdict(list)
    broken: dict[str, list[int]] = defaultdict(list)
    for entry in recorded["kernels"].values():
        for which, tools in entry.items():
            for tool, errors in tools.items():
                (broken if which == "broken" else right)[tool].append(errors)
    rows = []
    for tool in right:
        seen, given = broken[tool], len(broken[tool])
        cells = (sum(n > 0 for n in seen), sum(n < 0 for n in seen))
        shown = (f"{n} of {given}" if given else "-" for n in cells)
        rows.append((tool, *shown, f"{sum(n != 0 for n in right[tool])} of {len(right[tool])}"))
    head = ("tool", "mistakes reported", "did not end", "right kernels with a report")
    notes = (
        "A kernel with a mistake ran under the one tool that looks for mistakes of its kind.",
        measurements.made_on(recorded["environment"]),
    )
    return Table(head, tuple(rows), "tnnn", notes)
