"""The subtiles experiment as a map for the reader to explore."""

from __future__ import annotations

from dataclasses import asdict

from .measurements import made_on
from .subtiles import ARTICLE_GPU, BK, Configuration, Row, Subtiles
from .widgets import HeatMap, Metric


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
    article = f"From article 001, {ARTICLE_GPU}, M = N = K = 4096."
    return {
        "tflops": Metric(f"measured, {here}", "TFLOP/s", made, 1),
        "ratio": Metric("ratio to cuBLAS", "of cuBLAS", made, 3),
        "article": Metric(f"article, {ARTICLE_GPU}", "TFLOP/s", article),
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
