"""What a GPU would refuse, what takes too long, what never ends: each says so, and what to do."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import gemmlab
from gemmlab import registry, sim
from gemmlab.errors import ArgumentError, BuildError, LaunchError, SlowRunError
from gemmlab.sim import build, limits

RECORDED = Path(__file__).parent / "recorded" / "launches.json"
CUDA_HEADER = Path("/usr/local/cuda/include/driver_types.h")
DEVICE = build.INCLUDE / "gemmlab_sim" / "device.h"


def matrices(size=64):
    return np.zeros(size, np.float32), np.zeros(size, np.float32)


# ---- launches ----

CASES = re.findall(
    r'^    \{"(\w+)", ', (Path(__file__).parent / "fixtures/launches.cu").read_text(), re.MULTILINE
)
# The error's name, both numbers, what to do.
REFUSED = {
    "threads_1025": ("InvalidConfiguration", "1025 x 1 x 1", "limit of 1024", "smaller blocks"),
    "threads_wrap_around": ("InvalidConfiguration", "65536 x 65536", "limit of 1024"),
    "block_z_65": ("InvalidConfiguration", "blockDim.z is 65", "at most 64", "in x or y"),
    "grid_0": ("InvalidConfiguration", "0 x 1 x 1 blocks", "at least 1", "smaller than the tile"),
    "grid_z_65536": ("InvalidConfiguration", "gridDim.z is 65536", "at most 65535", "in x"),
    "grid_x_2_31": ("InvalidConfiguration", "2147483648", "at most 2147483647"),
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


@pytest.mark.skipif(not CUDA_HEADER.exists(), reason="no CUDA toolkit")
def test_numbers_are_those_of_cudas_header():
    ours = re.findall(r"X\((cuda\w+), (\d+),", DEVICE.read_text())
    ours += re.findall(r"^  (cuda\w+) = (\d+),", DEVICE.read_text(), re.MULTILINE)
    launch = (DEVICE.parent / "launch.h").read_text()
    ours += re.findall(r"^  (cuda\w+) = (\d+),", launch, re.MULTILINE)
    theirs = dict(re.findall(r"\b(cuda\w+)\s*=\s*(\d+)", CUDA_HEADER.read_text()))
    assert len(ours) > 25
    assert [name for name, number in ours if theirs.get(name) != number] == []


def test_what_launchers_ask_of_the_runtime(kernel_file):
    A, C = matrices()
    kernel_file("host_calls").module("host_calls").launch(A, A, C, 1, 1, 1)
    assert C[0] == 132


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (0, "stops.cu:{dereference}: launcher: The launcher, which runs on the host"),
        (1, "stops.cu:{divide}: launcher: The launcher, which runs on the host"),
        (2, "stops.cu:{thread}: launcher: The launcher, which runs on the host"),
        (3, "throws an exception; let it return a cudaError_t"),
        (4, "the launcher returned cudaErrorInvalidValue (1); M=4, N=8, K=1"),
        (5, "cudaErrorInvalidConfiguration: a block of 2048"),
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
    (found,) = run(fixture.module("copies"), traced, 1, 1, 1)
    assert f"null_pointers.cu:{fixture.lines['copy']}: " in found
    assert "uses a null pointer" in found


# ---- loops without end ----

ENDLESS = ("poll", "count", "one_lane", "together", "apart")


@pytest.fixture
def short_budget(monkeypatch):
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "0.3")


def run(module, traced: bool, *problem) -> list[str]:
    """Kinds and lines of what stopped it."""
    A, C = matrices()
    if traced:
        return [str(finding) for finding in module.trace(A, A, C, *problem).findings]
    with pytest.raises(LaunchError) as caught:
        module.launch(A, A, C, *problem)
    return str(caught.value).splitlines()[1:]


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_is_given_up(kernel_file, short_budget, name, traced, portable):
    fixture = kernel_file("endless")
    module = fixture.module("endless", portable)
    (found,) = run(module, traced, ENDLESS.index(name), 4, 1)
    line = fixture.lines[name]
    assert found.startswith(f"tests/sim/fixtures/endless.cu:{line}: endless-loop: Thread ")
    assert f"goes round a loop at line {line} without end: for 0.3 s no thread" in found
    A, C = matrices()
    A[0] = 1.0
    module.launch(A, A, C, 0, 1, 1)
    assert C[0] == 2.0


def test_headway_is_no_endless_loop(kernel_file, monkeypatch):
    """The whole takes longer than the budget, but threads return one after the other."""
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", "0.15")
    A, B, C = sim.integer_matrices(256, 512, 512)
    start = time.monotonic()
    trace = sim.load(registry.get("sgemm_01_naive")).trace(A, B, C, 256, 512, 512, threads=1)
    assert time.monotonic() - start > 0.3
    assert trace.findings == ()
    assert np.array_equal(C, A @ B)


@pytest.mark.parametrize("text", ["no", "-1", "0", "nan", "inf"])
def test_a_wrong_budget(kernel_file, monkeypatch, text):
    monkeypatch.setenv("GEMMLAB_SIM_BUDGET_S", text)
    A, C = matrices()
    with pytest.raises(ArgumentError, match=r"GEMMLAB_SIM_BUDGET_S: is .*, expected seconds"):
        kernel_file("grid").module("grid").launch(A, A, C, 1, 1, 1)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", ENDLESS)
def test_ctrl_c_stops_a_run(kernel_file, name, traced):
    fixture = kernel_file("endless")
    module = fixture.module("endless")
    A, C = matrices()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        (module.trace if traced else module.launch)(A, A, C, ENDLESS.index(name), 4, 1)
    assert time.monotonic() - start < 5
    timer.join()
    A[0] = 1.0
    assert module.trace(A, A, C, 0, 1, 1).findings == ()
    assert C[0] == 2.0


def test_signal_handlers_are_ours_only_while_a_launch_runs(kernel_file):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGURG)
    A, C = matrices()
    kernel_file("stops").module("kernel").launch(A, A, C, 0, 32, 1)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGURG)) == before
    os.kill(os.getpid(), signal.SIGURG)  # ignored, as it was before


# ---- runs that take long ----


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


def test_a_slow_run_that_is_allowed_shows_its_progress(impatient, monkeypatch, capfd):
    monkeypatch.setenv("GEMMLAB_PROGRESS", "1")
    monkeypatch.setattr(limits, "SLOW_SECONDS", 0.0)
    A, B, C = sim.integer_matrices(256, 512, 512)
    module = sim.load(registry.get("sgemm_01_naive"))
    module.trace(A, B, C, 256, 512, 512, allow_slow=True)
    assert np.array_equal(C, A @ B)
    assert re.search(r"sgemm_01_naive in the simulator: .*/512", capfd.readouterr().err)


def test_check_does_not_call_a_slow_kernel_wrong(impatient, monkeypatch):
    monkeypatch.setattr(limits, "SLOW_SECONDS", 0.01)
    monkeypatch.setattr(limits, "_FIRST_LOOK", 0.05)
    with pytest.raises(SlowRunError):
        gemmlab.check("sgemm_01_naive", [(512, 512, 2048)], "cpu")


def test_matrices_larger_than_the_memory():
    with pytest.raises(
        ArgumentError, match=r"17.88 GiB \(A 5.96 GiB, .* the simulator has 1.999 G"
    ):
        sim.trace("sgemm_01_naive", 40_000, 40_000, 40_000)


# ---- CUDA that the simulator does not have ----

HOST = registry.repository_root() / "kernels" / "common" / "host.cuh"
LAUNCH = """
cudaError_t launch_it(const GemmArgs& g, cudaStream_t stream) {
  return launch(kernel, 1, 32, 0, stream, (float*)g.C);
}
"""


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            'unsigned r;\n  asm volatile("fns.b32 %0, 7, 0, 1;" : "=r"(r));',
            r"mine\.cuh:4: fns\.b32 is PTX that the simulator does not execute.*smem\.cuh",
        ),
        (
            '/* asm("x;") */ asm("{ .reg .pred p;\\n"\n "  @p bar.red.popc.u32 %0, 1;}" ::);',
            r"mine\.cuh:3: bar\.red\.popc\.u32 is PTX",
        ),
        (
            "out[0] = __usad(1, 2, 3);",
            r"mine\.cuh:3: the simulator has no __usad; write it with what it has",
        ),
        ("cudaGridDependencySynchronize();", r"mine\.cuh:3: the simulator has no cudaGridDep"),
        ("out[threadIdx.x] = 1;\n#include <cooperative_groups.h>", r"no header cooperative_groups"),
        ("out[0] = mispelt;", r"could not compile it\n.*'mispelt' was not declared"),
    ],
)
def test_what_is_not_supported_is_named(tmp_path, body, says):
    path = tmp_path / "mine.cuh"
    text = f'#include "{HOST}"\n__global__ void kernel(float* out) {{\n  {body}\n}}\n{LAUNCH}'
    path.write_text(text)
    with pytest.raises(BuildError, match=rf"(?s){says}"):
        sim.load_source(path, "launch_it")


def test_a_launch_by_three_brackets_is_named(tmp_path):
    path = tmp_path / "mine.cuh"
    path.write_text(
        f'#include "{HOST}"\n__global__ void kernel(float* out) {{ *out = 1; }}\n'
        "cudaError_t launch_it(const GemmArgs& g, cudaStream_t stream) {\n"
        "  kernel<<<1, 32, 0, stream>>>((float*)g.C);\n  return cudaGetLastError();\n}\n"
    )
    with pytest.raises(BuildError, match=r"mine\.cuh:4: kernel<<<\.\.\.>>> is a syntax"):
        sim.load_source(path, "launch_it")


def test_an_empty_asm_is_none_of_its_business(tmp_path):
    path = tmp_path / "mine.cuh"
    body = '  *out = 1.0f;  // asm("nanosleep.u32 20;")\n  asm volatile("" ::: "memory");\n'
    path.write_text(f'#include "{HOST}"\n__global__ void kernel(float* out) {{\n{body}}}\n{LAUNCH}')
    A, C = matrices()
    sim.load_source(path, "launch_it").launch(A, A, C, 1, 1, 1)
    assert C[0] == 1.0
