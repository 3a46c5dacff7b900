"""How the copies and the products of k tiles lie in time: a small, exact model of one SM.

`widgets/pipeline.js` computes the same; tests hold the two equal, sentences included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ...core.arguments import choice, integer

SCHEMES = {"single": "single buffer", "double": "double buffer", "async": "cp.async"}
PIPES = ("FMA pipe", "tensor cores")  # what multiplies, without and with tensor cores
MOST_STAGES, MOST_TILES, MOST_BLOCKS, MOST_CYCLES = 6, 16, 4, 65536

MODEL = (
    "Times are cycles of a model, not of a GPU.",
    "Each block is one actor: it does one step after the other, and a barrier takes no time.",
    "Issuing the copy of a tile, or storing a tile from registers, takes the SM's copy path for "
    "the issue time; the products of a tile take its FMA pipe for the product time.",
    "Each serves one block at a time, in the order of asking, the lower number first.",
    "A copy arrives one latency after its issue has ended, however many are in flight.",
    "Single buffer: issue, wait, store, barrier, products, barrier. Double buffer: issue the next "
    "tile into registers, products, wait, store to the other buffer, barrier. cp.async: wait for "
    "the tile, barrier, issue the copy of the tile S - 1 later, products.",
)


@dataclass(frozen=True)
class Step:
    """One step of a block: "issue", "store" or "products" of a tile.

    asked: when the block's last step ended; ready: when tile `needs` (-1: none) has arrived, too;
    begin: when the copy path or the FMA pipe was free; end: when the step is done.
    """

    block: int
    kind: str
    tile: int
    needs: int
    asked: int
    ready: int
    begin: int
    end: int


@dataclass(frozen=True)
class Bar:
    """A part of a lane: from `begin` to `end` it is in `state`, because of a block's tile (or -1).

    States: issue, store, products; wait (for a copy), queue (for the path or the pipe); idle;
    flight, arrived, full, read, old (what registers and buffers hold).
    """

    state: str
    block: int
    tile: int
    begin: int
    end: int


@dataclass(frozen=True)
class Pipeline:
    """One run of the model. Times are cycles; `steps` are in the order in which they were served.

    scheme: a key of SCHEMES; stages: buffers of "async" (the others have 1 and 2); issue, latency,
    products: cycles of a tile; tiles: k tiles of a block; blocks: on the SM.
    """

    scheme: str
    stages: int
    issue: int
    latency: int
    products: int
    tiles: int
    blocks: int
    steps: tuple[Step, ...]

    @property
    def buffers(self) -> int:
        """Shared-memory buffers of a block: tile t is in buffer t mod `buffers`."""
        return {"single": 1, "double": 2}.get(self.scheme, self.stages)

    @property
    def total(self) -> int:
        """Cycles until the last products are done."""
        return max(step.end for step in self.steps)

    @property
    def busy(self) -> int:
        """Cycles in which the FMA pipe works."""
        return self.blocks * self.tiles * self.products

    @property
    def percent(self) -> int:
        """Share of the time in which the FMA pipe works, rounded, halves up."""
        return _rounded(100 * self.busy, self.total)

    @property
    def per_tile(self) -> int:
        """Cycles a tile, all blocks' tiles counted, rounded, halves up."""
        return _rounded(self.total, self.blocks * self.tiles)

    def of(self, block: int) -> tuple[Step, ...]:
        """The steps of a block, one after the other: each asks when the one before has ended."""
        return tuple(step for step in self.steps if step.block == block)

    @cached_property
    def pipe(self) -> tuple[Bar, ...]:
        """The FMA pipe from 0 to `total`: products and idle."""
        bars, at = [], 0
        done = sorted((s for s in self.steps if s.kind == "products"), key=lambda s: s.begin)
        for step in done:
            bars += [Bar("idle", -1, -1, at, step.begin), _bar(step)]
            at = step.end
        return _longer_than_0(bars)

    @property
    def idle(self) -> tuple[Bar, ...]:
        """The intervals in which the FMA pipe does nothing."""
        return tuple(bar for bar in self.pipe if bar.state == "idle")

    def path(self) -> tuple[Bar, ...]:
        """The copy path: issues and stores of all blocks."""
        used = sorted((s for s in self.steps if s.kind != "products"), key=lambda s: s.begin)
        return _longer_than_0(map(_bar, used))

    def actor(self, block: int) -> tuple[Bar, ...]:
        """What a block does: waits for a copy, queues for the path or the pipe, or works."""
        bars = []
        for step in self.of(block):
            bars.append(Bar("wait", block, step.needs, step.asked, step.ready))
            bars += [Bar("queue", block, step.tile, step.ready, step.begin), _bar(step)]
        return _longer_than_0(bars)

    def registers(self, block: int) -> tuple[Bar, ...]:
        """What the copy's registers hold; nothing with cp.async, which does not use any."""
        if self.scheme == "async":
            return ()
        bars = []
        for t, (issue, store, _) in enumerate(self._by_tile(block)):
            assert store is not None  # of every scheme but "async"
            arrival = issue.end + self.latency
            bars.append(Bar("flight", block, t, issue.begin, arrival))
            bars.append(Bar("arrived", block, t, arrival, store.begin))
            bars.append(Bar("store", block, t, store.begin, store.end))
        return _longer_than_0(bars)

    def buffer(self, block: int, number: int) -> tuple[Bar, ...]:
        """What a shared-memory buffer of a block holds: a tile on its way, full, read, old."""
        bars = []
        tiles = self._by_tile(block)
        for t in range(number, self.tiles, self.buffers):
            issue, store, products = tiles[t]
            fill = ("store", store.begin, store.end) if store else None
            state, begin, end = fill or ("flight", issue.begin, issue.end + self.latency)
            follower = tiles[t + self.buffers] if t + self.buffers < self.tiles else None
            over = (follower[1] or follower[0]).begin if follower else self.total
            bars.append(Bar(state, block, t, begin, end))
            bars.append(Bar("full", block, t, end, products.begin))
            bars.append(Bar("read", block, t, products.begin, products.end))
            bars.append(Bar("old", block, t, products.end, over))
        return _longer_than_0(bars)

    def _by_tile(self, block: int) -> list[tuple[Step, Step | None, Step]]:
        """The issue, the store (None with cp.async) and the products of every tile."""
        found = {(step.kind, step.tile): step for step in self.of(block)}
        return [
            (found["issue", t], found.get(("store", t)), found["products", t])
            for t in range(self.tiles)
        ]

    def lanes(self, block: int = 0, tensor: bool = False) -> list[tuple[str, tuple[Bar, ...]]]:
        """(name, bars) of every lane of the picture; buffers and registers are those of `block`.

        tensor: whether tensor cores multiply, and not the FMA pipe.
        """
        lanes = [(PIPES[tensor], self.pipe), ("copy path", self.path())]
        lanes += [(f"block {b}", self.actor(b)) for b in range(self.blocks)]
        if self.scheme != "async":
            lanes.append(("registers", self.registers(block)))
        return lanes + [(f"buffer {s}", self.buffer(block, s)) for s in range(self.buffers)]

    def rounds(self) -> dict[str, float]:
        """Cycles that a round of tiles, one from each block, takes at least, by what it needs.

        "pipe": the FMA pipe; "path": the copy path; "steps": the steps of a block after each other.
        """
        issue, latency, products = self.issue, self.latency, self.products
        steps = {
            "single": issue + latency + issue + products,
            "double": issue + max(latency, products) + issue,
            # A copy may take the S - 1 tiles between its issue and its own products.
            "async": max(issue + products, (issue + latency) / (self.stages - 1)),
        }[self.scheme]
        uses = 1 if self.scheme == "async" else 2
        return {"pipe": self.blocks * products, "path": self.blocks * uses * issue, "steps": steps}

    @property
    def pace(self) -> str:
        """What the largest of `rounds` needs: "pipe", "path" or "steps"."""
        rounds = self.rounds()
        return max(rounds, key=rounds.__getitem__)


def simulate(
    scheme: str = "single",
    *,
    stages: int = 3,
    issue: int = 128,
    latency: int = 800,
    products: int = 2048,
    tiles: int = 6,
    blocks: int = 1,
) -> Pipeline:
    """Run the model: `blocks` blocks on one SM, each with `tiles` k tiles.

    issue: cycles to issue a tile's copy, or to store it from registers; latency: from the end of
    the issue until the data is there; products: cycles of the FMA pipe a tile; stages: buffers of
    "async". Raises ArgumentError for an unknown scheme and for numbers out of range.
    """
    choice("scheme", scheme, SCHEMES, quoted=True)
    for name, value, low, high in (
        ("stages", stages, 2, MOST_STAGES),
        ("issue", issue, 0, MOST_CYCLES),
        ("latency", latency, 0, MOST_CYCLES),
        ("products", products, 1, MOST_CYCLES),
        ("tiles", tiles, 2, MOST_TILES),
        ("blocks", blocks, 1, MOST_BLOCKS),
    ):
        integer(name, value, low, high)
    plan = tuple(_plan(scheme, stages, tiles))
    steps = tuple(_serve(plan, blocks, issue, latency, products))
    return Pipeline(scheme, stages, issue, latency, products, tiles, blocks, steps)


def _plan(scheme: str, stages: int, tiles: int) -> Iterator[tuple[str, int, int]]:
    """The steps of a block in their order: kind, tile, and the tile that must be there (-1: none).

    A step that needs no tile of its own may still wait: cp.async waits before it issues.
    """
    if scheme == "single":
        for t in range(tiles):
            yield from (("issue", t, -1), ("store", t, t), ("products", t, -1))
        return
    ahead = 1 if scheme == "double" else stages - 1
    for t in range(min(ahead, tiles)):
        yield "issue", t, -1
    if scheme == "double":
        yield "store", 0, 0
    for t in range(tiles):
        more = t + ahead < tiles
        waits = t if scheme == "async" else -1
        if more:
            yield "issue", t + ahead, waits
        yield "products", t, waits
        if more and scheme == "double":
            yield "store", t + 1, t + 1


def _serve(
    plan: tuple[tuple[str, int, int], ...], blocks: int, issue: int, latency: int, products: int
) -> Iterator[Step]:
    """The blocks' steps, each served as soon as its block, its data and its unit are ready.

    The block that is ready first is served first. None of its later steps is ready before that, so
    requests are served in the order in which they are made.
    """
    ended, done = [0] * blocks, [0] * blocks  # of each block: end of the last step, steps done
    arrival: dict[tuple[int, int], int] = {}
    free = {"path": 0, "pipe": 0}

    def ready(block: int) -> int:
        return max(ended[block], arrival.get((block, plan[done[block]][2]), 0))

    while waiting := [b for b in range(blocks) if done[b] < len(plan)]:
        b = min(waiting, key=ready)  # of equals the first
        kind, tile, needs = plan[done[b]]
        unit = "pipe" if kind == "products" else "path"
        begin = max(ready(b), free[unit])
        end = begin + (products if kind == "products" else issue)
        yield Step(b, kind, tile, needs, ended[b], ready(b), begin, end)
        if kind == "issue":
            arrival[b, tile] = end + latency
        ended[b] = free[unit] = end
        done[b] += 1


def _bar(step: Step) -> Bar:
    return Bar(step.kind, step.block, step.tile, step.begin, step.end)


def _longer_than_0(bars: Iterable[Bar]) -> tuple[Bar, ...]:
    return tuple(bar for bar in bars if bar.end > bar.begin)


def _rounded(part: int, whole: int) -> int:
    return (2 * part + whole) // (2 * whole)
