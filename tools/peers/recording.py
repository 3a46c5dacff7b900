"""One run a size and mode, with the last steps, cuBLAS, cublasLt's best and all peers in turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gemmlab import measurements
from gemmlab.bench.protocol import Entry, Protocol, measure, random_operands, tf32_off
from gemmlab.bench.tune import tune
from gemmlab.core.errors import ArgumentError
from gemmlab.core.progress import busy
from gemmlab.gpu.machine_code import stamp
from gemmlab.gpu.sandbox import context_watch
from gemmlab.gpu.telemetry import environment
from gemmlab.measurements.rows import DEFAULT_BASELINES, BenchResult
from gemmlab.measurements.store import Measurements
from gemmlab.measurements.trials import Shape
from gemmlab.record import GRAPH_SIZES, merged
from gemmlab.run.kernel import Kernel, kernel
from gemmlab.steps import registry
from gemmlab.steps.program import Program

from .checkouts import PINS
from .drivers import Built
from .launching import entry, right

FAMILY, TYPES, SECTION = "wgmma", "bf16", "peers"
FIRST_STEP = "wgmma_08"  # those before it are slower everywhere
SAMPLES = 50
# Configurations this near to the fastest are compared at steady load, each for so long.
ALIKE, COMPARED_S = 0.93, 1.5


def steps() -> list[str]:
    """The steps that meet the peers."""
    return [s.name for s in registry.KERNELS if s.family == FAMILY and s.name >= FIRST_STEP]


def modes_at(size: int, modes: Sequence[str]) -> list[str]:
    """Of these modes those that say something at a size: graphs are for short launches."""
    return [mode for mode in modes if mode != "graph" or size in GRAPH_SIZES]


def record(
    built: Sequence[Built],
    sizes: Sequence[int],
    modes: Sequence[str],
    seconds: float,
    path: Path | None,
) -> Path:
    """Measure, and write the section into the file of this GPU, after each size anew.

    Raises ArgumentError if there is nothing to run, and what `lab.bench` raises.
    """
    runs = [(size, mode) for size in sizes for mode in modes_at(size, modes)]
    if not runs:
        raise ArgumentError(f"--modes: graph is for {GRAPH_SIZES} only; add a mode or a size")
    env = environment()
    target = path or measurements.file_of(env["gpu"], FAMILY)
    kept = dict(measurements.load(target).sections) if target.exists() else {}
    names, peers = steps(), [entry(each) for each in built]
    with busy("choosing the configuration of each size"):
        _tune(names, sizes)
    digests = stamp((Program(registry.get(name)), (TYPES,)) for name in names)
    results: list[BenchResult] = []
    for i, (size, mode) in enumerate(runs):
        with busy(f"{size}, mode {mode}"):
            results.append(_run(names, peers, size, mode, seconds))
        if i + 1 == len(runs) or runs[i + 1][0] != size:
            section = {"environment": env, **merged(results), **digests, "built": _made_of(built)}
            measurements.save(Measurements(env["gpu"], {**kept, SECTION: section}, FAMILY), target)
    return target


def _tune(names: Sequence[str], sizes: Sequence[int]) -> None:
    """What `lab.tune` finds is what a step that has configurations then runs."""
    for spec in map(registry.get, names):
        if spec.configs:
            tune(spec, list(sizes))


def _configured(name: str, shape: Shape, mode: str) -> Kernel:
    """A step as it runs in a mode.

    At steady load power decides, not time alone: configurations that single launches find nearly
    alike are then compared again, in this mode.
    """
    spec = registry.get(name)
    if mode != "sustained" or not spec.configs:
        return kernel(name)
    timed = {trial.config: trial.ratio for trial in tune(spec, [shape]).trials if trial.row}
    near = [each for each in spec.configs if timed.get(each, 0.0) > ALIKE * max(timed.values())]
    protocol = Protocol(mode, False, (), SAMPLES, COMPARED_S, TYPES)
    with tf32_off():
        rows, *_ = measure({each: Kernel(spec, config=each) for each in near}, shape, protocol)
    return Kernel(spec, config=max(rows, key=lambda row: row.ratio or 0.0).kernel)


@context_watch()
def _run(
    names: Sequence[str], peers: Sequence[Entry], size: int, mode: str, seconds: float
) -> BenchResult:
    shape = (size, size, size)
    handles: dict[str, Kernel] = {
        name: _configured(name, shape, mode) for name in names if registry.get(name).fits(*shape)
    }
    protocol = Protocol(
        mode, False, DEFAULT_BASELINES, SAMPLES, seconds if mode == "sustained" else None, TYPES
    )
    with tf32_off():
        correct, left_out = right(peers, random_operands(shape, TYPES))
        rows, during, note = measure(handles, shape, protocol, correct)
    notes = "; ".join(filter(None, (note, *left_out)))
    return BenchResult(tuple(rows), "live", environment(), {str(size): during}, notes)


def _made_of(built: Sequence[Built]) -> dict[str, dict[str, str]]:
    """What the tables say of each peer: its name, and the commit that it was made of."""
    return {
        each.driver.name: {
            "title": each.driver.title,
            "peer": PINS[each.driver.peer].title,
            "commit": each.commit,
        }
        for each in built
    }
