"""What Nsight Compute counts in every kernel that the simulator is tested with.

    python -m tools.evidence.record_fixtures [--check] [NAME ...]

writes book/measurements/wavefronts/kernels_<gpu>.json: the kernels of
tools/mutants/subjects.py at their first size, whose results must be exact. --check runs all
sizes and writes nothing. ncu runs this file again, with --launch, as the program that it profiles.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from gemmlab import measurements
from gemmlab.core.errors import BackendError, LaunchError, MeasurementError
from gemmlab.core.files import write_whole
from gemmlab.core.paths import measurements_folder
from gemmlab.gpu import build, telemetry
from gemmlab.gpu.toolchain import find_ncu
from gemmlab.record import ncu as counters

from .. import command
from ..mutants.subjects import SUBJECTS, Run, Subject, subject

ROOT = Path(__file__).resolve().parents[2]

FOLDER = measurements_folder() / "wavefronts"
_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
# l1tex__t_{requests,sectors}_pipe_lsu_mem_global_op_ld would count cp.async as well.
_GLOBAL = "smsp__sass_l1tex_t_{}_pipe_lsu_mem_global_op_{}.sum"
_INSTRUCTIONS = "smsp__sass_inst_executed_op_global_{}.sum"
_SHARED_OPS = {
    **{"ld.shared": "ld", "st.shared": "st", "ldmatrix": "ldsm", "stmatrix": "stsm"},
    "cp.async.shared": "ldgsts",
}
_GLOBAL_OPS = {"ld.global": "ld", "st.global": "st", "cp.async.global": "ldgsts"}
# By the simulator's operation and count.
METRICS = {
    **{f"{op} wavefronts": _WAVEFRONTS.format(name) for op, name in _SHARED_OPS.items()},
    "wgmma.shared wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
    **{f"{op} sectors": _GLOBAL.format("sectors", name) for op, name in _GLOBAL_OPS.items()},
    "ld.global requests": _INSTRUCTIONS.format("ld"),
    "st.global requests": _INSTRUCTIONS.format("st"),
    "cp.async.global requests": _GLOBAL.format("requests", "ldgsts"),
}


def launch(about: Subject, run: Run) -> bool:
    """Run a kernel once, on the current stream. Returns whether its result is exact."""
    module = build.load_source(about.path, about.launch, about.name)
    A, B, C, expected = about.data(run)
    tensors = [torch.from_numpy(m.view(_bits(m))).cuda() for m in (A, B, C)]
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    code = module.launch(
        *(t.data_ptr() for t in tensors), run.M, run.N, run.K, run.alpha, run.beta, 0
    )
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    if code:
        raise LaunchError(f"{about.name}: {module.error_string(code)}")
    got = tensors[2].cpu().numpy().view(C.dtype)
    return np.array_equal(got, expected, equal_nan=True)


def _bits(matrix: np.ndarray) -> type:
    """A type of torch's of the same width."""
    return {2: np.int16, 4: np.float32}[matrix.itemsize]


def check(names: list[str]) -> bool:
    """Every size of each kernel; prints what is wrong."""
    good = True
    for name in names:
        about = subject(name)
        for run in about.runs():
            try:
                exact = launch(about, run)
            except Exception as error:  # the next kernel is of interest, too
                exact = False
                print(name, run, error)
            print("exact" if exact else "WRONG", name, run, flush=True)
            good = good and exact
    return good


def measure(names: list[str]) -> list[dict[str, float | None]]:
    """Counters of each kernel at its first size. A metric that ncu does not know is left out."""
    ncu = find_ncu()
    if ncu is None:
        raise BackendError("ncu: not found; it is Nsight Compute, a part of the CUDA toolkit")
    wanted = dict(METRICS)
    while wanted:
        printed, launches = _profile(ncu, list(wanted.values()), names)
        if len(launches) == len(names):
            return [{key: run.get(metric) for key, metric in wanted.items()} for run in launches]
        unknown = counters.unknown_metrics(printed, wanted)
        if not unknown:
            raise MeasurementError(f"{len(launches)} launches of {len(names)}\n{printed}")
        wanted = {key: metric for key, metric in wanted.items() if key not in unknown}
    raise MeasurementError("ncu knows none of the metrics")


def _profile(ncu: str, metrics: list[str], names: list[str]) -> tuple[str, list[dict]]:
    """What was printed, and the launches."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        command = [
            *(ncu, "--metrics", ",".join(metrics), "--csv", "--page", "raw"),
            *("--print-units", "base", "--clock-control", "none", "--profile-from-start", "off"),
            *("--target-processes", "application-only", "--log-file", str(log)),
            *(sys.executable, "-m", "tools.evidence.record_fixtures", "--launch", *names),
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
        text = log.read_text(errors="replace") if log.exists() else ""
    return text + done.stdout + done.stderr, counters.parse(text)


def record(names: list[str]) -> Path:
    """Measure, and write all or nothing."""
    kernels = {}
    for name, counted in zip(names, measure(names), strict=True):
        about = subject(name)
        run = next(about.runs())
        kernels[name] = {
            "file": about.file,
            "launch": about.launch,
            "size": [run.M, run.N, run.K],
            "bytes": [matrix.nbytes for matrix in about.data(run)[:3]],
            "counters": counted,
        }
        print(name, counted, flush=True)
    environment = telemetry.environment()
    path = FOLDER / f"kernels_{measurements.slug(environment['gpu'])}.json"
    text = json.dumps({"environment": environment, "kernels": kernels}, indent=1) + "\n"
    return write_whole(path, text)


def main() -> int:
    """The command line."""
    parser = command.parser("evidence.record_fixtures", __doc__)
    parser.add_argument("names", nargs="*", default=[about.name for about in SUBJECTS])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--launch", action="store_true")
    arguments = parser.parse_args()
    command.require_gpu()
    if arguments.launch:
        exact = [launch(about, next(about.runs())) for about in map(subject, arguments.names)]
        return 0 if all(exact) else 1
    if arguments.check:
        return 0 if check(arguments.names) else 1
    print(record(arguments.names))
    return 0


if __name__ == "__main__":
    command.run(main)
