"""A declared tile that is not the kernel's is named before what comes of it."""

from __future__ import annotations

import pytest
from readers_kernels import TILED

import gemmlab as lab
from gemmlab import exercises
from gemmlab.check.tile import misfit
from gemmlab.notebook import cell as cells

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def made(tile, body=TILED):
    return cells.make("mine", body, None, {"block": (32, 32), "tile": tile}).kernel


@pytest.mark.parametrize("tile", [(16, 16, 32), (64, 64, 32), (32, 64, 32)])
def test_another_tile_than_the_kernels_is_named_first(tile):
    mine, (BM, BN, _) = made(tile), tile
    says = (
        f"a block is said to compute {BM} rows and {BN} columns of C (--tile, or BM and BN), and "
        "the first block writes 32 rows and 32 columns, rows 0 to 31 and columns 0 to 31; make "
        "the two agree: say 32x32x32"
    )
    assert lab.check(mine, device="cpu").findings[0].startswith(says)
    verdict = exercises.rung(mine, 3)
    assert says in (verdict.message + verdict.items[0])


def test_gaps_are_told():
    spread = made((64, 32, 32), TILED.replace("C[row * N", "C[(blockIdx.y * 64 + y * 2) * N"))
    said = misfit(spread)
    assert "rows 0 to 62 with gaps and columns 0 to 31; look at the row and the column of" in said
    assert "make the two agree" not in said


def test_a_tile_without_a_depth_is_named_if_the_kernel_needs_one():
    says = "--tile has no third number, so K may be any; the kernel is right at K=128, and not at"
    assert lab.check(made((32, 32)), device="cpu").findings[0].startswith(says)
    guarded = TILED.replace("= A[row", "= k0 + x >= K ? 0 : A[row")
    assert not misfit(made((32, 32), guarded.replace("= B[(", "= k0 + y >= K ? 0 : B[(")))


def test_of_a_tile_that_fits_nothing_is_said():
    """Whatever else is wrong: here, a barrier is missing."""
    mine = made((32, 32, 32), TILED.replace("    __syncthreads();\n    for", "    for"))
    findings = lab.check(mine, device="cpu").findings
    assert findings and not misfit(mine) and "race" in findings[0]


PERSISTENT = """\
#include "../common/launch/host.cuh"
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  for (int t = blockIdx.x; t < M / 8 * (N / 32); t += gridDim.x) {
    const int row = t / (N / 32) * 8 + threadIdx.x / 32, col = t % (N / 32) * 32 + threadIdx.x % 32;
    float sum = 1;  // wrong
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
  }
}
inline cudaError_t launch_mine(const GemmArgs& g, cudaStream_t stream) {
  return launch(mine, dim3(4), dim3(256), 0, stream, (const float*)g.A, (const float*)g.B,
                (float*)g.C, g.M, g.N, g.K);
}
"""


def test_a_block_that_takes_tile_after_tile_has_the_tile_that_it_says():
    options = {"tile": (8, 32, 1), "multiple_of": (8, 32, 1)}
    mine = cells.make("mine", PERSISTENT, None, options).kernel
    report = lab.check(mine, [(64, 64, 8)], device="cpu")
    assert report.verdict == "wrong" and report.findings == ()
