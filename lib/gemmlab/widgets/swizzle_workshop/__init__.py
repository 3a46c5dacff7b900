"""SwizzleWorkshop: bits of a byte offset XORed onto others until ldmatrix has no conflict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.arguments import one_or_several, text
from ...core.errors import ArgumentError
from ...layouts.shared import ldmatrix
from ...layouts.shared.access import Layout
from ...layouts.shared.ldmatrix import READERS, ChunkTile
from ...layouts.shared.swizzle import BitXor, Swizzle
from ..shared.base import Widget, small_png
from .picture import swizzle_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The short names of two articles, as the page on the sources has them.
_ARTICLE_001, _ARTICLE_000 = "SGEMM and mixed precision", "HGEMM with cp.async"

# Name: the tile, what reads it, and swizzles of its 16-bit elements by name, the last without
# conflicts. The articles' swizzles are theirs as written, that of 001 for B with its error.
TILES: dict[str, tuple[ChunkTile, str, dict[str, tuple[int, int, int]]]] = {
    "A, BK = 16": (
        ChunkTile(32, 32),
        "ldmatrix.x4",
        {_ARTICLE_001: (3, 3, 3), "one bit": (1, 3, 3)},
    ),
    "A, BK = 32": (ChunkTile(32, 64), "ldmatrix.x4", {_ARTICLE_000: (2, 3, 3)}),
    "A, BK = 64": (ChunkTile(32, 128), "ldmatrix.x4", {"three bits": (3, 3, 3)}),
    "B, BN = 128": (
        ChunkTile(16, 256),
        "ldmatrix.x2.trans",
        {_ARTICLE_001: (3, 3, 3), _ARTICLE_000: (3, 3, 4)},
    ),
}
_NONE = (0, 3, 3)  # B, M, S of no swizzle, from which B + 1 is the first step


class SwizzleWorkshop(Widget):
    """Which bits of a byte offset to XOR onto which, so that ldmatrix reads without conflicts.

    tiles: a name of `TILES`, or several to choose from; the first is shown at first. reader: one of
    `layouts.ldmatrix.READERS` (default: what reads that tile). swizzle: how it opens, "none"
    or a Swizzle on 16-bit elements, "Swizzle<3,3,3>". exercise: offer no solution, and say when the
    reader has found one. caption: one question, with `code` and **bold**.
    Raises ArgumentError, naming the argument.
    """

    _script = "swizzle_workshop/widget.js"
    _sheets = ("shared/banks.css", "swizzle_workshop/widget.css")

    def __init__(
        self,
        tiles: str | Sequence[str] = tuple(TILES),
        *,
        reader: str | None = None,
        swizzle: str | Swizzle = "none",
        exercise: bool = False,
        caption: str = "",
    ) -> None:
        names = one_or_several("tiles", tiles, str, "['A, BK = 16']")
        if not names or len(set(names)) < len(names) or any(n not in TILES for n in names):
            raise ArgumentError(f"tiles: got {tiles!r}, allowed are, each once, {'; '.join(TILES)}")
        text("caption", caption)
        tile, reads, _ = TILES[names[0]]
        ldmatrix.pointed(reads if reader is None else reader)  # refuses another reader
        bits = _bits(swizzle)
        super().__init__(
            config={
                "tiles": [_plain(name, exercise) for name in names],
                "readers": [{"name": name, "matrices": n} for name, n in READERS.items()],
                "exercise": bool(exercise),
                "caption": caption,
            },
            state={
                "tile": names[0],
                "reader": reads if reader is None else reader,
                "swizzle": list(bits),
                "pairs": [list(pair) for pair in _pairs(bits, tile)],
                "phase": 0,
            },
        )

    @property
    def shown_tile(self) -> ChunkTile:
        """The tile that is shown now."""
        return TILES[self.state["tile"]][0]

    @property
    def xor(self) -> BitXor:
        """What the reader has put together, on byte offsets."""
        return BitXor(tuple(tuple(pair) for pair in self.state["pairs"]))

    @property
    def solved(self) -> bool:
        """Whether every chunk has a place of its own and no phase of the ldmatrix a conflict."""
        tile, xor = self.shown_tile, self.xor
        if ldmatrix.torn(xor) or xor.collision(tile.bits):
            return False
        return ldmatrix.read(tile, xor, self.state["reader"]).conflicts == 0

    def readings(self) -> list[str]:
        """The map, the read, its shown phase and the write, in words."""
        tile, xor, reader = self.shown_tile, self.xor, self.state["reader"]
        said = [ldmatrix.describe_map(xor, tile)]
        if ldmatrix.torn(xor):
            return said
        phase = self.state["phase"]
        cells = ldmatrix.pointed(reader)[ldmatrix.SIDE * phase :][: ldmatrix.SIDE]
        said += [
            ldmatrix.describe_read(ldmatrix.read(tile, xor, reader), reader),
            ldmatrix.describe_phase(ldmatrix.groups(tile, xor, cells), phase),
        ]
        if xor.collision(tile.bits) is None:
            said.append(ldmatrix.describe_write(ldmatrix.write(tile, xor), tile))
        return said

    def summary(self) -> str:
        """The tile, the XOR and what it costs, in words."""
        tile = self.shown_tile
        head = f"{self.state['tile']}: rows of {tile.row_bytes} bytes"
        how = ldmatrix.formula(self.xor, tile) if self.xor.pairs else "no swizzle"
        return f"{head}, {how}. {' '.join(self.readings())}"

    def figure(self) -> Figure:
        """The groups of banks of the first 16 rows, drawn for 390 pixels."""
        lanes = ldmatrix.pointed(self.state["reader"])
        first = ldmatrix.SIDE * self.state["phase"]
        cells = lanes[first : first + ldmatrix.SIDE]
        return swizzle_figure(self.shown_tile, self.xor, cells, self.summary())

    def png(self) -> bytes:
        """The picture in few colours."""
        return small_png(self.figure)


def _bits(swizzle: str | Swizzle) -> tuple[int, int, int]:
    if isinstance(swizzle, str) and swizzle == "none":
        return _NONE
    found = Layout.parse(swizzle).swizzle if "<" in str(swizzle) else None
    if found is None or found.S < 0:
        raise ArgumentError(
            f"swizzle: got {swizzle!r}, expected 'none' or 'Swizzle<B,M,S>' with S >= 0"
        )
    return found.B, found.M, found.S


def _pairs(bits: tuple[int, int, int], tile: ChunkTile) -> tuple[tuple[int, int], ...]:
    return BitXor.of(Swizzle(*bits).on_bytes(2), tile.bits).pairs


def _plain(name: str, exercise: bool) -> dict:
    tile, reader, known = TILES[name]
    starts = {"none": _NONE} | ({} if exercise else known)
    return {
        "name": name,
        "rows": tile.rows,
        "row_bytes": tile.row_bytes,
        "reader": reader,
        "starts": [[label, list(bits)] for label, bits in starts.items()],
    }
