"""`%%cuda`: a program or a kernel in a cell."""

from __future__ import annotations

import needs
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from gemmlab.core.errors import ArgumentError
from gemmlab.notebook.magic import load_ipython_extension

pytestmark = needs.gxx
KERNEL = "__global__ void fill(int* x, int v) {\n  x[threadIdx.x] = v;\n}\n"
PROGRAM = (
    "#include <cstdio>\n__global__ void fill(int* x) { x[threadIdx.x + OFF] = 1; }\n"
    "int main(int n, char** given) {\n  int* x;\n  cudaMalloc(&x, 32 * sizeof(int));\n"
    '  fill<<<1, 32>>>(x);\n  printf("%s\\n", given[n - 1]);\n}\n'
)


@pytest.fixture
def shell():
    made = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    load_ipython_extension(made)
    yield made
    made.reset(new_session=False)


def test_a_program_is_run_with_the_cells_lines(shell):
    report = shell.run_cell_magic("cuda", "-D OFF=1 -- a 'b c'", PROGRAM)
    assert report.output == "b c\n"
    (found,) = report.findings
    assert (found.kind, found.file, found.line) == ("out-of-bounds", "cell.cu", 3)
    assert "the 128 bytes that cell.cu:6 allocates" in found.message


@pytest.mark.slow
def test_a_kernel_becomes_a_variable(shell):
    shell.run_cell_magic("cuda", "", KERNEL)
    x = np.zeros(8, np.int32)
    (line,) = shell.user_ns["fill"](x, 7, grid=1, block=8).lines
    assert (x == 7).all() and (line.file, line.line) == ("cell.cu", 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("", "int x;", "neither main"),
        ("", KERNEL + KERNEL.replace("fill", "other"), "the kernels fill, other"),
        ("fill", PROGRAM, "fill names a kernel"),
        ("--nonsense", KERNEL, "line 1 of the cell"),
        ("-- 'open", PROGRAM, "No closing quotation"),
    ],
)
def test_a_cell_that_is_neither_is_refused(shell, line, cell, message):
    with pytest.raises(ArgumentError, match=message):
        shell.run_cell_magic("cuda", line, cell)
