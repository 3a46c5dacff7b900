"""Compile a program, run it in a process of its own, and say what came of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from ...core import arguments as checks
from ...core import machine
from ...core.errors import ArgumentError, BackendError
from ...core.worker import with_tuples
from ..counts import LineCount
from ..findings import Finding
from ..trace import Findings
from .build import ProgramLibrary, Source, build_program
from .collect import shown
from .launch import Launch
from .report import ProgramReport, returned
from .request import Request
from .widths import Widths, read_cubin

SECONDS = 60.0
_MOST_OUTPUT = 1 << 20  # characters that are kept
_GRACE = 15.0  # seconds that the process has beyond the program's time, to count and answer


@dataclass(frozen=True)
class Options:
    """How a program is run. Those of `program`; echo: gets what it prints, while it prints.

    widths: of its machine code (`widths_of`): what nvcc has merged is counted as it is there.
    """

    arguments: Sequence[str] = ()
    kernel: str = ""
    trace: bool = True
    seconds: float = SECONDS
    echo: Callable[[str], None] | None = None
    widths: Widths | None = None


def program(
    files: str | Path | Sequence[str | Path],
    *,
    arguments: Sequence[str] = (),
    include: Sequence[str | Path] = (),
    define: Mapping[str, object] | Sequence[str] = (),
    kernel: str = "",
    trace: bool = True,
    seconds: float = SECONDS,
) -> ProgramReport:
    """Compile a CUDA program as it is, run its main(), and look at each of its launches.

    files: its .cu file, or several that are linked. arguments: of main(). include: folders of its
    headers. define: macros, {"N": 64} or ["N=64"]. kernel: report the launches of this one only.
    trace: count, and look for races; without it only what stops a kernel is found, and the program
    is several times faster. seconds: that it may run.
    Raises ArgumentError for a file or kernel that is not there, NotRunnableError (a BuildError)
    with all reasons, BackendError without g++.
    """
    options = Options(arguments, kernel, checks.flag("trace", trace), seconds)
    return run_program(source_of(files, include, define), options)


def run_program(source: Source, options: Options) -> ProgramReport:
    """What `program` does, of a source that was checked."""
    seconds = checked_seconds(options.seconds)
    source = replace(source, traced=options.trace)
    built = build_program(source)
    report = execute(source, built, replace(options, seconds=seconds))
    return _only(report, options.kernel) if options.kernel else report


def source_of(
    files: str | Path | Sequence[str | Path],
    include: Sequence[str | Path],
    define: Mapping[str, object] | Sequence[str],
) -> Source:
    """What is to be compiled, checked. Raises ArgumentError, and BackendError on other systems."""
    if elsewhere := machine.elsewhere():
        raise BackendError(elsewhere)
    single = isinstance(files, str | Path)
    given = [files] if single else checks.sequence("files", files, '"my.cu"')
    if not given:
        raise ArgumentError("files: none is given; name a .cu file")
    paths = [checks.file_path("files", file).resolve() for file in given]
    for path in paths:
        if not path.is_file():
            raise ArgumentError(f"files: there is no file {shown(str(path))}; name a .cu file")
    folders = [checks.file_path("include", folder).resolve() for folder in include]
    for folder in folders:
        if not folder.is_dir():
            raise ArgumentError(f"include: there is no folder {folder}; name one with headers")
    macros = (
        [f"{name}={value}" for name, value in define.items()]
        if isinstance(define, Mapping)
        else list(define)
    )
    return Source(tuple(paths), tuple(folders), tuple(f"-D{macro}" for macro in macros))


def checked_seconds(seconds: float) -> float:
    """A time above 0."""
    return checks.seconds("seconds", seconds)


def widths_of(cubin: str | Path) -> Widths:
    """How wide the loads and stores of a cubin are, line by line, for `Options`.

    cubin: of the program's file, made with nvcc -cubin -lineinfo for the GPU in question. Raises
    ArgumentError if there is no such file, or it says nothing; BackendError without nvdisasm.
    """
    path = checks.file_path("cubin", cubin).resolve()
    if not path.is_file():
        raise ArgumentError(f"cubin: there is no file {shown(str(path))}; name one that nvcc made")
    return read_cubin(path)


def execute(source: Source, built: ProgramLibrary, options: Options) -> ProgramReport:
    """Run what was compiled."""
    with tempfile.TemporaryDirectory(prefix="gemmlab-sim-") as work:
        answer = Path(work) / "answer.json"
        request = Request(
            name=str(source.files[0].with_suffix("")),
            library=str(built.library),
            runtime=str(built.runtime),
            lines=str(built.library.with_suffix(".lines.json")),
            sources=tuple(map(str, built.sources)),
            arguments=tuple(map(str, options.arguments)),
            seconds=options.seconds,
            traced=options.trace,
            threads=len(os.sched_getaffinity(0)),
            answer=str(answer),
            widths=tuple(map(tuple, options.widths.to_rows())) if options.widths else (),
        )
        output, ended = _execute(request, options.echo)
        report = _reported(source, built, _read(answer), (output, ended))
    if not options.widths:
        return report
    lines = [line for launch in report.launches for line in launch.lines]
    return replace(report, notes=(*report.notes, *options.widths.unlike(lines)))


def _execute(request: Request, echo: Callable[[str], None] | None) -> tuple[str, int]:
    """What the program has printed, and how its process ended."""
    paths = [str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    process = subprocess.Popen(
        (sys.executable, "-m", "gemmlab.sim.program.process"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )
    assert process.stdin and process.stdout
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(request.to_json().encode())
            process.stdin.close()
        output = _Output(process.stdout, echo)
        with suppress(subprocess.TimeoutExpired):
            process.wait(request.seconds + _GRACE)
    finally:
        for end in (os.killpg, os.kill):  # with all that the program has started
            with suppress(ProcessLookupError, PermissionError):
                end(process.pid, signal.SIGKILL)
        process.wait()
    return output.text(), process.returncode


class _Output:
    """Reads what a process prints, on a thread of its own."""

    def __init__(self, stream: IO[bytes], echo: Callable[[str], None] | None) -> None:
        self._stream, self._echo = stream, echo
        self._parts: list[str] = []
        self._kept = self._left_out = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self._stream:
            text = line.decode(errors="replace")
            if self._kept + len(text) > _MOST_OUTPUT:
                self._left_out += 1
                continue
            self._kept += len(text)
            self._parts.append(text)
            if self._echo:
                self._echo(text)

    def text(self) -> str:
        """All of it, once the process has ended."""
        self._thread.join(timeout=5)
        more = f"... and {self._left_out:,} more lines\n" if self._left_out else ""
        return "".join(self._parts) + more


def _read(answer: Path) -> dict[str, Any] | None:
    try:
        data: dict[str, Any] = with_tuples(json.loads(answer.read_text()))
        return data
    except (OSError, ValueError):
        return None


def _reported(
    source: Source,
    built: ProgramLibrary,
    answer: dict[str, Any] | None,
    ended: tuple[str, int],
) -> ProgramReport:
    output, code = ended
    notes = tuple(
        f"there is no header {header}; the program does not need it" for header in built.missing
    )
    if answer is None:
        return ProgramReport(source.name, None, output, (), Findings([_lost(code)]), (), notes)
    launches = tuple(_launch(row) for row in answer["launches"])
    host = [Finding(**row) for row in answer["host"]]
    gaps = [*answer["gaps"], *_gaps(built, launches)]
    if answer["exit"] and not gaps:  # else it may come of what was not run
        host.append(returned(source.name, answer["exit"]))
    return ProgramReport(
        source.name, answer["exit"], output, launches, Findings(host), tuple(gaps), notes
    )


def _gaps(built: ProgramLibrary, launches: Sequence[Launch]) -> list[str]:
    """What was not run, and all other places like that, to which a longer run might come."""
    found = [gap for launch in launches for gap in launch.gaps]
    long = [f"{gap}" for gap in found if gap.kind == "long-loop"]
    gaps = [gap for gap in found if gap.kind == "not-simulated"]
    told = {(gap.file, gap.line) for gap in gaps}
    others = [
        f"{shown(str(place.file))}:{place.line}: {place.what} is not simulated either"
        for place in built.not_covered
        if gaps and (shown(str(place.file)), place.line) not in told
    ]
    return [*long, *map(str, gaps), *others]


def _lost(code: int) -> Finding:
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"
    text = (
        f"The program's process has ended {how} before it could say where; its memory may be "
        "damaged, as by a write through a wild pointer, or used up"
    )
    return Finding("process", text, None, None, fatal=True)


def _launch(row: dict[str, Any]) -> Launch:
    lines = tuple(LineCount(**line) for line in row["lines"])
    findings = Findings(Finding(**finding) for finding in row["findings"])
    return Launch(**{**row, "lines": lines, "findings": findings})


def _only(report: ProgramReport, kernel: str) -> ProgramReport:
    """The report of one kernel's launches. Raises ArgumentError if there are none."""
    names = list(dict.fromkeys(launch.name for launch in report.launches))
    if kernel not in names and not report.gaps and not report.host:
        raise ArgumentError(
            f"kernel: {report.name} launches no {kernel}; it launches "
            f"{', '.join(names) or 'nothing'}"
        )
    return replace(report, launches=tuple(one for one in report.launches if one.name == kernel))
