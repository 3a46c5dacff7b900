"""The judge of exercises that change a kernel: its values, what it asks of memory, its speed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import sim
from ..bench.bench import bench, why_not_here
from ..check.check import check
from ..check.plan import few_shapes
from ..check.report import CheckReport, grouped, told_apart
from ..check.tile import misfit
from ..core import arguments
from ..core.errors import ArgumentError, ContextLostError, LaunchError
from ..notebook import stale
from ..run.backend import default_backend
from ..run.kernel import Kernel, kernel
from ..sim.counts import OPS, LineCount
from ..sim.findings import once, told
from ..sim.journal import MOST
from ..sim.trace import Trace
from ..steps import registry
from ..steps.cuda_text import without_comments
from ..steps.program import Program
from ..steps.spec import KernelSpec
from .flow import Seen
from .hidden import refuse_hidden
from .large import refuse_small_only
from .prints import without_prints
from .properties import GRID, ONE_TILE, NotYetError, Property, checked
from .verdict import Verdict
from .work import (
    Runs,
    Sizes,
    parent_of,
    refuse_atomic_loads,
    refuse_launches,
    refuse_more_than,
    refuse_unsteady,
)

_SHOWN = 3  # lines named in a hint
# k tiles of the runs in which the order of events is looked at, by their tiles of C.
_DEPTH = {ONE_TILE: 6, GRID: 5}
_KEEP = " (what is used again belongs in registers)"
_FEWER = "; each request takes as few as it can, so there are too many"
_WHERE = {"cuda": "on the GPU", "cpu": "on the simulator"}
_Limits = Mapping[str, Mapping[str, int]]  # counter -> operation ("": all) -> the most allowed


@dataclass(frozen=True)
class _Rival:
    """A step that an answer has to be `by` times as fast as, at M = N = K = `size`."""

    kernel: Kernel
    by: float
    size: int


def judge(  # what an exercise may ask for, each by its name
    k: str | Kernel,
    *,
    conflicts: int | Mapping[str, int] | None = None,
    wavefronts: Mapping[str, int] | None = None,
    sectors: Mapping[str, int] | None = None,
    faster_than: str | Kernel | None = None,
    by: float = 1.0,
    size: int = 4096,
    differs: bool = True,
    shape: tuple[int, int, int] | None = None,
    does: Property | Sequence[Property] = (),
) -> Verdict:
    """Judge the kernel `k`: values in small products, what it does, counters, then speed.

    conflicts: the most bank conflicts, of all accesses together or by operation ("ld.shared").
    wavefronts, sectors: the most, by operation. They are those of a run at `shape` (M, N, K): if
    not given, one tile of the step that the kernel is like. faster_than: a step that it has to be
    `by` times as fast as, at M = N = K = `size`, measured in turns; left out without a GPU. does:
    what it has to do, such as lab.exercises.overlap(1). differs: refuse the parent's own code.
    Raises ArgumentError for unknown operations, BuildError and BackendError.
    """
    if older := stale.reason(handle := kernel(k)):
        return Verdict(False, older)
    handle = without_prints(handle)
    rival = _rival(handle, faster_than, by, size)
    limits, conditions = _limits(conflicts, wavefronts, sectors), checked(does)
    counted_at, limits = _fitting(handle.spec, shape, limits)
    try:
        if differs:
            _refuse_unchanged(handle)
        notes = _simulated(handle, limits, conditions, counted_at)
        notes += _speed(handle, rival) if rival else []
    except NotYetError as why:
        return Verdict(False, *_said(handle, *why.args))
    except LaunchError as error:
        if isinstance(error, ContextLostError):
            raise
        return Verdict(False, handle.source.in_the_cell(str(error)))
    return Verdict(True, "; ".join(notes) + ".")


def _simulated(
    handle: Kernel, limits: _Limits, conditions: Sequence[Property], counted_at: Sizes
) -> list[str]:
    """All that is judged without the clock."""
    runs = Runs()
    if conditions:
        _refuse_without_tile(handle)
    refuse_hidden(handle)
    notes = [*_values(handle, runs), *_does(handle, conditions, runs)]
    notes += _counts(handle, limits, runs.trace(handle, *counted_at)) if limits else []
    _refuse_show(handle, limits, conditions, runs)
    if all(one.steady for one in conditions):
        refuse_small_only(
            handle, _sizes(handle.spec, ONE_TILE), handle.spec.tile[2], runs, conditions
        )
    return notes


def _refuse_without_tile(handle: Kernel) -> None:
    """Judges compare blocks, and a launch in the cell does not say which elements are a block's."""
    if not handle.source.trusted and handle.parent is None and handle.spec.tile[:2] == (1, 1):
        raise NotYetError(
            "nothing says which rows and columns of C a block computes; add them to the cell's "
            "first line, as in --tile 8x32 for 8 rows and 32 columns, or as constants BM and BN"
        )


def _rival(handle: Kernel, faster_than: str | Kernel | None, by: float, size: int) -> _Rival | None:
    if faster_than is None:
        return None
    rival = _Rival(kernel(faster_than), by, size)
    for one in (handle, rival.kernel):
        one.spec.check_sizes(*[arguments.size("size", size)] * 3)
    return rival


def _fitting(
    spec: KernelSpec, given: Sequence[int] | None, limits: _Limits
) -> tuple[Sizes, _Limits]:
    """The exercise's shape, or the next one upwards that the kernel takes, and its limits there.

    What is stored in C grows with C, everything else with the number of products. Without a shape
    it is one tile of the step that the kernel is like.
    """
    if given is None:
        return _tile(spec), limits
    shape = arguments.shape_of("shape", given)
    M, N, K = spec.fitting(*shape)
    outputs = M * N / math.prod(shape[:2])
    more = {"st.global": outputs}

    def at_most(op: str, most: int) -> int:
        return int(most * more.get(op, outputs * K / shape[2]))

    return (M, N, K), {
        name: {op: at_most(op, most) for op, most in of.items()} for name, of in limits.items()
    }


def _tile(spec: KernelSpec) -> tuple[int, int, int]:
    """One tile of the parent, so that a kernel with another tile is counted at the same size."""
    like = registry.get(spec.parent) if spec.parent else spec
    M, N, K = (math.lcm(n, of) for n, of in zip(like.tile, spec.multiple_of, strict=True))
    return M, N, K


def _limits(
    conflicts: int | Mapping[str, int] | None,
    wavefronts: Mapping[str, int] | None,
    sectors: Mapping[str, int] | None,
) -> _Limits:
    """What is asked for, by name; a number of conflicts is one of all operations together."""
    conflicts = {"": conflicts} if isinstance(conflicts, int) else conflicts
    given = {"conflicts": conflicts, "wavefronts": wavefronts, "sectors": sectors}
    limits = {name: most for name, most in given.items() if most}
    _check_operations(limits)
    return limits


def _check_operations(limits: _Limits) -> None:
    for name, given in limits.items():
        arguments.instance(name, given, Mapping, "a number, or a table such as {'ld.shared': 0}")
        for count in given.values():
            arguments.integer(name, count, 0)
        unknown = [op for op in given if op not in ("", *OPS)]
        if unknown:
            known = ", ".join(dict.fromkeys(OPS))
            raise ArgumentError(f"{name}: no operation is called {unknown[0]!r}; there are {known}")


def _refuse_unchanged(handle: Kernel) -> None:
    if handle.parent and _code(handle) == _code(registry.program(handle.parent)):
        raise NotYetError(
            f"this is the unchanged code of {handle.parent}; the exercise asks for a change."
        )


def _code(program: Program) -> list[str]:
    """The words and signs of a file, without comments and its own name."""
    text = without_comments(program.source.path.read_text())
    return re.findall(r"\w+|\S", re.sub(rf"\b(launch_)?{program.source.entry}\b", "", text))


def _values(handle: Kernel, runs: Runs) -> list[str]:
    """Small products on the simulator, which names the line of a mistake, then on a GPU."""
    shapes = few_shapes(handle.spec)
    # First what has a line, at a shape with more than one tile in the direction of K.
    findings = runs.trace(handle, *max(shapes, key=lambda shape: shape[2])).findings
    found = told(findings)
    if found and (cause := misfit(handle)):
        raise NotYetError(f"{cause}. With this tile the simulator finds:", *found)
    if any(finding.fatal for finding in findings):
        raise NotYetError("it does not run to its end in the simulator:", *found)
    notes = []
    first, last = handle.spec.precisions[0], handle.spec.precisions[-1]
    # The simulator compiles each precision for seconds: two have every type of A, B and of C.
    some = [first] if first == last else [first, last]
    for device in ("cpu", "cuda") if default_backend() == "gpu" else ("cpu",):
        report = check(handle, shapes, device, precisions=some if device == "cpu" else None)
        _refuse_wrong(report, found or report.findings, _WHERE[device])
        notes.append(f"right in all {len(report.cases)} cases {_WHERE[device]}")
    return notes


def _refuse_wrong(report: CheckReport, findings: tuple[str, ...], where: str) -> None:
    bad = [case for case in report.cases if case.problem]
    if not bad and not findings:
        if report.lacks:
            raise NotYetError(f"not everything could be run {where}:", *report.lacks)
        return
    what = f"wrong in {len(bad)} of {len(report.cases)} cases {where}"
    what = what if bad else f"the values come out right {where}, but it finds"
    shown, hidden = findings[: _SHOWN - 1], len(findings[_SHOWN - 1 :])
    more = f"and {hidden} more finding{'s' * (hidden > 1)}" if hidden else ""
    more = (
        more if findings else told_apart(report.cases, report.tile)
    )  # a finding has a line, which says more
    raise NotYetError(f"{what}:", *shown, *grouped(bad)[:1], *filter(None, [more]))


def _does(handle: Kernel, conditions: Sequence[Property], runs: Runs) -> list[str]:
    """What the kernel does, against what is asked for."""
    seen: dict[tuple[int, int], Seen] = {}
    notes = []
    for one in conditions:
        said = []
        for grid in one.grids:
            if grid not in seen:
                seen[grid] = _journaled(handle, grid)
                runs.keep(handle, seen[grid].trace)
            said.append(one.look(seen[grid]))
        notes.append(said[0])
    return notes


def _sizes(spec: KernelSpec, grid: tuple[int, int]) -> tuple[int, int, int]:
    """M, N and K of so many rows and columns of tiles; of how many k tiles, _DEPTH says."""
    BM, BN, BK = spec.tile
    depth = BK * _DEPTH.get(grid, 1)
    return spec.fitting(BM * grid[0], BN * grid[1], max(depth, 16))


def _journaled(handle: Kernel, grid: tuple[int, int]) -> Seen:
    """A run of so many rows and columns of tiles, deep if there is one tile."""
    M, N, K = _sizes(handle.spec, grid)
    seen = Seen(sim.events(handle, M, N, K), handle.spec.tile, handle)
    if seen.journal.is_cut:
        raise NotYetError(
            f"at {seen.at} the first block makes more than {MOST:,} accesses, too many to follow "
            "them one by one; see lab.trace for the lines that make them, and read less"
        )
    return seen


def _counts(handle: Kernel, limits: _Limits, trace: Trace) -> list[str]:
    """The counters of one run against what is asked for."""
    at = f"M={trace.M} N={trace.N} K={trace.K}"
    if trace.findings:
        raise NotYetError(f"at {at} the simulator finds:", *told(trace.findings))
    notes = [
        _count(trace, name, op, most, at)
        for name, given in limits.items()
        for op, most in given.items()
    ]
    if "sectors" in limits:
        refuse_atomic_loads(trace, at)
    return [f"at {at} {', '.join(notes)}"]


def _count(trace: Trace, name: str, op: str, most: int, at: str) -> str:
    """A counter in words, if it is small enough. `op` "" stands for all operations together."""
    lines = [line for line in trace.lines if op in ("", line.op) and getattr(line, name)]
    found = sum(getattr(line, name) for line in lines)
    noun = {"conflicts": "bank conflicts"}.get(name, name) + f" of {op}" * bool(op)
    said = f"{found:,} {noun}" if found else f"no {noun}"
    if found <= most:
        return said + f" (at most {most:,})" * bool(found)
    worst = _to_blame(lines, name, found - most)
    allowed = f"at most {most:,} {'is' if most == 1 else 'are'}" if most else "none are"
    items = [f"{line.file}:{line.line}: {_costs(line, name)}" for line in worst]
    few = "" if any(_above_least(line, name) for line in worst) else _FEWER
    few += _KEEP if few and op == "ld.shared" else ""
    raise NotYetError(f"{said} at {at}; {allowed} allowed{few}:", *items)


def _to_blame(lines: Sequence[LineCount], name: str, excess: int) -> list[LineCount]:
    """The lines that cost more than they need to, if that is the excess; else others after them."""
    by_cost = sorted(lines, key=lambda line: -getattr(line, name))
    by_cost.sort(key=lambda line: -_above_least(line, name))
    above = [line for line in by_cost if _above_least(line, name)]
    explained = sum(_above_least(line, name) for line in above) >= excess
    return (above if explained else by_cost)[:_SHOWN]


def _above_least(line: LineCount, name: str) -> int:
    """What the requests of a line take more than they would at best."""
    unit = _unit(name)
    return getattr(line, unit) - getattr(line, f"{unit}_min")


def _unit(name: str) -> str:
    return "sectors" if name == "sectors" else "wavefronts"


def _costs(line: LineCount, name: str) -> str:
    """What the requests of a line take, with the line itself."""
    unit = _unit(name)
    each = getattr(line, unit) / line.requests
    least = getattr(line, f"{unit}_min") / line.requests
    unit = unit.removesuffix("s") if each == 1 else unit
    could = f", {least:g} would do" if least < each else ""
    wide = f" of {line.width_bytes} bytes a lane" if unit.startswith("w") and not could else ""
    made = f"{line.requests:,} {line.op} requests{wide}"
    return f"{made} take {each:g} {unit} each{could}: {line.source}"


def _refuse_show(
    handle: Kernel, limits: _Limits, conditions: Sequence[Property], runs: Runs
) -> None:
    """Work that is done for what is looked at only, or beside it."""
    if not (limits or conditions):
        return
    M, N, K = _tile(handle.spec)
    rows, columns = GRID
    if parent := parent_of(handle):
        for shape in ((M, N, K), (M * rows, N * columns, K)):
            refuse_more_than(parent, handle, shape, "sectors" not in limits, runs)
    else:
        refuse_launches(runs.trace(handle, M, N, K), 1)
    if all(one.steady for one in conditions):
        refuse_unsteady(handle, _sizes(handle.spec, ONE_TILE), handle.spec.tile[2], runs)


def _speed(handle: Kernel, rival: _Rival) -> list[str]:
    """Both in turns on this GPU; without one, a note."""
    if default_backend() != "gpu":
        return [f"its speed is not judged here ({why_not_here()})"]
    other, size = rival.kernel, rival.size
    result = bench([handle, other], sizes=[size], baselines=())
    ours, theirs = (result.row(one.title, size).time_us for one in (handle, other))
    said = f"{theirs / ours:.3g} times as fast as {other.title} at {size}, measured in turns"
    if theirs / ours < rival.by:
        raise NotYetError(f"right, and {said}; {rival.by:g} times is required.")
    return [said]


def _said(handle: Kernel, reason: str, *items: object) -> tuple[str, tuple[str, ...]]:
    """The reason and what is wrong, with lines of the cell.

    One item too many is shown: the line that counts it would be as long.
    """
    said = [once(handle.source.in_the_cell(str(item))) for item in items]
    if len(said) > _SHOWN + 1:
        said[_SHOWN:] = [f"and {len(said) - _SHOWN} more"]
    return handle.source.in_the_cell(reason), tuple(said)
