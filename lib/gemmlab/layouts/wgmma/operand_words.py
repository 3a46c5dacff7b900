"""What wgmma reads for an operand, in words.

`widgets/model/wgmma/operand_words.js` says the same; tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from .operand import MODES, Descriptor, Operand, Piece, wavefronts


def describe(pieces: Sequence[Piece]) -> str:
    """How many pieces are the right ones, and what the others are."""
    right = sum(piece.right for piece in pieces)
    if right == len(pieces):
        return f"All {right} pieces are the right ones."
    outside = sum(piece.found is None for piece in pieces)
    twice = len(pieces) - len({piece.read for piece in pieces})
    parts = [f"{right} of {len(pieces)} pieces are the right ones"]
    if twice:
        parts.append(f"{twice} are read a second time in another's place")
    if outside:
        parts.append(f"{outside} lie behind the tile")
    return "; ".join(parts) + ". No error: the tensor cores multiply what lies there."


def describe_piece(o: Operand, piece: Piece) -> str:
    """One piece: where wgmma looks for it, and what lies there."""
    wanted = f"For {name(o, piece.row, piece.k)} wgmma reads byte {piece.read:,}"
    if piece.right:
        return f"{wanted}, where it lies."
    if piece.found is None:
        return f"{wanted}, behind the tile. It lies at {piece.wanted:,}."
    return f"{wanted}, where {name(o, *piece.found)} lies. It lies at {piece.wanted:,} itself."


def describe_core(o: Operand, pieces: Sequence[Piece], index: int) -> str:
    """The core matrix of a piece: what it is of, and how many wavefronts it takes."""
    core = [pieces[i] for i in o.core(index)]
    first, count = core[0], wavefronts(core)
    cost = "one wavefront" if count == 1 else f"{count} wavefronts"
    spread = "all eight columns of banks" if count == 1 else "too few columns of banks"
    return (
        f"Its core matrix, rows {first.row} to {first.row + 7} by k {first.k} to {first.k + 7}, "
        f"is read from {spread}: {cost}."
    )


def describe_byte(o: Operand, offset: int) -> str:
    """What lies in the piece at an offset."""
    found = o.piece_at(offset)
    assert found is not None  # asked for cells of the tile alone
    return f"Byte {offset // 16 * 16:,}: {name(o, *found)}."


def name(o: Operand, row: int, k: int) -> str:
    """The elements of a piece."""
    if o.mn_major:
        return f"k {k}, rows {row} to {row + 7}"
    return f"row {row}, k {k} to {k + 7}"


def fields(given: Descriptor) -> list[tuple[str, str, str, str]]:
    """(bits, name, the field's number, what it says) of each field."""
    swizzle = "no swizzle" if given.span == 16 else f"{given.span}-byte swizzle"
    return [
        ("0-13", "start address", str(given.start // 16), f"{given.start:,} bytes"),
        ("16-29", "leading offset", str(given.leading // 16), f"{given.leading:,} bytes"),
        ("32-45", "stride offset", str(given.stride // 16), f"{given.stride:,} bytes"),
        ("62-63", "swizzle", str(MODES[given.span]), swizzle),
    ]
