"""A run of the warpgroups' model, or a recorded trace, in words: the whole, and one moment of it.

`widgets/model/warpgroups/words.js` says the same; tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .model import SCHEDULES, Bar, Shared
from .trace import WarpgroupTrace

_HELD = {
    "flight": "on its way until {}",
    "full": "there, read from {} on",
    "read": "read until {}",
    "old": "may be overwritten",
}


def describe(run: Shared) -> str:
    """The whole run: how long it takes, and when the tensor cores have nothing to do."""
    name = SCHEDULES[run.schedule]
    many = f"{run.tiles} tile{'s' * (run.tiles != 1)} of {run.depth} k tile{'s' * (run.depth != 1)}"
    if run.schedule == "ping-pong":
        many += " for each consumer"
    first, between, last = run.gaps()
    return (
        f"{name[0].upper()}{name[1:]}: {many} take {run.total:,} cycles of the model. The tensor "
        f"cores work for {run.busy:,} of them, {run.percent} %, and are idle for {first:,} before "
        f"the first products, {between:,} between products, and {last:,} after the last."
    )


def describe_trace(trace: WarpgroupTrace) -> str:
    """The part of a trace that counts: how busy the tensor cores are, and their longest gap."""
    cycles, idle = trace.end - trace.begin, trace.idle()
    tiles = sum(trace.begin <= trace.begin_of(tile) < trace.end for tile in trace.tiles)
    said = (
        f"In {cycles:,} cycles of {tiles} tiles of {trace.depth} k tiles, products are under way "
        f"for {trace.percent:.1f} % of the time"
    )
    if not idle:
        return f"{said}, without a gap."
    longest = max(idle, key=lambda bar: bar.end - bar.begin)
    return (
        f"{said}. The longest gap has {longest.end - longest.begin:,} cycles: most of it, "
        f"{_cause(*trace.cause(longest), trace.depth)}."
    )


def _cause(consumer: int, bar: Bar | None, depth: int) -> str:
    """What the consumer does that ends a gap."""
    who = f"consumer {consumer}"
    if bar is None:
        return f"{who} does what no event tells"
    return {
        "data": f"{who} waits for the data of {_k_tile(bar.tile, depth)}",
        "turn": f"{who} waits for its turn",
        "pack": f"{who} packs the sums of tile {bar.tile}",
        "store": f"{who} stores tile {bar.tile}",
    }[bar.state]


def moment(run: Shared, time: int) -> list[tuple[str, str]]:
    """(lane, what it does) at a time from 0 to total - 1, in the order of `run.lanes()`."""
    return moment_of(run.lanes(), time, run.depth)


def moment_of(
    lanes: Iterable[tuple[str, Sequence[Bar]]], time: int, depth: int
) -> list[tuple[str, str]]:
    """The same of any lanes; depth: k tiles of a tile of C."""
    said = []
    for name, bars in lanes:
        now = next((bar for bar in bars if bar.begin <= time < bar.end), None)
        said.append((name, _lane(name, now, depth)))
    return said


def _k_tile(tile: int, depth: int) -> str:
    """A k tile by its number within its tile of C."""
    return f"k tile {tile % depth} of tile {tile // depth}"


def _lane(name: str, now: Bar | None, depth: int) -> str:
    kind = name.split(" ")[0]
    if kind == "stage":
        if now is None:
            return "nothing yet"
        return f"{_k_tile(now.tile, depth)}, {_HELD[now.state].format(f'{now.end:,}')}"
    if now is None:
        return {"tensor": "idle", "C": "nothing leaves"}.get(kind, "done")
    if kind == "tensor":
        return _cores(now, depth)
    if kind == "C":
        return f"tile {now.tile} leaves, until {now.end:,}"
    return _actor(kind, now, depth)


def _cores(now: Bar, depth: int) -> str:
    if now.state == "idle":
        return f"idle from {now.begin:,} to {now.end:,}"
    if now.state == "both":
        return f"products of both consumers, until {now.end:,}"
    who = 1 if now.state == "second" else 0
    return f"{_k_tile(now.tile, depth)}, consumer {who}, until {now.end:,}"


def _actor(kind: str, now: Bar, depth: int) -> str:
    """The asking thread, or a consumer."""
    end = f"until {now.end:,}"
    if now.state == "issue":
        return f"asks for {_k_tile(now.tile, depth)}, {end}"
    if now.state == "wait":
        if now.tile < 0:
            return f"waits for its store, {end}"
        if kind == "consumer":
            return f"waits {end}"
        return f"waits with {_k_tile(now.tile, depth)}, {end}"
    if now.state == "data":
        return f"waits for the data of {_k_tile(now.tile, depth)}, {end}"
    if now.state == "none":
        return f"has no products under way, {end}"
    if now.state == "turn":
        return f"waits for its turn, {end}"
    if now.state == "pack":
        return f"packs the sums of tile {now.tile}, {end}"
    if now.state == "store":
        return f"stores tile {now.tile}, {end}"
    return f"its products of {_k_tile(now.tile, depth)} run, {end}"
