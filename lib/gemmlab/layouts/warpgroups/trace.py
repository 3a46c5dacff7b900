"""Recorded events of a block's warpgroups as lanes of bars, like those of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from ...core.errors import MeasurementError
from .events import CONSUMERS, PRODUCER, Event, Line, clipped
from .model import Bar, longer_than_0

# Fewer cycles than these lie between an event and the next one, if there is nothing to wait for in
# between. An end that is found so soon may have been there before, and a gap so short is not told.
AT_ONCE = 64
_BESIDE = 8  # groups, in front of what counts and behind it
Lanes = list[tuple[str, tuple[Bar, ...]]]


@dataclass(frozen=True)
class _Group:
    """Products of a k tile, of one consumer: found full at `full`, committed at `started`, found
    finished at `seen`. unseen: they may have ended while the consumer waited for data or stored.
    """

    consumer: int
    tile: int
    full: int
    started: int
    seen: int
    unseen: bool


@dataclass(frozen=True)
class WarpgroupTrace:
    """What a producer, two consumers and the tensor cores of an SM did, in cycles of its clock.

    schedule: as in the model. depth: k tiles of a tile of C. group: cycles that the products of a
    consumer and a k tile take at the full rate of the tensor cores. lines: the events of consumer
    0, consumer 1 and the producer, `numbered`. begin, end: the part that counts, from the begin of
    a tile to that of a later one; events lie before and behind it, so that it is whole.

    Products are under way from when their stage was found full, or those before have ended, until a
    wait has found them finished: a little later than they were. Where the consumer waited for data
    or stored meanwhile, and the wait returned at once, nobody has seen their end: it is taken to be
    as early as can be, `group` cycles after they or those that were started earlier let it begin.
    """

    schedule: str
    depth: int
    group: int
    lines: tuple[Line, Line, Line]
    begin: int = 0
    end: int = 0

    @cached_property
    def products(self) -> tuple[tuple[Bar, ...], tuple[Bar, ...]]:
        """Of each consumer: its products of each k tile, under way."""
        ends, bars = [0, 0], ([], [])  # type: tuple[list[int], tuple[list[Bar], list[Bar]]]
        groups = [group for c in CONSUMERS for group in _groups(c, self.lines[c])]
        for one in sorted(groups, key=lambda group: group.started):
            c = one.consumer
            begin = max(one.full, ends[c])
            end = one.seen
            if one.unseen:
                end = min(end, max(begin, ends[1 - c]) + self.group)
            ends[c] = max(begin, end)
            bars[c].append(Bar("second" if c else "products", one.tile, begin, ends[c]))
        return tuple(bars[0]), tuple(bars[1])

    @property
    def cores(self) -> tuple[Bar, ...]:
        """The tensor cores: products of one consumer or of both under way, or idle."""
        bars = [bar for own in self.products for bar in own]
        edges = sorted({time for bar in bars for time in (bar.begin, bar.end)})
        found: list[Bar] = []
        for begin, end in pairwise(edges):
            now = [bar for bar in bars if bar.begin <= begin and end <= bar.end]
            last = found[-1] if found else None
            one = _core(now, begin, end)
            too_short = one.state == "idle" and end - begin < AT_ONCE
            if last and (too_short or (last.state, last.tile) == (one.state, one.tile)):
                found[-1] = replace(last, end=end)
            else:
                found.append(one)
        return tuple(found)

    @property
    def asking(self) -> tuple[Bar, ...]:
        """The producer: it asks for copies, or waits for a stage to be empty."""
        bars: list[Bar] = []
        for bar in _pairs(self.lines[PRODUCER], "empty", "asked", "issue"):
            if bars:
                bars.append(Bar("wait", bar.tile, bars[-1].end, bar.begin))
            bars.append(bar)
        return longer_than_0(bars)

    def stores(self, c: int) -> tuple[Bar, ...]:
        """When a consumer stores C: until the copies of it are started, not until they end."""
        return longer_than_0(_pairs(self.lines[c], "store", "stored", "store"))

    def own(self, c: int) -> tuple[Bar, ...]:
        """What a consumer does or waits for; a store only if its products have ended.

        "data": it waits for a stage to be full; "turn": for its turn; "none": no products are under
        way, and what it does then, another lane tells or no event.
        """
        line, products = self.lines[c], self.products[c]
        inside = {bar.begin for bar in self.stores(c) if _within(bar, products)}
        bars = [
            *products,
            *(bar for bar in self.stores(c) if bar.begin not in inside),
            *_pairs(line, "pack", "packed", "pack"),
            *_pairs(line, "awaits", "turn", "turn"),
        ]
        bars.sort(key=lambda bar: bar.begin)
        waits = dict(_waits(line))
        between: list[Bar] = []
        for before, bar in pairwise(bars):
            found = waits.get(bar.tile) if bar.state in ("products", "second") else None
            since = bar.begin if found is None else max(before.end, found)
            between.append(Bar("none", -1, before.end, since))
            between.append(Bar("data", bar.tile, since, bar.begin))
        return longer_than_0(sorted([*bars, *between], key=lambda bar: bar.begin))

    def lanes(self, begin: int, end: int) -> Lanes:
        """(name, bars) of every lane, from `begin` to `end`, in cycles from `begin` on."""
        lanes: Lanes = [("tensor", self.cores), ("producer", self.asking)]
        for c in CONSUMERS:
            lanes += [(f"consumer {c}", self.own(c)), (f"C of {c}", self.stores(c))]
        return [(name, _clipped(bars, begin, end)) for name, bars in lanes]

    @property
    def tiles(self) -> tuple[int, ...]:
        """The tiles of C whose first products are in the trace, in the order of their begin."""
        firsts = [bar for own in self.products for bar in own if bar.tile % self.depth == 0]
        in_order = sorted(firsts, key=lambda bar: bar.begin)
        return tuple(dict.fromkeys(bar.tile // self.depth for bar in in_order))

    def begin_of(self, tile: int) -> int:
        """When the first products of a tile of C begin."""
        first = tile * self.depth
        return min(bar.begin for own in self.products for bar in own if bar.tile == first)

    def middle(self, tiles: int) -> WarpgroupTrace:
        """The part from the begin of a tile to that of the one `tiles` further, in the middle.

        Raises MeasurementError if the block has not tiles enough.
        """
        if len(self.tiles) < tiles + 2:
            raise MeasurementError(
                f"the block has {len(self.tiles)} tiles of C; a trace of {tiles} needs {tiles + 2}"
            )
        at = (len(self.tiles) - tiles) // 2
        begin, end = (self.begin_of(self.tiles[i]) for i in (at, at + tiles))
        first = max(0, begin - _BESIDE * self.group)
        lines = [clipped(line, first, end + _BESIDE * self.group) for line in self.lines]
        part = (lines[0], lines[1], lines[2])
        return replace(self, lines=part, begin=begin - first, end=end - first)

    @property
    def percent(self) -> float:
        """Share of the part that counts in which products are under way."""
        return 100 * (1 - sum(b.end - b.begin for b in self.idle()) / (self.end - self.begin))

    def idle(self) -> tuple[Bar, ...]:
        """The gaps between products in the part that counts, in cycles of the trace."""
        return tuple(
            replace(bar, begin=max(bar.begin, self.begin), end=min(bar.end, self.end))
            for bar in self.cores
            if bar.state == "idle" and bar.end > self.begin and bar.begin < self.end
        )

    def cause(self, gap: Bar) -> tuple[int, Bar | None]:
        """Which consumer ends a gap, and what it does or waits for during most of it."""
        nexts = [(b.begin, c) for c in CONSUMERS for b in self.products[c] if b.begin >= gap.end]
        c = min(nexts)[1] if nexts else 0
        known = [bar for bar in self.own(c) if bar.state != "none"]
        known += [bar for bar in self.stores(c) if bar not in known]
        during = _clipped(known, gap.begin, gap.end)
        return c, max(during, key=lambda bar: bar.end - bar.begin, default=None)

    def window(self) -> tuple[int, int]:
        """What a picture shows, in cycles of the trace: where one tile of C follows another."""
        inside = [t for t in self.tiles if self.begin < self.begin_of(t) < self.end]
        at = self.begin_of(inside[0]) if inside else self.begin
        return max(0, at - 8 * self.group), min(at + 16 * self.group, self.end)


def _core(now: Sequence[Bar], begin: int, end: int) -> Bar:
    """What the tensor cores do while these products are under way."""
    if not now:
        return Bar("idle", -1, begin, end)
    if len(now) > 1:
        return Bar("both", -1, begin, end)
    return Bar(now[0].state, now[0].tile, begin, end)


def _groups(c: int, line: Line) -> Iterator[_Group]:
    full: dict[int, int] = {}
    started: dict[int, int] = {}
    hidden: dict[int, bool] = {}  # of products under way: whether they may have ended unseen
    for before, event in pairwise([Event("", -1, 0), *line]):
        k, at_once = event.number, event.cycle - before.cycle < AT_ONCE
        if event.kind in ("stored", "full") and not at_once:
            hidden = dict.fromkeys(hidden, True)
        if event.kind == "full":
            full[k] = event.cycle
        elif event.kind == "started" and k in full:
            started[k], hidden[k] = event.cycle, False
        elif event.kind == "done" and k in started:
            yield _Group(c, k, full[k], started[k], event.cycle, hidden.pop(k) and at_once)


def _pairs(line: Line, first: str, second: str, state: str) -> Iterator[Bar]:
    """A bar from each event of one kind to the next one of another, with the same number."""
    begin = None
    for event in line:
        if event.kind == first:
            begin = event
        if event.kind == second and begin is not None and begin.number == event.number:
            yield Bar(state, event.number, begin.cycle, event.cycle)
            begin = None


def _waits(line: Line) -> Iterator[tuple[int, int]]:
    """(k tile, since when its data were waited for), of those that were not there at once."""
    for before, event in pairwise(line):
        if event.kind == "full" and event.cycle - before.cycle >= AT_ONCE:
            yield event.number, before.cycle


def _within(bar: Bar, others: Sequence[Bar]) -> bool:
    return any(one.begin <= bar.begin < one.end for one in others)


def _clipped(bars: Iterable[Bar], begin: int, end: int) -> tuple[Bar, ...]:
    inside = ((bar, max(bar.begin, begin), min(bar.end, end)) for bar in bars)
    return longer_than_0(replace(bar, begin=a - begin, end=b - begin) for bar, a, b in inside)
