"""ldmatrix and cp.async on a tile of 16-bit elements whose 16-byte chunks an XOR moves about.

A byte offset in the tile has, from below, 4 bits of the byte in its chunk, the chunk's bits, and
the row's. Bits 2 to 6 choose the bank; a chunk covers four, so 4 to 6 choose its group of banks.
ldmatrix reads a matrix of 8 rows, a chunk of each, in one phase: as many wavefronts as the fullest
group has chunks (`banks.wavefronts`). cp.async writes 32 chunks, one a lane (`copies.copy`).

`widgets/model/shared/ldmatrix.js` computes the same; tests hold the two equal, sentences included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...core.arguments import choice
from .banks import WARP, Request, wavefronts
from .copies import LINE_BYTES, PIECE, CopyRequest, copy
from .swizzle import BitXor

SIDE = 8  # rows of a matrix
GROUPS = 8  # of four banks
LOW = 4  # lowest bit of a chunk's number
READERS: dict[str, int] = {  # matrices; the phases of .trans are the same
    f"ldmatrix.x{count}{form}": count for form in ("", ".trans") for count in (4, 2, 1)
}
PITCH = 8192  # bytes from a row to the next in global memory: 4096 elements

Move = Callable[[np.ndarray], np.ndarray | int]  # byte offsets in the tile to where they stand


@dataclass(frozen=True)
class ChunkTile:
    """Rows of 16-bit elements in shared memory, without padding.

    rows: a power of two, at least 16 (what ldmatrix.x4 and .x2 reach). row_bytes: 32, 64, 128 or
    256. Raises ArgumentError, naming the argument.
    """

    rows: int
    row_bytes: int

    def __post_init__(self) -> None:
        choice("row_bytes", self.row_bytes, (32, 64, 128, 256))
        choice("rows", self.rows, (16, 32, 64, 128, 256))

    @property
    def chunks(self) -> int:
        """Chunks of 16 bytes in a row."""
        return self.row_bytes // PIECE

    @property
    def row_bit(self) -> int:
        """The lowest bit of an offset that tells the row."""
        return self.row_bytes.bit_length() - 1

    @property
    def bits(self) -> int:
        """Bits of an offset."""
        return self.row_bit + self.rows.bit_length() - 1

    def offset(self, row: int, chunk: int) -> int:
        """Byte offset of a chunk before anything moves it."""
        return row * self.row_bytes + chunk * PIECE

    def role(self, bit: int) -> str:
        """What a bit of an offset tells: "byte", "chunk 0", "row 2"."""
        if bit < LOW:
            return "byte"
        return f"chunk {bit - LOW}" if bit < self.row_bit else f"row {bit - self.row_bit}"


def pointed(reader: str) -> list[tuple[int, int]]:
    """(row, chunk) that each lane of an ldmatrix points to, from row 0 and chunk 0 on.

    reader: one of READERS; a matrix has 8 lanes. Matrices 0 and 1 are rows 0 to 7 and 8 to 15 of
    chunk 0; 2 and 3 the same of chunk 1. Source: PTX ISA, "ldmatrix". Raises ArgumentError for
    another reader.
    """
    choice("reader", reader, READERS)
    return [(lane % 16, lane // 16) for lane in range(SIDE * READERS[reader])]


def torn(xor: BitXor) -> bool:
    """Whether the bytes of a chunk do not stay together, which ldmatrix and cp.async need.

    xor: on byte offsets; it separates the elements of a chunk if one of its targets is below bit 4.
    """
    return any(bit < LOW for pair in xor.pairs for bit in pair)


def read(tile: ChunkTile, move: Move, reader: str, row: int = 0, chunk: int = 0) -> Request:
    """What one ldmatrix costs whose first matrix begins at (row, chunk).

    tile: a ChunkTile. move: byte offsets in the tile -> byte offsets where they are stored, such as
    a BitXor. reader: one of READERS. row, chunk: in the tile, from 0; a chunk has 16 bytes.
    Raises ArgumentError for another reader.
    """
    lanes = pointed(reader)
    addresses = np.zeros(WARP, np.int64)
    addresses[: len(lanes)] = move(np.array([tile.offset(row + r, chunk + c) for r, c in lanes]))
    return wavefronts(addresses, PIECE, np.arange(WARP) < len(lanes), store=True)


def write(tile: ChunkTile, move: Move) -> CopyRequest:
    """What a warp's cp.async.cg costs that fills the tile's first 32 chunks, row by row.

    tile: a ChunkTile. move: byte offsets in the tile -> byte offsets where they are stored.
    """
    row, chunk = np.divmod(np.arange(WARP), tile.chunks)
    to = move(row * tile.row_bytes + chunk * PIECE)
    return copy(to, row * PITCH + chunk * PIECE, PIECE, past_l1=True)


def groups(tile: ChunkTile, move: Move, cells: list[tuple[int, int]]) -> list[list[int]]:
    """The rows of a phase by the group of four banks in which they are: 8 lists.

    tile: a ChunkTile. move: byte offsets in the tile -> byte offsets where they are stored. cells:
    (row, chunk) of the phase's 8 lanes. Of rows at one address only the first counts.
    """
    found: list[list[int]] = [[] for _ in range(GROUPS)]
    seen = set()
    for row, chunk in cells:
        place = int(move(np.array(tile.offset(row, chunk))))
        if place not in seen:
            seen.add(place)
            found[place // PIECE % GROUPS].append(row)
    return found


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def describe_phase(found: list[list[int]], phase: int) -> str:
    """The rows of one phase that meet in a group of banks, in words.

    found: what `groups` gave. phase: its number, from 0.
    """
    worst = max(found, key=len)
    total = sum(map(len, found))
    if len(worst) == 1:
        apart = f"its {total} rows stand in {_plural(total, 'group')} of banks"
        return f"Phase {phase + 1}: {apart}: 1 wavefront."
    at = found.index(worst)
    others = sum(len(rows) == len(worst) for rows in found) - 1
    also = f", and as many in {_plural(others, 'other group')}" if others else ""
    rows = ", ".join(map(str, worst))
    return (
        f"Phase {phase + 1}: rows {rows} meet in banks {4 * at} to {4 * at + 3}{also}: "
        f"{len(worst)} wavefronts, {len(worst) - 1} too many."
    )


def describe_read(request: Request, reader: str) -> str:
    """All phases of an ldmatrix, in words.

    request: what `read` gave. reader: one of READERS, as it was asked for.
    """
    count = _plural(request.wavefronts, "wavefront")
    surplus = f"{request.conflicts} too many" if request.conflicts else "no conflict"
    return f"{reader}: {count}, the minimum is {request.minimum}: {surplus}."


def describe_write(request: CopyRequest, tile: ChunkTile) -> str:
    """The wavefronts of a warp's cp.async, in words.

    request: what `write` gave. tile: the ChunkTile that it fills.
    """
    text = f"cp.async: {request.wavefronts} wavefronts, the minimum is {request.minimum}"
    lines = max(WARP // tile.chunks, WARP * PIECE // LINE_BYTES)
    if request.wavefronts > lines:
        return f"{text}: the XOR is not the same for all chunks of a line, and splits its write."
    if not request.conflicts:
        return f"{text}: no conflict."
    return (
        f"{text}: the {tile.row_bytes}-byte rows come from {lines} lines of global memory, and a "
        "wavefront takes from one. No swizzle changes that."
    )


def describe_map(xor: BitXor, tile: ChunkTile) -> str:
    """Whether every chunk keeps a place of its own, in words.

    xor: on byte offsets. tile: the ChunkTile whose bits they have.
    """
    if torn(xor):
        low = min(bit for pair in xor.pairs for bit in pair)
        return (
            f"The 16 bytes of a chunk do not stay together: bit {low} takes part, and ldmatrix and "
            "cp.async need them in one piece. M must be at least 3."
        )
    if (two := xor.collision(tile.bits)) is None:
        return "One-to-one: every chunk has a place of its own."
    a, b = (f"row {at // tile.row_bytes}, chunk {at % tile.row_bytes // PIECE}" for at in two)
    return f"Not one-to-one: {a} and {b} have the same place."


def formula(xor: BitXor, tile: ChunkTile) -> str:
    """The XOR as C: the chunk in terms of row and chunk, or else the byte offset in terms of it.

    xor: on byte offsets. tile: the ChunkTile whose bits they have.
    """
    if all(LOW <= t < tile.row_bit <= s for s, t in xor.pairs):
        return "".join(["chunk", *(_run(run, tile.row_bit) for run in _runs(xor))])
    masks: dict[int, int] = {}
    for source, target in sorted(xor.pairs):
        masks[source - target] = masks.get(source - target, 0) | 1 << target
    return "offset" + "".join(
        f" ^ (offset {'>>' if d > 0 else '<<'} {abs(d)} & 0x{mask:x})"
        for d, mask in sorted(masks.items())
    )


def _runs(xor: BitXor) -> list[tuple[int, int, int]]:
    """(source, target, length) of neighbouring pairs with one distance, those of few steps first"""
    runs: list[tuple[int, int, int]] = []
    for s, t in sorted(xor.pairs, key=lambda pair: (pair[0] - pair[1], pair[1])):
        if runs and (s, t) == (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]):
            runs[-1] = (*runs[-1][:2], runs[-1][2] + 1)
        else:
            runs.append((s, t, 1))
    return runs


def _run(run: tuple[int, int, int], row_bit: int) -> str:
    source, target, length = run
    row = "row" if source == row_bit else f"row >> {source - row_bit}"
    some = f"({row} & {(1 << length) - 1})"
    return f" ^ {some}" if target == LOW else f" ^ ({some} << {target - LOW})"
