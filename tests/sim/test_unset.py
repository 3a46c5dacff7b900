"""Variables that are read before they have a value: named, and only if C depends on them."""

from __future__ import annotations

import needs
import pytest

import gemmlab as lab
from gemmlab.notebook import cell as cells
from gemmlab.sim import unset
from gemmlab.steps import registry

SHAPES = [(33, 65, 17)]
SUM = """\
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= M || col >= N) return;
  int k;
  float last, sum = 0;
  for (k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  last = sum;
  C[row * N + col] = last;
}
"""
ROWS = """\
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = (blockIdx.y * 8 + threadIdx.y) * 2, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum[2];
  for (int k = 0; k < K; ++k)
    for (int i = 0; i < 2; ++i) sum[i] += (row + i < M) ? A[(row + i) * K + k] * B[k * N + col] : 0;
  for (int i = 0; i < 2; ++i)
    if (row + i < M) C[(row + i) * N + col] = sum[i];
}
"""


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def made(body: str, **options):
    return cells.make("mine", body, None, options).kernel


def kinds(findings) -> list[str]:
    return [one.kind for one in findings]


@pytest.mark.parametrize(
    ("body", "tile", "says"),
    [
        (SUM.replace("sum = 0", "sum"), (8, 32, 1), "line 6 of the cell declares `float sum`"),
        (ROWS, (16, 32, 1), "line 5 of the cell declares `float sum[2]`"),
    ],
)
@needs.fills
def test_a_variable_that_c_depends_on_is_named(body, tile, says):
    mine = made(body, block=(32, 8), tile=tile, multiple_of=(1, 1, 1))
    report = lab.check(mine, SHAPES, "cpu")
    assert report.verdict == "wrong"
    assert [says in finding for finding in report.findings] == [True]
    assert kinds(lab.trace(mine, 16, 64, 8).findings) == ["uninitialised-variable"]


@pytest.mark.parametrize("product", ["A[row * K + k] * B[k * N + col]", "A[row * K + k]"])
def test_no_variable_is_named_that_gets_its_value_in_time(product):
    """Right or wrong: `k` and `last` are declared without a value, and it makes no difference."""
    body = SUM.replace("A[row * K + k] * B[k * N + col]", product)
    assert lab.check(made(body, block=(32, 8)), SHAPES, "cpu").findings == ()


@pytest.mark.parametrize(
    "declared",
    [
        "  float last; float more = 0, sum;\n",
        "  float " + ", ".join(f"v{n}" for n in range(9)) + ";\n  float last, sum;\n",
    ],
    ids=["beside one with a value", "behind many others"],
)
def test_nothing_is_named_in_place_of_a_variable_that_is_not_found(declared):
    body = SUM.replace("  float last, sum = 0;\n", declared)
    assert body != SUM
    report = lab.check(made(body, block=(32, 8)), SHAPES, "cpu")
    assert report.verdict == "wrong" and report.findings == ()


def test_where_c_is_huge_for_another_reason_nothing_is_named():
    body = SUM.replace("sum = 0", "sum = 2e38f")
    assert not lab.trace(made(body, block=(32, 8)), 16, 64, 8).findings


def test_what_a_step_asks_of_memory_is_the_same_with_a_pattern():
    """A cell with a step's own text is compiled with the pattern, the step itself without."""
    name = "hgemm_13_large_tile"
    spec = registry.get(name)
    mine = cells.make("mine", spec.path.read_text().replace(name, "mine"), spec, {}).kernel
    totals = [lab.trace(one, 256, 256, 128).totals() for one in (name, mine)]
    assert totals[0] == totals[1]


def test_a_fragment_is_no_variable_without_a_value():
    """One that nothing has filled is a finding of its own, and fill_fragment counts as a value."""
    text = "__global__ void f() { wmma::fragment<wmma::accumulator, 16, 16, 16, float> d; int k; }"
    assert [one.name for one in unset._declarations(registry.program("hgemm_06_wmma"), text)] == [
        "k"
    ]
