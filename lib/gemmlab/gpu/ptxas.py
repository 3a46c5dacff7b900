"""What ptxas says of a step: registers, spills, shared memory."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import BuildError
from ..core.paths import kernels_folder
from ..steps.program import Program
from .build import source_text
from .toolchain import FLAGS, compiler_lines, gencode, nvcc


@dataclass(frozen=True)
class Resources:
    """What ptxas gave a kernel: registers a thread; bytes of spills, stack and shared memory."""

    registers: int
    spill_stores_bytes: int
    spill_loads_bytes: int
    stack_bytes: int
    shared_bytes: int


def resources(program: Program, target: str = "90a", precision: str = "") -> Resources:
    """Registers, spills and shared memory of a step, as ptxas reports them. Needs nvcc, no GPU."""
    return parse(ptxas_log(program, target, precision))


def ptxas_log(program: Program, target: str = "90a", precision: str = "") -> str:
    """What ptxas reports of a step, kernel by kernel. Raises BuildError, BackendError."""
    launch = program.launch(precision)
    command = [nvcc(), *FLAGS, f"-I{kernels_folder()}", gencode(target), "-Xptxas=-v"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.cu"
        source.write_text(source_text(program.source.path, launch, program.spec.workspace))
        files = ["-cubin", str(source), "-o", f"{folder}/kernel.cubin"]
        done = subprocess.run([*command, *files], capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{program.title} did not compile:\n{compiler_lines(done.stderr)}")
    return done.stderr


def parse(log: str) -> Resources:
    """The most that any kernel in ptxas' report takes."""

    def number(pattern: str) -> int:
        return max((int(n) for n in re.findall(pattern, log)), default=0)

    return Resources(
        registers=number(r"Used (\d+) registers"),
        spill_stores_bytes=number(r"(\d+) bytes spill stores"),
        spill_loads_bytes=number(r"(\d+) bytes spill loads"),
        stack_bytes=number(r"(\d+) bytes stack frame"),
        shared_bytes=number(r"(\d+) bytes smem"),
    )
