"""Ways to kill a notebook: cells in one shell, which lives after each and has said what was wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import needs
import pytest

from gemmlab.gpu.toolchain import find_nvcc

KERNEL = """\
#include <cstdlib>
#include <cstdio>
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <vector>
#include <unistd.h>
#include "../common/launch/host.cuh"
{before}
__global__ void kernel(float* C, int n) {{
  int i = threadIdx.x;
  {device}
  if (i < n) C[i] = 1.0f;
}}

cudaError_t launch_mine(const GemmArgs& g, cudaStream_t stream) {{
  int n = g.M * g.N;
  {host}
  return launch(kernel, {blocks}, 32, 0, stream, (float*)g.C, n);
}}
"""


@dataclass(frozen=True)
class Way:
    """What stands in the kernel, its launcher, or before both; and what the reader is told.

    line: whether the place is told, the line with the comment [here].
    """

    says: str
    device: str = ""
    host: str = ""
    before: str = ""
    blocks: str = "1"
    line: bool = True
    nvcc: bool = True  # whether nvcc compiles it: the host's functions do not exist on a GPU

    def cell(self) -> str:
        parts = {name: getattr(self, name) for name in ("before", "device", "host", "blocks")}
        return "%%kernel mine\n" + KERNEL.format(**parts)


SPIN = "volatile int spin = 1; while (spin) {{ spin = 1; }}  // [here]".replace("{{", "{").replace(
    "}}", "}"
)
RECURSION = "int deeper(int n) { volatile char room[500]; room[0] = n; return deeper(n + 1) + room[0]; }  // [here]"

WAYS = {
    "launcher, endless loop": Way(
        "endless-loop: The launcher is in a loop without end: for 1 s", host=SPIN
    ),
    "launcher, endless launches": Way(
        "endless-loop: The launcher is in a loop without end: it has launched 10,000 kernels",
        host="for (;;) launch(kernel, 1, 1, 0, stream, (float*)g.C, 1);  // [here]",
    ),
    "launcher, endless printf": Way(
        "endless-loop: The launcher is in a loop without end",
        host='for (;;) printf("again\\n");  // [here]',
    ),
    "kernel, endless loop": Way(
        "endless-loop: Thread 0 of block 0 goes round a loop", device=SPIN
    ),
    "kernel, endless loop in many blocks": Way(
        "endless-loop: Thread 0 of block", device=SPIN, blocks="400"
    ),
    "kernel, endless printf": Way(
        "endless-loop: Thread", device='for (;;) printf("%d\\n", i);  // [here]'
    ),
    "launcher, exit": Way(
        "ended: The launcher would end the whole process, by exit(3)", host="exit(3);  // [here]"
    ),
    "launcher, _exit": Way("by _exit(0)", host="_exit(0);  // [here]"),
    "launcher, abort": Way("by abort()", host="if (n) abort();  // [here]"),
    "launcher, raise": Way("by raise(9)", host="raise(SIGKILL);  // [here]"),
    "launcher, throw": Way(
        "exception: The launcher throws std::runtime_error: no, and nobody catches it",
        host='throw std::runtime_error("no");  // [here]',
    ),
    "launcher, out of a vector": Way(
        "exception: The launcher throws std::out_of_range",
        host="std::vector<int> few(3); n += few.at(n);  // [here]",
    ),
    "launcher, null pointer": Way(
        "launcher: The launcher, which runs on the host, uses an address that is no memory",
        host="*(volatile int*)8 = 1;  // [here]",
    ),
    "launcher, recursion": Way(
        "stack-overflow: The launcher calls itself without end",
        before=RECURSION,
        host="n += deeper(n);",
    ),
    "launcher, division by zero": Way(
        "division-by-zero: The launcher divides an integer by zero",
        host="volatile int none = 0; n = n / none;  // [here]",
    ),
    "launcher, assert": Way(
        "assertion: The launcher fails assert(n < 0)", host="assert(n < 0);  // [here]"
    ),
    "launcher, memory without end": Way(
        "exception: The launcher throws std::bad_alloc",
        host="std::vector<std::vector<char>> all; for (;;) all.emplace_back(1 << 28), all.back().reserve(1 << 30);  // [here]",
    ),
    "launcher, heap written over": Way(
        "", host="char* a = (char*)malloc(64); for (int i = -64; i < 4096; ++i) a[i] = 0x55;"
        " free(a); free(malloc(5000));", line=False,
    ),
    "launcher, stack written over": Way(
        "", host="volatile char a[8]; for (int i = 0; i < 200000; ++i) a[i] = 0x55;", line=False,
    ),
    "launcher, files closed": Way(
        "The process of its own in which the kernel runs has ended",
        host="for (int i = 0; i < 100; ++i) close(i); usleep(600000);", line=False,
    ),
    "initialiser, null pointer": Way(
        "launcher: The initialiser of a variable, which runs when the kernel is loaded, which",
        before="int from() { return *(volatile int*)8; }  // [here]\nint value = from();",
    ),
    "initialiser, exit": Way(
        "ended: The initialiser of a variable", before="int ends() { exit(1); }  // [here]\n"
        "int value = ends();",
    ),
    "initialiser, endless loop": Way(
        "endless-loop: The initialiser of a variable",
        before=f"int spins() {{ {SPIN}\n return 1; }}\nint value = spins();",
    ),
    "kernel, exit": Way(
        "ended: Thread 0 of block 0 would end the whole process, by exit(1)",
        device="exit(1);  // [here]", nvcc=False,
    ),
    "kernel, abort": Way("by abort()", device="abort();  // [here]", nvcc=False),
    "kernel, throw": Way(
        "exception: Thread 0 of block 0 throws int, and a kernel has no exceptions",
        device="throw 5;  // [here]", nvcc=False,
    ),
    "kernel, raise": Way("by raise(9)", device="raise(SIGKILL);  // [here]", nvcc=False),
    "kernel, division by zero": Way(
        "division-by-zero: Thread 0 of block 0", device="C[0] = i / (n - n);  // [here]"
    ),
    "kernel, recursion": Way(
        "stack-overflow:", before="__host__ __device__ " + RECURSION, device="i = deeper(i);"
    ),
    "kernel, stack written over": Way(
        "", device="volatile char a[8]; for (int k = 0; k < 90000; ++k) a[k] = 0x55;", line=False
    ),
    "kernel, wild write": Way(
        "out-of-bounds: Thread 0 of block 0", device="((volatile int*)C)[-(1 << 30)] = 1;  // [here]"
    ),
}

# What runs in the shell. The variable `mine` of a cell that did not compile is the one before.
SHELL = """
import contextlib, io, json, sys, time
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
shell.run_cell("import gemmlab as lab")
for line in sys.stdin:
    start, told = time.monotonic(), []
    for cell in json.loads(line):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            result = shell.run_cell(cell, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        told.append(str(error) if error else printed.getvalue() + repr(result.result))
    print(json.dumps({"told": told, "seconds": time.monotonic() - start}), flush=True)
"""
GOOD = "%%kernel good --like sgemm_02_coalesced\nconstexpr int BN = 32;"
RUNS = "A, B = lab.matrices(32, 32, 32); good(A, B); 'alive'"


class Shell:
    """An IPython shell in a process of its own; `run` gives what its cells have told."""

    def __init__(self, **variables: str) -> None:
        environment = {**os.environ, "GEMMLAB_BACKEND": "sim", "GEMMLAB_SIM_BUDGET_S": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SHELL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, **variables},
        )

    def run(self, *cells: str) -> list[str]:
        self.process.stdin.write(json.dumps(cells) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the shell is dead"
        return json.loads(line)["told"]

    def end(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(timeout=30) == 0


def without_nvcc() -> str:
    """The PATH without the folders that have nvcc."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(f for f in folders if not os.path.exists(os.path.join(f, "nvcc")))


@pytest.fixture(scope="module")
def shell():
    made = Shell(PATH=without_nvcc(), CUDA_HOME="/nowhere")
    yield made
    made.end()


def here(way: Way) -> str:
    lines = way.cell().splitlines()
    return str(next(i for i, line in enumerate(lines, start=1) if "[here]" in line))


@needs.gxx
@pytest.mark.parametrize("name", WAYS)
def test_the_notebook_lives(shell, name):
    way = WAYS[name]
    built, told = shell.run(way.cell(), "A, B = lab.matrices(1, 8, 1); mine(A, B)")
    assert "compiled for the simulator" in built, built
    if way.says:
        assert way.says in told, told
    if way.line:
        assert re.search(rf"mine\.cuh:{here(way)}: ", told), (told, here(way))
