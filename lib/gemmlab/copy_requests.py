"""One warp's cp.async past L1, 16 bytes a lane: what ncu counted, by the rows of its source."""

from __future__ import annotations

import numpy as np

from . import agreement, measurements
from ._html import Table
from .errors import MeasurementError
from .layouts.banks import WARP
from .layouts.copies import LINE_BYTES, PIECE

_ORDERS = ("in order", "XORed")
_LANES = np.arange(WARP)
_LINE = LINE_BYTES // PIECE  # pieces in a line


def row_bytes(source: np.ndarray) -> int | None:
    """Length of the rows that 32 lanes read in order, each row the beginning of a line of its own.

    512 are four whole lines on end. None for other sources.
    """
    pieces = source // PIECE
    for count in (WARP, 2, 4, 8, 16):
        row, col = np.divmod(_LANES, count)
        pitch = pieces[count] if count < WARP else 0
        lines_of_its_own = pitch % _LINE == 0 and pitch >= max(count, _LINE)
        if (count == WARP or lines_of_its_own) and (pieces == row * pitch + col).all():
            return count * PIECE
    return None


def order(shared: np.ndarray) -> str | None:
    """How 32 lanes fill four lines of shared memory: "in order", "XORed", or None for other ways.

    "XORed": within each line by one number, which is not 0 for all.
    """
    moved = (shared // PIECE) ^ _LANES
    by_line = moved.reshape(-1, _LINE)
    if (by_line != by_line[:, :1]).any() or moved.max() >= _LINE:
        return None
    return _ORDERS[int(moved.any())]


def measured() -> Table:
    """Wavefronts that ncu counted for such copies, by the rows of their source.

    Raises MeasurementError if the file is missing, or if like requests were counted differently.
    """
    found: dict[tuple[int, str], set[int]] = {}
    for pattern in agreement.patterns():
        if pattern.op != "cp.async.cg" or not pattern.active.all():
            continue
        key = row_bytes(pattern.source), order(pattern.shared)
        if None not in key:
            found.setdefault(key, set()).add(pattern.counted["wavefronts"])
    if any(len(counts) > 1 for counts in found.values()):
        raise MeasurementError("patterns: like copies were counted differently")
    lengths = sorted({length for length, _ in found})
    rows = tuple(
        (_row(length), *(str(*found.get((length, o), {"-"})) for o in _ORDERS))
        for length in lengths
    )
    recorded = measurements.folder() / "wavefronts" / f"patterns_{agreement.GPU}.json"
    environment = agreement.load(recorded)["sets"][0]["environment"]
    note = "One cp.async.cg of a warp, 512 bytes; wavefronts that Nsight Compute counted. "
    head = ("rows of the source", "stored in order", "stored XORed")
    return Table(head, rows, "tnn", (note + measurements.made_on(environment),))


def _row(length: int) -> str:
    count = WARP * PIECE // length
    return "512 bytes on end" if count == 1 else f"{count} rows of {length} bytes"
