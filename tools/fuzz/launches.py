"""Random launches of all steps: each is right, writes nothing outside of C, and comes to its end.

    python -m tools.fuzz.launches COUNT [--only STEP ...] [--device cuda] [--output FOLDER]

shares COUNT launches out evenly among the steps in all their precisions and configurations, and
compares each with the reference in double precision of lab.check, by its tolerance. On the
simulator every launch is traced, too: races, accesses outside of a matrix, waits without end. With
--output the counts, and every launch that went wrong, are written into a folder, where steps that
--only leaves out keep what was recorded of them. A launch depends on the seed, its subject and its
number alone; --verbose prints it (and flushes) before it runs.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gemmlab.check.plan import Run
from gemmlab.check.report import Case
from gemmlab.check.runner import STOPPED, Runner
from gemmlab.core.errors import GemmlabError
from gemmlab.core.files import json_text, load_json, write_whole
from gemmlab.gpu import build, requirements, telemetry
from gemmlab.gpu.sandbox import context_watch
from gemmlab.measurements.store import slug
from gemmlab.run.kernel import Kernel, kernel
from gemmlab.sim.module import SimModule
from gemmlab.steps import registry

from .. import command
from .draw import Subject, draw

SCHEMA = 1
# How a launch may end. A configuration may refuse a shape; a finding is a race or the like.
RIGHT, REFUSED = "right", "refused"
WRONG, OUTSIDE, HANG, FINDING = BAD = ("wrong", "outside", "hang", "finding")
ENDS = (RIGHT, *BAD, REFUSED)
_HANGS = ("deadlock", "endless-loop", "cancelled")
_DRAWN = 4  # times as many as asked for, at most, where some are refused
_ON_A_GPU = 4  # processes: their launches take turns there, and each waits for its own
_SHOWN = 20  # launches that went wrong, of a subject


@dataclass
class Outcome:
    """What became of the launches of a subject.

    ends: how many ended how. error: the largest of the finite ones, as a share of what is allowed.
    problems: launches that went wrong, in words. stopped: why not all were made; "" if they were.
    layouts: in how many A and B lay how.
    """

    kernel: str
    precision: str
    ends: Counter[str] = field(default_factory=Counter)
    error: float = 0.0
    problems: list[str] = field(default_factory=list)
    stopped: str = ""
    layouts: Counter[str] = field(default_factory=Counter)

    @property
    def launches(self) -> int:
        """Those that ran, or should have."""
        return self.ends.total() - self.ends[REFUSED]

    @property
    def ok(self) -> bool:
        """Whether all were made, and nothing was wrong."""
        return not self.problems and not self.stopped

    def to_dict(self) -> dict[str, Any]:
        """As it is recorded."""
        ends = {how: self.ends[how] for how in ENDS}
        head = {"kernel": self.kernel, "precision": self.precision, "launches": self.launches}
        layouts = {"layouts": dict(sorted(self.layouts.items()))} if len(self.layouts) > 1 else {}
        tail = {"stopped": self.stopped} if self.stopped else {}
        said = {"largest_error": self.error, "problems": self.problems}
        return head | ends | layouts | said | tail


def subjects(only: Sequence[str] = (), device: str = "cpu") -> list[Subject]:
    """All steps in all of their precisions, or those of some; what takes longest comes first.

    On a GPU without those that it cannot run, which is said.
    """
    specs = [registry.get(name) for name in only] or list(registry.KERNELS)
    if device == "cuda":
        lacks = {spec.name: requirements.lacking(registry.program(spec)) for spec in specs}
        for why in filter(None, lacks.values()):
            print(f"Left out: {why}")
        specs = [spec for spec in specs if not lacks[spec.name]]
    specs.sort(key=lambda spec: len(spec.configs), reverse=True)
    return [Subject(spec, precision) for spec in specs for precision in spec.precisions]


def launch(
    handle: Kernel, run: Run, device: str, modules: dict[tuple[str, str], SimModule]
) -> tuple[str, Case | None, str]:
    """How one launch ended, its case unless it was refused, and what was wrong in words.

    modules: what the simulator has compiled of this handle; it is added to.
    """
    backend = "gpu" if device == "cuda" else "sim"
    runner = Runner(handle, device, backend, allow_slow=True, modules=modules)
    runner.run([run])
    if runner.refused:
        return REFUSED, None, ""
    (case,) = runner.cases
    said = "; ".join([case.problem, *map(str, runner.findings)]).removeprefix("; ")
    kinds = {found.kind for found in runner.findings}
    if kinds & set(_HANGS):
        return HANG, case, said
    if "out-of-bounds" in kinds or "outside" in case.problem:
        return OUTSIDE, case, said
    if case.problem and case.problem != STOPPED:
        return WRONG, case, said
    return (FINDING if kinds or case.problem else RIGHT), case, said


def fuzz(subject: Subject, launches: int, seed: int, device: str, verbose: bool = False) -> Outcome:
    """So many launches of a subject, besides those that are refused."""
    outcome = Outcome(subject.spec.name, subject.precision)
    try:
        with context_watch():
            _launches(outcome, subject, launches, seed, device, verbose)
    except GemmlabError as error:  # it does not compile, or the GPU cannot be used any more
        outcome.stopped = str(error)
    return outcome


def _launches(
    outcome: Outcome, subject: Subject, launches: int, seed: int, device: str, verbose: bool
) -> None:
    handle = kernel(subject.spec)
    modules: dict[tuple[str, str], SimModule] = {}
    for number in range(_DRAWN * launches):
        if outcome.launches == launches:
            return
        run = draw(subject, seed, number, device)
        if verbose:
            print(subject, number, run, flush=True)
        how, case, said = launch(handle, run, device, modules)
        outcome.ends[how] += 1
        if how != REFUSED:
            outcome.layouts[run.layout] += 1
        if case and math.isfinite(case.error):
            outcome.error = max(outcome.error, case.error)
        if how in BAD and len(outcome.problems) < _SHOWN:
            outcome.problems.append(f"number {number}, {how}: {run}: {said}")
    if outcome.launches < launches:
        outcome.stopped = f"{outcome.ends[REFUSED]} of {outcome.ends.total()} launches were refused"


def build_all(chosen: Sequence[Subject]) -> None:
    """Build them for the GPU with all processors; what fails says so when it is launched."""

    def one(each: tuple[Subject, str]) -> None:
        subject, layout = each
        with suppress(GemmlabError):
            build.load(registry.program(subject.spec), subject.precision, layout)

    builds = [(subject, layout) for subject in chosen for layout in subject.spec.layouts]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as several:
        list(several.map(one, builds))


def fuzz_all(chosen: Sequence[Subject], given: argparse.Namespace) -> list[Outcome]:
    """The subjects, several at a time, in processes of their own: a launch may do anything.

    given: the options of the command line.
    """
    end = time.monotonic() + given.seconds
    if given.device == "cuda":
        build_all(chosen)
    each, more = divmod(given.count, len(chosen))
    how = (given.seed, given.device, given.verbose)
    processes = given.processes or _processes(given.device)
    tasks = [(one, each + (i < more), *how) for i, one in enumerate(chosen)]
    done: dict[tuple[str, str], Outcome] = {}
    # spawn: torch's CUDA does not survive a fork.
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for outcome in _until(pool.imap_unordered(_fuzz, tasks), end):
            done[outcome.kernel, outcome.precision] = outcome
            print(_said(outcome), flush=True)
        if len(done) == len(tasks):  # else the pool ends its processes, whatever they are at
            pool.close()
            pool.join()
    never = f"not finished within {given.seconds:g} s"
    return [
        done.get(key) or Outcome(*key, stopped=never)
        for key in ((one.spec.name, one.precision) for one in chosen)
    ]


def record(
    outcomes: Sequence[Outcome], seed: int, device: str, seconds: float, folder: Path
) -> Path:
    """Write the counts into a folder, as <gpu>_seed<number>.json or simulator.json.

    Subjects that were not launched now keep the rows that they have there. Each row says when its
    launches were made, of which commit and from which seed.
    """
    if device == "cuda":
        made = telemetry.environment()
    else:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        made = {"date": now, "commit": telemetry.commit(), "machine": platform.machine()}
    name = f"{slug(made['gpu'])}_seed{seed}" if device == "cuda" else "simulator"
    path = folder / f"{name}.json"
    origin = {"date": made["date"], "commit": made["commit"], "seed": seed}
    rows = _kept(path) | {(o.kernel, o.precision): o.to_dict() | origin for o in outcomes}
    sums = {how: sum(row[how] for row in rows.values()) for how in ("launches", *ENDS)}
    head = {"schema": SCHEMA, "environment": made, "seconds": round(seconds), "seed": seed}
    listed = [rows[key] for key in sorted(rows, key=_place)]
    return write_whole(path, json_text({**head, **sums, "kernels": listed}))


def _kept(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows that a recording has, if there is one, of steps in precisions that there are."""
    if not path.exists():
        return {}
    there = {(one.spec.name, one.precision) for one in subjects()}
    data = load_json(path, "`make fuzz` records it")
    made = {key: data["environment"][key] for key in ("date", "commit")}
    origin = {**made, "seed": data["seed"]}  # where the row does not say
    rows = {(row["kernel"], row["precision"]): origin | row for row in data["kernels"]}
    return {key: row for key, row in rows.items() if key in there}


def _processes(device: str) -> int:
    return _ON_A_GPU if device == "cuda" else len(os.sched_getaffinity(0))


def _fuzz(task: tuple[Subject, int, int, str, bool]) -> Outcome:
    import torch

    torch.set_num_threads(1)  # each process has one processor, about
    return fuzz(*task)


def _until(outcomes: Any, end: float) -> Iterator[Outcome]:
    """Those that come until then: what ends a process, or holds it, gives none."""
    while True:
        try:
            yield outcomes.next(max(0.0, end - time.monotonic()))
        except (StopIteration, multiprocessing.TimeoutError):
            return


def _said(outcome: Outcome) -> str:
    ends = ", ".join(f"{n} {how}" for how, n in outcome.ends.most_common())
    lines = [f"{outcome.kernel} {outcome.precision}: {ends or 'none'}", *outcome.problems]
    return "\n  ".join([*lines, *filter(None, [outcome.stopped])])


def _place(key: tuple[str, str]) -> tuple[int, str]:
    return registry.names().index(key[0]), key[1]


def main() -> int:
    """The command line: 1 if anything was wrong, or not all launches were made."""
    parser = command.parser("fuzz.launches", __doc__)
    parser.add_argument("count", type=int, help="launches of all steps together")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cpu: simulator")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=(), nargs="+", metavar="STEP", help="these steps")
    parser.add_argument("--output", type=Path, help="a folder to write the counts into")
    parser.add_argument("--processes", type=int, help="default: one a processor; on a GPU 4")
    parser.add_argument("--seconds", type=float, default=4 * 3600, help="give up after so many")
    parser.add_argument("--verbose", action="store_true", help="print each launch before it runs")
    given = parser.parse_args()
    if given.device == "cuda":
        command.require_gpu()
    os.environ["GEMMLAB_PROGRESS"] = "0"
    os.environ["GEMMLAB_TUNING"] = "0"  # a step chooses by itself, on every machine alike
    start = time.monotonic()
    outcomes = fuzz_all(subjects(given.only, given.device), given)
    seconds = time.monotonic() - start
    ends = sum((outcome.ends for outcome in outcomes), Counter[str]())
    print(f"{ends.total() - ends[REFUSED]} launches in {seconds:.0f} s: {dict(ends)}")
    if given.output:
        print(f"wrote {record(outcomes, given.seed, given.device, seconds, given.output)}")
    return 0 if all(outcome.ok for outcome in outcomes) else 1


if __name__ == "__main__":
    command.run(main)
