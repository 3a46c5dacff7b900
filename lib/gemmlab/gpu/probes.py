"""Small kernels that measure the GPU itself: the ceilings that a GEMM meets."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from ..core.paths import kernels_folder
from ..measurements.rows import CLOCK64
from ..steps.text import included_files
from . import block_clock, build
from .block_clock import BlockClock

_FILES = ("ffma", "read", "l1", "shared")

_BINDING = """
#include <pybind11/pybind11.h>
#include <cstdint>
int run_ffma(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
int run_read(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
int run_l1(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
int run_shared(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
long long ffma_flop_per_repeat_and_sm();
long long l1_bytes_per_repeat_and_sm();
long long shared_bytes_per_repeat_and_sm();
PYBIND11_MODULE(GEMMLAB_MODULE, m) {
  m.def("ffma", &run_ffma);
  m.def("read", &run_read);
  m.def("l1", &run_l1);
  m.def("shared", &run_shared);
  m.def("ffma_flop_per_repeat_and_sm", &ffma_flop_per_repeat_and_sm);
  m.def("l1_bytes_per_repeat_and_sm", &l1_bytes_per_repeat_and_sm);
  m.def("shared_bytes_per_repeat_and_sm", &shared_bytes_per_repeat_and_sm);
}
"""

_BINDING_HOLD = """
#include <pybind11/pybind11.h>
#include <cstdint>
int run_hold(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
PYBIND11_MODULE(GEMMLAB_MODULE, m) { m.def("hold", &run_hold); }
"""

_INCLUDE = '#include "{path}"\n'
_LAUNCH = """
int run_{name}(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream) {{
  const ProbeArgs args = {{reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out), bytes,
                          repeats}};
  return launch_probe_{name}(args, reinterpret_cast<cudaStream_t>(stream));
}}
"""
_CONSTANTS = """
long long ffma_flop_per_repeat_and_sm() { return probe_ffma::FLOP_PER_REPEAT_AND_SM; }
long long l1_bytes_per_repeat_and_sm() { return probe_l1::BYTES_PER_REPEAT_AND_SM; }
long long shared_bytes_per_repeat_and_sm() { return probe_shared::BYTES_PER_REPEAT_AND_SM; }
"""

_FFMA_REPEATS = 4096  # about 9 ms on an H200
_NEAR_REPEATS = 2048  # of L1 and shared memory: 2 ms or more on an H200
_L2_FOOTPRINT = 16 << 20  # well inside the L2 of any GPU this book runs on
_L2_PASSES = 100
_DRAM_FOOTPRINT = 4 << 30
_HOLD_US = 400


def hold() -> None:
    """Keep the GPU from starting what is launched next, for longer than a launch takes Python.

    One thread spins; the rest of the GPU and its caches stay as they were.
    """
    import torch

    stream = torch.cuda.current_stream().cuda_stream
    build.checked(_hold_module().hold(0, 0, 0, _HOLD_US, stream), "probe hold")


def ceilings(samples: int = 20) -> dict:
    """What this GPU reaches: FFMA rate (TFLOP/s), copy and read bandwidths (TB/s), near to far.

    Each is the median of `samples` launches. `copy_tbs` counts bytes read and bytes written. The
    clocks are the SMs' own, read by the blocks of one more launch right behind these.
    """
    import torch

    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    flops = _module().ffma_flop_per_repeat_and_sm() * properties.multi_processor_count
    large = min(_DRAM_FOOTPRINT, torch.cuda.mem_get_info()[0] // 4) & ~1023
    source = torch.randint(2**31 - 1, (large // 4,), dtype=torch.int32, device="cuda")
    target = torch.empty_like(source)
    out = torch.zeros(2, dtype=torch.int64, device="cuda")

    def seconds(launch: Callable[[], object]) -> tuple[float, float]:
        took = median_seconds(launch, samples)
        with BlockClock(_module()) as clock:
            return took, clock.of(launch).mhz

    ffma_s, ffma_mhz = seconds(lambda: _launch("ffma", None, out, 0, _FFMA_REPEATS))
    l2_s, l2_mhz = seconds(lambda: _launch("read", source, out, _L2_FOOTPRINT, _L2_PASSES))
    dram_s, _ = seconds(lambda: _launch("read", source, out, large, 1))
    copy_s = median_seconds(lambda: target.copy_(source), samples)
    ffma_rate = flops * _FFMA_REPEATS / ffma_s
    return {
        "ffma_tflops": ffma_rate / 1e12,
        "ffma_clock_mhz": ffma_mhz,
        "ffma_flop_per_clk_sm": ffma_rate / (ffma_mhz * 1e6 * properties.multi_processor_count),
        "l2_read_tbs": _L2_FOOTPRINT * _L2_PASSES / l2_s / 1e12,
        "l2_read_clock_mhz": l2_mhz,
        "l2_read_footprint_mib": _L2_FOOTPRINT / 2**20,
        "dram_read_tbs": large / dram_s / 1e12,
        "dram_read_footprint_mib": large / 2**20,
        "copy_tbs": 2 * large / copy_s / 1e12,
        **_near("l1", source, out, seconds),
        **_near("shared", None, out, seconds),
        "samples": samples,
        "clock": CLOCK64,
    }


def _near(name: str, source, out, seconds: Callable) -> dict[str, float]:
    """How fast the SMs read their L1 cache or their shared memory."""
    import torch

    sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
    per_sm = getattr(_module(), f"{name}_bytes_per_repeat_and_sm")() * _NEAR_REPEATS
    took_s, mhz = seconds(lambda: _launch(name, source, out, 0, _NEAR_REPEATS))
    return {
        f"{name}_read_tbs": per_sm * sms / took_s / 1e12,
        f"{name}_read_clock_mhz": mhz,
        f"{name}_read_bytes_per_clk_sm": per_sm / (took_s * mhz * 1e6),
    }


def median_seconds(launch: Callable[[], object], samples: int) -> float:
    """Median time of a launch, by CUDA events."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for i in range(samples + 3):
        start.record()
        launch()
        end.record()
        end.synchronize()
        if i >= 3:  # the first ones warm up
            times.append(start.elapsed_time(end) / 1000)
    return statistics.median(times)


def _launch(name: str, source, out, size: int, repeats: int) -> None:
    import torch

    stream = torch.cuda.current_stream().cuda_stream
    given, made = 0 if source is None else source.data_ptr(), out.data_ptr()
    code = getattr(_module(), name)(given, made, size, repeats, stream)
    build.checked(code, f"probe {name}")


def sources(names: Sequence[str] = _FILES) -> str:
    """CUDA text of the binding to these probes."""
    folder = kernels_folder() / "probes"
    cuda = "#include <cstdint>\n"
    cuda += "".join(_INCLUDE.format(path=folder / f"{name}.cuh") for name in names)
    return cuda + "".join(_LAUNCH.format(name=name) for name in names)


def texts() -> tuple[str, str]:
    """C++ and CUDA text of all probes that are measured, with clocks in them."""
    return block_clock.texts(_BINDING, sources() + _CONSTANTS)


@lru_cache(maxsize=1)
def _module() -> ModuleType:
    files = block_clock.headers(_headers(_FILES))
    return build.compile_binding("gemmlab_probes", *texts(), headers=files)


@lru_cache(maxsize=1)
def _hold_module() -> ModuleType:
    cuda, files = sources(["hold"]), _headers(["hold"])
    return build.compile_binding("gemmlab_hold", _BINDING_HOLD, cuda, headers=files)


def _headers(names: Sequence[str]) -> tuple[Path, ...]:
    folder = kernels_folder() / "probes"
    files = (file for name in names for file in included_files(folder / f"{name}.cuh"))
    return tuple(dict.fromkeys(files))
