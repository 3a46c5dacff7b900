"""The command line: doctor, list, check, bench, tune, trace, sim, progress and record."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from .bench.bench import MODES
from .bench.bench import bench as run_bench
from .bench.tune import tune as run_tune
from .check.check import check as check_one
from .core import machine
from .core.arguments import brief
from .core.console import Group, json_option, print_json
from .core.errors import BackendError
from .core.precision import PRECISIONS
from .display.table import text_table
from .gpu.requirements import lacking
from .measurements.rows import DEFAULT_BASELINES, OTHER_PRECISION
from .measurements.store import SECTIONS
from .notebook import solved
from .notebook.progress import progress as reader_progress
from .record import record as run_record
from .report.recorded import STATES, benchmark_states
from .run.backend import default_backend, why_no_gpu
from .run.doctor import device
from .sim import trace as run_trace
from .sim.program.command import simulate
from .steps import registry
from .steps.spec import FAMILIES, KernelSpec

_DIGITS = 100  # more make no size, and Python turns only so many into a number


class Sizes(click.ParamType):
    """ "1024,4096" or "1024x512x256" (MxNxK), or both."""

    name = "sizes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int | tuple[int, ...]]:
        """The sizes of an option's text."""
        if not isinstance(value, str):
            return value
        sizes: list[int | tuple[int, ...]] = []
        for part in value.split(","):
            numbers = part.strip().lower().split("x")
            if len(numbers) not in (1, 3) or not all(n.isdecimal() for n in numbers):
                self.fail(f"{brief(part)} is neither a number such as 4096 nor MxNxK", param, ctx)
            if any(len(n) > _DIGITS for n in numbers):
                self.fail(f"{brief(part)} is too large; a size has 32 bits", param, ctx)
            sizes.append(int(part) if len(numbers) == 1 else tuple(map(int, numbers)))
        return sizes


_DEVICES = {"gpu": "cuda", "sim": "cpu"}
_backend = click.option(
    "--on",
    type=click.Choice(list(_DEVICES)),
    help="Run on the GPU or on the simulator. Default: the GPU if there is one.",
)
_allow_slow = click.option(
    "--allow-slow", is_flag=True, help="Let a run on the simulator take longer than a minute."
)
_precision = click.option(
    "--precision",
    type=click.Choice(list(PRECISIONS)),
    help="Types of A, B and C. Default: the step's first; check runs all.",
)


@click.group(
    cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="gemmlab")
def main() -> None:
    """GEMM kernels: checked, counted and measured.

    Without a GPU, kernels run on the simulator and `bench` shows the recorded run.

    \b
    Exit status:
      0    done; check and trace: nothing is wrong
      1    it failed, or cannot run here; check and trace: something is wrong
      2    wrong usage: there is no such command, option, step or size
      70   a mistake in gemmlab itself; GEMMLAB_DEBUG=1 shows where
      130  interrupted (Ctrl-C)
    """
    if elsewhere := machine.elsewhere():
        click.echo(f"Note: {elsewhere}", err=True)


@main.command()
@json_option
def doctor(as_json: bool) -> None:
    """What this machine has, and how to get what it lacks.

    Exits with 1 if no kernel can run here at all.
    """
    report = device()
    _show(report, as_json)
    if report.backend == "none":
        sys.exit(1)


@main.command("list")
@json_option
def list_(as_json: bool) -> None:
    """The steps: name, sizes they take, whether their recorded figures still hold, and the idea."""
    states = benchmark_states()
    if as_json:
        steps = [spec.to_dict() | {"figures": states[spec.name]} for spec in registry.KERNELS]
        print_json(steps)
        return
    rows = [
        (spec.name, "x".join(map(str, spec.tile)), _needs(spec), states[spec.name], spec.idea)
        for spec in registry.KERNELS
    ]
    click.echo(text_table(("kernel", "tile", "M, N, K", "figures", "idea"), rows, "ttttt"))
    click.echo(f"\nRecorded figures, {STATES}")


@main.command()
@click.argument("kernels", nargs=-1)
@_backend
@click.option("--shapes", type=Sizes(), help="Sizes to check, such as 128,256x128x64.")
@_precision
@_allow_slow
@json_option
def check(
    kernels: Sequence[str],
    on: str | None,
    shapes: list | None,
    precision: str | None,
    allow_slow: bool,
    as_json: bool,
) -> None:
    """Compare KERNELS (all, if none is named) with an fp64 reference.

    Exits with 1 unless all are right, with nothing found and nothing left out.
    """
    if on == "gpu" and (lacks := why_no_gpu()):
        raise BackendError(f"--on gpu: {lacks}; --on sim uses the simulator")
    cubes = [(s, s, s) if isinstance(s, int) else s for s in shapes or ()]
    specs = [registry.get(name) for name in kernels] or _all_here(on)
    how: dict[str, Any] = {"device": _DEVICES[on] if on else None, "allow_slow": allow_slow}
    how["precisions"] = [precision] if precision else None
    reports = [check_one(spec, cubes or None, **how) for spec in specs]
    if as_json:
        print_json([report.to_dict() for report in reports])
    else:
        click.echo("\n".join(map(repr, reports)))
    if not all(report.ok for report in reports):
        sys.exit(1)


@main.command()
@click.argument("kernels", nargs=-1)
@click.option("--sizes", type=Sizes(), default="4096", show_default=True)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default="interleaved",
    show_default=True,
    help="In turns with cuBLAS; ten launches after a rest; seconds of steady load; or in turns, "
    "24 launches in a CUDA graph.",
)
@click.option("--warm-l2", is_flag=True, help="Leave the inputs in L2 between launches.")
@click.option("--samples", type=click.IntRange(1), default=50, show_default=True)
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Time for each kernel.")
@click.option("--tf32", is_flag=True, help="Also time cuBLAS with TF32 on.")
@_precision
@json_option
def bench(
    kernels: Sequence[str],
    sizes: list,
    mode: str,
    warm_l2: bool,
    samples: int,
    seconds: float | None,
    tf32: bool,
    precision: str | None,
    as_json: bool,
) -> None:
    """Time KERNELS against cuBLAS: if none is named, all of the first part that has the types.

    Without a GPU this shows the recorded run, and says so.
    """
    result = run_bench(
        list(kernels) or None,
        sizes,
        mode=mode,
        warm_l2=warm_l2,
        samples=samples,
        seconds=seconds,
        baselines=(*DEFAULT_BASELINES, *(OTHER_PRECISION if tf32 else ())),
        precision=precision,
    )
    _show(result, as_json)


@main.command()
@click.argument("kernel")
@click.option("--sizes", type=Sizes(), default="4096", show_default=True)
@click.option("--samples", type=click.IntRange(1), default=20, show_default=True)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=0.3,
    show_default=True,
    help="Time for each configuration at each size.",
)
@click.option("--again", is_flag=True, help="Measure also what the cache already has.")
@json_option
def tune(
    kernel: str, sizes: list, samples: int, seconds: float, again: bool, as_json: bool
) -> None:
    """Time every configuration of KERNEL against cuBLAS, and keep the best of each size.

    The choices go into the cache, for this GPU; an interrupted tuning goes on where it was. Without
    a GPU this shows the recorded tuning, and says so.
    """
    _show(run_tune(kernel, sizes, samples=samples, seconds=seconds, again=again), as_json)


@main.command()
@click.argument("kernel")
@click.option("-M", "m", type=click.IntRange(1), default=256, show_default=True)
@click.option("-N", "n", type=click.IntRange(1), default=256, show_default=True)
@click.option("-K", "k", type=click.IntRange(1), default=64, show_default=True)
@_precision
@_allow_slow
@json_option
def trace(
    kernel: str, m: int, n: int, k: int, precision: str | None, allow_slow: bool, as_json: bool
) -> None:
    """What the memory system does, line by line, on the simulator.

    Exits with 1 if the simulator finds a race or another fault.
    """
    how: dict[str, Any] = {"precision": precision or "", "allow_slow": allow_slow}
    result = run_trace(kernel, M=m, N=n, K=k, **how)
    _show(result, as_json)
    if result.findings:
        sys.exit(1)


main.add_command(simulate)


@main.command()
@click.option(
    "--family",
    type=click.Choice(FAMILIES),
    default="sgemm",
    show_default=True,
    help="The steps of a part of the book; each part has a file.",
)
@click.option("--sizes", type=Sizes(), help="Default: those of the book.")
@click.option(
    "--only",
    type=click.Choice(SECTIONS),
    multiple=True,
    help="Measure only this section and keep the others. Can be given more than once.",
)
@click.option("--kernel", "kernels", multiple=True, help="Measure only this step. Repeatable.")
@click.option(
    "--output", type=click.Path(dir_okay=False), help="Default: book/measurements/GPU.json"
)
def record(
    family: str,
    sizes: list | None,
    only: Sequence[str],
    kernels: Sequence[str],
    output: str | None,
) -> None:
    """Measure this GPU for the book (five minutes with 16 cores).

    The file is replaced after each section, in one step: an interrupted run keeps what it has.
    """
    path = run_record(sizes, only or None, kernels or None, output, family)
    click.echo(f"wrote {path}")


@main.command()
@click.option("--reset", is_flag=True, help="Start over: forget what was solved, after a question.")
@json_option
def progress(reset: bool, as_json: bool) -> None:
    """Which exercises of the book you have solved, and when.

    Noted in a notebook when a judge says "Solved", with the answer; --json also prints the answers.
    """
    try:
        if reset:
            count = len(reader_progress().solved)
            if not click.confirm(f"Forget {count} solved exercises in {solved.path()}?"):
                return
            solved.reset()
        _show(reader_progress(), as_json)
    except OSError as error:
        raise click.ClickException(solved.unusable(error)) from None


def _all_here(on: str | None) -> list[KernelSpec]:
    """All steps; of those on a GPU the ones that it can run, which is said."""
    on = on or default_backend()
    lacks = {}
    if on == "gpu":
        lacks = {spec.name: lacking(registry.program(spec)) for spec in registry.KERNELS}
    for why in filter(None, lacks.values()):
        click.echo(f"Left out: {why}", err=True)
    return [spec for spec in registry.KERNELS if not lacks.get(spec.name)]


def _needs(spec: KernelSpec) -> str:
    if set(spec.multiple_of) == {1}:
        return "any"
    return "multiples of " + ", ".join(map(str, spec.multiple_of))


def _show(result, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo(repr(result))
