"""How a block's tile of C is cut into warps, lanes and elements: who owns, reads, copies what.

A block computes BM x BN elements of C, BK steps of k at a time. Its warps have WM x WN elements
each; a warp tile is cut into WMITER x WNITER subtiles, and in each of them a lane has TM x TN
elements. `widgets/tiling.js` computes the same; tests hold the two equal, sentences included.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...core.arguments import choice, integer
from ...core.errors import ArgumentError
from ..shared.banks import WARP, sectors, wavefronts
from .rules import problems, repairs

FLOAT = 4  # bytes of an element
MOST = 1024  # of any size below

ORDERS = ("subtiles", "rows")
LANE_ORDERS = {"rows": "lane / LN, lane % LN", "columns": "lane % LM, lane / LM"}
A_LAYOUTS = {
    "km": "[k][m], transposed",
    "mk": "[m][k], one k a load",
    "mk4": "[m][k], four k a load",
}


@dataclass(frozen=True)
class Tiling:
    """A block tile and how it is cut; sizes in elements of 4 bytes.

    BM, BN, BK: of a block; WM, WN: of a warp; TM, TN: of a thread in each of WMITER x WNITER
    subtiles. stages: how many buffers of A and B there are in shared memory. lanes: "rows", where
    lane n of LM x LN is in row n / LN, or "columns", where it is in row n % LM. a: how A's tile
    lies in shared memory: "km" (transposed, so that a fragment is float4 along m), "mk" (as in
    global memory, a value a load) or "mk4" (as in global memory, float4 along k). Threads copy
    float4. order: "subtiles" where a thread stores one subtile after the other, "rows" where it
    goes along the whole row first. min_blocks: the second argument of __launch_bounds__. Raises
    ArgumentError, in one sentence, for an impossible tiling.
    """

    BM: int = 128
    BN: int = 128
    BK: int = 16
    WM: int = 64
    WN: int = 32
    TM: int = 8
    TN: int = 8
    WMITER: int = 1
    WNITER: int = 1
    stages: int = 1
    min_blocks: int = 1
    lanes: str = "rows"
    a: str = "km"
    order: str = "subtiles"

    def __post_init__(self) -> None:
        for field in fields(self)[:11]:
            integer(field.name, getattr(self, field.name), 1, MOST)
        for name, allowed in (("lanes", LANE_ORDERS), ("a", A_LAYOUTS), ("order", ORDERS)):
            choice(name, getattr(self, name), allowed, quoted=True)
        if found := problems(vars(self)):
            changes = [f"{name} = {value}" for name, value in repairs(vars(self))]
            hint = f" One change would do: {', or '.join(changes)}." if changes else ""
            raise ArgumentError(f"tiling: {' '.join(found)}{hint}")

    @property
    def warp_rows(self) -> int:
        """Rows of warps in the block."""
        return self.BM // self.WM

    @property
    def warp_cols(self) -> int:
        """Columns of warps in the block."""
        return self.BN // self.WN

    @property
    def lane_rows(self) -> int:
        """LM: rows of lanes in a subtile."""
        return self.WM // (self.WMITER * self.TM)

    @property
    def lane_cols(self) -> int:
        """LN: columns of lanes in a subtile."""
        return self.WN // (self.WNITER * self.TN)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warp_rows * self.warp_cols * WARP

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory: the tiles of A and B in every buffer."""
        return self.stages * (self.BM + self.BN) * self.BK * FLOAT

    @property
    def values(self) -> tuple[int, int]:
        """How many rows and columns of C a thread has: values of A and of B for one k."""
        return self.WMITER * self.TM, self.WNITER * self.TN

    @property
    def sums(self) -> int:
        """Elements of C that a thread keeps: FMAs for one k."""
        return self.values[0] * self.values[1]

    @property
    def fragments(self) -> int:
        """Registers for the values of A and B that a thread multiplies."""
        m, n = self.values
        return m * (4 if self.a == "mk4" else 1) + n

    @property
    def intensity(self) -> float:
        """FLOP of a block for each byte that it copies from global memory."""
        return self.BM * self.BN / (2 * (self.BM + self.BN))

    @property
    def fmas_per_value(self) -> float:
        """FMAs of a thread for each value that it reads from shared memory."""
        return self.sums / sum(self.values)

    def lane_place(self, lane: int) -> tuple[int, int]:
        """Row and column of a lane among the lanes of its warp."""
        if self.lanes == "rows":
            return lane // self.lane_cols, lane % self.lane_cols
        return lane % self.lane_rows, lane // self.lane_rows

    def corner(self, thread: int) -> tuple[int, int]:
        """The first element of C that a thread owns."""
        warp, (row, col) = thread // WARP, self.lane_place(thread % WARP)
        m = warp // self.warp_cols * self.WM + row * self.TM
        return m, warp % self.warp_cols * self.WN + col * self.TN

    def row_runs(self, thread: int) -> list[int]:
        """The first row of each run of TM rows that a thread owns."""
        step = self.WM // self.WMITER
        return [self.corner(thread)[0] + i * step for i in range(self.WMITER)]

    def column_runs(self, thread: int) -> list[int]:
        """The first column of each run of TN columns that a thread owns."""
        step = self.WN // self.WNITER
        return [self.corner(thread)[1] + i * step for i in range(self.WNITER)]

    def owners(self) -> np.ndarray:
        """The thread that owns each element of C, shape (BM, BN)."""
        table = np.full((self.BM, self.BN), -1)
        for thread in range(self.threads):
            for m in self.row_runs(thread):
                for n in self.column_runs(thread):
                    table[m : m + self.TM, n : n + self.TN] = thread
        return table

    def copies(self, thread: int, matrix: str) -> list[tuple[int, int]]:
        """Where the float4 start that a thread copies from the tile of "A" or "B".

        The float4 of a tile are numbered row by row; thread t takes t, t + threads, and so on.
        """
        rows, cols = (self.BM, self.BK) if matrix == "A" else (self.BK, self.BN)
        quads = range(thread, rows * cols // 4, self.threads)
        return [(quad // (cols // 4), quad % (cols // 4) * 4) for quad in quads]

    def stores(self, thread: int) -> list[tuple[int, int]]:
        """Where a thread's stores of C start, in their order."""
        wide = vector(self.TN)
        columns = self.column_runs(thread)
        # All columns of a row belong together, or those of one subtile.
        groups = [columns] if self.order == "rows" else [[n] for n in columns]
        return [
            (m + i, n + j)
            for m in self.row_runs(thread)
            for group in groups
            for i in range(self.TM)
            for n in group
            for j in range(0, self.TN, wide)
        ]

    def loads(self, matrix: str) -> tuple[float, int]:
        """A warp's loads of "A" or "B" from shared memory for one k, and the wavefronts of each.

        One load stands for all: the others differ by the same shift for all lanes.
        """
        lanes = [self.lane_place(lane) for lane in range(WARP)]
        if matrix == "B":
            wide = vector(self.TN)
            at, count = [col * self.TN for _, col in lanes], self.values[1] / wide
        elif self.a == "km":
            wide = vector(self.TM)
            at, count = [row * self.TM for row, _ in lanes], self.values[0] / wide
        else:
            wide = 4 if self.a == "mk4" else 1
            at, count = [row * self.TM * self.BK for row, _ in lanes], self.values[0] / wide
        addresses = [FLOAT * start for start in at]
        return count, wavefronts(addresses, wide * FLOAT).wavefronts

    def wavefronts(self, matrix: str) -> float:
        """Wavefronts of a warp's loads of "A" or "B" from shared memory for one k."""
        count, each = self.loads(matrix)
        return count * each

    def store_sectors(self) -> tuple[int, int]:
        """Sectors of one store of C by a warp, and the least that its bytes could take."""
        wide = vector(self.TN)
        row_bytes = -(-self.BN // 8) * 8 * FLOAT  # any multiple of a sector gives the same count
        at = [self.corner(lane) for lane in range(WARP)]
        found = sectors([row_bytes * m + FLOAT * n for m, n in at], wide * FLOAT)
        return found, wide * FLOAT * WARP // 32


def vector(run: int) -> int:
    """Elements of the widest load that a run of `run` neighbours is cut into: 4, 2 or 1."""
    return 4 if run % 4 == 0 else 2 if run % 2 == 0 else 1


_STRIPS: dict[str, Any] = {
    "WM": 16,
    "WN": 128,
    "min_blocks": 2,
}  # 2 x 16 lanes of 8 x 8, or of 8 x 4 twice
_TALL: dict[str, Any] = {
    "BK": 32,
    "WM": 32,
    "WN": 128,
    "min_blocks": 3,
}  # 2 x 16 lanes of 128 elements
_FOUR: dict[str, Any] = {"TM": 8, "TN": 4, "WMITER": 2, "WNITER": 2}
# The course's steps. tests/unit/layouts/test_tiling.py holds each to what its kernel does.
STEPS: dict[str, Tiling] = {
    "sgemm_04_register_tiling": Tiling(a="mk4", min_blocks=2),
    "sgemm_05_transposed_a": Tiling(min_blocks=2),
    "sgemm_06_swizzled_a": Tiling(min_blocks=2),
    "sgemm_07_coalesced_c": Tiling(**_STRIPS, TN=4, WNITER=2, order="rows"),
    "sgemm_08_double_buffer": Tiling(**_STRIPS, TN=4, WNITER=2, stages=2, order="rows"),
    "sgemm_10_vectorized": Tiling(**_STRIPS, BK=8, a="mk"),
    "sgemm_11_warp_tiling": Tiling(**_TALL, TM=16, TN=8, a="mk"),
    "sgemm_12_warp_subtiles": Tiling(**_TALL, **_FOUR, a="mk"),
    "sgemm_13_subtiles_transposed_a": Tiling(**_TALL, **_FOUR),
    "sgemm_14_async_double_buffer": Tiling(**{**_TALL, "BK": 16}, **_FOUR, stages=2, a="mk"),
    "sgemm_15_large_thread_tile": Tiling(
        WN=64, TM=4, TN=4, WMITER=2, WNITER=4, stages=2, min_blocks=2, order="rows"
    ),
}
