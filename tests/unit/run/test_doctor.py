"""The doctor, the choice of backend, and readings of a GPU that is not there."""

from __future__ import annotations

import dataclasses
import importlib
import json
import subprocess
import types

import pytest
import torch

from gemmlab import device as device_function
from gemmlab.core.errors import BackendError
from gemmlab.gpu import telemetry
from gemmlab.run import backend
from gemmlab.run.backend import backend_for, default_backend

device = importlib.import_module("gemmlab.run.doctor")  # the package's attribute is the function


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.delenv("GEMMLAB_BACKEND", raising=False)
    for module in (backend, device):
        monkeypatch.setattr(module, "why_no_gpu", lambda: "torch sees no CUDA GPU")


def test_without_a_gpu_kernels_run_on_the_simulator(no_gpu):
    assert default_backend() == "sim"
    assert backend_for(torch.zeros(1)) == "sim"


def test_a_cuda_tensor_runs_on_the_gpu(no_gpu):
    tensor = types.SimpleNamespace(device=torch.device("cuda"))
    assert backend_for(tensor) == "gpu"


def test_the_environment_forces_a_backend(no_gpu, monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    assert backend_for(types.SimpleNamespace(device=torch.device("cuda"))) == "sim"
    monkeypatch.setenv("GEMMLAB_BACKEND", "gpu")
    with pytest.raises(BackendError, match="no CUDA GPU"):
        default_backend()
    monkeypatch.setenv("GEMMLAB_BACKEND", "tpu")
    with pytest.raises(BackendError, match="'tpu', allowed are gpu and sim"):
        default_backend()


def test_the_report_says_what_is_missing_what_still_works_and_how_to_get_it(no_gpu, monkeypatch):
    monkeypatch.setattr(device, "find_nvcc", lambda: None)
    monkeypatch.setattr(device, "find_ncu", lambda: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    report = device_function()
    assert report.backend == "sim"
    by_name = {item.name: item for item in report.items}
    for name in ("GPU", "nvcc", "ncu"):
        assert not by_name[name].ok
    assert "simulator" in by_name["nvcc"].hint
    for word in ("Debian", "conda", "Colab"):
        assert word in by_name["nvcc"].hint
    assert by_name["torch"].ok
    json.dumps(report.to_dict())
    assert "nvcc" in repr(report)
    assert "<table>" in report._repr_html_()


def test_without_a_compiler_either_nothing_runs_and_the_report_says_so(no_gpu, monkeypatch):
    monkeypatch.setattr(device.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    report = device_function()
    assert report.backend == "none"
    assert "no g++" in report.reason


def test_a_tool_that_does_not_start_is_missing(monkeypatch):
    def broken(*_, **__):
        raise OSError("Exec format error")

    monkeypatch.setattr(device.subprocess, "run", broken)
    item = device._tool("nvcc", "/opt/nvcc", "--version", "x", "how to get it")
    assert not item.ok
    assert "Exec format error" in item.found


def test_a_damaged_recording_is_part_of_the_report(no_gpu, monkeypatch, tmp_path):
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    folder = tmp_path / "book" / "measurements"
    folder.mkdir(parents=True)
    (folder / "h200.json").write_text("{")
    items = [item for item in device_function().items if item.name == "recorded figures"]
    assert [item.ok for item in items] == [False]
    assert "not readable" in items[0].hint


# ---- readings ----


class FakeNvml:
    """nvidia-ml-py with one GPU that refuses to tell its temperature."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0
    reasons = 0x04

    def nvmlDeviceGetHandleByUUID(self, uuid):  # noqa: N802
        raise LookupError("a slice of a GPU has no UUID")

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        return f"gpu{index}"

    def nvmlSystemGetDriverVersion(self):  # noqa: N802
        return b"580.159.04"

    def nvmlDeviceGetPowerUsage(self, handle):  # noqa: N802
        return 431_250

    def nvmlDeviceGetEnforcedPowerLimit(self, handle):  # noqa: N802
        return 700_000

    def nvmlDeviceGetClockInfo(self, handle, kind):  # noqa: N802
        return {1: 1980, 2: 3201}[kind]

    def nvmlDeviceGetMaxClockInfo(self, handle, kind):  # noqa: N802
        return 1980

    def nvmlDeviceGetTemperature(self, handle, sensor):  # noqa: N802
        raise RuntimeError("not supported")

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle):  # noqa: N802
        return self.reasons


def test_nvml_readings(monkeypatch):
    monkeypatch.setattr(telemetry, "_nvml", FakeNvml)
    gpu = telemetry.Gpu()
    assert gpu.fast
    assert gpu.driver() == "580.159.04"
    assert gpu.read() == {
        "sm_clock_mhz": 1980,
        "mem_clock_mhz": 3201,
        "power_w": 431.25,
        "temperature_c": None,
    }
    assert gpu.limits() == {"sm_clock_max_mhz": 1980, "power_limit_w": 700.0}
    assert gpu.slowed_by() == {"power cap"}


def test_without_nvml_nvidia_smi_is_asked(monkeypatch):
    monkeypatch.setattr(telemetry, "_nvml", lambda: None)
    monkeypatch.setattr(telemetry.shutil, "which", lambda name: f"/usr/bin/{name}")
    answers = {"power.draw": "75.25", "temperature.gpu": "[N/A]", "driver_version": "580.1"}

    def smi(command, **_):
        query = command[1].removeprefix("--query-gpu=")
        return subprocess.CompletedProcess(command, 0, answers.get(query, "1980") + "\n", "")

    monkeypatch.setattr(telemetry.subprocess, "run", smi)
    gpu = telemetry.Gpu()
    assert not gpu.fast
    assert gpu.driver() == "580.1"
    reading = gpu.read()
    assert (reading["power_w"], reading["temperature_c"]) == (75.25, None)


def test_the_monitor_reads_seldom_and_summarises(monkeypatch):
    monkeypatch.setattr(telemetry, "_nvml", FakeNvml)
    monitor = telemetry.Monitor(telemetry.Gpu(), every=1000)
    for _ in range(10):
        monitor.poll()
    assert len(monitor.readings) == 1
    summary = monitor.summary()
    assert summary["power_w"] == [431.25, 431.25]
    assert summary["temperature_c"] is None
    assert summary["slowed_by"] == ["power cap"]
    assert monitor.median("power_w") == 431.25
    assert monitor.median("power_w", since=monitor.readings[0][0] + 1) is None


def test_a_given_commit_stands_in_for_a_missing_history(monkeypatch, tmp_path):
    monkeypatch.setenv("GEMMLAB_COMMIT", "abc123")
    assert telemetry.commit() == "abc123"
    monkeypatch.delenv("GEMMLAB_COMMIT")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert telemetry.commit() is None


def a_gpu(monkeypatch, major: int, minor: int, shared_bytes: int) -> None:
    found = types.SimpleNamespace(
        **{"name": "NVIDIA Other", "major": major, "minor": minor, "multi_processor_count": 10},
        **{"total_memory": 2**33, "shared_memory_per_block_optin": shared_bytes},
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: found)
    monkeypatch.setattr(telemetry, "Gpu", lambda: types.SimpleNamespace(driver=lambda: "580"))


def test_what_a_gpu_is_too_old_or_too_small_for_is_named(monkeypatch):
    a_gpu(monkeypatch, 8, 6, 101376)
    new = dataclasses.replace(device.registry.KERNELS[0], name="tma_05_wide_tile", min_arch=90)
    monkeypatch.setattr(device.registry, "KERNELS", (*device.registry.KERNELS, new))
    hint = device._gpu().hint
    old, small = hint.split(". ")
    assert old.startswith("Too old for ") and "tma_05_wide_tile" in old and "hgemm" not in old
    assert small.startswith("Too little shared memory for hgemm_18_wide_tile, hgemm_19_stream_k: ")
    assert hint.endswith(": these run on the simulator (pass CPU tensors)")


def test_steps_with_wgmma_are_named_on_a_gpu_that_no_longer_has_it(monkeypatch):
    a_gpu(monkeypatch, 12, 0, 101376)
    new, small = device._gpu().hint.split(". ")
    wgmma = [spec.name for spec in device.registry.KERNELS if spec.family == "wgmma"]
    assert new == f"Too new, without wgmma, for {', '.join(wgmma)}"
    assert small.startswith("Too little shared memory for ") and "wgmma_" not in small
    a_gpu(monkeypatch, 9, 0, 232448)
    assert device._gpu().hint == ""
