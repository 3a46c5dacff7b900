"""Synchronizing statements of foreign kernels removed: what is one, and what comes of it."""

from __future__ import annotations

import json

import needs
import pytest

from tools.corpus import removed
from tools.corpus.removed import Removal
from tools.corpus.statements import operator_of, statements
from tools.mutants.code import Code

_TEXT = """
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n))
__device__ void arrive(uint64_t* bar) { asm volatile("mbarrier.arrive.b64 _, [%0];" :: "l"(bar)); }
__device__ void helper(barrier& done) {
  auto token = done.arrive();
  if (threadIdx.x < 3) done.wait(std::move(token));
}
__global__ void kernel(float* x) {
  init(&bar, 32);
  full[i].wait(full[i].arrive());
  (*front).arrive_and_wait();
  token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  while (!mbarrier_try_wait(bar, 0)) {}
  WAIT(0);
  cg::sync(grid);
  asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory");
  asm("mov.u32 %0, 1;" : "=r"(y));
  if (lane == 0) arrive(&bar);
  cp_async_wait_group<STAGES - 1>();
  x[0] = __shfl_down_sync(~0u, x[0], 1);
  wmma::mma_sync(c, a, b, c);
  cuda::memcpy_async(to, from, 16, bar);
}
int main() { cudaDeviceSynchronize(); }
"""


def removed_from(text: str, *within: str) -> list[tuple[str, str]]:
    code = Code(text)
    edits = [(draft.operator, draft.edits[0]) for draft in statements(code, within)]
    return [(operator.removeprefix("remove "), text[e.start : e.end]) for operator, e in edits]


def test_statements_of_every_kind():
    """Those that only compute or copy stay, and a wrapper's body: its calls are removed."""
    assert removed_from(_TEXT) == [
        ("arrive", "auto token = done.arrive()"),
        ("wait", "done.wait(std::move(token))"),
        ("wait", "full[i].wait(full[i].arrive())"),
        ("wait", "(*front).arrive_and_wait()"),
        ("arrive", "token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile))"),
        ("wait", "mbarrier_try_wait(bar, 0)"),
        ("wait", "WAIT(0)"),
        ("barrier", "cg::sync(grid)"),
        ("fence", 'asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory")'),
        ("arrive", "arrive(&bar)"),
        ("wait", "cp_async_wait_group<STAGES - 1>()"),
    ]
    assert len(removed_from(_TEXT, "helper")) == 2


@pytest.mark.parametrize(
    "name", ["init_barrier", "cudaDeviceSynchronize", "mma_sync", "waiters", "load_async"]
)
def test_names_that_do_not_synchronize(name):
    assert not operator_of(name)


_PROGRAM = """
#include <cstdio>
#define COMMIT() asm volatile("cp.async.commit_group;\\n" ::)
#define WAIT(n) asm volatile("cp.async.wait_group %0;\\n" ::"n"(n))
__global__ void reversed(const int* from, int* to) {
  __shared__ int tile[64];
  unsigned at = __cvta_generic_to_shared(&tile[threadIdx.x]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\\n" ::"r"(at), "l"(&from[threadIdx.x]));
  COMMIT();
  WAIT(0);
  __syncthreads();
  to[threadIdx.x] = tile[63 - threadIdx.x];
  __syncthreads();
}
int main() {
  int *x, *y;
  cudaMallocManaged(&x, 64 * sizeof(int));
  cudaMallocManaged(&y, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) x[i] = i;
  reversed<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  bool right = true;
  for (int i = 0; i < 64; ++i) right &= y[i] == 63 - i;
  printf(right ? "right\\n" : "wrong\\n");
}
"""
_CASES = """
[[repository]]
name = "someone/kernels"
commit = "0123"

[[repository.group]]
variants = ["reversed.cu"]
files = ["{}"]
"""
_KERNEL = """
[[kernel]]
case = "someone/kernels reversed.cu"
files = ["reversed.cu"]
"""
_LAST = """
[[unfound]]
id = "someone/kernels reversed.cu/remove-barrier/2"
why = "WHY"
"""


@needs.gxx
@pytest.mark.slow
@pytest.mark.parametrize(
    ("listed", "status", "share"),
    [(_KERNEL, removed.DIFFERENT, "75.0 %"), (_KERNEL + _LAST, removed.AS_EXPECTED, "100.0 %")],
)
def test_all_are_found_but_what_changes_nothing(tmp_path, capsys, listed, status, share):
    """The last barrier is none that is needed; without a reason it counts as not found."""
    folder = tmp_path / "someone" / "kernels"
    folder.mkdir(parents=True)
    (folder / "reversed.cu").write_text(_PROGRAM)
    cases, kernels = tmp_path / "cases.toml", tmp_path / "removed.toml"
    cases.write_text(_CASES)
    kernels.write_text(listed)
    assert removed.main(["--folder", str(tmp_path)], cases, kernels) == status
    said = capsys.readouterr().out
    verdicts = [line.split()[0] for line in said.splitlines() if line.startswith("  ")]
    assert (verdicts.count("finding"), verdicts.count("survived")) == (3, 1)
    assert f"{share} of the mistakes are found" in said


def test_a_reason_that_excuses_nothing():
    row = Removal("a/remove-wait/1", "remove wait", "a.cu", 3, "survived")
    assert row.is_mistake
    assert not Removal(**{**vars(row), "why": "the copies have ended"}).is_mistake
    assert Removal(**{**vars(row), "why": "missed: no run shows it"}).is_mistake


def test_the_recorded_removals():
    """Twenty kernels and more, of five repositories; 98 % of the mistakes are found."""
    rows = removed.recorded()
    kernels = dict.fromkeys(row.kernel for row in rows)
    assert list(kernels) == [one.case for one in removed.subjects()]
    assert len(kernels) >= 20 and len({kernel.partition(" ")[0] for kernel in kernels}) >= 5
    mistakes = [row for row in rows if row.is_mistake]
    found = [row for row in mistakes if row.verdict != "survived"]
    assert len(found) >= 0.98 * len(mistakes)
    survivors = {row.id for row in rows if row.verdict == "survived"}
    assert set(removed.reasons()) == survivors
    assert all(row.why == removed.reasons()[row.id] for row in rows if row.id in survivors)


def test_what_is_recorded_again_takes_the_place_of_what_was(tmp_path):
    file = tmp_path / "removed.json"
    first, second = (one.case for one in removed.subjects()[:2])
    rows = [
        Removal(f"{case}/remove-wait/1", "remove wait", "a.cu", 1, "values")
        for case in (second, first)
    ]
    removed.record(rows, file)
    assert [row.kernel for row in removed.recorded(file)] == [first, second]
    again = Removal(f"{second}/remove-wait/1", "remove wait", "a.cu", 1, "finding", ("race",))
    removed.record([again], file)
    assert removed.recorded(file) == [rows[1], again]
    assert set(json.loads(file.read_text())) == {"commit", "removals"}
