"""How two consumer warpgroups share the tensor cores of an SM: a small, exact model in cycles.

`widgets/model/warpgroups/model.js` computes the same; tests hold the two equal, sentences included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ...core.arguments import choice, integer

SCHEDULES = {
    "barrier": "barrier in each k tile",
    "blocks": "producer, one tile a block",
    "persistent": "producer, blocks that stay",
    "deferred": "deferred write-back",
    "ping-pong": "ping-pong",
}
BARRIER = 64  # cycles from the last warpgroup's products to the first of the next k tile
COPY = 512  # cycles of asking for a k tile of 128x256
PACK = 64  # cycles in which a warpgroup packs its sums to 16 bits
MOST_TILES, MOST_DEPTH, MOST_STAGES, MOST_CYCLES = 4, 8, 6, 65536

MODEL = (
    "Times are cycles of a model of one SM, not of a GPU.",
    "The tensor cores do one group of products at a time, in the order of asking. The products of "
    "a k tile of 128x256 take the product time, half of it for each consumer.",
    f"The copies of k tiles are asked for one after the other, {COPY} cycles each, into the next "
    "stage that is empty; one for 128x128 has two thirds of the bytes and takes two thirds of the "
    "time. A k tile is there one latency after its copy has ended.",
    "A consumer has at most two groups under way, and releases a stage when its products of it "
    "have ended and the next group is started.",
    f"Barrier: products begin {BARRIER} cycles after both consumers' last ones have ended, and a "
    "stage is asked for again then. One tile a block: the copies of a tile begin when the tile "
    "before has been stored. Deferred: a consumer packs its sums in "
    f"{PACK} cycles and stores them beside the products of the next tile. Ping-pong: a consumer "
    "has tiles of 128x128 of its own, and begins when the other has started all of its products.",
)


@dataclass(frozen=True)
class Bar:
    """A part of a lane: from `begin` to `end` it is in `state`, for k tile `tile`, or -1.

    States: products, second (those of consumer 1), idle, issue, wait, store, pack; flight, full,
    read, old (what a stage holds).
    """

    state: str
    tile: int
    begin: int
    end: int


@dataclass(frozen=True)
class Use:
    """A k tile in its stage: asked for from `asked` to `issued`, there at `full`.

    groups: (consumer, begin, end) of its products. released: when the stage is empty again.
    """

    tile: int
    asked: int
    issued: int
    full: int
    groups: tuple[tuple[int, int, int], ...] = ()
    released: int = 0


@dataclass
class _Consumer:
    """What the model keeps of a consumer while it runs; free: when it can do the next thing."""

    free: int = 0
    ends: list[int] = field(default_factory=list)  # of this tile's groups
    own: list[Bar] = field(default_factory=list)
    stores: list[Bar] = field(default_factory=list)
    waiting: int = -1  # the use whose stage this consumer has not released yet
    keeps: int = 0  # the tile that waits in registers, numbered from 1


@dataclass(frozen=True)
class Shared:
    """A run of the model: two consumers, the tensor cores and the stages between.

    tiles: parts of C of 128x256 that the SM computes; depth: k tiles of each. products,
    latency, end: cycles of the products of a k tile, until its copy is there, and of storing C.
    """

    schedule: str
    tiles: int
    depth: int
    stages: int
    products: int
    latency: int
    end: int
    uses: tuple[Use, ...]
    own: tuple[tuple[Bar, ...], tuple[Bar, ...]]
    stores: tuple[tuple[Bar, ...], tuple[Bar, ...]]

    @property
    def total(self) -> int:
        """Cycles until the last part of C is stored."""
        return max(bars[-1].end for bars in self.stores)

    @property
    def busy(self) -> int:
        """Cycles in which the tensor cores work."""
        return self.tiles * self.depth * self.products

    @property
    def percent(self) -> int:
        """Share of the time in which the tensor cores work, rounded, halves up."""
        return (200 * self.busy + self.total) // (2 * self.total)

    @property
    def cores(self) -> tuple[Bar, ...]:
        """The tensor cores from 0 to `total`: products of either consumer, and idle."""
        groups = sorted((group[1], n, group) for n, u in enumerate(self.uses) for group in u.groups)
        bars, at = [], 0
        for begin, n, (consumer, _, end) in groups:
            bars.append(Bar("idle", -1, at, begin))
            bars.append(Bar("second" if consumer else "products", self.uses[n].tile, begin, end))
            at = end
        return longer_than_0([*bars, Bar("idle", -1, at, self.total)])

    def gaps(self) -> tuple[int, int, int]:
        """Idle cycles of the tensor cores: before the first products, between them, after them."""
        cores = self.cores
        first = cores[0].end if cores[0].state == "idle" else 0
        last = cores[-1].end - cores[-1].begin if cores[-1].state == "idle" else 0
        return first, self.total - self.busy - first - last, last

    @property
    def asking(self) -> tuple[Bar, ...]:
        """Who asks for copies: it asks, or waits for a stage to be empty."""
        bars, at = [], 0
        for use in self.uses:
            bars += [Bar("wait", use.tile, at, use.asked)]
            bars += [Bar("issue", use.tile, use.asked, use.issued)]
            at = use.issued
        return longer_than_0(bars)

    def stage(self, number: int) -> tuple[Bar, ...]:
        """What a stage holds: a k tile on its way, there, being read, released."""
        bars: list[Bar] = []
        mine = self.uses[number :: self.stages]
        for i, use in enumerate(mine):
            read, done = use.groups[0][1], use.released
            over = mine[i + 1].asked if i + 1 < len(mine) else self.total
            bars.append(Bar("flight", use.tile, use.asked, use.full))
            bars.append(Bar("full", use.tile, use.full, read))
            bars.append(Bar("read", use.tile, read, done))
            bars.append(Bar("old", use.tile, done, over))
        return longer_than_0(bars)

    def lanes(self) -> list[tuple[str, tuple[Bar, ...]]]:
        """(name, bars) of every lane of the picture."""
        who = "thread 0" if self.schedule == "barrier" else "producer"
        lanes = [("tensor", self.cores), (who, self.asking)]
        for c in range(2):
            lanes += [(f"consumer {c}", self.own[c]), (f"C of {c}", self.stores[c])]
        return lanes + [(f"stage {s}", self.stage(s)) for s in range(self.stages)]


def share(
    schedule: str = "persistent",
    *,
    tiles: int = 3,
    depth: int = 4,
    stages: int = 4,
    products: int = 1024,
    latency: int = 800,
    end: int = 1200,
) -> Shared:
    """Run the model. Raises ArgumentError for an unknown schedule and numbers out of range."""
    choice("schedule", schedule, SCHEDULES, quoted=True)
    for name, value, low, high in (
        ("tiles", tiles, 1, MOST_TILES),
        ("depth", depth, 1, MOST_DEPTH),
        ("stages", stages, 2, MOST_STAGES),
        ("products", products, 2, MOST_CYCLES),
        ("latency", latency, 0, MOST_CYCLES),
        ("end", end, 1, MOST_CYCLES),
    ):
        integer(name, value, low, high)
    run = Shared(
        schedule, tiles, depth, stages, products + products % 2, latency, end,
        (), ((), ()), ((), ()),
    )  # fmt: skip
    return _Model(run).run()


class _Model:
    """Goes through the k tiles in the order of the ring; everything before is known then."""

    def __init__(self, shape: Shared):
        self.shape = shape
        self.uses: list[Use] = []
        self.consumers = (_Consumer(), _Consumer())
        self.cores = self.path = 0  # when they are free
        self.turn = 0  # ping-pong: when the other consumer has started all of its products
        self.met = 0  # barrier: when all have met

    def run(self) -> Shared:
        """The run, whole."""
        shape, taking_turns = self.shape, self.shape.schedule == "ping-pong"
        parts = 2 * shape.tiles if taking_turns else shape.tiles
        for part in range(parts):
            members = (part % 2,) if taking_turns else (0, 1)
            for k in range(shape.depth):
                self._use(part, k, members)
            for c in members:
                self._finish(c, part, last=part == parts - 1)
        both = self.consumers
        return replace(
            shape,
            uses=tuple(self.uses),
            own=(longer_than_0(both[0].own), longer_than_0(both[1].own)),
            stores=(longer_than_0(both[0].stores), longer_than_0(both[1].stores)),
        )

    def _ask(self, part: int, k: int) -> Use:
        """The copy of the next k tile: into a stage that is empty, when the path is free."""
        shape, n = self.shape, len(self.uses)
        at = self.path
        if n >= shape.stages:
            at = max(at, self.uses[n - shape.stages].released)
        if shape.schedule in ("barrier", "blocks") and part and k == 0:
            at = max(at, max(c.free for c in self.consumers))
        whole = shape.schedule != "ping-pong"
        self.path = at + (COPY if whole else (2 * COPY + 2) // 3)
        tile = part * shape.depth + k
        return Use(tile, at, self.path, self.path + shape.latency)

    def _use(self, part: int, k: int, members: tuple[int, ...]) -> None:
        use, n = self._ask(part, k), len(self.uses)
        self.uses.append(use)
        groups = []
        for c in members:
            start = self._start(c, k, use)
            begin = max(start, self.cores)
            self.cores = end = begin + self.shape.products // 2
            groups.append((c, begin, end))
            self._start_group(c, n, k, start, (begin, end))
        if self.shape.schedule == "ping-pong" and k == self.shape.depth - 1:
            self.turn = self.consumers[members[0]].free
        released = 0
        if self.shape.schedule == "barrier":
            self.met = released = max(end for _, _, end in groups) + BARRIER
        self.uses[n] = replace(use, groups=tuple(groups), released=released)

    def _start(self, c: int, k: int, use: Use) -> int:
        """When a consumer starts its products of a k tile."""
        own = self.consumers[c]
        at = max(own.free, use.full)
        if len(own.ends) > 1:
            at = max(at, own.ends[-2])
        if self.shape.schedule == "barrier" and k:
            at = max(at, self.met)
        if self.shape.schedule == "ping-pong" and k == 0:
            at = max(at, self.turn)
        if self.shape.schedule == "deferred" and own.keeps and 1 <= k <= 4:
            at = max(at, own.stores[-1].begin + k * -(-self.shape.end // 4))
        return at

    def _start_group(self, c: int, n: int, k: int, start: int, done: tuple[int, int]) -> None:
        own, tile = self.consumers[c], self.uses[n].tile
        before = own.own[-1].end if own.own else 0
        own.own.append(Bar("wait", tile, before, done[0]))
        own.own.append(Bar("second" if c else "products", tile, *done))
        if k == 0 and own.keeps:
            own.stores.append(Bar("store", own.keeps - 1, start, start + self.shape.end))
        if own.waiting >= 0 and self.shape.schedule != "barrier":
            self._release(own.waiting, max(start, own.ends[-1]))
        own.waiting, own.free = n, start
        own.ends.append(done[1])

    def _release(self, n: int, at: int) -> None:
        self.uses[n] = replace(self.uses[n], released=max(at, self.uses[n].released))

    def _finish(self, c: int, part: int, *, last: bool) -> None:
        """The end of a tile: its last products are waited for, and C leaves."""
        own, shape = self.consumers[c], self.shape
        done = own.ends[-1]
        if shape.schedule != "barrier":
            self._release(own.waiting, done)
        late = max(done, own.stores[-1].end) if own.keeps else done
        own.waiting, own.ends, own.keeps = -1, [], 0
        if shape.schedule == "deferred" and not last:
            own.own.append(Bar("wait", -1, done, late))
            own.own.append(Bar("pack", part, late, late + PACK))
            own.keeps, own.free = part + 1, late + PACK
            return
        own.stores.append(Bar("store", part, late, late + shape.end))
        own.own.append(Bar("wait", -1, done, late))
        own.own.append(Bar("store", part, late, late + shape.end))
        own.free = late + shape.end


def longer_than_0(bars: Iterable[Bar]) -> tuple[Bar, ...]:
    """The bars that last a while."""
    return tuple(bar for bar in bars if bar.end > bar.begin)
