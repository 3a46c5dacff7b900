"""A tensor map, a box and its chunks in words.

`widgets/model/tma/words.js` says the same of boxes, word for word; what is said of the fields of
a tensor map stands here only, and the widget brings it along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..shared.banks import Request
from .tensor_map import CHUNK, DTYPES, Arguments, Box, Chunk, TensorMap

CALL = "cuTensorMapEncodeTiled"


@dataclass(frozen=True)
class Field:
    """An argument of cuTensorMapEncodeTiled: its value, and what to know of it.

    problem: what of the value is refused, with the remedy; empty: nothing.
    """

    name: str
    value: str
    unit: str
    meaning: str
    rule: str
    otherwise: str
    problem: str = ""


# name: unit, meaning, rule, what a wrong value does, the arguments of `Arguments` in it.
FIELDS: dict[str, tuple[str, str, str, str, tuple[str, ...]]] = {
    "tensorMap": (
        "128 bytes",
        "Where the map is written. The kernel takes it as const __grid_constant__ CUtensorMap.",
        "At a multiple of 64 bytes; the type CUtensorMap has that alignment.",
        "Passed without __grid_constant__, the kernel gets the address of a copy in local memory, "
        "where the copy engine may not read a map.",
        (),
    ),
    "tensorDataType": (
        "",
        "What an element is: its size turns elements into bytes.",
        "One of the types of cuda.h. 8-bit floats are moved as UINT8.",
        "Another type of the same size moves the same bytes: the engine does not convert. One of "
        "another size takes boxes of another width from other places, without an error.",
        (),
    ),
    "tensorRank": (
        "dimensions",
        "A row-major matrix has two, counted from the innermost: 0 is the column, 1 the row.",
        "1 to 5.",
        "The kernel's instruction must name as many coordinates: .2d takes {x, y}.",
        (),
    ),
    "globalAddress": (
        "bytes",
        "Of element (0, 0), in global memory.",
        "A multiple of 16.",
        "Any other is refused. Along its row a box begins at a multiple of 16 bytes, too.",
        ("address",),
    ),
    "globalDim": (
        "elements",
        "The size of the matrix, innermost first: {columns, rows}. It decides what lies outside.",
        "Each 1 to 2^32.",
        "Swapped, it is taken: the edges are elsewhere, and a box there gets zeros for what exists "
        "or reads past the end of a row or of the matrix. A square matrix hides it.",
        ("columns", "rows"),
    ),
    "globalStrides": (
        "bytes",
        "From a row to the next. Dimension 0 has none, its elements are neighbours: the array has "
        "one number less than there are dimensions.",
        "A multiple of 16, below 2^40.",
        "In elements instead of bytes it is taken wherever it is a multiple of 16, and row 1 is "
        "read from the middle of row 0. A K of 100 needs rows of 104 elements of 16 bits.",
        ("row_stride",),
    ),
    "boxDim": (
        "elements",
        "The size of a box, innermost first: {box_columns, box_rows}. It may exceed the matrix.",
        "Each 1 to 256; the bytes of a row a multiple of 16 and, with a swizzle, not more than "
        "its span.",
        "Swapped, it is taken where it keeps these rules: a box of another shape, of as many "
        "bytes, so that the mbarrier is content and only the values are wrong.",
        ("box_columns", "box_rows"),
    ),
    "elementStrides": (
        "elements",
        "Takes every element: 1 in each dimension. The innermost one is ignored.",
        "Each 1 to 8.",
        "2 in dimension 1 loads every second row, half as many: an mbarrier that expects the whole "
        "box waits forever.",
        (),
    ),
    "interleave": (
        "",
        "For layouts of images whose channels come in groups; a matrix has none.",
        "NONE, unless tensorRank is 3 or more.",
        "Another one is refused for a matrix.",
        (),
    ),
    "swizzle": (
        "",
        "How chunks of 16 bytes change places in shared memory: an XOR of address bits 4 to 6 "
        "with bits 7 to 9 (128B), 4 and 5 with 7 and 8 (64B), 4 with 7 (32B).",
        "A row of a box fits in its span.",
        "The copy does not fail: a kernel that reads by another formula, or whose tile begins at "
        "another alignment, finds the right bytes in other places.",
        (),
    ),
    "l2Promotion": (
        "",
        "How much is brought to L2 from memory at a time. Here 128 bytes.",
        "NONE, 64, 128 or 256 bytes.",
        "No value is wrong; it only changes speed.",
        (),
    ),
    "oobFill": (
        "",
        "What is loaded for elements outside of the matrix: NONE means zeros.",
        "Zeros, or for floating-point types a special NaN.",
        "Zeros add nothing to a sum over K; a product needs no other fill.",
        (),
    ),
}


def values(a: Arguments) -> dict[str, str]:
    """What each argument of the call is, written as in C."""
    return {
        "tensorMap": "&map",
        "tensorDataType": f"CU_TENSOR_MAP_DATA_TYPE_{DTYPES[a.dtype][1]}",
        "tensorRank": "2",
        "globalAddress": "matrix" if a.address is None else f"{a.address:#x}",
        "globalDim": f"{{{a.columns}, {a.rows}}}",
        "globalStrides": f"{{{a.stride_bytes}}}",
        "boxDim": f"{{{a.box_columns}, {a.box_rows}}}",
        "elementStrides": "{1, 1}",
        "interleave": "CU_TENSOR_MAP_INTERLEAVE_NONE",
        "swizzle": f"CU_TENSOR_MAP_SWIZZLE_{a.swizzle.upper()}",
        "l2Promotion": "CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
        "oobFill": "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
    }


def decode(a: Arguments) -> tuple[Field, ...]:
    """The arguments of the call, in its order."""
    shown, wrong = values(a), dict(a.problems())
    return tuple(
        Field(
            name,
            shown[name],
            *said[:4],
            problem=" ".join(f"{n}: {wrong[n]}." for n in said[4] if n in wrong),
        )
        for name, said in FIELDS.items()
    )


def describe_map(a: Arguments) -> str:
    """Whether a tensor map is taken, what a box is, and what the tile needs, in words.

    a: the Arguments, kept to the rules or not.
    """
    problems = a.problems()
    if problems:
        return f"{CALL} refuses it. " + " ".join(f"{n}: {said}." for n, said in problems)
    gap = ""
    if a.pitch > a.row_bytes:
        gap = f", of which each row fills {a.row_bytes}"
    overlap = ""
    if a.stride_bytes < a.columns * a.element:
        overlap = " Rows of the matrix overlap: that is taken, and seldom meant."
    return (
        f"Taken. A box is {a.box_rows} x {a.box_columns} elements, {a.box_bytes:,} bytes for the "
        f"mbarrier. In shared memory its rows stand {a.pitch} bytes apart{gap}; let the tile begin "
        f"at a multiple of {a.alignment:,} bytes.{overlap}"
    )


def describe_box(box: Box) -> str:
    """What the mbarrier is told, and what lies outside; or where a box cannot begin."""
    past = box.x * box.map.element % CHUNK
    if past:
        before = box.x - past // box.map.element
        return (
            f"The box begins at column {box.x}, byte {box.x * box.map.element} of a row and no "
            "multiple of 16: a GPU ends the kernel with an illegal instruction. Begin at column "
            f"{before} or {before + CHUNK // box.map.element}."
        )
    bytes_, zeros = box.bytes, box.zero_bytes
    told = f"The box begins at column {box.x} of row {box.y}. The mbarrier gets {bytes_:,} bytes"
    if zeros == bytes_:
        return f"{told}, all of them zeros: the box lies outside of the matrix."
    if zeros:
        return f"{told}: the whole box, of which {zeros:,} lie outside of the matrix and are zeros."
    return f"{told}: all of them lie in the matrix."


def describe_chunk(box: Box, one: Chunk) -> str:
    """Where a chunk comes from and where it lands."""
    count = CHUNK // box.map.element
    plain = (one.row * box.map.pitch + one.chunk * CHUNK) // CHUNK % 8
    xor = f" ({plain} xor {plain ^ one.slot})" if box.map.span > CHUNK else ""
    text = (
        f"Row {one.row}, chunk {one.chunk} → line {one.line}, slot {one.slot}{xor}, banks "
        f"{4 * one.slot} to {4 * one.slot + 3}. It holds row {one.y}, columns {one.x} to "
        f"{one.x + count - 1} of the matrix"
    )
    if one.begin == one.end:
        text += ", which lie outside: zeros"
    elif one.end - one.begin < count:
        text += f", of which {one.x + one.begin} to {one.x + one.end - 1} exist: the rest is zeros"
    expected = box.place_by_row(one.row, one.chunk * CHUNK) % 128 // CHUNK
    if expected == one.slot:
        return f"{text}."
    return f"{text}. A kernel that takes {formula(box.map)} looks in slot {expected}."


def describe_matrix(held: Sequence[Chunk], request: Request) -> str:
    """The reading of a column of 8 chunks by ldmatrix."""
    slots: list[list[int]] = [[] for _ in range(8)]
    for one in held:
        slots[one.slot].append(one.row)
    first, last = held[0], held[-1]
    text = f"ldmatrix, rows {first.row} to {last.row} of chunk {first.chunk}:"
    count = request.wavefronts
    if count == 1:
        return f"{text} {len(held)} groups of four banks, no two rows in one: 1 wavefront."
    at = max(range(8), key=lambda slot: len(slots[slot]))
    rows = ", ".join(map(str, slots[at]))
    return (
        f"{text} rows {rows} meet in banks {4 * at} to {4 * at + 3}: {count} wavefronts, "
        f"{count - 1} too many."
    )


def formula(a: Arguments) -> str:
    """Where a kernel finds a chunk that XORs with the row, as C; it needs `alignment`."""
    if a.span == CHUNK:
        return "chunk"
    shift = (128 // a.span).bit_length() - 1
    row = f"row >> {shift}" if shift else "row"
    return f"chunk ^ ({row} & {a.span // CHUNK - 1})"


def describe_start(map_: TensorMap, address: int, misplaced: int) -> str:
    """Whether rows tell the XOR where the tile begins, and what is misread if not."""
    if map_.span == CHUNK:
        return "Without a swizzle the tile may begin at any multiple of 128 bytes."
    period, code = map_.alignment, formula(map_)
    if not misplaced:
        return f"The tile begins at a multiple of {period:,} bytes: {code} finds every chunk."
    bits = {128: "bits 7 to 9", 64: "bits 7 and 8", 32: "bit 7"}[map_.span]
    total = map_.box_bytes // CHUNK
    return (
        f"The tile begins {address % period} bytes past a multiple of {period:,}. The XOR takes "
        f"{bits} of the address, not the row: {code} reads {misplaced} of {total} chunks wrong. "
        f"Align the tile to {period:,} bytes."
    )
