"""The judge of exercises that share out the 16-byte copies of a tile among threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..layouts.shared.banks import WARP
from ..layouts.shared.copies import LINE_BYTES, PIECE, copy
from ..layouts.shared.ldmatrix import PITCH, ChunkTile
from .answers import Pair, WrongAnswerError, once, pairs
from .verdict import Verdict

Map = Callable[[int], tuple[int, int]]


def copies(
    chunk_of: Map, row_bytes: int, rows: int = 128, bits: int = 0, wavefronts: int | None = None
) -> Verdict:
    """Judge `chunk_of(t)`, the (row, chunk of 16 bytes in it) of a tile that copy number t moves.

    The tile has `rows` rows of `row_bytes` bytes. 32 copies in a row are those of a warp, and each
    chunk must be copied once. In shared memory chunk c of row r is at c ^ (r & (2**bits - 1)).
    wavefronts: the most a warp's copies may take there (None: 4). Raises ArgumentError for an
    unknown kind of tile.
    """
    tile = ChunkTile(rows, row_bytes)
    try:
        places = pairs(chunk_of, rows * tile.chunks, "row, chunk")
    except WrongAnswerError as wrong:
        return Verdict(False, str(wrong))
    if problem := _problem(places, tile):
        return Verdict(False, problem)
    most = WARP * PIECE // LINE_BYTES if wavefronts is None else wavefronts
    worst = 0
    for first in range(0, len(places), WARP):
        row, chunk = np.array(places[first : first + WARP]).T
        to = row * row_bytes + (chunk ^ (row & (1 << bits) - 1)) * PIECE
        request = copy(to, row * PITCH + chunk * PIECE, PIECE, past_l1=True)
        if request.wavefronts > most:
            lines = len(set(zip(row, chunk * PIECE // LINE_BYTES, strict=True)))
            return Verdict(
                False,
                f"copies {first} to {first + WARP - 1} read from {lines} lines of global memory, "
                f"{request.sectors} sectors, and take {request.wavefronts} wavefronts; at most "
                f"{most} are allowed.",
            )
        worst = max(worst, request.wavefronts)
    return Verdict(True, f"every chunk is copied once, and no warp takes more than {worst}.")


def _problem(places: list[Pair], tile: ChunkTile) -> str:
    """What is wrong with a mapping, or "" if every chunk is copied once."""
    outside, never = once(places, tile.rows, tile.chunks)
    if outside is not None:
        return f"copy {outside} moves {places[outside]}, which is outside the tile."
    return f"chunk {never} is never copied, another one twice." if never else ""
