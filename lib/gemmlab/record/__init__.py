"""Measure everything that the book shows on this GPU and write it to book/measurements/."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from pathlib import Path

from .. import measurements
from ..bench.bench import bench
from ..bench.tune import tune
from ..core.arguments import MAX_SIZE, choice, integer, sequence
from ..core.errors import ArgumentError, BackendError, GemmlabError, MeasurementError
from ..core.layout import PLAIN
from ..core.progress import busy
from ..experiments import releases, warpgroup_traces
from ..experiments.pitfalls import measure as measure_pitfalls
from ..experiments.subtiles import measure as measure_subtiles
from ..experiments.tensor_cores import probes as tensor_core_probes
from ..experiments.variants import EXPERIMENTS, experiment, precision_of, shape_of
from ..experiments.variants import SIZE as EXPERIMENT_SIZE
from ..gpu import block_clock, build, probes
from ..gpu.machine_code import stamp
from ..gpu.ptxas import resources
from ..gpu.telemetry import environment
from ..gpu.toolchain import arch
from ..measurements import metrics
from ..measurements.rows import BASELINES, DEFAULT_BASELINES, NCU, BenchResult, BenchRow
from ..measurements.sizes import ANY_SHAPE, LAYOUT_SHAPES, SIZES, shapes_of
from ..measurements.store import SECTIONS, Measurements
from ..measurements.trials import TuningTrial
from ..run.backend import why_no_gpu
from ..run.kernel import kernel
from ..steps import registry
from ..steps.program import Program
from ..steps.traced import EVENTS
from . import ncu

# What says nothing new about 16-bit steps, or is measured with the others, is recorded once.
_TIMED = ("tuning", "benchmark", "shapes", "layouts", "experiments", "power")
SECTIONS_OF = {
    "sgemm": tuple(
        name
        for name in SECTIONS
        if name not in ("tensor_cores", "faults", "graphs", "peers", "traces")
    ),
    "hgemm": (*_TIMED, "tensor_cores", "resources", "counters", "limits"),
    "tma": (*_TIMED, "faults", "resources", "counters", "limits"),
    "wgmma": (*_TIMED, "graphs", "traces", "resources", "counters", "limits"),
}
# Build what they measure themselves.
_WITHOUT_STEPS = {"subtiles", "pitfalls", "probes", "tensor_cores", "faults", "traces"}
# Steps of an earlier family that are timed in the same runs, to compare with.
REFERENCES: dict[str, tuple[str, ...]] = {
    "tma": (
        "hgemm_16_write_back",
        "hgemm_17_stages",
        "hgemm_18_wide_tile",
        "hgemm_20_any_shape",
    ),
    "wgmma": (
        "hgemm_18_wide_tile",
        "tma_06_persistent",
        "tma_07_stream_k",
        "tma_08_any_shape",
    ),
}
# The largest size at which a 16-bit step is measured: those on CUDA cores would take seconds.
_LARGEST = {"hgemm_06": 4096, "hgemm_16": 8192}  # of the steps in front of these
TRAFFIC_SIZE = 4096
CLOCK_SIZE = 4096  # where cycles are counted
ARBITRATION_SIZE = 1024
POWER_SIZE = 8192
GRAPH_SIZES = (1024, 2048)  # where a launch alone takes little longer than to launch it


def record(
    sizes: Sequence[int] | None = None,
    only: Sequence[str] | None = None,
    kernels: Sequence[str] | None = None,
    path: str | Path | None = None,
    family: str = "sgemm",
) -> Path:
    """Measure the sections in `only`, and write them into the file of this GPU and family of steps.

    Families: sgemm (fp32), hgemm, tma and wgmma (16-bit inputs), each with its SIZES and
    SECTIONS_OF, and with REFERENCES that are timed beside its steps; a section that has nothing to
    measure is left out. The file is replaced after each section: an interrupted recording keeps
    what it has, and sections that are not in `only` stay as they were.
    Raises BackendError without a GPU and nvcc, ArgumentError for an unknown section, and, once the
    other sections are written, MeasurementError if some could not be measured.
    """
    sizes, only = _checked(sizes, only, family)
    names = _names(kernels, family)
    if lacks := why_no_gpu():
        raise BackendError(
            f"record: {lacks}; it needs a GPU and nvcc. See python -m gemmlab doctor"
        )
    env = environment()
    target = Path(path) if path else measurements.file_of(env["gpu"], family)
    sections = dict(measurements.load(target).sections) if target.exists() else {}
    if set(only) - _WITHOUT_STEPS:
        _build_all([*REFERENCES.get(family, ()), *names])
    steps = _steps(names, sizes, family)
    failed = []
    for name in (section for section in steps if section in only):
        try:
            with busy(f"recording {name}"):
                sections[name] = {"environment": env, **steps[name]()}
            measurements.save(Measurements(env["gpu"], sections, family), target)
        except (GemmlabError, RuntimeError) as error:
            failed.append(f"{name}: {error}")
    if failed:
        raise MeasurementError(f"{target.name}: not all was recorded. {'; '.join(failed)}")
    return target


def _checked(
    sizes: Sequence[int] | None, only: Sequence[str] | None, family: str
) -> tuple[Sequence[int], Sequence[str]]:
    """Sizes and sections, those of the book if not given."""
    choice("family", family, SIZES, lead="; allowed are ")
    sizes, only = sizes or SIZES[family], only or SECTIONS_OF[family]
    for section in sequence("only", only, "['benchmark']"):
        choice("only", section, SECTIONS_OF[family], lead=f"; allowed for {family} are ")
    for size in sequence("sizes", sizes, "[4096]"):
        integer("sizes", size, 1, MAX_SIZE, allowed="a recording takes cubes, such as 4096")
    return sizes, only


def _names(kernels: Sequence[str] | None, family: str) -> list[str]:
    """The steps to record, all of one family: a file has those of one."""
    specs = [registry.get(name) for name in kernels or registry.names()]
    others = [spec.name for spec in specs if spec.family != family]
    if kernels and others:
        raise ArgumentError(f"kernels: {', '.join(others)} not of family {family}; see --family")
    if not (own := [spec.name for spec in specs if spec.family == family]):
        raise ArgumentError(f"family: there is no step of {family}; see `python -m gemmlab list`")
    return own


def _steps(
    names: Sequence[str], sizes: Sequence[int], family: str = "sgemm"
) -> dict[str, Callable[[], dict]]:
    """How each section is measured, in this order. Tuning comes first: the others run the best."""
    counted, limits = metrics.counters_of(family), metrics.limits_of(family)
    compared = [*REFERENCES.get(family, ()), *names]
    steps = {
        "tuning": lambda: _tuning(names, sizes, family),
        "benchmark": lambda: _benchmark(compared, sizes),
        "shapes": lambda: _shapes(compared, family),
        "layouts": lambda: _layouts(names),
        "graphs": lambda: _graphs(names, sizes),
        "experiments": lambda: _experiments(names),
        "subtiles": measure_subtiles,
        "power": lambda: _power(names),
        "pitfalls": lambda: {"ways": measure_pitfalls().to_dict()["ways"]},
        "probes": probes.ceilings,
        "tensor_cores": tensor_core_probes.measure,
        "faults": releases.record,
        "traces": lambda: _traces(names),
        "resources": lambda: _all_resources(names),
        "counters": lambda: _counted(names, metrics.COUNTED_SIZE, counted),
        "traffic": lambda: _counted([*names, "cublas"], TRAFFIC_SIZE, metrics.TRAFFIC),
        "limits": lambda: _counted(names, TRAFFIC_SIZE, limits),
        "arbitration": lambda: _counted(names, ARBITRATION_SIZE, metrics.ARBITRATION),
    }
    if not _variants(names):
        del steps["experiments"]
    if not _of_layouts(names):
        del steps["layouts"]
    if not _graph_sizes(sizes):
        del steps["graphs"]
    if not set(names) & set(EVENTS):
        del steps["traces"]
    return steps


def _build_all(names: Sequence[str]) -> None:
    """Build first, many at a time: ncu's process must find every kernel in the cache."""
    programs = _programs(names)
    with ThreadPoolExecutor() as pool:
        timed = [(each, types) for each in programs for types in each.spec.precisions]
        waiting = [pool.submit(build.load, *pair) for pair in timed]
        waiting += [
            pool.submit(build.load, each, each.spec.precisions[0], layout)
            for each in programs
            for layout in each.spec.layouts[1:]
            if each.is_own_file
        ]
        # Those that count cycles are built beside them; a failure there is said in the row.
        second = [pool.submit(block_clock.load, each, each.spec.precisions[0]) for each in programs]
        for build_of in waiting:
            build_of.result()
        wait(second)


def _programs(names: Sequence[str]) -> list[Program]:
    """The steps, and the variants of them that are measured."""
    return [*map(registry.program, names), *map(experiment, _variants(names))]


def _tuning(names: Sequence[str], sizes: Sequence[int], family: str) -> dict:
    """Every configuration, measured now whatever the cache holds."""
    shapes = [*((size, size, size) for size in sizes), *shapes_of(family)]
    trials: list[TuningTrial] = []
    tuned: list[Program] = []
    for spec in (registry.get(name) for name in names):
        fitting = [shape for shape in shapes if spec.fits(*shape)]
        if spec.configs and fitting:
            trials += tune(spec, fitting, again=True).trials
            tuned.append(Program(spec))
    code = _digests(tuned)["machine_code"]  # the sources stand in the trials
    return {"trials": [trial.to_dict() for trial in trials], "machine_code": code}


def _benchmark(names: Sequence[str], sizes: Sequence[int]) -> dict:
    """Every step at every size it takes. One that takes over a third of a second there is launched
    five times, three of them timed: the naive one at 8192 costs 11 s, all others about 1 s each.
    """
    runs = [(size, _fitting(names, size), types) for size, types in _runs(names, sizes)]
    usual = runs[0][2] if runs else ""
    results = []
    for size, fitting, types in runs:
        counted = size == CLOCK_SIZE and types == usual
        if fitting:
            result = bench(
                fitting, [size], baselines=_baselines(types), precision=types, clock=counted
            )
            results.append(_library_cycles(result, size) if counted else result)
    if not results:
        raise ArgumentError(f"sizes: none of {list(sizes)} is a multiple of any kernel's tile")
    return merged(results) | _stamped_in_all(names)


def _library_cycles(result: BenchResult, size: int) -> BenchResult:
    """The result with ncu's cycles of cuBLAS and of steps whose second build was refused.

    Where ncu gives none, cuBLAS's row says why.
    """
    types, found = result.rows[0].precision, {}
    refused = [r.kernel for r in result.rows if r.clock_note and r.kernel in registry.names()]
    names, why = [*refused, "cublas"], "ncu gives none"
    try:
        found = ncu.collect(names, size, {"cycles": metrics.CYCLES}, types)
    except (BackendError, MeasurementError) as error:
        why = str(error)

    def row_of(row: BenchRow) -> BenchRow:
        if cycles := found.get(row.kernel, {}).get("cycles"):
            return row.counted(cycles, NCU, result.environment["sms"])
        return replace(row, clock_note=why) if row.kernel == "cublas" else row

    return replace(result, rows=tuple(map(row_of, result.rows)))


def _runs(names: Sequence[str], sizes: Sequence[int]) -> list[tuple[int, str]]:
    """(size, precision): the usual types at all sizes, the others at one."""
    first, *others = registry.get(names[0]).precisions
    extra = [(EXPERIMENT_SIZE, types) for types in others if EXPERIMENT_SIZE in sizes]
    return [*((size, first) for size in sizes), *extra]


def _fitting(names: Sequence[str], size: int) -> list[str]:
    """The steps that take a size, without those that take too long there."""

    def quick(name: str) -> bool:
        own = (item for item in _LARGEST.items() if name.startswith("hgemm"))
        early = (most for step, most in own if name < step)
        return size <= min(early, default=size)

    return [name for name in names if registry.get(name).fits(size, size, size) and quick(name)]


def _baselines(types: str) -> tuple[str, ...]:
    return tuple(BASELINES) if types == "fp32" else DEFAULT_BASELINES


def _shapes(names: Sequence[str], family: str) -> dict:
    """The steps that take any shape, and cuBLAS, at shapes that are no multiple of a tile."""
    steps = [name for name in ANY_SHAPE if name in names]
    types = registry.get(names[0]).precisions[0]
    return merged([bench(steps, shapes_of(family), precision=types)]) | _digests(
        _steps_of(steps), [types]
    )


def _of_layouts(names: Sequence[str]) -> list[str]:
    """The steps that take more than one layout."""
    return [name for name in names if len(registry.get(name).layouts) > 1]


def _layouts(names: Sequence[str]) -> dict:
    """Steps in each layout that they take, and cuBLAS in the same one."""
    steps = _of_layouts(names)
    spec = registry.get(steps[0])
    types = spec.precisions[0]
    measured = merged(
        bench(steps, LAYOUT_SHAPES, baselines=("cublas",), precision=types, layout=layout)
        for layout in spec.layouts
    )
    return measured | _digests(_steps_of(steps), [types])


def _digests(programs: Iterable[Program], types: Sequence[str] = ()) -> dict:
    """What a section says of its kernels' text and machine code, of the usual types or of these."""
    return stamp((program, types or program.spec.precisions[:1]) for program in programs)


def _stamped_in_all(names: Iterable[str]) -> dict:
    """The digests of steps in every precision that they are compiled for."""
    return stamp((program, program.spec.precisions) for program in _steps_of(names))


def _steps_of(names: Iterable[str]) -> list[Program]:
    return [Program(registry.get(name)) for name in names]


def _variants(names: Sequence[str]) -> list[str]:
    """The experiments with these steps."""
    return [name for name, (step, _) in EXPERIMENTS.items() if step in names]


def _experiments(names: Sequence[str]) -> dict:
    """The chapters' variants, each in a run with cuBLAS, at its shape and in its types.

    Their steps run beside them where the benchmark does not have them, at other shapes.
    """
    runs: dict[tuple, list[str]] = {}
    for name in _variants(names):
        runs.setdefault((shape_of(name), precision_of(name)), []).append(name)
    results, timed = [], []
    for (shape, types), found in runs.items():
        programs = [experiment(name) for name in found]
        if shape != (EXPERIMENT_SIZE,) * 3:
            steps = dict.fromkeys(EXPERIMENTS[name][0] for name in found)
            programs = [*map(kernel, steps), *programs]
        results.append(bench(programs, [shape], baselines=(), precision=types, clock=True))
        timed += [(program, (types,)) for program in programs]
    return merged(results) | stamp(timed)


def _power(names: Sequence[str]) -> dict:
    """Burst against sustained: the last step and cuBLAS, at a size where power can limit."""
    last = names[-1:]
    measured = merged(
        bench(last, [POWER_SIZE], mode=mode, baselines=("cublas",), clock=True)
        for mode in ("burst", "sustained")
    )
    return measured | _digests(_steps_of(last))


def _graph_sizes(sizes: Sequence[int]) -> list[int]:
    return [size for size in GRAPH_SIZES if size in sizes]


def _graphs(names: Sequence[str], sizes: Sequence[int]) -> dict:
    """The steps at small sizes, where dependent launch is seen only in a CUDA graph."""
    runs = [(size, _fitting(names, size)) for size in _graph_sizes(sizes)]
    measured = merged(bench(steps, [size], mode="graph") for size, steps in runs if steps)
    return measured | _digests(_steps_of(names))


def _traces(names: Sequence[str]) -> dict:
    """What the warpgroups of the traced steps do, in the usual types."""
    steps = [name for name in EVENTS if name in names]
    return warpgroup_traces.measure(steps) | _digests(_steps_of(steps))


def merged(results) -> dict:
    """Several results as the content of one section."""
    results = list(results)
    data = replace(results[0], source="recorded").to_dict()
    data["rows"] = [asdict(row) for result in results for row in result.rows]
    data["conditions"] = {
        " ".join((size, result.rows[0].mode, *_told_apart(result.rows[0]))): during
        for result in results
        for size, during in result.conditions.items()
    }
    data["note"] = "; ".join(dict.fromkeys(result.note for result in results if result.note))
    return data


def _told_apart(row: BenchRow) -> tuple[str, ...]:
    """What keeps runs of one size apart that differ in their types or their layout."""
    types = () if row.precision == "fp32" else (row.precision,)
    return types if row.layout == PLAIN else (*types, row.layout)


def _all_resources(names: Sequence[str]) -> dict:
    with ThreadPoolExecutor() as pool:  # each waits for an nvcc of its own
        programs = _programs(names)
        used = pool.map(_resources, programs)
        found = {p.title: u for p, u in zip(programs, used, strict=True)}
        return {"kernels": found} | _digests(programs)


def _resources(program: Program) -> dict:
    return asdict(resources(program, arch()))


def _counted(names: Sequence[str], size: int, metrics: dict[str, str]) -> dict:
    """ncu's counters, or the reason why there are none."""
    fitting = [
        name
        for name in names
        if name == "cublas"
        # Which kernels a step with several configurations launches depends on the shape.
        or (registry.get(name).fits(size, size, size) and not registry.get(name).configs)
    ]
    types = registry.get(names[0]).precisions[0]
    data = {"size": size, "metrics": metrics}
    try:
        found = {"kernels": ncu.collect(fitting, size, metrics, types)}
    except (BackendError, MeasurementError) as error:
        return data | {"omitted": str(error)}
    steps = [name for name in fitting if name != "cublas"]
    return data | found | _digests(_steps_of(steps), [types])
