"""Loops that keep the tensor cores busy: mma.sync on registers or fed by ldmatrix, and wgmma.

One of those fed by ldmatrix copies tiles with cp.async at the same time, as a GEMM does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from ...bench.interleaving import BURST_LAUNCHES, burst
from ...bench.timer import GpuTimer, Launch, Timing
from ...core.errors import BackendError
from ...core.paths import kernels_folder
from ...gpu import block_clock, build
from ...gpu.block_clock import BlockClock
from ...gpu.toolchain import arch
from ...gpu.turns import alone
from ...layouts.shared.banks import BANK_BYTES, BANKS
from ...measurements.rows import CLOCK64
from ...steps.text import included_files

OLDEST = 80  # mma.sync m16n8k16 begins with sm_80
WGMMA_TARGET = "90a"
K_PER_REPEAT = 64
WARPS_N = 4  # in mma.cuh: warps side by side along N
INPUT_BYTES = 48 << 10  # what a probe reads
PLACES = 64  # in mma.cuh: tiles among which the copies of a probe choose
_CUDA = {"bf16": "__nv_bfloat16", "fp16": "__half"}
_TORCH = {"bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True)
class Protocol:
    """How much the probes compute, and for how long they run and rest, in seconds.

    flop: of an SM in a launch. burst_launches: after a rest of rest_s. sustained_s: of steady load.
    settled_s: of launches before the one whose clock is read, under steady load.
    """

    flop: int = 1 << 33  # 0.7 ms of wgmma and 1.6 ms of mma.sync on an H200
    burst_launches: int = BURST_LAUNCHES
    rest_s: float = 0.2
    sustained_s: float = 2.0
    settled_s: float = 0.3


@dataclass(frozen=True)
class Probe:
    """A loop of kernels/probes/mma.cuh or wgmma.cuh.

    `tile` is what each of `workers` (warps, or warpgroups) computes; fed: by ldmatrix. copies:
    what cp.async brings at the same time, a name of mma.cuh's Copies, or "". sustained: it is also
    run back to back for two seconds.
    """

    name: str
    launcher: str
    tile: tuple[int, int]
    workers: int
    dtype: str = "bf16"
    fed: bool = False
    copies: str = ""
    sustained: bool = False

    @property
    def flop(self) -> int:
        """Of a block in one repeat."""
        return 2 * self.tile[0] * self.tile[1] * K_PER_REPEAT * self.workers

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.workers * (128 if self.launcher == "wgmma" else 32)

    @property
    def allowed(self) -> float | None:
        """FLOP per clock and SM, if shared memory moves 128 bytes a clock: ldmatrix, and copies."""
        if not self.fed:
            return None
        m, n = self.tile
        read = 2 * (m + n) * K_PER_REPEAT * self.workers
        return BANKS * BANK_BYTES * self.flop / (read + self.copied)

    @property
    def copied(self) -> int:
        """Bytes that a block copies in one repeat: its tiles of A and B."""
        (m, n), rows = self.tile, self.workers // WARPS_N
        return 2 * (m * rows + n * WARPS_N) * K_PER_REPEAT if self.copies else 0

    @property
    def input_bytes(self) -> int:
        """What it reads of its input."""
        return max(INPUT_BYTES, PLACES * self.copied)

    @property
    def call(self) -> str:
        """The launcher in C++, without its arguments."""
        numbers = "" if self.launcher == "wgmma" else f", {self.tile[0]}, {self.tile[1]}"
        numbers += f", {self.workers}" if numbers else ""
        numbers += f", probe_mma::Copies::{self.copies}" if self.copies else ""
        return f"launch_probe_{self.launcher}<{_CUDA[self.dtype]}{numbers}>"


def _fed(m: int, n: int, warps: int, sustained: bool = False) -> Probe:
    name = f"ldmatrix + mma.sync, {warps} warps of {m}x{n}"
    return Probe(name, "ldmatrix", (m, n), warps, fed=True, sustained=sustained)


def _copying(what: str, copies: str) -> Probe:
    """As hgemm_18_wide_tile: warps, their tiles, and what is copied."""
    name = f"ldmatrix + {what} + mma.sync, 8 warps of 64x64"
    return Probe(name, "copies", (64, 64), 8, fed=True, copies=copies)


PROBES = (
    Probe("mma.sync m16n8k16, bf16", "mma", (64, 64), 8, sustained=True),
    Probe("mma.sync m16n8k16, fp16", "mma", (64, 64), 8, dtype="fp16"),
    _fed(64, 64, 8, sustained=True),
    _copying("cp.async", "FROM_L2"),
    _copying("cp.async of zeros", "ZEROS"),
    _fed(64, 32, 8),
    _fed(64, 32, 16),
    _fed(32, 32, 8),
    _fed(32, 32, 16),
    Probe("wgmma m64n256k16, bf16", "wgmma", (64, 256), 2, sustained=True),
)
PROTOCOL = Protocol()
BY_NAME = {probe.name: probe for probe in PROBES}
ON_REGISTERS = {probe.dtype: probe for probe in PROBES if probe.launcher == "mma"}


@dataclass(frozen=True)
class Row:
    """A probe under one load, "burst" or "sustained".

    `flop_per_clk_sm` is by the SMs' own clocks and does not depend on their frequency, `tflops` is
    by CUDA events. `clock_mhz` is the SM clock during a launch, by the blocks' own readings, and
    `power_w` a mean.
    """

    probe: str
    load: str
    flop_per_clk_sm: float
    tflops: float
    clock_mhz: float | None
    power_w: float | None = None

    @property
    def allowed(self) -> float | None:
        """FLOP per clock and SM that shared memory allows; None where it feeds no ldmatrix."""
        probe = BY_NAME.get(self.probe)
        return probe.allowed if probe else None


def measure() -> dict:
    """Run every probe that this GPU has: a section of a recording. About 10 s."""
    target = arch()
    probes = _available(target)
    _module()  # compiled before others have to leave the GPU
    with alone():
        rows = _rows(probes)
    data: dict[str, Any] = {"rows": [asdict(row) for row in rows], "clock": CLOCK64}
    if probes != PROBES:
        data["left_out"] = f"wgmma is left out: it exists only on sm_90a, this GPU is sm_{target}"
    return data


def _rows(probes: Sequence[Probe]) -> list[Row]:
    """Of every probe a burst, and steady load for those that say so."""
    rows, timer = burst_rows(probes)
    for probe, at_rest in zip(probes, list(rows), strict=True):
        if probe.sustained:
            run = _Run(probe)
            time_us = run.flop * run.sms / at_rest.tflops / 1e6
            rows.append(
                run.row("sustained", timer.sustain(run.launch, PROTOCOL.sustained_s, time_us))
            )
    return rows


def _available(target: str) -> tuple[Probe, ...]:
    """The probes that a GPU has, by what is compiled for it. Raises BackendError before sm_80."""
    if int(target.rstrip("a")) < OLDEST:
        raise BackendError(f"tensor_cores: mma.sync m16n8k16 needs sm_{OLDEST}, not sm_{target}")
    return tuple(p for p in PROBES if p.launcher != "wgmma" or target == WGMMA_TARGET)


def burst_rows(probes: Sequence[Probe]) -> tuple[list[Row], GpuTimer]:
    """The rows of these probes after a rest, and the timer."""
    runs, timer = [_Run(probe) for probe in probes], GpuTimer(cold=False)
    launches = [run.launch for run in runs]
    times_us = [timer.estimate(launch) for launch in launches]
    timings = burst(launches, timer, times_us, base=0, repeats=1, rest_s=PROTOCOL.rest_s)
    rows = []
    for run, timing in zip(runs, timings, strict=True):
        timer.rest(PROTOCOL.rest_s)
        rows.append(run.row("burst", timing))
    return rows, timer


class _Run:
    """A probe with its operands and results on this GPU."""

    def __init__(self, probe: Probe):
        import torch

        self.probe, self.repeats = probe, PROTOCOL.flop // probe.flop
        device = torch.cuda.current_device()
        self.sms = torch.cuda.get_device_properties(device).multi_processor_count
        numbers = torch.randn(probe.input_bytes // 2, device="cuda")
        self._in = numbers.to(getattr(torch, _TORCH[probe.dtype]))
        # For each block its cycles, then for each thread a sum; see cycles.cuh.
        words = self.sms * (1 + probe.threads // 2)
        self._out = torch.zeros(words, dtype=torch.int64, device="cuda")

    @property
    def flop(self) -> int:
        """Of an SM in a launch."""
        return self.probe.flop * self.repeats

    @property
    def launch(self) -> Launch:
        """For a timer."""
        return Launch(self.probe.name, self._call)

    def _call(self) -> None:
        import torch

        stream = torch.cuda.current_stream().cuda_stream
        which = PROBES.index(self.probe)
        pointers = (self._in.data_ptr(), self._out.data_ptr())
        code = _module().run(which, *pointers, self.repeats, stream)
        build.checked(code, self.probe.name)

    def row(self, load: str, timing: Timing) -> Row:
        """What a timer has found, and the clock and the cycles of some more launches behind it."""
        steady_us = PROTOCOL.settled_s * 1e6 if load == "sustained" else 0.0
        mhz = self._mhz(max(PROTOCOL.burst_launches, round(steady_us / timing.time_us)))
        cycles = float(self._out[: self.sms].double().median())
        tflops = self.flop * self.sms / timing.time_us / 1e6
        name, per_clock = self.probe.name, self.flop / cycles
        return Row(name, load, per_clock, tflops, mhz, timing.power_w)

    def _mhz(self, launches: int) -> float:
        """The clock in the last of these launches, back to back."""
        with BlockClock(_module()) as clock:
            for _ in range(launches - 1):
                self._call()
            return clock.of(self._call).mhz


_BINDING = """
#include <pybind11/pybind11.h>
#include <cstdint>
int run(int which, uintptr_t in, uintptr_t out, int repeats, uintptr_t stream);
PYBIND11_MODULE(GEMMLAB_MODULE, m) { m.def("run", &run); }
"""
_RUN = """
int run(int which, uintptr_t in, uintptr_t out, int repeats, uintptr_t to) {{
  const ProbeArgs args = {{reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out), 0,
                          repeats}};
  const cudaStream_t stream = reinterpret_cast<cudaStream_t>(to);
  switch (which) {{
{cases}
    default: return cudaErrorInvalidValue;
  }}
}}
"""


def sources(target: str) -> tuple[str, str]:
    """C++ and CUDA text of the binding to the probes that `target`, such as "90a", has."""
    cuda = "#include <cstdint>\n"
    cuda += "".join(f'#include "{file}"\n' for file in _files(target))
    cases = (
        f"    case {PROBES.index(probe)}: return {probe.call}(args, stream);"
        for probe in _available(target)
    )
    return _BINDING, cuda + _RUN.format(cases="\n".join(cases))


def _files(target: str) -> list[Path]:
    folder = kernels_folder() / "probes"
    names = ("mma", "wgmma") if target == WGMMA_TARGET else ("mma",)
    return [folder / f"{name}.cuh" for name in names]


def built() -> str:
    """The name of the compiled probes, which tells their code from another one."""
    return Path(str(_module().__file__)).name


@lru_cache(maxsize=1)
def _module() -> ModuleType:
    target = arch()
    headers = {file: None for path in _files(target) for file in included_files(path)}
    texts, files = block_clock.texts(*sources(target)), block_clock.headers(tuple(headers))
    return build.compile_binding("gemmlab_tensor_core_probes", *texts, headers=files)
