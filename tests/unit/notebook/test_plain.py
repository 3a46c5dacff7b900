"""%%kernel with a kernel alone: how it is launched, and what a cell that is wrong is told."""

from __future__ import annotations

import pytest

import gemmlab as lab
from gemmlab.core.errors import ArgumentError, BuildError
from gemmlab.notebook import cell as cells
from gemmlab.notebook.compose import compose
from gemmlab.notebook.constants import numbers

BODY = """\
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
"""
LAUNCH = """\
dim3 block(32, 8);
mine<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), block>>>(A, B, C, M, N, K);
"""
SHAPES = [(33, 65, 17)]


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def made(body: str, **options):
    return cells.make("mine", body, None, options).kernel


def refused(body: str, **options) -> str:
    with pytest.raises(ArgumentError) as error:
        compose(body, "mine", None, options)
    return str(error.value)


def test_a_block_is_enough():
    mine = made(BODY, block=(32, 8))
    assert mine.spec.multiple_of == (1, 1, 1) and not mine.spec.scales
    assert lab.check(mine, SHAPES, "cpu").ok


def test_a_launch_of_its_own_is_enough_and_lines_stay():
    draft = compose(BODY + LAUNCH, "mine", None)
    lines = draft.text.splitlines()
    assert lines[1] == BODY.splitlines()[0]
    number = next(i for i, line in enumerate(lines) if "launch_next(error, mine" in line)
    assert draft.origins.place(number + 1) == "line 11 of the cell"
    assert lab.check(made(BODY + LAUNCH), SHAPES, "cpu").ok


def test_what_a_comment_or_constants_declare():
    assert compose("// block 16x4, tile 64 x 32\n" + BODY, "mine", None).facts["threads"] == 64
    facts = compose("constexpr int BM = 64, BN = 32, BK = 8, THREADS = 128;\n" + BODY, "mine", None)
    assert facts.facts["tile"] == facts.facts["multiple_of"] == (64, 32, 8)
    assert "dim3(ceil_div(N, 32), ceil_div(M, 64)), dim3(128, 1)" in facts.text


def test_a_first_line_that_is_left_from_another_tile_is_refused():
    constants = "constexpr int BM = 64, BN = 64, BK = 16, THREADS = 256;\n"
    said = refused(constants + BODY, block=(32, 32), tile=(32, 32, 32))
    assert "line 1 of the cell: says --tile 32x32x32, and the constants below say BM=64" in said
    assert compose(constants + BODY, "mine", None, {"tile": (64, 64)}).facts["tile"][2] == 16


def test_parameters_are_known_by_their_names_in_any_order():
    head = "int m, int n, int k, float alpha, const float* __restrict__ a, float const* b, "
    head += "float beta, float* c"
    body = f"__global__ void __launch_bounds__(256) mine({head}) {{\n  c[0] = alpha;\n}}\n"
    draft = compose(body, "mine", None, {"block": (1,)})
    assert "stream, M, N, K, alpha, A, B, beta, C)" in draft.text
    assert draft.facts["scales"]


def test_half_elements_have_their_precision():
    body = BODY.replace("const float*", "const __half*")
    assert compose(body, "mine", None, {"block": (8,)}).facts["precisions"] == ("fp16_fp32",)


def test_without_alpha_and_beta_others_are_refused():
    mine = made(BODY, block=(32, 8))
    with pytest.raises(ArgumentError, match="has no such parameters"):
        lab.trace(mine, 8, 8, 8, 2.0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (BODY, "line 1 of the cell: nothing says how mine is launched"),
        (BODY.replace("__global__ ", ""), "line 2 of the cell: mine is a function of the host"),
        (BODY.replace("int K)", "int lda)"), "there is no K"),
        (BODY.replace("int K)", "int K, int lda)"), "lda is none of them"),
        (BODY.replace("int K)", "float K)"), "K is float, and it is to be int"),
        (BODY.replace("float* C", "float C"), "C is float, and it is to be a pointer"),
        (BODY.replace("float* C", "double* C"), "C is double *"),
        (BODY + BODY.replace("mine", "other"), "line 2 of the cell and line 10 of the cell"),
        (BODY + "other<<<1, 1>>>(A, B, C, M, N, K);", "line 10 of the cell: launches other"),
        (BODY + "mine<<<1>>>(A, B, C, M, N, K);", "line 10 of the cell: a launch has <<<grid"),
        (BODY + "mine<<<1, 1>>>(A, B", "line 10 of the cell: the launch is not complete"),
        (BODY + "mine<<<1, 1>>>(A, B, C, M, N);", "line 10 of the cell: the launch passes 5 arg"),
        (BODY + "void run() {\n" + LAUNCH + "}", "line 12 of the cell: the launch stands inside"),
        ("template <int T>\n" + BODY + "// block 8x8", "line 3 of the cell: mine is a template"),
    ],
)
def test_a_wrong_cell_is_told_its_line(body, said):
    assert said in refused(body)


@pytest.mark.slow
def test_parameters_without_const_are_taken_as_they_are():
    body = BODY.replace("const float* A, const float* B", "float* A, float* B")
    for mine in (made(body, block=(32, 8)), made(body + LAUNCH)):
        assert lab.check(mine, SHAPES, "cpu").ok


def test_what_a_template_of_a_header_refuses_is_told_by_the_line_that_asks_for_it():
    body = BODY + "mine<<<1, 1>>>(A, B, C, M, N, &K);"
    with pytest.raises(BuildError) as refusal:
        lab.check(made(body), SHAPES, "cpu")
    said = str(refusal.value)
    assert "line 10 of the cell: " in said and "&K" in said
    assert "required from" not in said and "/variants/" not in said


def test_a_kernel_that_writes_nothing_is_told_so():
    report = lab.check(
        made(BODY.replace("C[row * N + col] = sum;", ""), block=(16, 16)), SHAPES, "cpu"
    )
    assert "nothing was written" in report.cases[0].problem
    assert "(and" not in str(report) and "tile (" not in str(report)


def test_equal_failures_are_one_line_with_a_count():
    wrong = made(BODY.replace("k < K", "k < K - 1"), block=(16, 16))
    lines = str(lab.check(wrong, [*SHAPES, (16, 16, 8), (20, 30, 40)], "cpu")).splitlines()
    assert len(lines) == 2 and lines[1].endswith("(and 2 more like it)")


def test_a_launcher_cannot_compute_with_the_devices_memory():
    body = """\
#include "../common/launch/host.cuh"
__global__ void nothing() {}
inline cudaError_t launch_mine(const GemmArgs& g, cudaStream_t stream) {
  static_cast<float*>(g.C)[0] = 1;
  return launch(nothing, dim3(1), dim3(1), 0, stream);
}
"""
    found = lab.trace(made(body), 8, 8, 8).findings
    assert [one.kind for one in found] == ["launcher"]


@pytest.mark.parametrize(
    "said",
    [
        "constexpr int BM = 64, BN = BM, BK = BM / 4, THREADS = BM * BN / TM;\n#define TM 16\n",
        "#define BM 64\n#define BN (4 * 16)\n#define BK 16\n#define THREADS 256\n",
        "const int BM = 0x40, BN = 64u, BK = 1 << 4, THREADS = 8 * 32;\n",
        "static const unsigned BM = 64;\nenum Sizes { BN = 64, BK = 16, THREADS = 256 };\n",
        "constexpr int BM{64}, BN{64}, BK{16}, THREADS{256};\n",
    ],
)
def test_constants_may_be_said_in_any_way(said):
    facts = compose(said + BODY, "mine", None).facts
    assert (facts["tile"], facts["threads"]) == ((64, 64, 16), 256)


def test_what_is_no_number_gives_no_tile():
    text = "constexpr int A = B, B = A, C = sizeof(int), D = -1;\nconstexpr float E = 1.5f;\n"
    assert numbers(text + "__global__ void f(const int n) { const int t = threadIdx.x; }") == {}
