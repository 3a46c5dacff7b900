"""What a run of a Ring is made of: events, barriers after each of them, lanes, and the outcome.

`widgets/model/mbarrier/model.js` computes the same; tests hold the two equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .model import BETWEEN, ISSUE, READ, SLOWER, Mbarrier, Ring

MODEL = (
    "Times are those of a model, not cycles of a GPU.",
    f"Starting the two copies of a tile takes {ISSUE}; box A has landed one latency later, box B "
    f"{BETWEEN} after it, however many copies are on their way.",
    f"The first warp reads and multiplies a tile in {READ}, each further one in {SLOWER} more.",
    "Waits, arrivals and fences take no time; a waiting thread sees the end of a phase at once.",
    "At equal times the threads come first, in the order of the lanes, then the copy engine.",
    "From the start of a copy until its boxes have landed its stage may hold anything.",
    "A warp that reads something wrong goes on. The run ends when all have done their work, when "
    "no actor can go on, or when a phase gets one arrival too many.",
)


@dataclass(frozen=True)
class Event:
    """Something that happens at a time. kind: init, wait, expect, copy, land, read, arrive, sync,
    or stuck at the end.

    value: parity of a wait, bytes of an expect, box of a landing (0: A), warps at a sync.
    before, after: of the barrier (name, stage), None if it is not touched. blocks: a wait that is
    not over. problem: "stale", "overwritten", "overrun" or "deadlock", else "". held: of a read,
    the tiles whose A and B the stage holds (-1: none); flying: tiles on their way to it.
    victims: of a copy, whose reading of an earlier tile there nothing orders before it: name, tile,
    and whether it still lasts.
    """

    time: int
    actor: str
    kind: str
    tile: int = -1
    stage: int = -1
    name: str = ""
    value: int = 0
    before: Mbarrier | None = None
    after: Mbarrier | None = None
    blocks: bool = False
    problem: str = ""
    held: tuple[int, int] = (-1, -1)
    flying: tuple[int, ...] = ()
    victims: tuple[tuple[str, int, bool], ...] = ()

    @property
    def change(self) -> tuple[Mbarrier, Mbarrier]:
        """The barrier before and after, of an event that touches one."""
        assert self.before is not None and self.after is not None
        return self.before, self.after


@dataclass(frozen=True)
class Bar:
    """A part of a lane: issue, read or bad (a read), wait, sync; flight or full (of a stage)."""

    state: str
    tile: int
    begin: int
    end: int


def lane_names(ring: Ring) -> list[str]:
    """The lanes of the picture from top to bottom."""
    stages = [f"stage {s}" for s in range(ring.stages)]
    first = len(ring.actors) - ring.consumers  # 1 with a producer
    return [*ring.actors[:first], *stages, *ring.actors[first:]]


@dataclass(frozen=True)
class Run:
    """What the model did: `events` in their order, and the bars of each lane."""

    ring: Ring
    events: tuple[Event, ...]
    lanes: tuple[tuple[str, tuple[Bar, ...]], ...]
    total: int

    @cached_property
    def states(self) -> list[dict[tuple[str, int], Mbarrier]]:
        """All barriers after each event."""
        found, now = [], self.ring.barriers()
        for event in self.events:
            if event.after is not None:
                now = {**now, (event.name, event.stage): event.after}
            found.append(now)
        return found

    def waiting(self, index: int) -> list[Event]:
        """The waits that are not over after an event, one of each actor at most, in their order."""
        last = {event.actor: event for event in self.events[: index + 1]}
        state, found = self.states[index], []
        for actor in self.ring.actors:
            event = last.get(actor)
            if event is None or not event.blocks:
                continue
            if event.kind == "sync":
                over = self._synced(index, event.tile)
            else:
                over = state[event.name, event.stage].try_wait(event.value)
            if not over:
                found.append(event)
        return found

    def _synced(self, index: int, tile: int) -> bool:
        there = [e for e in self.events[: index + 1] if e.kind == "sync" and e.tile == tile]
        return not there[-1].blocks

    @property
    def problems(self) -> list[int]:
        """The events at which something goes wrong."""
        return [i for i, event in enumerate(self.events) if event.problem]

    @property
    def outcome(self) -> str:
        """How the run ends: "ok", or what goes wrong first."""
        return self.events[self.problems[0]].problem if self.problems else "ok"

    @property
    def lesson(self) -> int:
        """The event to look at first: what goes wrong, else the end of the first phase."""
        if self.problems:
            return self.problems[0]
        ends = (bool(e.before and e.after and e.after.phase > e.before.phase) for e in self.events)
        return list(ends).index(True)
