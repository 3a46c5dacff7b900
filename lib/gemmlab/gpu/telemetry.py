"""Clocks, power and temperature of the GPU, and the environment that a measurement was made in.

Everything here only reads: no clock, limit or mode of the GPU is ever changed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from ..core.paths import repository_root
from . import cublaslt
from .toolchain import nvcc

# Why the clock is below its maximum, in words (bits of nvmlClocksEventReasons).
_REASONS = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


class Gpu:
    """Readings of one GPU through NVML, or through nvidia-smi where nvidia-ml-py is missing.

    A reading that the driver refuses is None.
    """

    def __init__(self, index: int = 0):
        self._uuid = _uuid(index)
        self._nvml = _nvml()
        self._handle = None
        if self._nvml is not None:
            self._handle = _try(lambda: self._nvml.nvmlDeviceGetHandleByUUID(self._uuid)) or _try(
                lambda: self._nvml.nvmlDeviceGetHandleByIndex(index)
            )

    @property
    def fast(self) -> bool:
        """Whether readings take microseconds (NVML) and may be made between launches."""
        return self._handle is not None

    def driver(self) -> str | None:
        """Version of the driver."""
        if self.fast:
            version = _try(self._nvml.nvmlSystemGetDriverVersion)
            return version.decode() if isinstance(version, bytes) else version
        return self._smi("driver_version")

    def read(self) -> dict[str, float | None]:
        """SM and memory clock (MHz), power (W, on recent GPUs a mean over 1 s), temperature (C)."""
        if not self.fast:
            names = {
                "sm_clock_mhz": "clocks.sm",
                "mem_clock_mhz": "clocks.mem",
                "power_w": "power.draw",
                "temperature_c": "temperature.gpu",
            }
            return {key: self._smi_number(name) for key, name in names.items()}
        n, h = self._nvml, self._handle
        power = _try(lambda: n.nvmlDeviceGetPowerUsage(h))
        return {
            "sm_clock_mhz": _try(lambda: n.nvmlDeviceGetClockInfo(h, n.NVML_CLOCK_SM)),
            "mem_clock_mhz": _try(lambda: n.nvmlDeviceGetClockInfo(h, n.NVML_CLOCK_MEM)),
            "power_w": None if power is None else power / 1000,
            "temperature_c": _try(lambda: n.nvmlDeviceGetTemperature(h, n.NVML_TEMPERATURE_GPU)),
        }

    def limits(self) -> dict[str, float | None]:
        """Highest SM clock (MHz) and power limit (W)."""
        if not self.fast:
            return {
                "sm_clock_max_mhz": self._smi_number("clocks.max.sm"),
                "power_limit_w": self._smi_number("power.limit"),
            }
        n, h = self._nvml, self._handle
        limit = _try(lambda: n.nvmlDeviceGetEnforcedPowerLimit(h))
        return {
            "sm_clock_max_mhz": _try(lambda: n.nvmlDeviceGetMaxClockInfo(h, n.NVML_CLOCK_SM)),
            "power_limit_w": None if limit is None else limit / 1000,
        }

    def slowed_by(self) -> set[str]:
        """What holds the clock down at this moment, in words."""
        if not self.fast:
            return set()
        n, h = self._nvml, self._handle
        bits = _try(lambda: n.nvmlDeviceGetCurrentClocksEventReasons(h)) or _try(
            lambda: n.nvmlDeviceGetCurrentClocksThrottleReasons(h)
        )
        return {name for bit, name in _REASONS.items() if (bits or 0) & bit}

    def _smi(self, query: str) -> str | None:
        if shutil.which("nvidia-smi") is None:
            return None
        which = ["-i", self._uuid] if self._uuid else []
        command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", *which]
        done = _try(lambda: subprocess.run(command, capture_output=True, text=True, timeout=10))
        text = done.stdout.strip().splitlines() if done and done.returncode == 0 else []
        return text[0] if text else None

    def _smi_number(self, query: str) -> float | None:
        text = self._smi(query)
        return float(text) if text and re.fullmatch(r"[\d.]+", text) else None


@dataclass
class Monitor:
    """Readings taken while something runs: call `poll()` often, it reads at most every 50 ms."""

    gpu: Gpu
    every: float = 0.05
    readings: list[tuple[float, dict]] = field(default_factory=list)
    reasons: set[str] = field(default_factory=set)

    def poll(self) -> None:
        """Take a reading if the last one is old enough. Does nothing where readings are slow."""
        now = time.monotonic()
        if not self.gpu.fast or (self.readings and now - self.readings[-1][0] < self.every):
            return
        self.readings.append((now, self.gpu.read()))
        self.reasons |= self.gpu.slowed_by()

    def median(self, key: str, since: float = 0.0) -> float | None:
        """Median of a reading from `since` (time.monotonic) on, or None."""
        values = [r[key] for when, r in self.readings if when >= since and r[key] is not None]
        return statistics.median(values) if values else None

    def summary(self) -> dict:
        """Lowest and highest value of each reading, and what held the clock down."""
        out: dict = {"slowed_by": sorted(self.reasons), "readings": len(self.readings)}
        for key in ("sm_clock_mhz", "power_w", "temperature_c"):
            values = [r[key] for _, r in self.readings if r[key] is not None]
            out[key] = [min(values), max(values)] if values else None
        return out


def environment() -> dict:
    """GPU, driver, CUDA, torch, clocks, power limit, temperature, date (UTC) and commit.

    Needs a GPU. What the machine does not tell is None.
    """
    import torch

    p = torch.cuda.get_device_properties(torch.cuda.current_device())
    gpu = Gpu(torch.cuda.current_device())
    return {
        "gpu": p.name,
        "compute_capability": f"{p.major}.{p.minor}",
        "sms": p.multi_processor_count,
        "memory_gib": round(p.total_memory / 2**30, 1),
        "l2_mib": round(p.L2_cache_size / 2**20, 1),
        "driver": gpu.driver(),
        "cuda": torch.version.cuda,
        "cublas": _try(cublaslt.version),
        "nvcc": _try(_nvcc_version),
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": commit(),
        **gpu.limits(),
        **gpu.read(),
    }


def commit() -> str | None:
    """Short hash of the checkout's commit, with -dirty if tracked files changed since.

    $GEMMLAB_COMMIT stands in where the files were copied without their history.
    """
    if given := os.environ.get("GEMMLAB_COMMIT"):
        return given
    root = str(repository_root())

    def git(*args: str) -> str | None:
        done = _try(
            lambda: subprocess.run(["git", "-C", root, *args], capture_output=True, text=True)
        )
        return done.stdout.strip() if done and done.returncode == 0 else None

    head = git("rev-parse", "--short=12", "HEAD")
    return f"{head}-dirty" if head and git("status", "--porcelain", "-uno") else head


def _nvcc_version() -> str | None:
    text = subprocess.run([nvcc(), "--version"], capture_output=True, text=True).stdout
    found = re.search(r"V([\d.]+)", text)
    return found[1] if found else None


@lru_cache(maxsize=1)
def _nvml():
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # not installed, or no driver: nvidia-smi is asked instead
        return None
    return pynvml


def _uuid(index: int) -> str | None:
    """NVML's name of torch's GPU: CUDA_VISIBLE_DEVICES may have renumbered it."""
    import torch

    if not torch.cuda.is_available():
        return None
    uuid = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    return f"GPU-{str(uuid).removeprefix('GPU-')}" if uuid is not None else None


def _try(read):
    """`read()`, or None: a virtual or shared GPU refuses some readings, each in its own way."""
    try:
        return read()
    except Exception:
        return None
