"""Hardware counters of the steps, read by Nsight Compute (ncu).

One ncu process runs `python -m gemmlab.record.ncu NAME ...` below, which launches each step once
between cudaProfilerStart and Stop. A step may be several kernels, such as one that packs A and B
before the product: the step's namespace says whose launch it is.
"""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import chain, takewhile
from pathlib import Path

from ..bench.protocol import launch_cublas, random_operands, tf32_off
from ..core.errors import BackendError, MeasurementError
from ..core.paths import repository_root
from ..gpu.toolchain import find_ncu
from ..measurements.metrics import CYCLES, DURATION
from ..run.kernel import kernel as handle_of

_REFUSED = (
    "the driver lets only administrators read counters (ERR_NVGPUCTRPERM); run as root, or set "
    "NVreg_RestrictProfilingToAdminUsers=0 for the nvidia kernel module"
)


def collect(
    names: Sequence[str], size: int, metrics: dict[str, str], precision: str = "fp32"
) -> dict[str, dict]:
    """Counters of each kernel at M = N = K = `size`: {kernel: {short name: value}}.

    "cublas" stands for torch.matmul, and must come last. Like a step, it may be several launches:
    their sums add up; a share of a peak or a ratio is that of the launch that takes longest. ncu
    empties the caches before each of them, so that a kernel reads again from DRAM what the one
    before it left in L2.
    A metric that this GPU or ncu does not have is left out. The kernels should have been built
    before. Raises BackendError without ncu, MeasurementError (with the reason) if it gives nothing.
    """
    ncu = find_ncu()
    if ncu is None:
        raise BackendError("ncu: not found; it is Nsight Compute, a part of the CUDA toolkit")
    wanted = dict(metrics)
    while wanted:
        asked = list(wanted.values())
        if not all(map(_adds_up, asked)):
            asked.append(DURATION)
        log, printed = _run_ncu(ncu, asked, names, size, precision)
        if launches := parse(log):
            return _assign(names, launches, wanted)
        missing = unknown_metrics(log + printed, wanted)
        if not missing:
            raise MeasurementError(_reason(log + printed))
        wanted = {key: metric for key, metric in wanted.items() if key not in missing}
    raise MeasurementError(f"ncu knows none of {', '.join(metrics.values())}")


def parse(text: str) -> list[dict[str, float | int | str]]:
    """Profiled launches, in order, out of ncu's CSV: {metric: value, "Kernel Name": ...}.

    Takes both of ncu's forms, a column for each metric (with a row of units) and a row for each
    metric, and skips the lines that ncu or the program printed around them.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows = list(csv.reader(io.StringIO("\n".join(s for s in lines[start:] if s.startswith('"')))))
    head, body = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    launches: dict[str, dict] = {}
    for row in body:
        cells = dict(zip(head, row, strict=True))
        if not cells["ID"].isdigit():
            continue  # the row of units
        launch = launches.setdefault(cells["ID"], {"Kernel Name": cells.get("Kernel Name", "")})
        if "Metric Name" in cells:
            launch[cells["Metric Name"]] = _number(cells["Metric Value"])
        else:
            launch |= {key: _number(value) for key, value in cells.items() if "__" in key}
    return [launches[key] for key in sorted(launches, key=int)]


def _assign(names: Sequence[str], launches: list[dict], metrics: dict[str, str]) -> dict:
    """Counters by name. Raises MeasurementError unless the launches are those of the names."""
    out, left = {}, list(launches)
    for name in names:
        own = left if name == "cublas" else _leading(left, name)
        if not own:
            shown = _function(left[0]) if left else "nothing"
            raise MeasurementError(f"ncu profiled {shown} where {name} was launched")
        left = left[len(own) :]
        found = {key: _combined(own, metric) for key, metric in metrics.items()}
        out[name] = {key: value for key, value in found.items() if value is not None}
    if left:
        raise MeasurementError(
            f"ncu profiled {len(launches)} launches for {len(names)} kernels; "
            f"{_function(left[0])} is not one of {', '.join(names)}"
        )
    return out


def _leading(launches: list[dict], name: str) -> list[dict]:
    """The first launches, up to the last one in the namespace `name`.

    A kernel of kernels/common/ has no namespace: it belongs to the step whose kernel comes next.
    Where ncu shows no namespace at all, a step is taken for one launch.
    """
    if not any(map(_namespace, launches)):
        return launches[:1]
    head = list(takewhile(lambda launch: _namespace(launch) in ("", name), launches))
    own = [i for i, launch in enumerate(head) if _namespace(launch) == name]
    return head[: own[-1] + 1] if own else []


def _function(launch: dict) -> str:
    """The kernel's name without arguments: "void step::kernel<(int)128>(float *)" has "(" twice."""
    return re.split(r"[(<]", str(launch["Kernel Name"]), maxsplit=1)[0]


def _namespace(launch: dict) -> str:
    """The outermost namespace of the kernel, "" if it has none."""
    before, colons, _ = _function(launch).partition("::")
    return before.split()[-1] if colons else ""


def _adds_up(metric: str) -> bool:
    """Whether the values of several launches can be added: counts, not shares or averages."""
    return metric.endswith(".sum") or metric == CYCLES


def _combined(launches: list[dict], metric: str) -> int | float | None:
    """One value of several launches, None if it is not known."""
    values = _numbers(launches, metric)
    if len(values) == 1 or _adds_up(metric):
        return sum(values) if values else None
    times = _numbers(launches, DURATION)
    return values[times.index(max(times))] if values and times else None


def _numbers(launches: list[dict], metric: str) -> list[int | float]:
    """A metric of each launch; none if it is not known of all."""
    values = [launch.get(metric) for launch in launches]
    known = [value for value in values if isinstance(value, int | float)]
    return known if len(known) == len(values) else []


def _run_ncu(
    ncu: str, metrics: list[str], names: Sequence[str], size: int, precision: str
) -> tuple[str, str]:
    """ncu's log (with the CSV), and what it and the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        options = {
            "--metrics": ",".join(metrics),
            "--page": "raw",
            "--print-units": "base",
            "--clock-control": "none",
            "--profile-from-start": "off",
            "--target-processes": "application-only",
            "--log-file": str(log),
        }
        program = [sys.executable, "-m", "gemmlab.record.ncu"]
        program += ["--size", str(size), "--precision", precision, *names]
        command = [ncu, "--csv", *chain.from_iterable(options.items()), *program]
        # The package may run from a checkout that is not installed.
        library = str(repository_root() / "lib")
        paths = os.pathsep.join(filter(None, (library, os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": paths, "GEMMLAB_PROGRESS": "0"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=300, env=environment
            )
        except subprocess.TimeoutExpired:
            raise MeasurementError("ncu did not finish within 300 s") from None
        text = log.read_text(errors="replace") if log.exists() else ""
        return text, done.stdout + done.stderr


def unknown_metrics(output: str, metrics: dict[str, str]) -> set[str]:
    """Short names of the metrics that ncu's log, or what it printed, complains about."""
    complaints = [
        line
        for line in output.splitlines()
        if re.search(r"==(ERROR|WARNING)==|[Ff]ailed to find|not (available|supported|found)", line)
        and not line.startswith('"')
    ]
    text = "\n".join(complaints)
    return {
        key
        for key, metric in metrics.items()
        if re.search(rf"(?<!\w){re.escape(metric.partition('.')[0])}(?!\w)", text)
    }


def _reason(output: str) -> str:
    if "ERR_NVGPUCTRPERM" in output:
        return _REFUSED
    errors = [line for line in output.splitlines() if "==ERROR==" in line]
    lines = errors or [line for line in output.splitlines() if line.strip()][-3:]
    return "ncu failed: " + ("; ".join(lines) or "it printed nothing")


def _number(text: str) -> int | float | str:
    """A counter's value: thousands separators dropped, whole numbers as int, "n/a" as it stands."""
    plain = text.replace(",", "")
    try:
        value = float(plain)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value


def _target(names: Sequence[str], size: int, precision: str) -> None:
    """What ncu runs: each kernel once, profiled."""
    import torch

    A, B, C = random_operands((size, size, size), precision)
    launches = [
        launch_cublas(A, B, C) if name == "cublas" else handle_of(name).launcher(A, B, C)
        for name in names
    ]
    with tf32_off():
        launch_cublas(A, B, C)()  # cuBLAS sets itself up here
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        for launch in launches:
            launch()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(prog="python -m gemmlab.record.ncu", description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--precision", default="fp32")
    arguments = parser.parse_args()
    _target(arguments.names, arguments.size, arguments.precision)
