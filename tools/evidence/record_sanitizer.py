"""What compute-sanitizer says of the simulator's kernels.

    python -m tools.evidence.record_sanitizer

runs the correct kernels (tools/mutants/subjects.py) under all four tools, and the kernels with
one mistake each, and their mended twins, under the tool that looks for such a mistake. Writes
book/measurements/wavefronts/sanitizer_<gpu>.json: errors by tool; -1: it did not end in time.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sim"))  # where the mistakes are listed

import test_clusters
import test_copy
import test_findings
import test_matrix
import test_mbarrier
import test_tma
import test_wgmma

from gemmlab import measurements
from gemmlab.core.errors import BackendError
from gemmlab.core.files import write_whole
from gemmlab.core.paths import kernels_folder, measurements_folder
from gemmlab.gpu import telemetry
from gemmlab.gpu.toolchain import nvcc

from .. import command
from ..mutants.subjects import SUBJECTS, Subject

FIXTURES = ROOT / "tests" / "sim" / "fixtures"
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
# Which tool looks for what the simulator calls so. The others have none: memory that a copy has in
# hand, fences and descriptors are not followed, and initcheck knows global memory only.
TOOL_OF = {
    **dict.fromkeys(("out-of-bounds", "misaligned"), "memcheck"),
    **dict.fromkeys(("race", "read-before-wait", "write-before-wait"), "racecheck"),
    **dict.fromkeys(("overwrite-before-release", "missing-fence"), "racecheck"),
    **dict.fromkeys(("divergent-barrier", "divergent-collective", "barrier-misuse"), "synccheck"),
}
SECONDS = 20
PROCESSES = 12
_PROGRAM = """#include "{path}"
#include <cstring>
#include <vector>
// A and B count up in floats, or are ones in 16 bits; C is NaN.
int main(int, char** argv) {{
  std::vector<unsigned char> a({a_bytes}), c({c_bytes}, 0xff);
  for (int i = 0; i < {a_bytes} / {width}; ++i) {{
    const float number = float(i % 1024);
    const unsigned short one = 0x3c00;
    std::memcpy(&a[i * {width}], {width} == 2 ? (const void*)&one : (const void*)&number, {width});
  }}
  void *A, *C;
  cudaMalloc(&A, a.size());
  cudaMalloc(&C, c.size());
  cudaMemcpy(A, a.data(), a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(C, c.data(), c.size(), cudaMemcpyHostToDevice);
  const GemmArgs args = {{A, A, C, {M}, {N}, {K}, 1.0f, 0.0f}};
  const cudaError_t error = (argv[1][0] == 'b' ? {broken} : {fixed})(args, nullptr);
  return error ? 2 : cudaDeviceSynchronize() ? 3 : 0;
}}
"""
# Width of an element, bytes of A and of C, M, N, K; by the beginning of the fixture's name.
_PROBLEMS = {
    "tma_": (4, 12288, 12288, 96, 32, 3),
    "wgmma_": (2, 2048, 2048, 64, 8, 16),
    "mbarrier_": (4, 384, 384, 8, 8, 8),
    "bar_": (4, 384, 384, 8, 8, 8),
    "cluster_": (4, 512, 512, 8, 8, 8),
    "": (4, 256, 256, 8, 8, 8),
}


@dataclass(frozen=True)
class Program:
    """A kernel as a program: what to compile, and which tools to run on which launcher."""

    name: str
    source: str
    runs: tuple[tuple[str, str], ...]


def mistakes() -> dict[str, str]:
    """Kind by fixture, from the tables of the simulator's tests; none that never ends."""
    kinds = {f"wgmma_{name}": mistake[0] for name, mistake in test_wgmma.MISTAKES.items()}
    kinds |= {name: mistake[0][0] for name, mistake in test_tma.MISTAKES.items()}
    for module in (test_findings, test_copy, test_matrix, test_mbarrier, test_clusters):
        kinds |= {name: mistake[0] for name, mistake in module.MISTAKES.items()}
    return {name: kind for name, kind in kinds.items() if kind in TOOL_OF}


def broken(name: str, kind: str) -> Program:
    """A fixture with a mistake, and its mended twin."""
    width, a_bytes, c_bytes, M, N, K = next(p for n, p in _PROBLEMS.items() if name.startswith(n))
    source = _PROGRAM.format(
        path=FIXTURES / f"{name}.cu",
        **{"width": width, "a_bytes": a_bytes, "c_bytes": c_bytes, "M": M, "N": N, "K": K},
        **{"broken": "launch_broken", "fixed": "launch_fixed"},
    )
    return Program(name, source, tuple((launch, TOOL_OF[kind]) for launch in ("broken", "fixed")))


def correct(about: Subject) -> Program:
    """A correct kernel at its first size."""
    run = next(about.runs())
    A, B, C, _ = about.data(run)
    source = _PROGRAM.format(
        path=about.path,
        **{"width": A.itemsize, "a_bytes": max(A.nbytes, B.nbytes), "c_bytes": C.nbytes},
        **{"M": run.M, "N": run.N, "K": run.K, "broken": about.launch, "fixed": about.launch},
    )
    return Program(about.name, source, tuple(("correct", tool) for tool in TOOLS))


def compile_one(program: Program, folder: Path) -> bool:
    """Whether nvcc takes it."""
    source = folder / f"{program.name}.cu"
    source.write_text(program.source)
    flags = ("-std=c++17", "-lineinfo", f"-I{kernels_folder()}")
    target = "-gencode=arch=compute_90a,code=sm_90a"
    command = [nvcc(), *flags, target, str(source), "-o", str(folder / program.name)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(program.name, "does not compile:", done.stderr[-400:])
    return not done.returncode


def errors(path: Path, launch: str, tool: str) -> int | None:
    """How many errors a tool reports; -1 if the program does not end, None if there is no sum."""
    options = ("--racecheck-report", "all") if tool == "racecheck" else ()
    command = ["compute-sanitizer", "--tool", tool, *options, "--print-limit", "1"]
    try:
        done = subprocess.run(
            [*command, str(path), launch], capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return -1
    found = re.findall(r"SUMMARY: (\d+) (?:error|hazard)", done.stdout)
    return int(found[-1]) if found else None


def record() -> Path:
    """Run everything, and write all or nothing."""
    programs = [*map(correct, SUBJECTS), *(broken(*item) for item in mistakes().items())]
    kernels: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(PROCESSES) as pool:
        compiled = list(pool.map(lambda p: compile_one(p, Path(folder)), programs))
        jobs = [
            (program.name, launch, tool)
            for program, good in zip(programs, compiled, strict=True)
            for launch, tool in (program.runs if good else ())
        ]
        counts = pool.map(lambda job: errors(Path(folder) / job[0], *job[1:]), jobs)
        for (name, launch, tool), count in zip(jobs, counts, strict=True):
            kernels.setdefault(name, {}).setdefault(launch, {})[tool] = count
            if (launch != "broken") == bool(count):
                print(name, launch, tool, count, flush=True)
    environment = telemetry.environment()
    slug = measurements.slug(environment["gpu"])
    path = measurements_folder() / "wavefronts" / f"sanitizer_{slug}.json"
    text = json.dumps({"environment": environment, "kernels": kernels}) + "\n"
    return write_whole(path, text)


def main() -> None:
    """The command line."""
    command.parser("evidence.record_sanitizer", __doc__).parse_args()
    for program in ("compute-sanitizer", nvcc()):
        if shutil.which(program) is None:
            raise BackendError(f"{program}: not found; it is a part of the CUDA toolkit")
    print(record())


if __name__ == "__main__":
    command.run(main)
