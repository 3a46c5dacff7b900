"""Small kernels that measure the GPU itself: its SM clock, and the ceilings that a GEMM meets."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType

from ..core.errors import LaunchError
from ..core.paths import kernels_folder
from ..steps.text import included_files
from . import build

_FILES = ("ffma", "read", "l1", "shared", "clock")

_BINDING = """
#include <pybind11/pybind11.h>
#include <cstdint>
int run_ffma(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
int run_read(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
int run_l1(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
int run_shared(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
int run_clock(uintptr_t in, uintptr_t out, long long bytes, int repeats, uintptr_t stream);
long long ffma_flop_per_repeat_and_sm();
long long l1_bytes_per_repeat_and_sm();
long long shared_bytes_per_repeat_and_sm();
PYBIND11_MODULE(GEMMLAB_MODULE, m) {
  m.def("ffma", &run_ffma);
  m.def("read", &run_read);
  m.def("l1", &run_l1);
  m.def("shared", &run_shared);
  m.def("clock", &run_clock);
  m.def("ffma_flop_per_repeat_and_sm", &ffma_flop_per_repeat_and_sm);
  m.def("l1_bytes_per_repeat_and_sm", &l1_bytes_per_repeat_and_sm);
  m.def("shared_bytes_per_repeat_and_sm", &shared_bytes_per_repeat_and_sm);
}
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


class Clock:
    """The SM clock, from a 20 us spin launched behind the kernel in question.

    NVML's clock reading is milliseconds old and cannot be tied to one launch; this one is made on
    the SM itself right after the launch, and the clock does not move that fast.
    """

    MICROSECONDS = 20
    HOLD_MICROSECONDS = 400

    def __init__(self):
        import torch

        self._out, self._ignored = torch.zeros(2, 2, dtype=torch.int64, device="cuda")

    def hold(self) -> None:
        """Keep the GPU from starting what is launched next, for longer than a launch takes Python.

        One thread spins; the rest of the GPU and its caches stay as they were.
        """
        _launch("clock", None, self._ignored, 0, self.HOLD_MICROSECONDS)

    def start(self) -> None:
        """Launch the spin on the current stream."""
        _launch("clock", None, self._out, 0, self.MICROSECONDS)

    def mhz(self) -> float:
        """Cycles over time of the last spin. Waits for it."""
        cycles, nanoseconds = self._out.tolist()
        return 1000 * cycles / nanoseconds


def ceilings(samples: int = 20) -> dict:
    """What this GPU reaches: FFMA rate (TFLOP/s), copy and read bandwidths (TB/s), near to far.

    Each is the median of `samples` launches. `copy_tbs` counts bytes read and bytes written.
    """
    import torch

    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    flops = _module().ffma_flop_per_repeat_and_sm() * properties.multi_processor_count
    large = min(_DRAM_FOOTPRINT, torch.cuda.mem_get_info()[0] // 4) & ~1023
    source = torch.randint(2**31 - 1, (large // 4,), dtype=torch.int32, device="cuda")
    target = torch.empty_like(source)
    out = torch.zeros(2, dtype=torch.int64, device="cuda")
    clock = Clock()

    def seconds(launch: Callable[[], object]) -> tuple[float, float]:
        return _median_seconds(launch, clock, samples)

    ffma_s, ffma_mhz = seconds(lambda: _launch("ffma", None, out, 0, _FFMA_REPEATS))
    l2_s, l2_mhz = seconds(lambda: _launch("read", source, out, _L2_FOOTPRINT, _L2_PASSES))
    dram_s, _ = seconds(lambda: _launch("read", source, out, large, 1))
    copy_s, _ = seconds(lambda: target.copy_(source))
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


def _median_seconds(
    launch: Callable[[], object], clock: Clock, samples: int
) -> tuple[float, float]:
    """Median time of a launch, and median SM clock (MHz) right behind it."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times, clocks = [], []
    for i in range(samples + 3):
        start.record()
        launch()
        end.record()
        clock.start()
        end.synchronize()
        if i >= 3:  # the first ones warm up
            times.append(start.elapsed_time(end) / 1000)
            clocks.append(clock.mhz())
    return statistics.median(times), statistics.median(clocks)


def _launch(name: str, source, out, size: int, repeats: int) -> None:
    import torch

    stream = torch.cuda.current_stream().cuda_stream
    address = source.data_ptr() if source is not None else 0
    if code := getattr(_module(), name)(address, out.data_ptr(), size, repeats, stream):
        raise LaunchError(f"probe {name}: launch failed with CUDA error {code}")


def sources() -> tuple[str, str]:
    """C++ and CUDA text of the binding to all probes."""
    folder = kernels_folder() / "probes"
    cuda = "#include <cstdint>\n"
    cuda += "".join(_INCLUDE.format(path=folder / f"{name}.cuh") for name in _FILES)
    cuda += "".join(_LAUNCH.format(name=name) for name in _FILES)
    return _BINDING, cuda + _CONSTANTS


@lru_cache(maxsize=1)
def _module() -> ModuleType:
    folder = kernels_folder() / "probes"
    headers = {file: None for name in _FILES for file in included_files(folder / f"{name}.cuh")}
    return build.compile_binding("gemmlab_probes", *sources(), headers=tuple(headers))
