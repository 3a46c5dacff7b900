"""%%kernel: what the cell becomes, and what a cell that is wrong is told, by its own lines."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import needs
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from pygments.token import Token
from traitlets.config import Config

import gemmlab as lab
from gemmlab.core.errors import ArgumentError, BackendError, BuildError, UnknownKernelError
from gemmlab.core.precision import HALF
from gemmlab.gpu import ptxas
from gemmlab.gpu.ptxas import Resources
from gemmlab.notebook import below, magic, stale
from gemmlab.notebook import cell as handmade
from gemmlab.notebook.compose import compose
from gemmlab.notebook.diagnostics import translate
from gemmlab.notebook.remedies import remedy
from gemmlab.run.kernel import Kernel
from gemmlab.steps import registry

LIKE = "sgemm_06_swizzled_a"
PARENT = registry.get(LIKE)
STORE = """\
// [store]
#pragma unroll
for (int i = 0; i < TM; ++i) {
  write_c4(gC + (size_t)i * N, &acc[i][0], alpha, beta);
  write_c4(gC + (size_t)i * N + 4, &acc[i][4], alpha, beta);
}
// [/store]
"""
# The file of a step as a cell of its own: its launch function has the name of the kernel.
WHOLE = registry.get("sgemm_02_coalesced").path.read_text().replace("sgemm_02_coalesced", "mine")
LAUNCH = f"line {WHOLE[: WHOLE.index('inline cudaError_t')].count(chr(10)) + 2} of the cell"


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    magic.load_ipython_extension(made)
    return made


@pytest.fixture
def cell(shell):
    """Runs a cell; what it shows, or the error that it raises."""

    def run(first_line: str, body: str = STORE):
        result = shell.run_cell(f"%%kernel {first_line}\n{body}", store_history=False)
        result.raise_error()
        return result.result

    shell.reset(new_session=False)
    return run


# ---- passages and constants ----


def test_a_passage_takes_the_place_of_the_parents_and_nothing_else_changes():
    old = PARENT.path.read_text().splitlines()
    draft = compose(STORE.replace("alpha, beta", "alpha,  beta"), "mine", PARENT)
    new = draft.text.splitlines()
    changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    assert [new[i].strip() for i in changed] == [
        "write_c4(gC + (size_t)i * N, &acc[i][0], alpha,  beta);",
        "write_c4(gC + (size_t)i * N + 4, &acc[i][4], alpha,  beta);",
    ]
    # Line 1 is %%kernel, line 2 the mark: the two calls are lines 5 and 6 of the cell.
    assert [draft.origins.place(i + 1) for i in changed] == [
        "line 5 of the cell",
        "line 6 of the cell",
    ]
    assert draft.origins.place(1) == f"line 1 of kernels/{PARENT.file} (unchanged)"


@pytest.mark.parametrize("margin", ["", "        "])
def test_a_passage_stands_where_the_parents_stood_whatever_its_margin(margin):
    body = "\n".join(line if line.startswith("#") else margin + line for line in STORE.splitlines())
    assert compose(body, "mine", PARENT).text == PARENT.path.read_text()


def test_a_longer_and_a_shorter_passage_move_the_lines_below():
    body = "// [swizzle]\n\n\n__device__ int swizzle(int k, int m) { return m; }\n// [/swizzle]\n"
    body += "// [store]\n// [/store]\n"
    draft = compose(body, "mine", PARENT)
    lines = draft.text.splitlines()
    for line, origin in zip(lines, draft.origins.lines, strict=True):
        source = body if origin > 0 else PARENT.path.read_text()
        text = source.splitlines()[origin - 2 if origin > 0 else -origin - 1]
        assert line.strip() == text.strip()
    assert draft.text.count("// [store]") == draft.text.count("// [/store]") == 1


def test_constants_change_in_place():
    draft = compose(
        "constexpr int BK = 8, TM=2 * 8; // less\n\nconstexpr int WM = 32;", "m", PARENT
    )
    assert "constexpr int BM = 128, BN = 128, BK = 8;" in draft.text
    assert "constexpr int WM = 32, WN = 32;" in draft.text
    assert "constexpr int TM = 2 * 8, TN = 8;" in draft.text
    assert draft.constants == {"BK": "8", "TM": "2 * 8", "WM": "32"}
    row = draft.text.splitlines().index("constexpr int BM = 128, BN = 128, BK = 8;")
    assert draft.origins.place(row + 1) == "line 2 of the cell"


def test_the_spec_follows_the_constants_and_options_have_the_last_word():
    text = "constexpr int BM = 64, BK = 32, THREADS = 128, TM = TN;"
    spec = handmade._spec("mine", compose(text, "mine", PARENT), PARENT, {})
    assert (spec.tile, spec.multiple_of) == ((64, 128, 32), (64, 128, 32))
    assert (spec.threads, spec.thread_tile, spec.alignment) == (128, PARENT.thread_tile, 16)
    options = {"multiple_of": (64, 128, 64)}
    spec = handmade._spec("mine", compose(text, "mine", PARENT), PARENT, options)
    assert (spec.tile, spec.multiple_of) == ((64, 128, 32), (64, 128, 64))


def test_the_name_is_the_readers_and_the_launch_function_the_parents():
    mine = handmade.make("mine", STORE, PARENT, {}).kernel
    assert (mine.name, mine.launch(), mine.parent) == ("mine", f"launch_{LIKE}", LIKE)
    path = mine.source.path
    assert not mine.source.trusted and path.name == "mine.cuh"
    assert (path.parents[1] / "common").resolve() == PARENT.path.parents[1] / "common"


# ---- a whole file ----


def test_a_whole_file_has_the_line_numbers_of_its_cell():
    draft = compose(WHOLE, "mine", None)
    assert draft.text.splitlines()[1:] == WHOLE.splitlines()
    assert draft.origins.place(7) == "line 7 of the cell"


def test_a_whole_file_without_like_takes_any_size():
    mine = handmade.make("mine", WHOLE, None, {}).kernel
    assert (mine.spec.multiple_of, mine.spec.alignment, mine.parent) == ((1, 1, 1), 4, None)
    assert mine.launch() == "launch_mine"


def test_a_whole_file_with_like_has_what_the_step_has():
    text = PARENT.path.read_text().replace(LIKE, "mine").replace("BK = 16", "BK = 32")
    draft = compose(text, "mine", PARENT)
    spec = handmade._spec("mine", draft, PARENT, {})
    assert (spec.tile, spec.multiple_of) == ((128, 128, 32), (128, 128, 32))
    assert draft.whole and spec.alignment == 16


# ---- what is refused ----

DOT = "// [dot]\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("\n  \n", "line 2 of the cell: there is no text"),
        (
            STORE.replace("store", "stroe"),
            r"line 2 .* no passage \[stroe\]; it has \[swizzle\], .*",
        ),
        ("\n" + DOT + "x;\n", r"line 3 of the cell: // \[dot\] is not closed; end it with"),
        (
            DOT + "// [store]\n// [/dot]",
            r"line 4 .* closes nothing: \[store\] is open, since line 3",
        ),
        ("x;\n// [/dot]", r"line 3 of the cell: // \[/dot\] closes nothing: no // \[dot\]"),
        (STORE + STORE, r"line 9 of the cell: \[store\] stands in the cell twice"),
        (STORE + "int x = 1;", r"line 9 of the cell: `int x = 1;` stands in no passage"),
        ("constexpr int BK = 8", r"line 2 of the cell: `constexpr int BK = 8` stands in no"),
        ("\nconstexpr int STAGES = 3;", r"line 3 .* no constant STAGES; it has BM, BN, BK, WM"),
        ("constexpr float BK = 8;", "line 2 .* BK is declared as float, in .* it is int"),
        ("constexpr int BK = 8;\nconstexpr int BK = 4;", "line 3 of the cell: BK is set twice"),
        (WHOLE.replace("launch_mine(", "launch_yours("), f"{LAUNCH}: defines launch_yours"),
        (WHOLE.replace("cudaStream_t stream", "int s"), LAUNCH + r".* takes \(const .*, int s\);"),
        (WHOLE.replace("inline cudaError_t", "int"), f"{LAUNCH}: .* has another signature"),
        (WHOLE.partition("inline")[0], "line 1 of the cell: nothing says how kernel is launched"),
    ],
)
def test_a_text_that_cannot_be_placed(body, message):
    with pytest.raises(ArgumentError, match=f"(?s){message}"):
        compose(body, "mine", PARENT)


def test_a_constant_of_a_passage_that_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    (tmp_path / "kernels").mkdir()
    assert PARENT.path.is_relative_to(tmp_path)
    text = "// [a]\nconstexpr int X = 1;\n// [b]\n// [/b]\n// [/a]\n"
    PARENT.path.parent.mkdir(parents=True)
    PARENT.path.write_text(text)
    with pytest.raises(ArgumentError, match=r"line 4 .* X is declared in the passage \[a\]"):
        compose("// [a]\n// [/a]\nconstexpr int X = 2;", "mine", PARENT)
    with pytest.raises(ArgumentError, match=r"line 4 of the cell: .*, \[b\] is a part of \[a\]"):
        compose("// [a]\n// [/a]\n// [b]\n// [/b]\n", "mine", PARENT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first_line", "error", "message"),
    [
        ("mine --like sgemm_06_swizzled", UnknownKernelError, "--like: .* did you mean sgemm_06"),
        ("mine", ArgumentError, "line 1 of the cell: passages and constants are those of a step"),
        (f"my-sgemm --like {LIKE}", ArgumentError, "line 1 .* 'my-sgemm' cannot be a variable"),
        (f"class --like {LIKE}", ArgumentError, "'class' cannot be a variable"),
        (f"sgemm_01_naive --like {LIKE}", ArgumentError, "line 1 .* is a step of the course"),
        (f"lab --like {LIKE}", ArgumentError, "lab is the module gemmlab in this notebook"),
        ("", ArgumentError, "line 1 .* required: name; write it as in %%kernel my_sgemm"),
        (f"mine --like {LIKE} --tile 1", ArgumentError, "line 1 .* --tile: invalid M,N,K"),
        (f"mine --like {LIKE} --threads 0", ArgumentError, "--threads: invalid number value: '0'"),
        (f"mine --like {LIKE} --titel 1", ArgumentError, "line 1 .* unrecognized .* --titel"),
        ("mine --like old", UnknownKernelError, f"old is a kernel of this notebook; .* {LIKE}"),
    ],
)
def test_a_first_line_that_is_wrong(shell, cell, first_line, error, message):
    spec = handmade._spec("old", compose(STORE, "old", PARENT), PARENT, {})
    shell.user_ns.update(lab=lab, old=Kernel(spec))
    with pytest.raises(error, match=message):
        cell(first_line)
    assert "mine" not in shell.user_ns and shell.user_ns["lab"] is lab


# ---- what is compiled ----

WRONG = STORE.replace("alpha, beta);\n}", "alfa, beta);\n}")  # line 6 of the cell


@pytest.mark.slow
def test_the_cell_makes_a_kernel_that_the_library_takes(shell, cell):
    built = cell(f"mine --like {LIKE}", STORE.replace("int i = 0;", "int  i = 0;"))
    mine = shell.user_ns["mine"]
    assert built.kernel is mine and built.backend == "sim"
    assert lab.check(mine, shapes=[(128, 128, 16)], device="cpu").ok
    trace = lab.trace(mine, 128, 128, 16)
    assert trace.kernel == "mine" and trace.file == "mine.cuh"
    assert [line.mark for line in lab.diff(mine).lines].count("+") == 1
    assert lab.source(mine, "store").title == "mine, written in this notebook"
    assert repr(mine) == f"mine, written in this notebook, like {LIKE}"
    twice = lab.variant(mine, {"int  i = 0;": "int i = 0;"})
    assert not twice.source.trusted and not lab.diff(twice).lines


def test_a_whole_kernel_without_a_parent(shell, cell):
    built = cell("mine", WHOLE)
    assert lab.check(shell.user_ns["mine"], device="cpu").ok
    assert "lab.diff" not in repr(built)
    with pytest.raises(ArgumentError, match="mine was written without --like"):
        lab.diff(shell.user_ns["mine"])
    assert not lab.diff(shell.user_ns["mine"], "sgemm_02_coalesced").lines


@pytest.mark.slow
def test_a_compilers_line_is_one_of_the_cell_and_the_old_kernel_stays(shell, cell):
    with pytest.raises(BuildError, match="\nmine was not made") as error:
        cell(f"mine --like {LIKE}", WRONG)
    assert "line 6 of the cell: 'alfa' was not declared" in str(error.value)
    assert "    write_c4(gC + (size_t)i * N + 4, &acc[i][4], alfa, beta);" in str(error.value)
    assert "mine" not in shell.user_ns
    shell.user_ns["mine"] = old = lab.kernel(LIKE)
    with pytest.raises(BuildError, match="mine is still the kernel that it was before this cell"):
        cell(f"mine --like {LIKE}", WRONG)
    assert shell.user_ns["mine"] is old
    verdict = lab.exercises.judge(old)
    assert not verdict.solved
    assert f"the %%kernel cell above, {LIKE}, did not compile" in verdict.message
    assert not stale.reason(lab.kernel(LIKE))


def test_a_brace_too_many_is_said_of_its_passage(cell):
    with pytest.raises(BuildError, match=r"\[store\] has 1 \{ too many, or \} too few"):
        cell(f"mine --like {LIKE}", STORE.replace("\n}", "\n"))


def test_an_assertion_of_the_parent_is_said_to_be_the_parents(cell):
    with pytest.raises(BuildError) as error:
        cell(f"mine --like {LIKE}", "constexpr int BK = 8;")
    line = next(
        i
        for i, text in enumerate(PARENT.path.read_text().splitlines(), 1)
        if "two copies a thread" in text
    )
    assert f"line {line} of kernels/{PARENT.file} (unchanged): static assertion" in str(error.value)
    assert "two copies a thread (the comparison reduces to '(2048 == 1024)')" in str(error.value)


def test_what_the_simulator_does_not_have_is_placed_too(cell):
    with pytest.raises(BuildError, match=r"line 2 of the cell: mov\.u32 is PTX that the simulator"):
        cell("mine", 'static __device__ void f() { asm("mov.u32 %0, 1;"); }\n' + WHOLE)


NVCC_LOG = """mine did not compile:
{path}(83): error: identifier "alfa" is undefined
      write_c4(gC + (size_t)i * N, &acc[i][0], alfa, beta);
{path}(83): warning #177-D: variable "x" was declared but never referenced
{path}(95): error: static assertion failed with "two copies a thread"
/somewhere/kernels/common/launch/host.cuh(12): error: no more
At end of source: error: expected a "}}"
ptxas error   : Entry function 'kernel' uses too much shared data (0x10000 bytes, 0xc000 max)
"""


def test_nvccs_words_are_placed():
    draft, path = compose(WRONG, "mine", PARENT), Path("/cache/kernels/sgemm/mine.cuh")
    row = next(i for i, text in enumerate(draft.text.splitlines(), 1) if "alfa" in text)
    assertion = draft.text.splitlines()[94].strip()
    log = NVCC_LOG.replace("83", str(row)).format(path=path)
    assert translate(log, path, draft).splitlines() == [
        'line 6 of the cell: identifier "alfa" is undefined',
        "    write_c4(gC + (size_t)i * N + 4, &acc[i][4], alfa, beta);",
        f'line 95 of kernels/{PARENT.file} (unchanged): static assertion failed with "two copies a '
        'thread"',
        f"    {assertion}",
        "/somewhere/kernels/common/launch/host.cuh:12: no more",
        'the end of the file: expected a "}"',
        "ptxas: Entry function 'kernel' uses too much shared data (0x10000 bytes, 0xc000 max)",
    ]


def test_an_unknown_message_is_kept_whole():
    draft = compose(WRONG, "mine", PARENT)
    assert translate("nvcc fell over", PARENT.path, draft) == "nvcc fell over"


@needs.nvcc
def test_nvcc_is_asked_for_registers(cell):
    assert "registers a thread, no spills, 16,384 bytes" in repr(cell(f"mine --like {LIKE}"))


def test_without_nvcc_the_simulator_says_what_it_knows(cell, monkeypatch):
    monkeypatch.setattr(handmade, "find_nvcc", lambda: None)
    text = repr(cell(f"mine --like {LIKE}"))
    assert "16,384 bytes of static shared memory a block, at most 256 threads a block" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (BackendError("no nvcc after all"), False),
        (BuildError("x did not compile:\nnvcc fatal: Unsupported gcc"), False),
        (BuildError("x did not compile:\n/c/mine.cuh(80): error: no"), True),
        (BuildError("x did not compile:\nptxas error   : too much shared data"), True),
    ],
)
def test_an_nvcc_that_does_not_work_is_no_fault_of_the_cell(cell, monkeypatch, error, raised):
    def resources(*_):
        raise error

    monkeypatch.setattr(handmade, "find_nvcc", lambda: "nvcc")
    monkeypatch.setattr(ptxas, "resources", resources)
    if raised:
        with pytest.raises(BuildError, match="mine does not compile"):
            cell(f"mine --like {LIKE}")
    else:
        assert "known only with nvcc" in repr(cell(f"mine --like {LIKE}"))


def test_what_the_cell_shows():
    spec = handmade._spec("mine", compose(STORE, "mine", PARENT), PARENT, {})
    used = Resources(128, 4, 8, 0, 16384)
    built = handmade.Built(Kernel(spec), "gpu", 5.04, used, "", "90a")
    assert repr(built).splitlines() == [
        f"mine, like {LIKE}: compiled with nvcc for this GPU in 5.0 s",
        "ptxas, sm_90a: 128 registers a thread, 12 bytes of spills, 16,384 bytes of static shared "
        "memory a block",
        "Next: lab.check(mine), lab.trace(mine), lab.diff(mine), lab.bench([mine])",
    ]
    assert "<b>Built:</b> mine, like" in built._repr_html_()


# ---- in a notebook and on a page ----


def test_a_page_shows_the_cell_as_cplusplus(root):
    spec = importlib.util.spec_from_file_location("book", root / "book/_ext/gemmlab_book.py")
    book = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(book)
    tokens = list(book.CellLexer().get_tokens(f"%%kernel mine --like x\n{STORE}"))
    assert (Token.Keyword, "for") in tokens and (Token.Keyword, "kernel") in tokens
    assert (Token.Comment.Single, "// [store]\n") in tokens
    assert not [text for token, text in tokens if token is Token.Error]
    python = list(book.CellLexer().get_tokens("for i in x: pass\n%time f()\n"))
    assert (Token.Operator.Word, "in") in python


def test_only_a_notebook_loads_it():
    code = (
        "import sys, gemmlab; print([m for m in sys.modules if m.startswith(('IPython', 'torch'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_in_a_notebook_importing_gemmlab_is_enough(monkeypatch):
    monkeypatch.setenv("GEMMLAB_PROGRESS", "0")
    cells = [
        "import gemmlab as lab",
        f"%%kernel mine --like {LIKE}\n{STORE}",
        f"%%kernel mine --like {LIKE}\n{WRONG}",
        "lab.check(mine, shapes=[(128, 128, 16)])",
        "%load_ext gemmlab",
    ]
    notebook = new_notebook(cells=[new_code_cell(text) for text in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    _, made, wrong, checked, _ = (cell.outputs for cell in notebook.cells)
    assert "Built" in made[0].data["text/html"]
    assert wrong[0].ename == "BuildError" and "line 6 of the cell" in wrong[0].evalue
    assert len(wrong[0].traceback) == 1
    assert checked[0].data["text/plain"].startswith("mine: right in all 4 cases")
    assert not notebook.cells[-1].outputs or "already loaded" in notebook.cells[-1].outputs[0].text
    nbformat.validate(notebook)


# ---- 16-bit types ----

HALF_DOT = """\
// [dot]
float acc = 0.0f;
for (int k = K - 1; k >= 0; --k)
  acc += to_float(A[(size_t)row * K + k]) * to_float(B[(size_t)k * N + col]);
// [/dot]
"""


@pytest.mark.slow
def test_a_version_of_a_16_bit_step(cell, monkeypatch):
    monkeypatch.setattr(handmade, "find_nvcc", lambda: None)
    built = cell("mine --like hgemm_01_naive", HALF_DOT)
    assert "0 bytes of static shared memory a block, at most 1024 threads" in built.facts
    assert built.kernel.spec.family == "hgemm"
    report = lab.check(built.kernel, [(33, 20, 7)], device="cpu")
    assert report.ok and {case.precision for case in report.cases} == set(HALF)
    assert lab.trace(built.kernel, 32, 32, 8).findings == ()


def test_a_16_bit_kernel_without_a_parent_names_its_precisions(cell, monkeypatch):
    monkeypatch.setattr(handmade, "find_nvcc", lambda: None)
    text = registry.get("hgemm_01_naive").path.read_text().replace("hgemm_01_naive", "mine")
    built = cell("mine --precisions bf16,bf16_fp32", text)
    assert built.kernel.spec.precisions == ("bf16", "bf16_fp32")
    A, B = lab.matrices(9, 8, 7, device="cpu", dtype="bfloat16")
    assert built.kernel(A, B).dtype == A.dtype
    with pytest.raises(ArgumentError, match=r"A: is float16, mine takes bfloat16; use"):
        built.kernel(A.half(), B.half())
    with pytest.raises(ArgumentError, match="precision: got 'int8'; there are fp32, bf16"):
        cell("other --precisions int8", text.replace("mine", "other"))


ABOVE = """\
%%kernel mine --block 32x8
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  C[row * N + col] = nothing;
}
"""


@pytest.mark.parametrize("comment", ["# my second try\n", "// my second try\n\n"])
def test_a_comment_may_stand_above_the_magic(shell, comment):
    """And lines are still those of the cell."""
    outcome = shell.run_cell(comment + ABOVE)
    line = 4 + comment.count("\n")
    assert f"line {line} of the cell: 'nothing'" in str(outcome.error_in_exec)


def test_an_include_above_the_magic_stays_one():
    """The hint on the header of a PTX function says to write it above the kernel."""
    lines = ["# copies\n", "#include <ptx/cp_async.cuh>\n", "%%kernel mine\n", "int x;\n"]
    assert below.first(lines) == [lines[2], "// copies\n", lines[1], lines[3]]


@pytest.mark.parametrize("above", ["size = 32\n", "if True:\n    size = 32\n"])
def test_python_above_the_magic_is_told_where_to_go(shell, above):
    outcome = shell.run_cell(above + ABOVE)
    line = 1 + above.count("\n")
    assert f"%%kernel stands in line {line} of the cell and has to be its first line" in str(
        outcome.error_before_exec
    )


@pytest.mark.parametrize("cell", ['"""\n%%kernel mine\n"""', "%%time\n%%kernel mine\n", "3 + 4"])
def test_other_cells_stay_as_they_are(cell):
    lines = cell.splitlines(keepends=True)
    assert below.first(lines) == lines


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("cp_async_commit();", "cp_async.cuh"),
        ("cp_async_wait<0>();", "cp_async.cuh"),
        ("const int to = smem_addr(&C);", "smem.cuh"),
        ("mbarrier_wait(M, N);", "mbarrier.cuh"),
        ("nothing(M, N);", ""),
    ],
)
def test_an_unknown_ptx_function_is_told_its_header(line, header):
    body = (
        "__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {\n"
        f"  {line}\n}}\n"
    )
    with pytest.raises(BuildError) as error:
        handmade.make("mine", body, None, {"block": (32, 8)})
    hint = f"; write #include <ptx/{header}> above the kernel"
    assert (hint in str(error.value)) if header else ("#include" not in str(error.value))


_WAIT = (
    "; N of cp_async_wait stands between < and > and is a constant, as in cp_async_wait<0>(). No "
    "variable can stand there"
)
_SHARED = "takes an address in shared memory as a number, not as a pointer: write smem_addr(...)"
_ADDRESS = "; the address is asked for, and this is what stands there: write & before it"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("cp_async_wait(0);", _WAIT),
        ("cp_async_wait<M>();", _WAIT),
        ("cp_async_ca(smem_addr(s), A);", "; BYTES of cp_async_ca stands between < and > and is"),
        ("cp_async_cg(&s[4], A);", f"; cp_async_cg {_SHARED}"),
        ("mbarrier_wait(&full, 0);", f"; mbarrier_wait {_SHARED}"),
        ("mbarrier_wait((__half*)s, 0);", f"; mbarrier_wait {_SHARED}"),
        ("cp_async_cg(smem_addr(s[4]), A);", _ADDRESS),
        ("cp_async_cg(smem_addr(s), A[4]);", _ADDRESS),
        ("float* x = A[0];", ""),
        ("const uint32_t x = &s[0];", ""),
    ],
)
def test_a_ptx_function_that_is_called_in_another_way_is_told_how(line, hint):
    names = ("ptx/cp_async.cuh", "ptx/smem.cuh", "ptx/mbarrier.cuh", "cuda_fp16.h")
    headers = "".join(f"#include <{name}>\n" for name in names)
    body = (
        f"{headers}__global__ void mine(const float* A, const float* B, float* C, int M, int N, "
        f"int K) {{\n  __shared__ float s[32];\n  __shared__ uint64_t full;\n  {line}\n}}\n"
    )
    with pytest.raises(BuildError) as error:
        handmade.make("mine", body, None, {"block": (32, 8)})
    said = str(error.value)
    assert "gemmlab_sim" not in said
    assert (
        hint in said
        if hint
        else not any(
            words in said for words in ("takes an address", "is asked for", "is a constant")
        )
    )


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        ('no instance of function template "cp_async_wait" matches', "cp_async_wait(0);", _WAIT),
        (
            'argument of type "float *" is incompatible with parameter of type "uint32_t" (aka ...',
            "cp_async_cg(&s[4], A);",
            _SHARED,
        ),
        (
            'argument of type "float" is incompatible with parameter of type "const void *"',
            "cp_async_cg(smem_addr(s[4]), A);",
            _ADDRESS,
        ),
        (
            'no suitable conversion function from "const CUtensorMap" to "const CUtensorMap *"',
            "tma_load_2d(smem_addr(s), map, bar, 0, 0);",
            _ADDRESS,
        ),
    ],
)
def test_nvcc_says_the_same_in_other_words(words, code, hint):
    assert hint in remedy(words, code)


_FRAGMENTS = """\
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  __shared__ __half s[256];
  uint32_t r[4], q[2][4];
  float d[4];
"""
_NAMESPACE = "; write #include <mma.h> and using namespace nvcuda; above the kernel"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("wmma::store_matrix_sync(C, sum, N);", "C's rows, its layout"),
        ("wmma::mma_sync(sum, a, a);", "; write it as in wmma::mma_sync(sum, a, b, sum): where"),
        ("wmma::load_matrix_sync(a, A, 16);", "of the same type as its elements, and the length"),
        ("wmma::fragment<wmma::matrix_b, 16, 16, 16, __half> b; b.x[0] = s[0];", "wmma::row_major"),
        ("ldmatrix_x2_trans(r, smem_addr(s));", "; ldmatrix_x2_trans takes an array of exactly 2"),
        ("mma_m16n8k16(d, r, q[0]);", "between < and >, as in mma_m16n8k16<__half>(...)"),
    ],
)
def test_tensor_cores_that_are_called_in_another_way_are_told_how(line, hint):
    names = ("mma.h", "ptx/ldmatrix.cuh", "ptx/mma.cuh", "ptx/smem.cuh")
    body = (
        "".join(f"#include <{name}>\n" for name in names)
        + "using namespace nvcuda;\n__global__ void mine(const float* A, const float* B, float* C, "
        f"int M, int N, int K) {{\n{_FRAGMENTS}  {line}\n}}\n"
    )
    with pytest.raises(BuildError) as error:
        handmade.make("mine", body, None, {"block": (32, 8)})
    assert hint in str(error.value)
    assert "gemmlab_sim" not in str(error.value)


def test_of_a_header_that_is_missing_one_error_is_shown():
    body = (
        "__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {\n"
        f"{_FRAGMENTS}  wmma::fill_fragment(sum, 0.0f);\n}}\n"
    )
    with pytest.raises(BuildError) as error:
        handmade.make("mine", body, None, {"block": (32, 8)})
    _, place, _, more = str(error.value).splitlines()
    assert place.startswith("line 3 of the cell: ") and place.endswith(_NAMESPACE)
    assert re.fullmatch(r"and \d+ more, which may come of that", more)


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        ('name followed by "::" must be a class or namespace name', "wmma::fragment<", _NAMESPACE),
        ("name must be a namespace name", "using namespace nvcuda;", _NAMESPACE),
        ("name must be a namespace name", "using namespace other;", ""),
        ('no instance of overloaded function "nvcuda::wmma::mma_sync" matches', "", "wmma::mma_sy"),
        (
            'a reference of type "uint32_t (&)[2]" (aka "unsigned int (&)[2]") (not const-...',
            "ldmatrix_x2_trans(b[0], smem_addr(s));",
            "an array of exactly 2 uint32_t",
        ),
    ],
)
def test_nvcc_says_the_same_of_tensor_cores(words, code, hint):
    found = remedy(words, code)
    assert hint in found and bool(found) == bool(hint)
