"""CUDA that readers write without thinking of it: variables of the device, printf, any name."""

from __future__ import annotations

import subprocess

import needs
import numpy as np
import pytest

from gemmlab.core.errors import LaunchError
from gemmlab.core.paths import kernels_folder
from gemmlab.gpu.build import source_text
from gemmlab.gpu.toolchain import FLAGS, gencode, nvcc

CASES = ("variables", "too_many", "dynamic", "prints", "asserts")


@pytest.fixture
def run(kernel_file):
    """Runs a launcher of language.cu; the trace, and C."""

    def traced(name: str, M: int = 0, N: int = 0):
        A, C = np.zeros(32, np.float32), np.zeros(32, np.float32)
        module = kernel_file("language").module("language")
        trace = module.trace(A, A, C, M, N, CASES.index(name))
        return trace, C

    return traced


def test_variables_of_the_device(run):
    for _ in range(2):  # they live as long as the module
        trace, C = run("variables")
        assert trace.findings == ()
        assert C[:8].tolist() == [40, 41, 42, 40, 40, 41, 42, 40]


def test_more_than_a_variable_holds_is_refused(run):
    with pytest.raises(LaunchError, match="cudaErrorInvalidValue"):
        run("too_many")


@pytest.mark.parametrize(("case", "step"), [(0, 1.0), (1, 0.5)])
def test_dynamic_shared_memory_has_any_name_and_type(run, case, step):
    trace, C = run("dynamic", case)
    assert trace.findings == ()
    assert C.tolist() == [step * (31 - t) for t in range(32)]


def test_printf_comes_in_the_order_of_the_blocks(run, kernel_file, capsys):
    trace, _ = run("prints", 40, 2)
    lines = [f"block {b}, line {i}: 0.5" for b in range(40) for i in range(2)]
    assert trace.output.splitlines() == ["before", *lines, "after 40"]
    assert capsys.readouterr().out == ""
    A = np.zeros(1, np.float32)
    module = kernel_file("language").module("language")
    module.launch(A, A, A.copy(), 1, 1, CASES.index("prints"))
    assert capsys.readouterr().out == "before\nblock 0, line 0: 0.5\nafter 1\n"


def test_what_is_printed_has_an_end(run):
    trace, _ = run("prints", 64, 2000)
    assert len(trace.output) < 2**20 + 100
    assert trace.output.splitlines()[-1].endswith(" more calls of printf")


def test_assert(run, kernel_file):
    assert run("asserts", 32)[0].findings == ()
    (found,) = run("asserts", 5)[0].findings
    assert (found.kind, found.line) == ("assertion", kernel_file("language").lines["assert"])
    assert "Thread 5 of block 0 fails assert(threadIdx.x < most)" in found.message


@needs.slow_nvcc
def test_nvcc_takes_the_same_text(kernel_file, tmp_path):
    source = tmp_path / "unit.cu"
    path = kernel_file("language").path
    source.write_text(source_text(path, "launch_language", workspace=False))
    command = [nvcc(), *FLAGS, f"-I{kernels_folder()}", gencode("90a"), "-cubin", str(source)]
    done = subprocess.run([*command, "-o", str(tmp_path / "unit.cubin")], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
