"""The judge of exercises that swizzle a tile of 16-bit elements for ldmatrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.errors import ArgumentError
from ..layouts.shared import ldmatrix
from ..layouts.shared.copies import PIECE
from ..layouts.shared.ldmatrix import SIDE, ChunkTile
from ..layouts.shared.swizzle import BitXor, Swizzle
from .answers import WrongAnswerError, whole
from .verdict import Verdict

Answer = Callable[[int, int], int] | tuple[int, int, int] | Swizzle


def swizzle16(
    answer: Answer, row_bytes: int, rows: int = 64, reader: str = "ldmatrix.x4"
) -> Verdict:
    """Judge a swizzle of a tile of `rows` rows of `row_bytes` bytes, 16-bit elements.

    answer: a function `swizzle(row, chunk)` that gives the 16-byte chunk of the row to which a
    chunk is moved; or (B, M, S), or a Swizzle, on element offsets. Every chunk must have a place of
    its own, and every `reader` of the tile (one of `layouts.ldmatrix.READERS`) must take one
    wavefront for each matrix. Raises ArgumentError for an impossible tile or an unknown reader.
    """
    tile = ChunkTile(rows, row_bytes)
    lanes = ldmatrix.pointed(reader)
    try:
        if callable(answer) and not isinstance(answer, Swizzle):
            table = _of_function(answer, tile)
        else:
            table = _of_triple(answer, tile)
    except WrongAnswerError as wrong:
        return Verdict(False, str(wrong))

    def move(offsets: np.ndarray) -> np.ndarray:
        return table[offsets // PIECE] * PIECE

    high, wide = (max(at) + 1 for at in zip(*lanes, strict=True))
    for row in range(0, rows, high):
        for chunk in range(0, tile.chunks, wide):
            request = ldmatrix.read(tile, move, reader, row, chunk)
            if request.conflicts:
                where = f"at row {row}, chunk {chunk}, {ldmatrix.describe_read(request, reader)}"
                cells = [(row + r, chunk + c) for r, c in lanes]
                return Verdict(False, f"{where} {_first_conflict(tile, move, cells)}")
    count = len(lanes) // SIDE
    one = f"{count} wavefront{'s' * (count > 1)}"
    return Verdict(
        True, f"every {reader} takes {one}, the minimum, and every chunk has a place of its own."
    )


def _of_function(answer: Callable[[int, int], int], tile: ChunkTile) -> np.ndarray:
    """Number of the place of each chunk, row by row."""
    table = np.empty((tile.rows, tile.chunks), np.int64)
    for row in range(tile.rows):
        seen: dict[int, int] = {}
        for chunk in range(tile.chunks):
            to = _called(answer, row, chunk)
            if not 0 <= to < tile.chunks:
                raise WrongAnswerError(
                    f"row {row}: chunk {chunk} goes to chunk {to}, and a row has 0 to "
                    f"{tile.chunks - 1}."
                )
            if to in seen:
                raise WrongAnswerError(
                    f"not one-to-one: in row {row}, chunks {seen[to]} and {chunk} both go to chunk "
                    f"{to}."
                )
            seen[to] = chunk
            table[row, chunk] = row * tile.chunks + to
    return table.reshape(-1)


def _called(answer: Callable[[int, int], int], row: int, chunk: int) -> int:
    try:
        return whole(answer(row, chunk))
    except ArithmeticError as error:
        raise WrongAnswerError(f"row {row}, chunk {chunk}: {error}.") from None
    except (TypeError, ValueError):
        raise WrongAnswerError(
            "the function must take a row and a chunk and return a chunk, an integer (// for /?)."
        ) from None


def _of_triple(answer: tuple[int, int, int] | Swizzle, tile: ChunkTile) -> np.ndarray:
    try:
        swizzle = answer if isinstance(answer, Swizzle) else Swizzle(*answer)
    except TypeError:
        raise WrongAnswerError("expected a function, or the three integers (B, M, S).") from None
    except ArgumentError as error:
        raise WrongAnswerError(f"{error}.") from None
    xor = BitXor.of(swizzle.on_bytes(2), tile.bits)
    if ldmatrix.torn(xor):
        raise WrongAnswerError(ldmatrix.describe_map(xor, tile))
    return np.asarray(xor(np.arange(tile.rows * tile.chunks) * PIECE)) // PIECE


def _first_conflict(tile: ChunkTile, move: ldmatrix.Move, cells: list[tuple[int, int]]) -> str:
    """The first phase that has a conflict, in words."""
    for phase in range(len(cells) // SIDE):
        found = ldmatrix.groups(tile, move, cells[SIDE * phase : SIDE * (phase + 1)])
        if max(map(len, found)) > 1:
            return ldmatrix.describe_phase(found, phase)
    return ""
