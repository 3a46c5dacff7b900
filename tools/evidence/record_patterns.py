"""Measure single-warp accesses and wgmma's operand reads with Nsight Compute, one launch each.

    python -m tools.evidence.record_patterns [--draw SEED] [--only patterns|wgmma] [--folder FOLDER]

measures what stands in book/measurements/wavefronts/{patterns,wgmma}_<gpu>.json again, and writes
those files anew; --draw replaces the patterns by freshly drawn ones. ncu runs this file again, with
--launch, as the program that it profiles.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from gemmlab import measurements
from gemmlab.core.errors import BackendError, LaunchError, MeasurementError
from gemmlab.core.files import write_whole
from gemmlab.core.paths import measurements_folder
from gemmlab.evidence import patterns as agreement
from gemmlab.evidence import recordings
from gemmlab.evidence.patterns import Pattern
from gemmlab.gpu import build, telemetry
from gemmlab.gpu.toolchain import find_ncu
from gemmlab.record import ncu as counters

from .. import command
from .draw_patterns import GLOBAL_BYTES, draw_all
from .draw_wgmma import draw_wgmma

ROOT = Path(__file__).resolve().parents[2]

FIXTURES = ROOT / "tests" / "sim" / "fixtures"
FOLDER = measurements_folder() / "wavefronts"
BATCH = 1000  # launches of one ncu process

# Operations of a fixture file, in the order of its enumeration.
FILES = {
    "patterns": ("ld", "st", "red", "atom", "red.f32", "exch", "max", "cas"),
    "patterns_matrix": ("ldmatrix", "ldmatrix.trans", "stmatrix", "stmatrix.trans"),
    "patterns_copy": ("cp.async.ca", "cp.async.cg", "cp.async.ca.zfill", "cp.async.cg.zfill"),
    "wgmma_reads": ("wgmma",),
}
FORMS = ("ss", "ss.a_trans", "ss.b_trans", "ss.both_trans", "rs", "rs.b_trans")

_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
_CONFLICTS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
_GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_COPIED = "smsp__sass_l1tex_t_{}_pipe_lsu_mem_global_op_ldgsts.sum"
_WGMMA = {"wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"}


class Lanes(ctypes.Structure):
    """fixtures/patterns.cuh's Pattern."""

    _fields_ = (
        *((name, ctypes.c_int32 * 32) for name in ("shared", "global_", "source_bytes")),
        ("mask", ctypes.c_uint32),
    )

    @classmethod
    def of(cls, pattern: Pattern) -> Lanes:
        """The structure of a pattern."""
        places = (pattern.shared, pattern.source, pattern.source_bytes)
        arrays = [(ctypes.c_int32 * 32)(*([] if p is None else p.tolist())) for p in places]
        return cls(*arrays, sum(1 << n for n in range(32) if pattern.active[n]))


def file_of(op: str) -> str:
    """The fixture file that has an operation."""
    return next(file for file, ops in FILES.items() if op in ops)


def load(file: str) -> ModuleType:
    """A fixture file for the GPU."""
    launch = "launch_wgmma_reads" if file == "wgmma_reads" else "launch_patterns"
    return build.load_source(FIXTURES / f"{file}.cu", launch, file)


def arguments(entry: dict) -> tuple[ctypes.Array | Lanes, int, int, int]:
    """What A points to, and M, N and K of the launch of an entry of a recorded file."""
    if "form" in entry:
        operands = (entry["a"] or entry["b"], entry["b"])
        fields = [o[name] for o in operands for name in ("mode", "start", "leading", "stride")]
        values = (ctypes.c_int32 * 9)(*fields, entry["instructions"])
        return values, FORMS.index(entry["form"]), entry["n"], entry["warpgroups"]
    operation = FILES[file_of(entry["op"])].index(entry["op"])
    return Lanes.of(Pattern.from_dict(entry)), operation, entry["size"], 1


def metrics_of(entry: dict) -> dict[str, str]:
    """What is counted of an entry: ncu's metrics by the names of the recorded file."""
    if "form" in entry:
        return _WGMMA
    op = entry["op"].partition(".")[0]
    if op == "cp":
        found = {name: _COPIED.format(name) for name in ("requests", "sectors")}
        return {"wavefronts": _WAVEFRONTS.format("ldgsts"), **found}
    kind = {"ld": "ld", "st": "st", "ldmatrix": "ldsm", "stmatrix": "stsm"}.get(op, "atom")
    found = {"wavefronts": _WAVEFRONTS.format(kind)}
    if "matrix" in op:
        found["conflicts"] = _CONFLICTS.format(kind)
    if "global" in entry:
        found |= {name: _GLOBAL.format(name, kind) for name in ("requests", "sectors")}
    return found


def launch_all(entries: Sequence[dict]) -> None:
    """Launch each entry once, profiled."""
    import torch

    files = ["wgmma_reads" if "form" in entry else file_of(entry["op"]) for entry in entries]
    modules = {file: load(file) for file in set(files)}
    memory, out = (torch.zeros(GLOBAL_BYTES, dtype=torch.uint8, device="cuda") for _ in range(2))
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    for entry, file in zip(entries, files, strict=True):
        values, *sizes = arguments(entry)
        pointers = (ctypes.addressof(values), memory.data_ptr(), out.data_ptr())
        if code := modules[file].launch(*pointers, *sizes, 1.0, 0.0, 0):
            raise LaunchError(f"{entry}: {modules[file].error_string(code)}")
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def measure(entries: Sequence[dict]) -> list[dict]:
    """The entries with what the GPU counts for each; those with equal metrics are run together."""
    groups: dict[tuple, list[int]] = {}
    for i, entry in enumerate(entries):
        groups.setdefault(tuple(metrics_of(entry).items()), []).append(i)
    found = [dict(entry) for entry in entries]
    for metrics, members in groups.items():
        for start in range(0, len(members), BATCH):
            batch = members[start : start + BATCH]
            launches = _profile([entries[i] for i in batch], [metric for _, metric in metrics])
            for i, launch in zip(batch, launches, strict=True):
                found[i] |= {name: launch[metric] for name, metric in metrics}
    return found


def _profile(entries: Sequence[dict], metrics: Sequence[str]) -> list[dict]:
    """ncu's metrics of each launch."""
    ncu = find_ncu()
    if ncu is None:
        raise BackendError("ncu: not found; it is Nsight Compute, a part of the CUDA toolkit")
    with tempfile.TemporaryDirectory() as folder:
        log, file = Path(folder) / "ncu.csv", Path(folder) / "entries.json"
        file.write_text(json.dumps(list(entries)))
        command = [
            *(ncu, "--metrics", ",".join(metrics), "--csv", "--page", "raw"),
            *("--print-units", "base", "--clock-control", "none", "--cache-control", "none"),
            *("--profile-from-start", "off", "--target-processes", "application-only"),
            *("--log-file", str(log), sys.executable, "-m"),
            *("tools.evidence.record_patterns", "--launch", str(file)),
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
        text = log.read_text(errors="replace") if log.exists() else ""
    launches = counters.parse(text)
    if done.returncode or len(launches) != len(entries):
        problem = f"{len(launches)} launches profiled instead of {len(entries)}"
        raise MeasurementError(
            f"{problem}\n{text[-2000:]}{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return launches


def without_counts(entries: Sequence[dict]) -> list[dict]:
    """Entries of a recorded file as they were before they were measured."""
    return [{k: v for k, v in entry.items() if k not in agreement.COUNTS} for entry in entries]


def patterns_of(seed: int | None) -> dict[str, list[dict]]:
    """Sets of patterns: fresh ones, or those of the recorded file."""
    if seed is not None:
        return draw_all(seed)
    sets = recordings.load(FOLDER / f"patterns_{recordings.GPU}.json")["sets"]
    return {part["about"]: without_counts(part["patterns"]) for part in sets}


def record(only: Sequence[str], seed: int | None, folder: Path) -> list[Path]:
    """Measure, and write the files."""
    environment = telemetry.environment()
    made = []
    if "patterns" in only:
        sets = [
            {"about": about, "environment": environment, "patterns": measure(entries)}
            for about, entries in patterns_of(seed).items()
        ]
        made.append(write("patterns", {"sets": sets}, folder, environment["gpu"]))
    if "wgmma" in only:
        content = {"environment": environment, "instructions": measure(draw_wgmma())}
        made.append(write("wgmma", content, folder, environment["gpu"]))
    return made


def write(name: str, content: dict, folder: Path, gpu: str) -> Path:
    """A recorded file, with a line for each entry, replaced in one step."""
    path = folder / f"{name}_{measurements.slug(gpu)}.json"
    text = json.dumps(content, separators=(",", ":"))
    for first in ("op", "form"):
        text = text.replace(f'{{"{first}"', f'\n{{"{first}"')
    return write_whole(path, text + "\n")


def main() -> None:
    """The command line."""
    parser = command.parser("evidence.record_patterns", __doc__)
    parser.add_argument("--draw", type=int, metavar="SEED")
    parser.add_argument("--only", choices=("patterns", "wgmma"))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--launch", help=argparse.SUPPRESS)
    given = parser.parse_args()
    command.require_gpu()
    if given.launch:
        launch_all(json.loads(Path(given.launch).read_text()))
        return
    only = [given.only] if given.only else ["patterns", "wgmma"]
    print(*record(only, given.draw, given.folder), sep="\n")


if __name__ == "__main__":
    command.run(main)
