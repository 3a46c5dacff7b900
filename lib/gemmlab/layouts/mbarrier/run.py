"""Lets a Ring run: each actor does its steps, and the copy engine lands boxes.

`widgets/mbarrier.js` computes the same; tests hold the two equal.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import Any

from ...core.arguments import instance
from .events import Bar, Event, Run, lane_names
from .model import BETWEEN, BOX, ENGINE, ISSUE, READ, SLOWER, Mbarrier, Op, Ring
from .order import Order


class _State:
    """The model while it runs. `actor` is a number; that of the copy engine is the last."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.barriers = ring.barriers()
        self.programs = ring.programs()
        self.engine = len(ring.actors)
        self.events: list[Event] = []
        self.queue: list[tuple[int, int, int, int]] = []  # time, actor, and of a box: tile, number
        self.at = [0] * self.engine  # the next step of each actor
        self.reading: list[Op | None] = [None] * self.engine
        self.blocked: dict[int, tuple[Op, int]] = {}  # actor -> its wait, since when
        self.held = [[-1, -1] for _ in range(ring.stages)]  # of a stage: the tiles of A and of B
        self.flying: list[list[int]] = [[] for _ in range(ring.stages)]  # tiles on their way
        self.lanes: dict[str, list[Bar]] = {name: [] for name in lane_names(ring)}
        self.order = Order(self.engine)

    def add(self, time: int, actor: int, kind: str, op: Op, **more: Any) -> None:
        who = (*self.ring.actors, ENGINE)[actor]
        event = Event(time, who, kind, op.tile, op.stage, op.name, op.value)
        self.events.append(replace(event, **more))

    def change(self, time: int, actor: int, kind: str, op: Op, after: Mbarrier) -> None:
        """A barrier's new state; actors that wait for the phase it ends are released."""
        key = op.name, op.stage
        before = self.barriers[key]
        self.add(time, actor, kind, op, before=before, after=after)
        self.barriers[key] = after
        self.order.arrive(actor, key, after.phase > before.phase)
        for a, (wait, since) in sorted(self.blocked.items()):
            if (
                wait.kind == "wait"
                and (wait.name, wait.stage) == key
                and after.try_wait(wait.value)
            ):
                self.order.wait(a, key)
                self.release(a, time, since)

    def release(self, actor: int, time: int, since: int) -> None:
        wait, _ = self.blocked.pop(actor)
        self.lanes[self.ring.actors[actor]].append(Bar(wait.kind, wait.tile, since, time))
        self.next(actor, time)

    def next(self, actor: int, time: int) -> None:
        heapq.heappush(self.queue, (time, actor, 0, 0))


def run_ring(ring: Ring) -> Run:
    """Let the model of a ring run, and note each event: arrivals, waits, copies, ends of phases.

    ring: what is run. The answer has the events in the order of time, in cycles of the model, and
    `outcome`. Raises ArgumentError for anything but a Ring.
    """
    state = _State(instance("ring", ring, Ring, "a layouts.Ring"))
    state.events.append(Event(0, "thread 0", "init"))
    for actor in range(len(ring.actors)):
        state.next(actor, 0)
    now, goes_on = 0, True
    while state.queue and goes_on:
        now, actor, tile, box = heapq.heappop(state.queue)
        goes_on = (
            _land(state, now, tile, box) if actor == state.engine else _step(state, now, actor)
        )
    if goes_on and state.blocked:
        state.events.append(Event(now, "", "stuck", problem="deadlock"))
    return Run(ring, tuple(state.events), _closed(state, now), now)


def _land(state: _State, now: int, tile: int, box: int) -> bool:
    """A box has landed: complete_tx."""
    stage = tile % state.ring.stages
    state.held[stage][box] = tile
    if box == 1:
        state.flying[stage].remove(tile)
        lane = state.lanes[f"stage {stage}"]
        lane[-1] = replace(lane[-1], end=now)
        lane.append(Bar("full", tile, now, -1))
    op = Op("land", tile, stage, "full", box)
    state.change(now, state.engine, "land", op, state.barriers["full", stage].complete_tx(BOX))
    return True


def _step(state: _State, now: int, actor: int) -> bool:
    """The next step of an actor. False: nothing after it is defined."""
    if state.reading[actor]:
        state.order.end_read(actor)
        state.reading[actor] = None
    if state.at[actor] == len(state.programs[actor]):
        return True
    op = state.programs[actor][state.at[actor]]
    state.at[actor] += 1
    return _STEPS[op.kind](state, now, actor, op)


def _wait(state: _State, now: int, actor: int, op: Op) -> bool:
    blocks = not state.barriers[op.name, op.stage].try_wait(op.value)
    state.add(now, actor, "wait", op, blocks=blocks)
    if blocks:
        state.blocked[actor] = op, now
    else:
        state.order.wait(actor, (op.name, op.stage))
        state.next(actor, now)
    return True


def _arrive(state: _State, now: int, actor: int, op: Op) -> bool:
    barrier = state.barriers[op.name, op.stage]
    if barrier.pending == 0:
        state.add(now, actor, op.kind, op, problem="overrun")
        return False
    expects = op.kind == "expect"
    after = barrier.arrive_expect_tx(op.value) if expects else barrier.arrive()
    state.change(now, actor, op.kind, op, after)
    if expects:
        state.lanes[state.ring.actors[actor]].append(Bar("issue", op.tile, now, now + ISSUE))
    state.next(actor, now + ISSUE if expects else now)
    return True


def _copy(state: _State, now: int, actor: int, op: Op) -> bool:
    """Two boxes are on their way; who may still read an earlier tile there may lose it."""
    ring = state.ring
    victims = tuple(
        (ring.actors[a], tile, reads is not None and reads.stage == op.stage)
        for a, tile in state.order.unordered_reads(actor, op.stage)
        for reads in (state.reading[a],)
        if tile < op.tile
    )
    state.add(now, actor, "copy", op, victims=victims, problem="overwritten" if victims else "")
    for name, _, lasts in victims:
        if lasts:
            lane = state.lanes[name]
            lane[-1] = replace(lane[-1], state="bad")
    state.flying[op.stage].append(op.tile)
    lane = state.lanes[f"stage {op.stage}"]
    if lane:
        lane[-1] = replace(lane[-1], end=now)
    lane.append(Bar("flight", op.tile, now, -1))
    for box in (0, 1):
        arrival = now + ring.latency + box * BETWEEN
        heapq.heappush(state.queue, (arrival, state.engine, op.tile, box))
    state.next(actor, now)
    return True


def _read(state: _State, now: int, actor: int, op: Op) -> bool:
    held, flying = tuple(state.held[op.stage]), tuple(state.flying[op.stage])
    if max(*held, *flying) > op.tile:
        problem = "overwritten"
    else:
        problem = "" if held == (op.tile, op.tile) else "stale"
    state.add(now, actor, "read", op, held=held, flying=flying, problem=problem)
    state.reading[actor] = op
    state.order.begin_read(actor, op.stage, op.tile)
    name = state.ring.actors[actor]
    end = now + READ + SLOWER * (actor + state.ring.consumers - state.engine)
    state.lanes[name].append(Bar("bad" if problem else "read", op.tile, now, end))
    state.next(actor, end)
    return True


def _sync(state: _State, now: int, actor: int, op: Op) -> bool:
    there = 1 + sum(wait.kind == "sync" for wait, _ in state.blocked.values())
    last = there == state.ring.consumers
    state.add(now, actor, "sync", replace(op, value=there), blocks=not last)
    state.next(actor, now) if last else state.blocked.update({actor: (op, now)})
    if last:
        state.order.meet()
        for a, (wait, since) in sorted(state.blocked.items()):
            if wait.kind == "sync":
                state.release(a, now, since)
    return True


_STEPS = {
    "wait": _wait,
    "arrive": _arrive,
    "expect": _arrive,
    "copy": _copy,
    "read": _read,
    "sync": _sync,
}


def _closed(state: _State, total: int) -> tuple[tuple[str, tuple[Bar, ...]], ...]:
    """The lanes, with what is not over at the end cut off there."""
    for actor, (wait, since) in state.blocked.items():
        state.lanes[state.ring.actors[actor]].append(Bar(wait.kind, wait.tile, since, total))
    return tuple(
        (name, tuple(replace(b, end=total if b.end < 0 else min(b.end, total)) for b in bars))
        for name, bars in state.lanes.items()
    )
