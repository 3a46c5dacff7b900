"""Measure single-warp accesses and wgmma's operand reads with Nsight Compute, one launch each.

    python tests/gpu/record_patterns.py [--seed 1] [--only patterns|wgmma] [--output FOLDER]

writes book/measurements/wavefronts/{patterns,wgmma}_<gpu>.json. ncu runs this file again, with
--launch, as the program that it profiles.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "lib"), str(Path(__file__).parent)]

from draw_patterns import GLOBAL_BYTES, draw, draw_wgmma  # noqa: E402

from gemmlab import build, counters, measurements, telemetry  # noqa: E402
from gemmlab.device import find_ncu  # noqa: E402
from gemmlab.errors import BackendError, LaunchError, MeasurementError  # noqa: E402

FIXTURES = ROOT / "tests" / "sim" / "fixtures"
FOLDER = ROOT / "book" / "measurements" / "wavefronts"
BATCH = 100  # launches of one ncu process

# Operations of a fixture file, in the order of its enumeration.
FILES = {
    "patterns": ("ld", "st", "red", "atom", "red.f32"),
    "patterns_matrix": ("ldmatrix", "ldmatrix.trans", "stmatrix", "stmatrix.trans"),
    "patterns_copy": ("cp.async.ca", "cp.async.cg", "cp.async.ca.zfill", "cp.async.cg.zfill"),
    "wgmma_reads": ("wgmma",),
}
FORMS = ("ss", "ss.a_trans", "ss.b_trans", "ss.both_trans", "rs", "rs.b_trans")

_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_CONFLICTS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
METRICS = {
    **{f"{op} wavefronts": _WAVEFRONTS.format(op) for op in ("ld", "st", "ldsm", "stsm", "ldgsts", "atom")},
    **{f"{op} conflicts": _CONFLICTS.format(op) for op in ("ldsm", "stsm", "ldgsts")},
    **{f"{op} {what}": _GLOBAL.format(what, op) for op in ("ld", "st", "ldgsts") for what in ("requests", "sectors")},
}
WGMMA_METRICS = {
    "wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
}


class Pattern(ctypes.Structure):
    """fixtures/patterns.cuh's structure of this name."""

    _fields_ = (
        *((name, ctypes.c_int32 * 32) for name in ("shared", "global_", "source_bytes")),
        ("mask", ctypes.c_uint32),
    )


def file_of(op: str) -> str:
    """The fixture file that has an operation."""
    return next(file for file, ops in FILES.items() if op in ops)


def arguments(case: dict) -> tuple[ctypes.Array | ctypes.Structure, int, int, int]:
    """What A points to, and M, N and K of the launch."""
    if case["op"] == "wgmma":
        operands = [case["a"] or case["b"], case["b"]]
        fields = [o[name] for o in operands for name in ("mode", "start", "leading", "stride")]
        values = (ctypes.c_int32 * 9)(*fields, case["instructions"])
        return values, FORMS.index(case["form"]), case["n"], case["warpgroups"]
    lanes = [(ctypes.c_int32 * 32)(*case.get(name, [0] * 32)) for name in ("shared", "global", "source_bytes")]
    return Pattern(*lanes, case["mask"]), FILES[file_of(case["op"])].index(case["op"]), case["size"], 1


def launch_all(cases: list[dict]) -> None:
    """Launch each case once, profiled."""
    import torch

    modules = {file: load(file) for file in {file_of(case["op"]) for case in cases}}
    memory = torch.zeros(GLOBAL_BYTES, dtype=torch.uint8, device="cuda")
    out = torch.zeros(GLOBAL_BYTES, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    for case in cases:
        values, *sizes = arguments(case)
        pointers = (ctypes.addressof(values), memory.data_ptr(), out.data_ptr())
        code = modules[file_of(case["op"])].launch(*pointers, *sizes, 1.0, 0.0, 0)
        if code:
            raise LaunchError(f"{case}: cudaError {code}")
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def load(file: str):
    return build.load_source(FIXTURES / f"{file}.cu", f"launch_{file if file == 'wgmma_reads' else 'patterns'}", file)


def measure(cases: list[dict], metrics: dict[str, str]) -> list[dict]:
    """The counters of each case, by short name."""
    found = []
    for start in range(0, len(cases), BATCH):
        found += _measure_batch(cases[start : start + BATCH], metrics)
    return found


def _measure_batch(cases: list[dict], metrics: dict[str, str]) -> list[dict]:
    ncu = find_ncu()
    if ncu is None:
        raise BackendError("ncu: not found")
    with tempfile.TemporaryDirectory() as folder:
        log, file = Path(folder) / "ncu.csv", Path(folder) / "cases.json"
        file.write_text(json.dumps(cases))
        command = [
            *(ncu, "--metrics", ",".join(metrics.values()), "--csv", "--page", "raw"),
            *("--print-units", "base", "--clock-control", "none", "--cache-control", "none"),
            *("--profile-from-start", "off", "--target-processes", "application-only"),
            *("--log-file", str(log), sys.executable, __file__, "--launch", str(file)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=400)
        text = log.read_text(errors="replace") if log.exists() else ""
    launches = counters.parse(text)
    if len(launches) != len(cases):
        raise MeasurementError(f"{len(launches)} launches of {len(cases)}\n{text[-3000:]}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return [{k: launch.get(m) for k, m in metrics.items()} for launch in launches]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--launch")
    a = parser.parse_args()
    launch_all(json.loads(Path(a.launch).read_text()))
