"""Measure everything that the book shows on this GPU and write it to book/measurements/."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from . import build, counters, measurements, probes, registry, subtiles
from .bench import bench
from .device import why_no_gpu
from .errors import ArgumentError, BackendError, GemmlabError, MeasurementError
from .experiments import EXPERIMENTS, experiment
from .experiments import SIZE as EXPERIMENT_SIZE
from .measurements import SECTIONS, Measurements
from .pitfalls import measure as measure_pitfalls
from .progress import busy
from .results import BASELINES
from .telemetry import environment
from .tune import tune

SIZES = (1024, 2048, 3072, 4096, 5120, 8192)
# The steps that take any shape, and the shapes at which they meet cuBLAS: around a size, with one
# side short, small, or long in K.
ANY_SHAPE: tuple[str, ...] = ("sgemm_20_any_shape",)
SHAPES = (
    *((4095, 4097, 4093), (1, 8192, 8192), (8192, 64, 8192), (64, 8192, 8192), (100, 100, 100)),
    *((16, 8192, 8192), (1000, 1000, 1000), (1023, 1025, 1024), (2047, 2049, 2048)),
    *((128, 128, 16384), (8192, 8192, 64), (4096, 4096, 4100), (511, 513, 8191)),
)
COUNTED_SIZE = 256  # the simulator counts the same size in the book
TRAFFIC_SIZE = 4096
ARBITRATION_SIZE = 1024
POWER_SIZE = 8192


def record(
    sizes: Sequence[int] = SIZES,
    only: Sequence[str] = SECTIONS,
    kernels: Sequence[str] | None = None,
    path: str | Path | None = None,
) -> Path:
    """Measure the sections in `only`, and write them into the file of this GPU.

    Sections: tuning (every configuration of the steps that have several, at `sizes` and SHAPES; it
    comes first, so that the others run the best), benchmark (every kernel and all baselines at
    `sizes`), shapes (the steps that take any shape, at SHAPES), experiments, subtiles, power (burst
    against sustained at 8192), pitfalls, probes, resources, and counters, traffic, limits and
    arbitration (by ncu; left out, with the reason, where it may not read counters). Others stay as
    they were. The file is replaced after each section: an interrupted recording keeps what it has.
    Raises BackendError without a GPU and nvcc, ArgumentError for an unknown section, and, once the
    other sections are written, MeasurementError if some could not be measured.
    """
    _check_arguments(sizes, only)
    names = [registry.get(name).name for name in kernels or registry.names()]
    if lacks := why_no_gpu():
        raise BackendError(
            f"record: {lacks}; it needs a GPU and nvcc. See python -m gemmlab doctor"
        )
    env = environment()
    target = Path(path) if path else measurements.folder() / f"{measurements.slug(env['gpu'])}.json"
    sections = dict(measurements.load(target).sections) if target.exists() else {}
    _build_all(names)
    steps = _steps(names, sizes)
    failed = []
    for name in (section for section in steps if section in only):
        try:
            with busy(f"recording {name}"):
                sections[name] = {"environment": env, **steps[name]()}
            measurements.save(Measurements(env["gpu"], sections), target)
        except (GemmlabError, RuntimeError) as error:
            failed.append(f"{name}: {error}")
    if failed:
        raise MeasurementError(f"{target.name}: not all was recorded. {'; '.join(failed)}")
    return target


def _check_arguments(sizes: Sequence[int], only: Sequence[str]) -> None:
    if unknown := set(only) - set(SECTIONS):
        raise ArgumentError(
            f"only: {', '.join(sorted(unknown))} not known; allowed are {', '.join(SECTIONS)}"
        )
    if not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ArgumentError(f"sizes: got {list(sizes)}; a recording takes cubes, such as 4096")


def _steps(names: Sequence[str], sizes: Sequence[int]) -> dict[str, Callable[[], dict]]:
    """How each section is measured, in this order."""
    return {
        "tuning": lambda: _tuning(names, sizes),
        "benchmark": lambda: _benchmark(names, sizes),
        "shapes": lambda: _shapes(names),
        "experiments": _experiments,
        "subtiles": subtiles.measure,
        "power": lambda: _power(names),
        "pitfalls": lambda: {"ways": measure_pitfalls().to_dict()["ways"]},
        "probes": probes.ceilings,
        "resources": lambda: _all_resources(names),
        "counters": lambda: _counted(names, COUNTED_SIZE, counters.COUNTERS),
        "traffic": lambda: _counted([*names, "cublas"], TRAFFIC_SIZE, counters.TRAFFIC),
        "limits": lambda: _counted(names, TRAFFIC_SIZE, counters.LIMITS),
        "arbitration": lambda: _counted(names, ARBITRATION_SIZE, counters.ARBITRATION),
    }


def _build_all(names: Sequence[str]) -> None:
    """Build first, many at a time: ncu's process must find every kernel in the cache."""
    specs = [registry.get(name) for name in names]
    specs += [experiment(name).spec for name in EXPERIMENTS]
    with ThreadPoolExecutor() as pool:
        list(pool.map(build.load, specs))


def _tuning(names: Sequence[str], sizes: Sequence[int]) -> dict:
    """Every configuration, measured now whatever the cache holds."""
    shapes = [*((size, size, size) for size in sizes), *SHAPES]
    trials = []
    for spec in (registry.get(name) for name in names):
        fitting = [shape for shape in shapes if spec.fits(*shape)]
        if spec.configs and fitting:
            trials += tune(spec, fitting, again=True).trials
    return {"trials": [trial.to_dict() for trial in trials]}


def _benchmark(names: Sequence[str], sizes: Sequence[int]) -> dict:
    """Every step at every size it takes. One that takes over a third of a second there is launched
    five times, three of them timed: the naive one at 8192 costs 11 s, all others about 1 s each.
    """
    fitting = {
        size: [name for name in names if registry.get(name).fits(size, size, size)]
        for size in sizes
    }
    everyone = tuple(BASELINES)
    results = [bench(fitting[size], [size], baselines=everyone) for size in sizes if fitting[size]]
    if not results:
        raise ArgumentError(f"sizes: none of {list(sizes)} is a multiple of any kernel's tile")
    return _merged(results) | _sources(names)


def _shapes(names: Sequence[str]) -> dict:
    """The steps that take any shape, and cuBLAS, at shapes that are no multiple of a tile."""
    steps = [name for name in ANY_SHAPE if name in names]
    return _merged([bench(steps, SHAPES)]) | _sources(steps)


def _sources(names: Sequence[str]) -> dict:
    return {"sources": {name: measurements.source_digest(registry.get(name)) for name in names}}


def _experiments() -> dict:
    """The chapters' variants, each in a run with cuBLAS."""
    variants = [experiment(name) for name in EXPERIMENTS]
    return _merged([bench(variants, [EXPERIMENT_SIZE], baselines=())])


def _power(names: Sequence[str]) -> dict:
    """Burst against sustained: the last step and cuBLAS, at a size where power can limit."""
    last = names[-1:]
    return _merged(
        bench(last, [POWER_SIZE], mode=mode, baselines=("cublas",))
        for mode in ("burst", "sustained")
    )


def _merged(results) -> dict:
    """Several results as the content of one section."""
    results = list(results)
    data = replace(results[0], source="recorded").to_dict()
    data["rows"] = [asdict(row) for result in results for row in result.rows]
    data["conditions"] = {
        f"{size} {result.rows[0].mode}": during
        for result in results
        for size, during in result.conditions.items()
    }
    data["note"] = "; ".join(dict.fromkeys(result.note for result in results if result.note))
    return data


def _all_resources(names: Sequence[str]) -> dict:
    with ThreadPoolExecutor() as pool:  # each waits for an nvcc of its own
        specs = [registry.get(name) for name in names]
        specs += [experiment(name).spec for name in EXPERIMENTS]
        used = pool.map(_resources, specs)
        return {"kernels": {s.label or s.name: u for s, u in zip(specs, used, strict=True)}}


def _resources(spec: registry.KernelSpec) -> dict:
    return asdict(build.resources(spec, build.arch()))


def _counted(names: Sequence[str], size: int, metrics: dict[str, str]) -> dict:
    """ncu's counters, or the reason why there are none."""
    fitting = [
        name
        for name in names
        if name == "cublas"
        # Which kernels a step with several configurations launches depends on the shape.
        or (registry.get(name).fits(size, size, size) and not registry.get(name).configs)
    ]
    data = {"size": size, "metrics": metrics}
    try:
        return data | {"kernels": counters.collect(fitting, size, metrics)}
    except (BackendError, MeasurementError) as error:
        return data | {"omitted": str(error)}
