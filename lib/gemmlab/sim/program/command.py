"""`gemmlab sim`: a CUDA program, run as it is. Needs none of the packages that the course needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ...core.console import Group, ended, json_option, print_json
from ...core.errors import BackendError
from .blockers import NotRunnableError, listed
from .report import CANNOT_RUN, write_page
from .run import SECONDS, Options, run_program, source_of, widths_of


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The simulator's own command, where the others' packages are not installed."""


@main.command(name="sim")
@click.argument("files", nargs=-1, required=True, metavar="FILE.cu... [-- ARGUMENTS]")
@click.option("-I", "--include", multiple=True, metavar="FOLDER", help="Of headers. Repeatable.")
@click.option("-D", "--define", multiple=True, metavar="NAME[=VALUE]", help="A macro. Repeatable.")
@click.option(
    "--trace/--no-trace",
    default=True,
    help="Count, and look for races (the default). Without, a program is several times faster.",
)
@click.option("--kernel", default="", metavar="NAME", help="Report the launches of this one only.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=SECONDS,
    show_default=True,
    help="The longest time that the program may run.",
)
@click.option(
    "--cubin",
    type=click.Path(dir_okay=False),
    help="Of nvcc -cubin -lineinfo: count loads that it merges as its machine code does.",
)
@click.option("--html", type=click.Path(dir_okay=False), help="Also write an HTML report.")
@json_option
def simulate(
    files: Sequence[str],
    include: Sequence[str],
    define: Sequence[str],
    trace: bool,
    kernel: str,
    seconds: float,
    cubin: str | None,
    html: str | None,
    as_json: bool,
) -> None:
    """Run a CUDA program on the simulator, as it is, and look at each of its launches.

    What follows "--" are the program's arguments. Exits with 0 if nothing was found, 1 if something
    was, 2 if the program cannot be run, 3 if it was run in part.
    """
    sources = [file for file in files if file.endswith((".cu", ".cuh", ".cpp", ".cc", ".c"))]
    sources = sources[: _leading(files, sources)] or list(files[:1])
    try:
        echo = None if as_json else _echo
        widths = widths_of(cubin) if cubin else None
        options = Options(files[len(sources) :], kernel, trace, seconds, echo, widths)
        report = run_program(source_of(sources, include, define), options)
    except NotRunnableError as error:
        if as_json:
            print_json({"status": CANNOT_RUN, "blockers": list(map(vars, error.blockers))})
        raise ended(f"cannot run {sources[0]}:\n{listed(error.blockers)}", CANNOT_RUN) from None
    except BackendError as error:
        raise ended(str(error), CANNOT_RUN) from None
    if html:
        write_page(report, Path(html))
    click.echo(report.to_json() if as_json else report.summary())
    sys.exit(report.status)


def _echo(text: str) -> None:
    click.echo(text, nl=False)


def _leading(files: Sequence[str], sources: Sequence[str]) -> int:
    """How many of the arguments, from the first on, are sources."""
    count = 0
    while count < len(sources) and files[count] == sources[count]:
        count += 1
    return count
