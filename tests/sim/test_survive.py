"""Ways to kill a notebook: cells in one shell, which lives after each and has said what it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import needs
import pytest

pytestmark = needs.gxx

KERNEL = """\
%%kernel {name}
#include <csignal>
#include <stdexcept>
#include <vector>
#include <unistd.h>
#include "../common/launch/host.cuh"

{before}
__host__ __device__ int deeper(volatile int n) {{ return deeper(n + 1) + n; }}  // [deeper]

__global__ void kernel(float* C, int n, int way) {{
  const int i = threadIdx.x;
  volatile int none = 0;
{device}
  if (i < n) C[i] = way;
}}

cudaError_t launch_{name}(const GemmArgs& g, cudaStream_t stream) {{
  const int way = g.K;
  volatile int none = 0;
{host}
  return launch(kernel, 40, 32, 0, stream, (float*)g.C, g.M * g.N, way);
}}
"""
SPIN = "while (!none) none = 0;"


@dataclass(frozen=True)
class Way:
    """A statement of the kernel or of its launcher, and what the reader is told.

    line: the place that is told: the line with this comment; "" if it cannot be known, "own": that
    of the statement. compiles: with nvcc, which knows that the host's functions are not a GPU's.
    """

    says: str
    host: str = ""
    device: str = ""
    line: str = "own"
    compiles: bool = True


WAYS = {
    "launcher, endless loop": Way(
        "endless-loop: The launcher is in a loop without end: for 0.5 s", SPIN
    ),
    "launcher, endless launches": Way(
        "endless-loop: The launcher is in a loop without end: it has launched 10,000 kernels",
        "for (;;) launch(kernel, 1, 1, 0, stream, (float*)g.C, 0, 0);",
    ),
    "launcher, endless printf": Way(
        "endless-loop: The launcher is in a loop without end", 'for (;;) printf("again\\n");'
    ),
    "launcher, sleep": Way("endless-loop: The launcher is in a loop", "for (;;) sleep(100);"),
    "launcher, exit": Way(
        "ended: The launcher would end the whole process, by exit(3); let it return", "exit(3);"
    ),
    "launcher, _exit": Way("by _exit(0)", "_exit(0);"),
    "launcher, abort": Way("by abort()", "abort();"),
    "launcher, raise": Way("by raise(9)", "raise(SIGKILL);"),
    "launcher, throw": Way(
        "exception: The launcher throws std::runtime_error: no, and nobody catches it",
        'throw std::runtime_error("no");',
    ),
    "launcher, out of a vector": Way(
        "exception: The launcher throws std::out_of_range", "std::vector<int>(3).at(way);"
    ),
    "launcher, null pointer": Way(
        "launcher: The launcher, which runs on the host, uses an address that is no memory",
        "*(volatile int*)8 = 1;",
    ),
    "launcher, recursion": Way(
        "stack-overflow: The launcher calls itself without end", "deeper(1);", line="deeper"
    ),
    "launcher, division by zero": Way(
        "division-by-zero: The launcher divides an integer by zero",
        "return cudaError_t(way / none);",
    ),
    "launcher, assert": Way("assertion: The launcher fails assert(way < 0)", "assert(way < 0);"),
    "launcher, memory without end": Way(
        "exception: The launcher throws std::bad_alloc",
        "for (;;) none = *new char[1 << 30];",
    ),
    "launcher, stack written over": Way(
        "process: The process of its own in which the kernel runs was ended by SIGSEGV",
        "volatile char* low = (char*)&none; for (int i = 0; i < 1 << 16; ++i) low[i] = 85;",
        line="",
    ),
    "launcher, files closed": Way(
        "has ended, with exit status 3: it cannot answer any more, because its launcher has closed",
        "for (int i = 0; i < 100; ++i) close(i); usleep(400000);",
        line="",
    ),
    "kernel, endless loop": Way("endless-loop: Thread 0 of block ", device=SPIN),
    "kernel, endless printf": Way("endless-loop: Thread ", device='for (;;) printf("%d\\n", i);'),
    "kernel, division by zero": Way(
        "division-by-zero: Thread 0 of block ", device="C[i] = way / none;"
    ),
    "kernel, recursion": Way("stack-overflow: ", device="deeper(1);", line="deeper"),
    "kernel, wild write": Way(
        "out-of-bounds: Thread 0 of block ", device="((volatile int*)C)[-(1 << 30)] = 1;"
    ),
    "kernel, assert": Way("assertion: Thread ", device="assert(i < 5);"),
    "kernel, exit": Way(
        "ended: Thread 0 of block 0 would end the whole process, by exit(1); let it return",
        device="exit(1);",
        compiles=False,
    ),
    "kernel, abort": Way("by abort()", device="abort();", compiles=False),
    "kernel, raise": Way("by raise(9)", device="raise(SIGKILL);", compiles=False),
    "kernel, throw": Way(
        "exception: Thread 0 of block 0 throws int, and a kernel has no exceptions",
        device="throw 5;",
        compiles=False,
    ),
}
NUMBERS = {name: i for i, name in enumerate(WAYS, start=1)}
INITIALISERS = {
    "null": ("launcher: The initializer of a variable, ", "return *(volatile int*)8;"),
    "loop": (
        "endless-loop: The initializer of a variable, ",
        "volatile int n = 1; while (n) n = 1;",
    ),
}


def cell(name: str, ways: dict[str, Way], before: str = "") -> str:
    """One kernel that has all ways; K says which one it takes."""

    def statements(part: str) -> str:
        known = {n: getattr(way, part) for n, way in ways.items()}
        lines = (f"  if (way == {NUMBERS[n]}) {{ {text} }}" for n, text in known.items() if text)
        return "\n".join(lines)

    parts = {part: statements(part) for part in ("host", "device")}
    return KERNEL.format(name=name, before=before, **parts)


# nvcc is hidden from the notebook as it would be on a machine without it.
SHELL = """
import contextlib, io, json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
shell.run_cell("import gemmlab as lab")
if sys.argv[1] == "hidden":
    shell.run_cell("lab.notebook.cell.find_nvcc = lambda: None")
for line in sys.stdin:
    told = []
    for text in json.loads(line):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            result = shell.run_cell(text, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        told.append(str(error) if error else printed.getvalue() + repr(result.result))
    print(json.dumps(told), flush=True)
"""


class Shell:
    """An IPython shell in a process of its own; `run` gives what its cells have told."""

    def __init__(self, nvcc: str) -> None:
        variables = {"GEMMLAB_BACKEND": "sim", "GEMMLAB_SIM_BUDGET_S": "0.5"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SHELL, nvcc],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # tracebacks, which IPython shows
            text=True,
            env={**os.environ, **variables},
        )

    def run(self, *cells: str) -> list[str]:
        self.process.stdin.write(json.dumps(cells) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the shell is dead: {self.process.wait()}"
        return json.loads(line)

    def end(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(timeout=30) == 0


THERE = pytest.param("there", marks=[pytest.mark.slow, needs.nvcc])


@pytest.fixture(scope="module")
def shells():
    """shells("hidden"): the one shell of that kind, started when it is first asked for.

    Were they the values of a parametrized fixture, pytest would start one for each test.
    """
    started = {}

    def shell_with(nvcc: str) -> Shell:
        if nvcc not in started:
            made = started[nvcc] = Shell(nvcc)
            compiles = {n: way for n, way in WAYS.items() if nvcc == "hidden" or way.compiles}
            (built,) = made.run(text := cell("mine", compiles))
            assert "mine: compiled for the simulator" in built
            assert ("ptxas, sm_90a: " in built) == (nvcc == "there")
            made.lines = text.splitlines()
        return started[nvcc]

    yield shell_with
    for made in started.values():
        made.end()


@pytest.fixture(params=["hidden", THERE])
def shell(request, shells):
    return shells(request.param)


def line_of(shell: Shell, name: str) -> int:
    """The line of the cell that a way's sentence names."""
    sought = f"way == {NUMBERS[name]})" if WAYS[name].line == "own" else f"[{WAYS[name].line}]"
    return next(i for i, line in enumerate(shell.lines, start=1) if sought in line)


def ways():
    """All without nvcc. With it some do not compile; endless ones take the same way, and long."""
    for name, way in WAYS.items():
        yield pytest.param("hidden", name, id=name)
        if way.compiles and "endless-loop" not in way.says:
            yield pytest.param(*THERE.values, name, id=f"{name}, with nvcc", marks=THERE.marks)


@pytest.mark.parametrize(("shell", "name"), list(ways()), indirect=["shell"])
def test_the_notebook_lives(shell, name):
    way = WAYS[name]
    (told,) = shell.run(f"A, B = lab.matrices(1, 8, {NUMBERS[name]}); mine(A, B)")
    assert way.says in told
    where, what, *more = told.splitlines()
    assert where == "mine: stopped in the simulator" and not more
    place = f"line {line_of(shell, name)} of the cell: " if way.line else "process: "
    assert what.startswith(place)


@pytest.mark.parametrize("shell", [THERE], indirect=True)
def test_nvcc_refuses_what_is_not_for_a_gpu(shell):
    names = ("kernel, exit", "kernel, abort", "kernel, raise")
    text = cell("other", {name: WAYS[name] for name in names})
    (told,) = shell.run(text)
    assert "other does not compile:\n" in told
    for number, line in enumerate(text.splitlines(), start=1):
        assert f"line {number} of the cell: " in told or "way == " not in line


def test_what_runs_after_all_of_them(shell):
    (told,) = shell.run("A, B = lab.matrices(1, 8, 1000); mine(A, B)")
    assert told.endswith("\ntensor([[1000., 1000., 1000., 1000., 1000., 1000., 1000., 1000.]])")


@pytest.mark.parametrize("shell", ["hidden"], indirect=True)
@pytest.mark.parametrize("name", INITIALISERS)
def test_an_initialiser_that_fails(shell, name):
    says, body = INITIALISERS[name]
    before = f"int value() {{ {body} return 1; }}\nint number = value();"
    text = cell("early", {}, before)
    _, told = shell.run(text, "A, B = lab.matrices(1, 8, 1); early(A, B)")
    (line,) = (i for i, line in enumerate(text.splitlines(), start=1) if "int value()" in line)
    assert f"line {line} of the cell: " in told and says in told
