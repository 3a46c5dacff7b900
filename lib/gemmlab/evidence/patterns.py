"""Single requests as Nsight Compute counted them on a GPU, against the rules of `layouts`.

`book/measurements/wavefronts/patterns_<gpu>.json` holds requests of one warp, by sets that were
measured together; `wgmma_<gpu>.json` holds wgmma instructions. tools/evidence/record_patterns.py
writes both. In a pattern, `shared` and `global` are where the 32 lanes are, in units of the bytes
a lane: "." is an inactive lane, "7*4" are four lanes at 7, "0:8*32" are 32 lanes at 0, 8, 16 and so
on.
Whole kernels are in `kernels.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from .. import measurements
from ..core.errors import MeasurementError
from ..display.table import Table
from ..layouts.shared import banks, copies
from ..layouts.shared.banks import WARP
from ..layouts.shared.copies import LINE_BYTES, PIECE
from .recordings import load, path_of

COUNTS = ("wavefronts", "conflicts", "requests", "sectors")
INTEGER_ATOMICS = ("red", "atom", "exch", "max")


@dataclass(frozen=True)
class Pattern:
    """One request of a warp, and what the GPU counted for it.

    op: "ld", "st", "ldmatrix", "stmatrix" (also with ".trans"), "cp.async.ca", "cp.async.cg" (also
    with ".zfill"), or an atomic: "red", "atom", "exch", "max", "cas", "red.f32".
    size: bytes a lane; of ldmatrix and stmatrix the number of matrices.
    active: which lanes take part. shared, source: byte addresses by lane, 0 for the others; source
    is that in global memory, None if there is none. source_bytes: of a zero-filling copy.
    counted: wavefronts, conflicts, requests, sectors, as far as they were read.
    """

    op: str
    size: int
    active: np.ndarray
    shared: np.ndarray
    source: np.ndarray | None
    source_bytes: np.ndarray | None
    counted: dict[str, int]

    @classmethod
    def from_dict(cls, data: dict) -> Pattern:
        """From an entry of the recorded file."""
        width = width_of(data["op"], data["size"])
        active = np.array([place is not None for place in lanes(data["shared"])])

        def by_lane(name: str, unit: int) -> np.ndarray:
            return np.array([(place or 0) * unit for place in lanes(data[name])])

        return cls(
            op=data["op"],
            size=data["size"],
            active=active,
            shared=by_lane("shared", width),
            source=by_lane("global", width) if "global" in data else None,
            source_bytes=by_lane("source_bytes", 1) if "source_bytes" in data else None,
            counted={name: data[name] for name in COUNTS if name in data},
        )

    @property
    def width(self) -> int:
        """Bytes a lane."""
        return width_of(self.op, self.size)

    @property
    def request(self) -> banks.Request | copies.CopyRequest | None:
        """How the rules serve it in shared memory; None for an atomic."""
        if self.op.startswith("cp.async") and self.source is not None:
            return copies.copy(
                self.shared,
                self.source,
                self.width,
                self.active,
                reads=None if self.source_bytes is None else self.source_bytes > 0,
                past_l1=".cg" in self.op,
                zero_fill=self.op.endswith("zfill"),
            )
        if self.op.startswith(("ld", "st")):
            return banks.wavefronts(self.shared, self.width, self.active, store=self.op != "ld")
        return None

    @cached_property
    def computed(self) -> dict[str, int]:
        """What the rules say for all that was counted; empty for what is not modelled."""
        request = self.request
        found: dict[str, int] = {}
        if request is not None:
            found |= {"wavefronts": request.wavefronts, "conflicts": request.conflicts}
        elif self.op in INTEGER_ATOMICS and self.size == 4:
            found["wavefronts"] = banks.atomic_wavefronts(self.shared, self.active)
        if isinstance(request, copies.CopyRequest):
            found |= {"requests": 1, "sectors": request.sectors}
        elif self.source is not None:
            sectors = banks.sectors(self.source, self.width, self.active)
            found |= {"requests": 1, "sectors": sectors}
        return {name: found[name] for name in self.counted if name in found}

    @property
    def agrees(self) -> bool | None:
        """Whether all that was counted is what the rules say; None if they do not cover it."""
        if not self.computed:
            return None
        return all(self.counted[name] == value for name, value in self.computed.items())


def width_of(op: str, size: int) -> int:
    """Bytes a lane: a row of a matrix has 16."""
    return 16 if "matrix" in op else size


def lanes(text: str) -> list[int | None]:
    """The 32 values that the recorded file writes as `text`."""
    values: list[int | None] = []
    for token in text.split():
        place, _, count = token.partition("*")
        first, _, step = place.partition(":")
        for i in range(int(count or 1)):
            values.append(None if first == "." else int(first) + i * int(step or 0))
    if len(values) != banks.WARP:
        raise MeasurementError(f"patterns: {text!r} stands for {len(values)} lanes, not 32")
    return values


def patterns(path: str | Path | None = None) -> list[Pattern]:
    """All recorded patterns. Raises MeasurementError if the file is missing or not readable."""
    return [
        Pattern.from_dict(entry)
        for part in load(path or path_of("patterns"))["sets"]
        for entry in part["patterns"]
    ]


def wgmma(path: str | Path | None = None) -> list[dict]:
    """All recorded wgmma instructions: form, n, a, b, warpgroups, instructions, wavefronts.

    Raises MeasurementError if the file is missing or not readable.
    """
    return load(path or path_of("wgmma"))["instructions"]


def wgmma_computed(entry: dict) -> int:
    """Wavefronts of a recorded entry by the rule."""
    one = banks.wgmma_wavefronts(entry["n"], a_in_registers=entry["a"] is None)
    return one * entry["warpgroups"] * entry["instructions"]


def single_requests() -> Table:
    """Requests of single warps by kind: how many were recorded, and for how many the rules agree.

    The rules are those of `lab.layouts.wavefronts`, `sectors` and `copy`.
    Raises MeasurementError if the recorded file is missing.
    """
    total: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    modelled: Counter[str] = Counter()
    for label, agrees in _judged():
        total[label] += 1
        modelled[label] += agrees is not None
        equal[label] += bool(agrees)
    rows = [
        (label, f"{total[label]:,}", f"{equal[label]:,}" if modelled[label] else "not modelled")
        for label in total
    ]
    rows.append(("all that is modelled", f"{modelled.total():,}", f"{equal.total():,}"))
    environment = load(path_of("patterns"))["sets"][0]["environment"]
    notes = (
        "Wavefronts of shared memory, and requests and sectors of global memory where they were "
        "read; equal if all counts of a request are.",
        measurements.made_on(environment),
    )
    return Table(("request of one warp", "measured", "equal"), tuple(rows), "tnn", notes)


def _judged() -> Iterator[tuple[str, bool | None]]:
    """(kind, whether the rules agree) of everything recorded, kinds in the order of the table."""
    found = [(_label(pattern), pattern.agrees) for pattern in patterns()]
    order = list(dict.fromkeys(_LABELS.values()))
    yield from sorted(found, key=lambda pair: order.index(pair[0]))
    for entry in wgmma():
        yield "wgmma, operands in shared memory", wgmma_computed(entry) == entry["wavefronts"]


_LABELS = {
    ("ld", 1): "load, 1 to 4 bytes a lane",
    ("ld", 8): "load, 8 bytes",
    ("ld", 16): "load, 16 bytes",
    ("st", 1): "store, 1 to 16 bytes",
    ("ldmatrix", 0): "ldmatrix, x1, x2, x4",
    ("stmatrix", 0): "stmatrix, x1, x2, x4",
    ("cp.async.ca", 0): "cp.async.ca, 4 to 16 bytes",
    ("cp.async.cg", 0): "cp.async.cg",
    ("cp.async.ca.zfill", 0): "cp.async.ca with a source size",
    ("cp.async.cg.zfill", 0): "cp.async.cg with a source size",
    ("integer atomic", 0): "atomic, 32-bit integer",
    ("other atomic", 0): "atomic, float, 64-bit or compare-and-swap",
}


def _label(pattern: Pattern) -> str:
    op = pattern.op.removesuffix(".trans")
    if op == "ld":
        return _LABELS[op, pattern.size if pattern.size > 4 else 1]
    if op == "st":
        return _LABELS[op, 1]
    if (op, 0) in _LABELS:
        return _LABELS[op, 0]
    is_integer = op in INTEGER_ATOMICS and pattern.size == 4
    return _LABELS["integer atomic" if is_integer else "other atomic", 0]


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


def copies_past_l1() -> Table:
    """Wavefronts that ncu counted for a warp's cp.async.cg of 512 bytes, by rows of its source.

    Raises MeasurementError if the file is missing, or if like requests were counted differently.
    """
    found: dict[tuple[int, str], set[int]] = {}
    for pattern in patterns():
        if pattern.op != "cp.async.cg" or pattern.source is None or not pattern.active.all():
            continue
        length, filled = row_bytes(pattern.source), order(pattern.shared)
        if length is not None and filled is not None:
            found.setdefault((length, filled), set()).add(pattern.counted["wavefronts"])
    if any(len(counts) > 1 for counts in found.values()):
        raise MeasurementError("patterns: like copies were counted differently")
    lengths = sorted({length for length, _ in found})
    rows = tuple(
        (_row(length), *(str(*found.get((length, o), {"-"})) for o in _ORDERS))
        for length in lengths
    )
    environment = load(path_of("patterns"))["sets"][0]["environment"]
    note = "One cp.async.cg of a warp, 512 bytes; wavefronts that Nsight Compute counted. "
    head = ("rows of the source", "stored in order", "stored XORed")
    return Table(head, rows, "tnn", (note + measurements.made_on(environment),))


def _row(length: int) -> str:
    count = WARP * PIECE // length
    return "512 bytes on end" if count == 1 else f"{count} rows of {length} bytes"
