"""What a GPU would refuse, and what takes too long: each says so, and what to do."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gemmlab
from gemmlab import sim
from gemmlab.core import progress
from gemmlab.core.errors import ArgumentError, LaunchError, SlowRunError
from gemmlab.sim import build, limits
from gemmlab.steps import registry

RECORDED = Path(__file__).parent / "recorded" / "launches.json"
CUDA_HEADER = Path("/usr/local/cuda/include/driver_types.h")
DEVICE = build.INCLUDE / "gemmlab_sim" / "device.h"


def matrices(size=64):
    return np.zeros(size, np.float32), np.zeros(size, np.float32)


CASES = re.findall(
    r'^    \{"(\w+)", ', (Path(__file__).parent / "fixtures/launches.cu").read_text(), re.MULTILINE
)
# The error's name, both numbers, what to do.
REFUSED = {
    "threads_1025": ("InvalidValue", "1025 x 1 x 1", "limit of 1024", "smaller blocks"),
    "threads_wrap_around": ("InvalidValue", "65536 x 65536", "limit of 1024"),
    "block_z_65": ("InvalidValue", "blockDim.z is 65", "at most 64", "in x or y"),
    "grid_0": ("InvalidValue", "0 x 1 x 1 blocks", "at least 1", "smaller than the tile"),
    "grid_z_65536": ("InvalidValue", "gridDim.z is 65536", "at most 65535", "in x"),
    "grid_x_2_31": ("InvalidValue", "2147483648", "at most 2147483647"),
    "dynamic_49153": ("InvalidValue", "49153 bytes of dynamic", "49152", "FuncSetAttribute(kernel"),
    "dynamic_300000": ("InvalidValue", "300000 bytes", "at most 232448", "smaller tiles"),
    "static_40000_dynamic_9153": ("InvalidValue", "9153 bytes of dynamic and 40000 of static"),
    "opt_in_232449": ("InvalidValue", "232449", "232448", "fewer stages"),
    "opt_in_65536_dynamic_65537": ("InvalidValue", "65537", "65536", "allow as many"),
    "static_40000_opt_in_192449": ("InvalidValue", "192449", "at most 192448"),
    "bound_128_threads_129": ("", "129 threads", "at most 128", "raise the bound"),
    "bound_16x16_threads_512": ("", "512 threads", "at most 256", "raise the bound"),
    "cluster_3_grid_4": ("", "4 x 1 x 1 blocks", "3 x 1 x 1", "a multiple of the cluster's"),
    "cluster_9": ("InvalidClusterSize", "9 blocks", "at most 8", "NonPortableClusterSizeAllowed"),
    "cluster_non_portable_17": ("InvalidClusterSize", "17 x 1 x 1", "limit of 16", "a smaller one"),
}


def answer(kernel_file, case: str) -> str:
    """The simulator's, as text: cudaSuccess, or the error and its reason."""
    A, C = matrices()
    try:
        kernel_file("launches").module("case").launch(A, A, C, CASES.index(case), 0, 0)
    except LaunchError as error:
        return str(error).removeprefix("launches: ")
    return "cudaSuccess"


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_launch_says_why(kernel_file, case):
    text = answer(kernel_file, case)
    error, *parts = REFUSED[case]
    assert text.startswith(f"cudaError{error}")
    assert [part for part in parts if part not in text] == []


@pytest.mark.skipif(not RECORDED.exists(), reason="the GPU's answers are not recorded")
@pytest.mark.parametrize("case", CASES)
def test_the_gpu_gives_the_same_answer(kernel_file, case):
    recorded = json.loads(RECORDED.read_text())["cases"][case]
    assert answer(kernel_file, case).partition(":")[0] == recorded


@pytest.mark.skipif(not RECORDED.exists(), reason="the GPU's answers are not recorded")
def test_the_gpu_has_the_same_attributes():
    recorded = json.loads(RECORDED.read_text())
    rows = re.findall(r"X\((cudaDevAttr\w+), \d+, (\d+)\)", DEVICE.read_text())
    assert len(rows) > 10
    assert {name: int(value) for name, value in rows} == {
        name: recorded["attributes"][name] for name, _ in rows
    }


def test_the_gpu_has_the_same_properties():
    recorded = json.loads(RECORDED.read_text())["properties"]
    one = re.findall(r"X\((?:int|unsigned|size_t), (\w+), (\d+)\)", DEVICE.read_text())
    several = re.findall(r"X\((\w+), \d, ([\d, ]+)\)", DEVICE.read_text())
    sizes = {
        f"{name}[{i}]": int(value)
        for name, values in several
        if not name.startswith("cuda")
        for i, value in enumerate(values.split(", "))
    }
    assert len(one) > 50 and len(sizes) > 30
    ours = {name: int(value) for name, value in one} | sizes
    missing = {"name", "totalGlobalMem", "multiProcessorCount"}  # the simulator's own
    assert {key: value for key, value in recorded.items() if key not in missing} == ours


@pytest.mark.skipif(not CUDA_HEADER.exists(), reason="CUDA's headers are not installed")
def test_numbers_are_those_of_cudas_header():
    ours = re.findall(r"X\((cuda\w+), (\d+),", DEVICE.read_text())
    ours += re.findall(r"^  (cuda\w+) = (\d+),", DEVICE.read_text(), re.MULTILINE)
    for header in ("launch.h", "graph_conditions.h", "graph_memory.h", "graphs.h"):
        text = (DEVICE.parent / header).read_text()
        ours += re.findall(r"^  (cuda\w+) = (\d+),", text, re.MULTILINE)
    theirs = dict(re.findall(r"\b(cuda\w+)\s*=\s*(0x[0-9a-fA-F]+|\d+)", CUDA_HEADER.read_text()))
    assert len(ours) > 25
    assert [name for name, number in ours if int(theirs.get(name, "-1"), 0) != int(number)] == []


def test_what_launchers_ask_of_the_runtime(kernel_file):
    A, C = matrices()
    kernel_file("host_calls").module("host_calls").launch(A, A, C, 1, 1, 1)
    assert C[0] == 132


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (0, "stops.cu:{dereference}: launcher: The launcher, which runs on the host"),
        (1, "stops.cu:{divide}: division-by-zero: The launcher divides an integer by zero"),
        (2, "stops.cu:{thread}: launcher: The launcher, which runs on the host"),
        (3, "stops.cu:{throw}: exception: The launcher throws std::runtime_error: thrown by the "),
        (4, "the launcher returned cudaErrorInvalidValue (1); M=4, N=8, K=1"),
        (5, "cudaErrorInvalidValue: a block of 2048"),
        (6, ""),
    ],
)
def test_a_launcher_that_fails(kernel_file, case, says):
    fixture = kernel_file("stops")
    module = fixture.module("nothing")
    A, C = matrices()
    if not says:
        return module.launch(A, A, C, case, 8, 1)
    with pytest.raises(LaunchError) as caught:
        module.launch(A, A, C, case, 8, 1)
    assert says.format(**fixture.lines) in str(caught.value)


@pytest.mark.parametrize(("case", "mark"), [(0, "assert"), (1, "trap")])
def test_a_kernel_that_stops_itself(kernel_file, case, mark):
    fixture = kernel_file("stops")
    A, C = matrices()
    (finding,) = fixture.module("kernel").trace(A, A, C, case, 8, 1).findings
    assert (finding.kind, finding.line) == ("assertion", fixture.lines[mark])
    assert "thread 8 of block 0" in finding.message.lower()
    fixture.module("kernel").launch(A, A, C, case, 32, 1)
    assert C[31] == 1


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("missing", ["A", "B", "C"])
def test_a_null_pointer(kernel_file, missing, traced):
    fixture = kernel_file("null_pointers")
    module = fixture.module("some")
    A, C = matrices()
    case = 1 << "ABC".index(missing)
    if traced:
        (finding,) = module.trace(A, A, C, case, 1, 1).findings
        assert (finding.kind, finding.line) == ("out-of-bounds", fixture.lines[missing])
        assert "uses a null pointer (address 0x0)" in finding.message
    else:
        with pytest.raises(LaunchError, match=r"null_pointers\.cu:\d+: .* uses a null pointer"):
            module.launch(A, A, C, case, 1, 1)


@pytest.mark.parametrize("traced", [False, True])
def test_a_null_pointer_that_the_c_library_reads(kernel_file, traced):
    fixture = kernel_file("null_pointers")
    module, (A, C) = fixture.module("copies"), matrices()
    if traced:
        found = str(module.trace(A, A, C, 1, 1, 1).findings[0])
    else:
        with pytest.raises(LaunchError) as caught:
            module.launch(A, A, C, 1, 1, 1)
        found = str(caught.value)
    assert f"null_pointers.cu:{fixture.lines['copy']}: " in found
    assert "uses a null pointer" in found


@pytest.fixture
def impatient(monkeypatch):
    """A limit that tests can wait for."""
    monkeypatch.setattr(limits, "SLOW_SECONDS", 0.5)
    monkeypatch.setattr(limits, "_FIRST_LOOK", 0.2)
    monkeypatch.setattr(limits, "_SHOW_AFTER", 0.1)


def test_a_run_that_would_take_minutes(impatient):
    with pytest.raises(SlowRunError) as caught:
        sim.trace("sgemm_01_naive", 1024, 1024, 512)
    text = str(caught.value)
    assert re.search(
        r"would take about \d+ (s|min) in the simulator \([\d,]+ of 4,096 blocks", text
    )
    assert "pass allow_slow=True" in text
    assert sim.trace("sgemm_01_naive", 32, 8, 4).findings == ()


@pytest.mark.parametrize(
    ("done", "blocks", "refused"), [(0, 1, False), (0, 100, True), (90, 100, False), (1, 100, True)]
)
def test_the_estimate_comes_from_the_first_blocks(impatient, done, blocks, refused):
    """0.2 s with two workers: a block in hand takes as long as it has taken so far, at least."""
    stop = threading.Event()
    runs = SimpleNamespace(progress=lambda: (done, blocks, 0), cancel=stop.set)
    watch = limits.Watch("kernel", runs, limits.Limits(2, False, 10.0), lambda *_: None)
    if not refused:
        return watch.run(lambda: stop.wait(0.35))
    with pytest.raises(SlowRunError, match=rf"\({done} of {blocks} blocks done in 0 s\)"):
        watch.run(stop.wait)


def test_a_run_without_headway_is_not_called_slow(impatient, monkeypatch):
    """It may be an endless loop: it is given up after the budget."""
    monkeypatch.setattr(limits, "_FRESH", 0.1)
    stop = threading.Event()
    runs = SimpleNamespace(progress=lambda: (0, 1000, 0), cancel=stop.set, give_up=stop.set)
    watch = limits.Watch("kernel", runs, limits.Limits(2, False, 0.4), lambda *_: None)
    watch.run(stop.wait)


def test_a_slow_run_that_is_allowed_shows_its_progress(impatient, monkeypatch, capfd):
    monkeypatch.setenv("GEMMLAB_PROGRESS", "1")
    monkeypatch.setattr(limits, "SLOW_SECONDS", 0.0)
    A, B, C = sim.integer_matrices(256, 512, 512)
    module = sim.compile_step(registry.get("sgemm_01_naive"))
    monkeypatch.setattr(progress, "watched", lambda: True)  # as in a terminal
    module.trace(A, B, C, 256, 512, 512, allow_slow=True)
    assert np.array_equal(C, A @ B)
    assert re.search(r"sgemm_01_naive in the simulator: .*/512", capfd.readouterr().err)


def test_progress_into_a_pipe_is_no_bar(impatient, monkeypatch, capfd):
    monkeypatch.setenv("GEMMLAB_PROGRESS", "1")
    A, B, C = sim.integer_matrices(256, 256, 512)
    module = sim.compile_step(registry.get("sgemm_01_naive"))
    module.trace(A, B, C, 256, 256, 512, allow_slow=True)
    assert list(progress.bar(range(3), "counting")) == [0, 1, 2]
    assert "\r" not in capfd.readouterr().err


def test_check_does_not_call_a_slow_kernel_wrong(impatient, monkeypatch):
    monkeypatch.setattr(limits, "SLOW_SECONDS", 0.01)
    monkeypatch.setattr(limits, "_FIRST_LOOK", 0.05)
    report = gemmlab.check("sgemm_01_naive", [(512, 512, 2048)], "cpu")
    assert report.verdict == "incomplete" and not report.ok
    assert "INCOMPLETE on the simulator; nothing was run" in repr(report)
    assert "not covered: sgemm_01_naive: would take about" in repr(report)


def test_matrices_larger_than_the_memory():
    with pytest.raises(
        ArgumentError, match=r"17.88 GiB \(A 5.96 GiB, .* the simulator has 1.998 G"
    ):
        sim.trace("sgemm_01_naive", 40_000, 40_000, 40_000)
