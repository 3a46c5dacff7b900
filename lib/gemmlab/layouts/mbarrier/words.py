"""A run of a Ring in words: each event, and how it ends.

`widgets/model/mbarrier/words.js` says the same; tests hold the two equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from .events import Event, Run
from .model import BETWEEN, BOX, Mbarrier

_HEADS = {
    "stale": "Stale read",
    "overwritten": "Overwritten",
    "overrun": "Overrun",
    "deadlock": "Deadlock",
}


def tell(run: Run, index: int) -> str:
    """What an event is, and what it does to its barrier."""
    return _TELL[run.events[index].kind](run, index, run.events[index])


def outcome(run: Run) -> str:
    """How the run ends: what goes wrong first, and whether any thread can continue.

    run: what `run_ring` gave.
    """
    reads = sum(event.kind == "read" for event in run.events)
    if not run.problems:
        if run.ring.mistake != "none":
            return "The mistake does not show in this run: every read finds its tile."
        return f"Every read finds its tile: {reads} reads, done at {run.total:,}."
    first, last = run.events[run.problems[0]], run.events[run.problems[-1]]
    rest = sum(run.events[i].problem in ("stale", "overwritten") for i in run.problems[1:])
    text = f"{_HEADS[first.problem]} at {first.time:,}: {_brief(run, first)}."
    if rest:
        text += f" It is the first of {rest + 1} reads and copies that go wrong."
    if last is not first and last.problem in ("deadlock", "overrun"):
        text += f" {_HEADS[last.problem]} at {last.time:,}: {_brief(run, last)}."
    return text


def _brief(run: Run, event: Event) -> str:
    if event.problem == "deadlock":
        return _deadlock(run)
    if event.kind == "copy":
        name, tile, _ = event.victims[0]
        text = f"the copy of tile {event.tile} begins, though {name} need not yet have read tile"
        return f"{text} {tile} in stage {event.stage}"
    if event.kind == "read":
        place = f"stage {event.stage} for tile {event.tile}"
        return f"{event.actor} reads {place}, and finds {_held(event)}"
    barrier = run.states[-1][event.name, event.stage]
    return (
        f"{_the(event.actor)} arrives at {_at(event)} for tile {event.tile}, but phase "
        f"{barrier.phase} has had its {_many(barrier.count, 'arrival')}"
    )


def _deadlock(run: Run) -> str:
    """What each blocked actor waits for at the end."""
    groups: dict[tuple[str, str, int], list[Event]] = {}
    for event in run.waiting(len(run.events) - 1):
        groups.setdefault((event.kind, event.name, event.stage), []).append(event)
    return "; ".join(_stuck(run, group) for group in groups.values())


def _stuck(run: Run, group: list[Event]) -> str:
    event, who = group[0], _everyone([e.actor for e in group])
    verb = "waits" if len(group) == 1 else "wait"
    if event.kind == "sync":
        return f"{who} {verb} in __syncthreads() for the other warps"
    barrier = run.states[-1][event.name, event.stage]
    return (
        f"{who} {verb} for parity {event.value} at {_at(event)}, whose phase {barrier.phase} lacks "
        f"{_lacks(barrier)}"
    )


def _init(run: Run, index: int, event: Event) -> str:
    counts = run.ring.counts
    empty = f", each empty[s] for {counts['empty']}" if "empty" in counts else ""
    return (
        f"Thread 0 has initialized the barriers: each full[s] for "
        f"{_many(counts['full'], 'arrival')} a phase{empty}. All are in phase 0, of parity 0."
    )


def _wait(run: Run, index: int, event: Event) -> str:
    barrier = run.states[index][event.name, event.stage]
    text = f"{_start(event.actor)} waits for parity {event.value} at {_at(event)}"
    if event.blocks:
        phase = f"which is in phase {barrier.phase}, of that parity"
        return f"{text}, {phase}, and waits. The phase lacks {_lacks(barrier)}."
    if barrier.phase == 0:
        return (
            f"{text}, which is in phase 0, of parity 0. The hardware treats the "
            "phase before as complete, so the wait returns at once."
        )
    return (
        f"{text}. Phase {barrier.phase - 1} is over, the barrier is in phase {barrier.phase}, of "
        f"parity {barrier.parity}: the wait returns at once."
    )


def _expect(run: Run, index: int, event: Event) -> str:
    if event.problem:
        return _overrun(run, index, event)
    before, _ = event.change
    return (
        f"{_start(event.actor)} arrives at {_at(event)} and expects {event.value:,} bytes, for "
        f"tile {event.tile}: tx {before.tx:,} → {before.tx + event.value:,}, {_fewer(before)}. "
        f"{_result(run, index, event)}"
    )


def _land(run: Run, index: int, event: Event) -> str:
    (before, _), box = event.change, "AB"[event.value]
    return (
        f"complete_tx of {BOX:,} bytes at {_at(event)}: box {box} of tile {event.tile} has landed "
        f"in stage {event.stage}, tx {before.tx:,} → {before.tx - BOX:,}. "
        f"{_result(run, index, event)}"
    )


def _arrive(run: Run, index: int, event: Event) -> str:
    if event.problem:
        return _overrun(run, index, event)
    return (
        f"{_start(event.actor)} arrives at {_at(event)}: it has read tile {event.tile}, "
        f"which may now be overwritten. {_start(_fewer(event.change[0]))}. "
        f"{_result(run, index, event)}"
    )


def _overrun(run: Run, index: int, event: Event) -> str:
    barrier = run.states[index][event.name, event.stage]
    return (
        f"{_start(event.actor)} arrives at {_at(event)} for tile {event.tile}, but phase "
        f"{barrier.phase} has had its {_many(barrier.count, 'arrival')} and lacks only "
        f"{_lacks(barrier)}. The phase cannot take another arrival; the model stops."
    )


def _result(run: Run, index: int, event: Event) -> str:
    """Whether the operation ends the phase, and who goes on."""
    before, after = event.change
    if after.phase == before.phase:
        return f"Phase {after.phase} lacks {_lacks(after)}."
    waited = [e for e in run.waiting(index - 1) if (e.name, e.stage) == (event.name, event.stage)]
    still = {e.actor for e in run.waiting(index)}
    gone = [e for e in waited if e.actor not in still]
    text = f"Pending is 0 and tx is 0: phase {before.phase} is over, and the parity is "
    text += f"{after.parity} now"
    if gone:
        verb = "goes" if len(gone) == 1 else "go"
        who = _everyone([e.actor for e in gone])
        return f"{text}; {who}, waiting for parity {gone[0].value}, {verb} on."
    return f"{text}."


def _copy(run: Run, index: int, event: Event) -> str:
    lands = event.time + run.ring.latency
    text = (
        f"{_start(event.actor)} has started the copies of tile {event.tile} into stage "
        f"{event.stage}: box A lands at {lands:,}, box B at {lands + BETWEEN:,}."
    )
    groups: dict[tuple[int, bool], list[str]] = {}
    for name, tile, lasts in event.victims:
        groups.setdefault((tile, lasts), []).append(name)
    for (tile, lasts), names in groups.items():
        who, s = _start(_everyone(names)), "s" if len(names) == 1 else ""
        if lasts:
            text += f" {who} still read{s} tile {tile} there, and may get either."
        else:
            text += (
                f" {who} ha{s or 've'} read tile {tile} there, but nothing orders that before it:"
            )
            text += " only the times do."
    return text


def _read(run: Run, index: int, event: Event) -> str:
    where = f"{_start(event.actor)} reads stage {event.stage}"
    if not event.problem:
        return f"{where}: tile {event.tile}, both boxes have landed."
    return f"{where}, where tile {event.tile} should be, and finds {_held(event)}."


def _sync(run: Run, index: int, event: Event) -> str:
    of = f"{event.value} of {run.ring.consumers} warps"
    text = f"{_start(event.actor)} comes to __syncthreads()"
    if event.blocks:
        return f"{text}, {of}, and waits for the others."
    free = f" Tile {event.tile - 1} has been read by all: its stage is free." if event.tile else ""
    return f"{text}, {of}: all go on.{free}"


def _held(event: Event) -> str:
    """What a stage holds that a warp reads."""
    a, b = event.held
    parts = ("nothing of A yet" if a < 0 else f"A of tile {a}", f"B of tile {b}")
    if b < 0:
        parts = (parts[0], "nothing of B yet")
    text = f"tile {a}" if a == b else " and ".join(parts)
    text = "nothing yet" if a == b == -1 else text
    if event.flying:
        text += f", with tile {event.flying[-1]} on its way"
    return text


def _lacks(barrier: Mbarrier) -> str:
    """What a phase waits for."""
    parts = [_many(barrier.pending, "arrival")] if barrier.pending else []
    if barrier.tx > 0:
        parts.append(f"{barrier.tx:,} bytes")
    if barrier.tx < 0:
        parts.append(f"someone who expects {-barrier.tx:,} bytes that have come")
    return " and ".join(parts)


def _fewer(barrier: Mbarrier) -> str:
    return f"pending {barrier.pending} → {barrier.pending - 1}"


def _at(event: Event) -> str:
    return f"{event.name}[{event.stage}]"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _the(actor: str) -> str:
    return "the producer" if actor == "producer" else actor


def _start(text: str) -> str:
    text = _the(text)
    return text[0].upper() + text[1:]


def _everyone(actors: Sequence[str]) -> str:
    """ "the producer", "warp 1", "warps 0 and 1", "warps 0, 1 and 2"."""
    if len(actors) == 1:
        return _the(actors[0])
    numbers = [actor.split()[1] for actor in actors]
    return f"warps {', '.join(numbers[:-1])} and {numbers[-1]}"


def _end(run: Run, index: int, event: Event) -> str:
    return f"Nobody can go on: {_deadlock(run)}."


_TELL = {
    "init": _init,
    "wait": _wait,
    "expect": _expect,
    "land": _land,
    "arrive": _arrive,
    "copy": _copy,
    "read": _read,
    "sync": _sync,
    "stuck": _end,
}
