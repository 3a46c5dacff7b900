"""Who loads what for whom in a cluster of blocks: multicast of A along rows and of B along columns.

A cluster's blocks compute neighbouring tiles of C. Blocks of one row need the same rows of A, those
of one column the same columns of B. Each asks for its share and the copy engine writes it into all
that need it. `widgets/model/clusters.js` computes the same; tests hold the two equal, sentences
included.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.arguments import choice, flag, integer

SHAPES = ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1))
DEPTH, BYTES = 64, 2  # values of k of a k tile, and of an element
PRODUCTS = 2048  # multiply-adds of an SM's tensor cores in a cycle
CONSUMERS = 2  # warpgroups of a block that read a stage


@dataclass(frozen=True)
class Load:
    """What one block asks for: `count` rows of A or columns of B, from `first` of the cluster's on.

    to: the blocks into which the engine writes it.
    """

    operand: str
    first: int
    count: int
    to: tuple[int, ...]


@dataclass(frozen=True)
class Cluster:
    """Blocks of tiles of BM x BN, `rows` below each other and `columns` beside each other.

    multicast: whether they share what they load. Raises ArgumentError, naming the argument.
    """

    rows: int = 2
    columns: int = 1
    BM: int = 128
    BN: int = 256
    multicast: bool = True

    def __post_init__(self) -> None:
        choice("rows, columns", (self.rows, self.columns), SHAPES)
        integer("BM", self.BM, 8, 256)
        integer("BN", self.BN, 8, 256)
        flag("multicast", self.multicast)

    @property
    def blocks(self) -> int:
        """Of the cluster."""
        return self.rows * self.columns

    def loads(self, block: int) -> tuple[Load, Load]:
        """What a block asks for in each k tile: of A and of B."""
        integer("block", block, 0, self.blocks - 1)
        row, column = divmod(block, self.columns)
        if not self.multicast:
            return (
                Load("A", row * self.BM, self.BM, (block,)),
                Load("B", column * self.BN, self.BN, (block,)),
            )
        along = tuple(row * self.columns + c for c in range(self.columns))
        across = tuple(r * self.columns + column for r in range(self.rows))
        a, b = self.BM // self.columns, self.BN // self.rows
        return (
            Load("A", row * self.BM + column * a, a, along),
            Load("B", column * self.BN + row * b, b, across),
        )

    @property
    def needed(self) -> int:
        """Bytes that a block needs for a k tile."""
        return (self.BM + self.BN) * DEPTH * BYTES

    @property
    def asked(self) -> int:
        """Bytes that a block asks the L2 for."""
        return sum(load.count for load in self.loads(0)) * DEPTH * BYTES

    @property
    def cycles(self) -> int:
        """Cycles of the tensor cores for a block's k tile."""
        return self.BM * self.BN * DEPTH // PRODUCTS

    @property
    def arrivals(self) -> int:
        """Arrivals that empty a stage: consumers of all blocks into which its producer writes."""
        others = self.rows + self.columns - 2 if self.multicast else 0
        return CONSUMERS * (1 + others)

    def describe(self) -> str:
        """What a k tile costs, in words."""
        each = f"{self.asked / 1024:g} of the {self.needed / 1024:g} KB that it needs"
        return (
            f"A block asks for {each}, {self.asked / self.cycles:g} bytes for each of the "
            f"{self.cycles:,} cycles that its products take. The cluster reads "
            f"{self.blocks * self.asked / 1024:g} KB from L2, and a stage is empty after "
            f"{self.arrivals} arrivals."
        )

    def describe_block(self, block: int) -> str:
        """What one block asks for, and who gets it."""
        parts = []
        for load in self.loads(block):
            what = "rows of A" if load.operand == "A" else "columns of B"
            who = " and ".join(map(str, load.to))
            to = f"block {who}" if len(load.to) == 1 else f"blocks {who}"
            parts.append(f"{what} {load.first} to {load.first + load.count - 1} for {to}")
        return f"Block {block} asks for {parts[0]}, and for {parts[1]}."
