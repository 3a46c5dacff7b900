"""Of a reader's kernel the line that calls a small function is named, not the function's."""

from __future__ import annotations

import pytest

import gemmlab as lab
from gemmlab.notebook import cell as cells
from gemmlab.sim.helpers import helper_lines

BODY = """\
__device__ float load(const float* from) { return *from; }
__device__ void copy4(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
}
__device__ float dot(const float* a, const float* b) {
  float sum = 0;
  for (int k = 0; k < 32; ++k) sum += a[k] * b[k * 32];
  return sum;
}

__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float sA[32][32], sB[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
  float sum = 0;
  for (int k0 = 0; k0 < K; k0 += 32) {
    if (x < 8) copy4(&sA[y][x * 4], &A[row * K + k0 + x * 4]);
    sB[y][x] = load(&B[(k0 + y) * N + col]);
    __syncthreads();
    sum += dot(sA[y], &sB[0][x]);
    __syncthreads();
  }
  C[row * N + col] = sum;
}
"""


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def made(body=BODY):
    return cells.make("mine", body, None, {"block": (32, 32), "tile": (32, 32, 32)}).kernel


def test_small_functions_are_told_from_others():
    assert helper_lines(BODY) == {1, 2, 3, 4}
    assert not helper_lines("__global__ void f() { return; }\n__device__ int x;\n")


def test_accesses_count_where_a_small_function_is_called():
    trace = lab.trace(made(), 32, 32, 32)
    lines = {(row.op, row.width_bytes): row.source for row in trace.lines}
    assert (
        lines["ld.global", 16] == lines["st.shared", 16] and "copy4(&sA" in lines["st.shared", 16]
    )
    assert "load(&B" in lines["ld.global", 4]
    assert "sum += a[k]" in lines["ld.shared", 4]  # where the work is, and not the call


def test_a_race_is_named_where_small_functions_are_called():
    text = BODY.replace(
        "    sum += dot(sA[y], &sB[0][x]);\n    __syncthreads();", "    sum += load(&sA[y][x]);"
    )
    mine = made(text)
    races = [found for found in lab.trace(mine, 32, 32, 64).findings if found.kind == "race"]
    places = {text.splitlines()[n - 2].strip() for one in races for n in (one.line, one.other_line)}
    assert any("copy4(&sA" in place for place in places), places
    assert "sum += load(&sA[y][x]);" in places
