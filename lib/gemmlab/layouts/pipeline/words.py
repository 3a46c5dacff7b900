"""A run of the pipeline model in words: the whole, and one moment of it.

`widgets/model/pipeline/words.js` says the same; tests hold the two equal.
"""

from __future__ import annotations

from .model import PIPES, SCHEMES, Bar, Pipeline


def describe(run: Pipeline, tensor: bool = False) -> str:
    """The whole run: how long it takes, how busy and how idle the FMA pipe is, and what paces.

    tensor: whether tensor cores multiply, and not the FMA pipe.
    """
    works = "tensor cores are" if tensor else "FMA pipe is"
    stages = f", {run.stages} stages" if run.scheme == "async" else ""
    many = "1 block" if run.blocks == 1 else f"{run.blocks} blocks"
    name = SCHEMES[run.scheme]
    name = name if run.scheme == "async" else name.capitalize()
    first = run.pipe[0].end if run.pipe[0].state == "idle" else 0
    between = run.total - run.busy - first
    gaps = f": idle for {first:,} cycles before the first products and for {between:,} between them"
    return (
        f"{name}{stages}, {many} on the SM: {run.blocks * run.tiles} tiles take {run.total:,} "
        f"cycles of the model, {run.per_tile:,} a tile, of which the products need "
        f"{run.products:,}. The {works} busy {run.percent} % of the time{gaps}. "
        f"{_pace(run, tensor)}"
    )


def _pace(run: Pipeline, tensor: bool) -> str:
    """What the largest of the three rounds is made of."""
    rounds, issue = run.rounds(), f"issue {run.issue:,}"
    if run.pace != "steps":
        many = f"{run.blocks} tiles, one from each block, keep"
        who = "a tile keeps" if run.blocks == 1 else many
        cores = tensor and run.pace == "pipe"
        unit = "copy path" if run.pace == "path" else PIPES[tensor]
        paces, it = ("pace", "them") if cores else ("paces", "it")
        return f"The {unit} {paces}: {who} {it} busy for {rounds[run.pace]:,} cycles."
    latency, products = f"latency {run.latency:,}", f"products {run.products:,}"
    about = "" if float(rounds["steps"]).is_integer() else "about "
    each = "a tile" if run.blocks == 1 else "for a tile of each block, if no block waits for others"
    total = f"= {about}{int(rounds['steps'] + 0.5):,} cycles {each}"
    if run.scheme == "single":
        parts = f"{issue} + {latency} + store {run.issue:,} + {products} {total}"
        return f"The steps of a block pace, one after the other: {parts}."
    if run.scheme == "double":
        hidden = run.latency <= run.products
        inner = f"{products}, which hide the latency," if hidden else f"{latency} (> {products})"
        return f"The steps of a block pace: {issue} + {inner} + store {run.issue:,} {total}."
    if rounds["steps"] == run.issue + run.products:
        return f"The steps of a block pace: {issue} + {products} {total}; copies arrive meanwhile."
    ahead = run.stages - 1
    spread = "" if ahead == 1 else f", spread over the {ahead} tiles that are under way,"
    return f"The copies pace: {issue} + {latency}{spread} {total}."


def moment(run: Pipeline, time: int, block: int = 0, tensor: bool = False) -> list[tuple[str, str]]:
    """(lane, what it does) at a time from 0 to total - 1, in the order of `run.lanes(block)`."""
    said = []
    for name, bars in run.lanes(block, tensor):
        now = next((bar for bar in bars if bar.begin <= time < bar.end), None)
        kind, _, number = name.partition(" ")
        if name in (*PIPES, "copy path"):
            said.append((name, _unit(run, now)))
        elif kind == "block":
            said.append((name, _actor(run, now)))
        elif name == "registers":
            said.append((name, _registers(now)))
        else:
            said.append((name, _buffer(run, now, int(number))))
    return said


def _unit(run: Pipeline, now: Bar | None) -> str:
    if now is None:
        return "idle"
    if now.state == "idle":
        return f"idle from {now.begin:,} to {now.end:,}"
    what = {"products": "products", "issue": "issue of the copy", "store": "store"}[now.state]
    whose = f", block {now.block}" if run.blocks > 1 else ""
    return f"{what} of tile {now.tile}{whose}, until {now.end:,}"


def _actor(run: Pipeline, now: Bar | None) -> str:
    if now is None:
        return "done"
    if now.state == "wait":
        return f"waits for the copy of tile {now.tile} until {now.end:,}"
    if now.state == "queue":
        return f"waits for its turn, with tile {now.tile}, until {now.end:,}"
    into = f" in buffer {now.tile % run.buffers}" if now.state == "store" else ""
    verb = {"products": "multiplies", "issue": "issues the copy of", "store": "stores"}[now.state]
    return f"{verb} tile {now.tile}{into}, until {now.end:,}"


def _registers(now: Bar | None) -> str:
    if now is None:
        return "nothing"
    return (
        f"tile {now.tile}, "
        + {
            "flight": f"on its way until {now.end:,}",
            "arrived": f"arrived at {now.begin:,}, not yet stored",
            "store": f"being stored until {now.end:,}",
        }[now.state]
    )


def _buffer(run: Pipeline, now: Bar | None, number: int) -> str:
    if now is None:
        return "nothing yet"
    n = run.buffers
    why = f" ({now.tile} mod {n} = {number}, phase {now.tile // n % 2})" if n > 1 else ""
    return (
        f"tile {now.tile}{why}, "
        + {
            "flight": f"on its way until {now.end:,}",
            "store": f"being stored until {now.end:,}",
            "full": f"complete, read from {now.end:,} on",
            "read": f"being read until {now.end:,}",
            "old": "read, may be overwritten",
        }[now.state]
    )
