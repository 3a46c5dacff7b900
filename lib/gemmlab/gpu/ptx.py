"""What nvcc makes of a step before ptxas: `lab.ptx(step, find="cvta.param")` shows such lines.

Compiled here where there is an nvcc; no GPU is needed. Without one, lines of the steps that
`tools/evidence/record_ptx.py` has written to `book/measurements/ptx/sm_90a.json`.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from ..core.arguments import brief, integer
from ..core.errors import ArgumentError, BackendError, BuildError, MeasurementError
from ..core.files import load_json
from ..core.paths import kernels_folder, measurements_folder
from ..display.code import Line, Listing
from ..measurements.staleness import TARGET
from ..steps.program import Program
from ..steps.registry import program
from ..steps.spec import KernelSpec
from ..steps.text import included_files, source_digest
from . import build
from .toolchain import FLAGS, compiler_lines, nvcc

_VERSION = re.compile(r"Cuda compilation tools, release [\d.]+, V([\d.]+)")
_PARAMETER = re.compile(r"\b_Z\w+?_param_(\d+)")


def ptx(kernel: str | KernelSpec | Program, find: str = "", most: int = 20) -> Listing:
    """Lines of a step's PTX, of its first precision, in which the regular expression `find` occurs.

    Parameters of the kernel are called param_0, param_1 and so on, without the kernel's name in
    front. The text is nvcc's, or the recorded one without nvcc.

    kernel: a step or a variant. find: of Python's `re`; "": every line. most: lines that are shown
    at most, from the first on; the title says how many there are. Raises ArgumentError for a wrong
    `find` or `most`, BuildError for what nvcc refuses, and MeasurementError without nvcc if the
    step's current text was not recorded.
    """
    integer("most", most, 1, allowed="expected a number of lines, 1 or more")
    try:
        wanted = re.compile(find)
    except (re.error, TypeError) as error:
        raise ArgumentError(f"find: {brief(find)} is no regular expression, {error}") from None
    shown_program = program(kernel)
    lines, origin = _lines(shown_program)
    found = [Line(n, text) for n, text in enumerate(lines, 1) if wanted.search(text)]
    shown = [Line(line.number, " ".join(line.text.split())) for line in found[:most]]
    count = f"{len(found):,} of {len(lines):,} lines"
    if find:
        count += f" with {find}"
    if len(found) > most:
        count += f", the first {most}"
    return Listing(f"{shown_program.title} as PTX, {origin}: {count}", tuple(shown))


def compiled(step: Program) -> tuple[str, ...]:
    """All lines of a step's PTX for sm_90a. Needs nvcc, no GPU. Raises BackendError, BuildError."""
    path = step.source.path
    source = build.source_text(path, step.launch(), step.spec.workspace)
    headers = "\0".join(file.read_text() for file in included_files(path))
    try:
        return _compile(nvcc(), source, headers)
    except BuildError as error:
        raise BuildError(f"{step.title}, PTX:\n{error}") from None


def version(lines: tuple[str, ...]) -> str:
    """The nvcc that wrote some PTX, by its own header: "13.0.88"."""
    return next((m[1] for line in lines[:20] if (m := _VERSION.search(line))), "of unknown version")


def recorded() -> dict:
    """What was recorded. Raises MeasurementError if nothing was."""
    return load_json(recording(), "`python -m tools.evidence.record_ptx` adds it")


def recording() -> Path:
    """Where the recording lies."""
    return measurements_folder() / "ptx" / f"sm_{TARGET}.json"


def _lines(step: Program) -> tuple[tuple[str, ...], str]:
    """All lines, and who compiled them for what."""
    try:
        lines = compiled(step)
        return lines, f"nvcc {version(lines)}, sm_{TARGET}"
    except BackendError as missing:
        data, digest = recorded(), source_digest(step.source.path)
        for one in data["kernels"].values():
            if one["source"] == digest:
                lines = tuple(one["ptx"])
                return lines, f"recorded {data['date']}, nvcc {version(lines)}, sm_{TARGET}"
        raise MeasurementError(
            f"ptx: {step.title} was not recorded as it stands; there are "
            f"{', '.join(data['kernels'])}. Any other needs nvcc. {missing}"
        ) from None


@cache
def _compile(nvcc: str, source: str, headers: str) -> tuple[str, ...]:
    """The lines of the PTX; `headers` is only there for the cache to know a changed file."""
    include, target = f"-I{kernels_folder()}", f"compute_{TARGET}"
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "kernel.cu", Path(folder) / "kernel.ptx"
        file.write_text(source)
        code = f"-gencode=arch={target},code={target}"
        flags = [flag for flag in FLAGS if flag != "-lineinfo"]
        done = subprocess.run(
            [nvcc, *flags, include, code, "-ptx", file, "-o", out], capture_output=True, text=True
        )
        if done.returncode:
            raise BuildError(compiler_lines(done.stderr))
        return tuple(_PARAMETER.sub(r"param_\1", out.read_text()).splitlines())
