"""A request of a traced kernel as an access to a tile: BankMap's pattern and rows, found again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...core.arguments import choice, integer
from ...core.errors import ArgumentError
from ...layouts.shared.access import MAX_ROWS, Access
from ...layouts.shared.banks import BANK_BYTES, BANKS, WARP
from ...sim.places import SHARED, Place
from ...sim.trace import Sample, Trace
from .traced_lines import first_line, shown_lines

_ROUND = BANKS * BANK_BYTES  # bytes after which the banks come round again
_STEP = 8  # rows after which a swizzle by the row's lowest three bits comes round


@dataclass(frozen=True)
class TracedAccess:
    """An access, and the tile that it goes to: rows, elements in a row, bytes of an element."""

    access: Access
    rows: int
    row_length: int
    element: int


def traced(
    trace: Trace,
    line: int | str | None,
    op: str | None,
    request: int,
    row_length: int | None,
    element: int | None,
) -> TracedAccess:
    """The request of a line, as `BankMap.of` describes it. Raises ArgumentError."""
    if not isinstance(trace, Trace):
        raise ArgumentError(f"trace: got {type(trace).__name__}, expected what lab.trace returns")
    shared = [entry for entry in shown_lines(trace) if entry[1][0].memory == SHARED]
    if not shared:
        raise ArgumentError("trace: it has no request to shared memory")
    samples = shared[first_line([count for count, _ in shared], line, op)][1]
    last = len(samples) - 1
    sample = samples[integer("request", request, 0, last, allowed=f"the line has 0 to {last}")]
    lanes = _lanes(sample)
    place = _place(trace, sample, lanes)
    row_length, element = _row(place, row_length, element)
    size = math.prod(place.shape[-2:]) * element if len(place.shape) > 1 else place.bytes
    start = place.start + (lanes[0] - place.start) // size * size
    start += _skipped(lanes, start, row_length * element)
    if start % _ROUND:
        raise ArgumentError(
            f"trace: {place.name} is at byte {start}, which is no multiple of {_ROUND}, so that "
            "its banks are not counted from its first element; TraceView shows it"
        )
    cells = [divmod((address - start) // element, row_length) for address in lanes]
    pattern = "; ".join(
        f"{name} = {_formula(values)}"
        for name, values in zip(("row", "col"), zip(*cells, strict=True), strict=True)
    )
    access = Access(pattern, sample.width_bytes, _stores(sample.op), place.name, _op(sample, lanes))
    rows = min(MAX_ROWS, max(size // (row_length * element), 1))
    return TracedAccess(access, max(rows, 1 + max(row for row, _ in cells)), row_length, element)


def _stores(op: str) -> bool:
    return op not in ("ld.shared", "ldmatrix")


def _op(sample: Sample, lanes: list[int]) -> str:
    if sample.op.endswith("matrix"):
        return f"{sample.op}.x{len(lanes) // 8}"
    return "cp.async" if sample.op.startswith("cp.async") else ""


def _lanes(sample: Sample) -> list[int]:
    """Addresses of the lanes that give one: all, or the first 8, 16 or 32 of a matrix."""
    lanes = [address for address in sample.addresses if address is not None]
    allowed = (8, 16, 32) if sample.op.endswith("matrix") else (WARP,)
    if len(lanes) not in allowed or None in sample.addresses[: len(lanes)]:
        raise ArgumentError(
            f"request: {len(lanes)} of its lanes take part; TraceView shows such a request"
        )
    return lanes


def _place(trace: Trace, sample: Sample, lanes: Sequence[int]) -> Place:
    for place in trace.places:
        if place.memory == SHARED and all(place.holds(address) for address in lanes):
            return place
    raise ArgumentError(f"request: the lanes of line {sample.line} go to more than one array")


def _row(place: Place, row_length: int | None, element: int | None) -> tuple[int, int]:
    """Elements in a row and bytes of an element: the declaration's where nothing is given."""
    if element is None:
        if not place.shape:
            raise ArgumentError(f"element: the source does not say what {place.name} is made of")
        element = place.element_bytes
    choice("element", element, (1, 2, 4, 8), unit="bytes")
    if row_length is None:
        if len(place.shape) < 2:
            raise ArgumentError(
                f"row_length: {place.name} is one long array; say how many elements are a row"
            )
        row_length = place.shape[-1]
    return integer("row_length", row_length, 1, allowed="expected a number of elements"), element


def _skipped(lanes: Sequence[int], start: int, row_bytes: int) -> int:
    """Bytes to leave out in front, if the rows are beyond what a tile has."""
    if (max(lanes) - start) // row_bytes < MAX_ROWS:
        return 0
    step = math.lcm(_STEP * row_bytes, _ROUND)
    return (min(lanes) - start) // step * step


def _formula(values: Sequence[int]) -> str:
    """A coordinate in terms of the lane: a sum of its bits, or else their XOR."""
    bits = [1 << i for i in range((len(values) - 1).bit_length())]
    for sign, merge in ((" + ", int.__add__), (" ^ ", int.__xor__)):
        # What each bit of the lane adds to the first lane's value.
        steps = [values[b] - values[0] if sign == " + " else values[b] ^ values[0] for b in bits]
        found = [values[0]] * len(values)
        for b, step in zip(bits, steps, strict=True):
            found = [merge(v, step) if n & b else v for n, v in enumerate(found)]
        if found == list(values) and min(steps, default=0) >= 0:
            first = [str(values[0])] if values[0] or not any(steps) else []
            return sign.join([*first, *_terms(steps)])
    raise ArgumentError(
        "request: its lanes stand in no simple relation to their numbers; TraceView shows it"
    )


def _terms(steps: Sequence[int]) -> list[str]:
    """Bits of the lane whose steps double belong together: "lane/4%8*16"."""
    terms, i = [], 0
    while i < len(steps):
        end = i + 1
        # Only powers of two may be taken together: their multiples have no bits in common.
        power = steps[i] & (steps[i] - 1) == 0
        while steps[i] and power and end < len(steps) and steps[end] == 2 * steps[end - 1]:
            end += 1
        if steps[i]:
            part = "lane" if i == 0 else f"lane/{1 << i}"
            part += "" if end == len(steps) else f"%{1 << (end - i)}"
            terms.append(part if steps[i] == 1 else f"{part}*{steps[i]}")
        i = end
    return terms
