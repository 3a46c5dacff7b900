"""The judges: right answers pass, wrong ones fail with a hint that names the mistake."""

import dataclasses
import re
from types import SimpleNamespace

import pytest
from readers_kernels import TILED

import gemmlab as lab
from gemmlab import exercises, sim
from gemmlab.check.report import Case, CheckReport
from gemmlab.core.errors import ArgumentError, ContextLostError, LaunchError, UnknownKernelError
from gemmlab.exercises import kernel as kernel_exercises
from gemmlab.exercises import work
from gemmlab.notebook import cell as cells
from gemmlab.steps import registry

# Rung 4 of "Your kernel".
COLUMN = """\
constexpr int BM = 64, BN = 64, BK = 16, THREADS = 256;

__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[BM][BK], sB[BK][BN];
  const int t = threadIdx.x, x = t % 64, y = t / 64 * 16;
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;
  float sum[16] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = t; i < BM * BK; i += THREADS) sA[i / BK][i % BK] = A[i / BK * K + k0 + i % BK];
    for (int i = t; i < BK * BN; i += THREADS) sB[i / BN][i % BN] = B[(k0 + i / BN) * N + i % BN];
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      const float b = sB[k][x];
      for (int i = 0; i < 16; ++i) sum[i] += sA[y + i][k] * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < 16; ++i) C[(y + i) * N + x] = sum[i];
}
"""
# Rung 10, whose copy for the next tile overwrites what other threads still read.
COPIES = """\
#include <ptx/cp_async.cuh>
#include <ptx/smem.cuh>
constexpr int BM = 64, BN = 64, BK = 16, THREADS = 256;

__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float sA[2][BM][BK], sB[2][BK][BN];
  const int t = threadIdx.x, y = t / 16 * 4, x = t % 16 * 4;
  const int row = blockIdx.y * BM, col = blockIdx.x * BN;
  float sum[4][4] = {};
  auto copy = [&](int k0, int s) {
    const float* from = &A[(row + t / 4) * K + k0 + t % 4 * 4];
    cp_async_cg(smem_addr(&sA[s][t / 4][t % 4 * 4]), from);
    cp_async_cg(smem_addr(&sB[s][t / 16][x]), &B[(k0 + t / 16) * N + col + x]);
  };
  if (K > 0) copy(0, 0);
  cp_async_commit();
  for (int k0 = 0, s = 0; k0 < K; k0 += BK, s ^= 1) {
    if (k0 + BK < K) copy(k0 + BK, s ^ 1);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      for (int i = 0; i < 4; ++i) {
        const float a = sA[s][y + i][k];
        for (int j = 0; j < 4; ++j) sum[i][j] += a * sB[s][k][x + j];
      }
    }
    __syncthreads();  // everyone has read
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) C[(row + y + i) * N + col + x + j] = sum[i][j];
}
"""
READ = "    __syncthreads();  // everyone has read\n"
STORE_16 = "row = lane%4*4; col = lane/4"
STORE_8 = "row = lane%2*4; col = lane/2"


@pytest.mark.parametrize(
    ("layout", "rows", "store"),
    [
        ("col ^ (row/4*8)", 16, STORE_16),
        ("Swizzle<2,3,6>", 16, STORE_16),
        ("col ^ (row/4*16)", 8, STORE_8),
        ("pad 4", 8, STORE_8),
    ],
)
def test_swizzles_that_solve(layout, rows, store):
    assert exercises.swizzle(layout, rows=rows, store=store).solved


@pytest.mark.parametrize(
    ("layout", "hint"),
    [
        ("col", "4 wavefronts"),
        ("col ^ (row*8)", "4 wavefronts"),  # bits 5 and 6 are no bank bits
        ("pad 2", "16 bytes"),  # conflict-free, but the rows are no longer aligned
        ("pad 4", "2 wavefronts"),
        ("col ^ row", "separates"),
        ("col / 2", "same place"),
        ("col + 1", "outside the row"),
        ("colour", "unknown name"),
        ("col ^ ((row/4 ^ row%4*(row/4))*8)", "wavefronts"),  # only the first store is right
    ],
)
def test_swizzles_that_fail(layout, hint):
    verdict = exercises.swizzle(layout, rows=16, store=STORE_16)
    assert not verdict.solved
    assert hint in verdict.message


def test_mapping():
    good = exercises.mapping(lambda lane: (lane // 16, lane % 16), rows=2, cols=16)
    assert good.solved and "A 2 + B 2 = 4" in good.message
    down = exercises.mapping(lambda lane: (lane % 2, lane // 2), rows=2, cols=16)
    assert not down.solved and "along a row" in down.message
    assert not exercises.mapping(lambda lane: (lane, 0), rows=2, cols=16).solved
    assert "pair" in exercises.mapping(lambda lane: lane, rows=2, cols=16).message


def test_thread_tile():
    assert exercises.thread_tile(8, 16, fmas_per_value=5, registers=200).solved
    assert "FMAs per value are asked" in exercises.thread_tile(8, 8, 5, 200).message
    assert "registers are allowed" in exercises.thread_tile(16, 16, 5, 200).message
    with pytest.raises(ArgumentError, match="TM"):
        exercises.thread_tile(0, 8, 5, 200)
    with pytest.raises(ArgumentError, match="TN"):
        exercises.thread_tile(8, 18, 5, 200)


def test_verdict_says_itself_in_words():
    verdict = exercises.Verdict(False, "a < b")
    assert repr(verdict) == "Not yet: a < b"
    assert "Not yet" in verdict._repr_html_() and "a &lt; b" in verdict._repr_html_()


# ---- kernels ----

SWIZZLED, PLAIN = "sgemm_06_swizzled_a", "sgemm_05_transposed_a"
WORST = "sA[a_col + 0][a_row + i] = a.x;"


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def changed(old, new, name=SWIZZLED):
    return lab.variant(name, {old: new})


@pytest.mark.slow
def test_a_kernel_that_does_what_is_asked():
    verdict = exercises.judge(
        SWIZZLED,
        conflicts=0,
        wavefronts={"ld.shared": 1536, "st.shared": 200},
        sectors={"st.global": 4096},
    )
    assert verdict.solved
    assert "right in all 12 cases on the simulator" in verdict.message
    assert "at M=128 N=128 K=16 no bank conflicts, 1,536 wavefronts of ld.shared" in verdict.message


@pytest.mark.parametrize(
    ("wanted", "head"),
    [
        ({"conflicts": 0}, "192 bank conflicts at M=128 N=128 K=16; none are allowed:"),
        (
            {"conflicts": {"st.shared": 191}},
            "192 bank conflicts of st.shared .*; at most 191 are allowed",
        ),
        (
            {"wavefronts": {"st.shared": 319}},
            "320 wavefronts of st.shared at .*; at most 319 are allowed",
        ),
    ],
)
def test_conflicts_are_named_by_their_line(wanted, head):
    verdict = exercises.judge(PLAIN, differs=False, **wanted)
    assert not verdict.solved
    assert re.match(head, verdict.message)
    text = registry.get(PLAIN).path.read_text().splitlines()
    row = next(i for i, line in enumerate(text, 1) if WORST in line)
    place = f"kernels/sgemm/05_transposed_a.cuh:{row}: 16 st.shared requests take 4 wavefronts each"
    assert any(item == f"{place}, 1 would do: {WORST}" for item in verdict.items)
    assert len(verdict.items) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "place"),
    [
        # Stored as its transpose, B is read from 16 banks only; the reads of A are as before.
        (
            {
                "sB[BK][BN]": "sB[BN][BK]",
                "sB[i / BN][i % BN] =": "sB[i % BN][i / BN] =",
                "sB[k][x]": "sB[x][k]",
            },
            "line 16 of the cell: 128 ld.shared requests take 16 wavefronts each, 1 would do",
        ),
        # And as many reads as products.
        (
            {"      const float b = sB[k][x];\n": "\n", "* b;": "* sB[k][x];"},
            "line 17 of the cell: 4,096 ld.shared requests of 4 bytes a lane take 1 wavefront each",
        ),
    ],
)
def test_only_lines_that_cost_too_much_are_named(change, place):
    body = COLUMN
    for old, new in change.items():
        assert old in body
        body = body.replace(old, new)
    verdict = exercises.rung(cells.make("mine", body, None, {}).kernel, 4)
    assert "4,096 wavefronts of ld.shared" in verdict.message
    assert ("there are too many" in verdict.message) == ("would do" not in place)
    assert [item.startswith(place) for item in verdict.items] == [True]


def test_bank_conflicts_are_not_reads_for_show():
    """Rows of A in registers come from shared memory with conflicts: too many wavefronts."""
    plain = lab.kernel("sgemm_03_block_tiling")
    slow = lab.variant(plain, {"load4(&sA[ty][k])": "load4(&sA[tx][k])"})
    with pytest.raises(work.NotYetError, match=r"of them are bank conflicts, most in .*load4"):
        work.refuse_more_than(plain, slow, (64, 64, 64), True, work.Runs())


@pytest.mark.slow
def test_an_allowance_is_an_upper_bound():
    assert exercises.judge(PLAIN, conflicts=192, differs=False).solved
    assert not exercises.judge(SWIZZLED, sectors={"st.global": 4095}).solved
    assert exercises.judge(SWIZZLED, wavefronts={"ldmatrix": 0}).solved


def test_it_is_counted_at_the_parents_tile_unless_a_size_is_given():
    verdict = exercises.judge(SWIZZLED, conflicts=0, shape=(256, 128, 32))
    assert "at M=256 N=128 K=32 no bank conflicts" in verdict.message


def test_a_larger_k_tile_is_counted_at_a_shape_that_it_takes():
    limits = {"ld.shared": {"wavefronts": 4 * 8}, "st.global": {"wavefronts": 64}}
    turned = {"wavefronts": {op: most["wavefronts"] for op, most in limits.items()}}
    spec = registry.get(SWIZZLED)
    spec = dataclasses.replace(spec, multiple_of=(64, 128, 32))
    shape, grown = kernel_exercises._fitting(spec, (64, 64, 16), turned)
    assert shape == (64, 128, 32)
    assert grown == {"wavefronts": {"ld.shared": 4 * 4 * 8, "st.global": 2 * 64}}
    assert kernel_exercises._fitting(spec, shape, turned) == (shape, turned)


def test_a_rung_names_what_is_missing_and_not_the_shape_that_it_runs():
    mine = cells.make("mine", TILED, None, {"block": (32, 32), "tile": (32, 32, 32)}).kernel
    verdict = exercises.rung(mine, 4)
    assert not verdict.solved
    assert "block 0 stores 1024 elements, 1024 of them in its tile of 64 x 64" in verdict.message


@pytest.mark.slow
def test_a_shape_is_traced_once(monkeypatch):
    made = []

    def trace(kernel, *shape, **how):
        made.append((getattr(kernel, "title", kernel), shape))
        return sim.trace(kernel, *shape, **how)

    monkeypatch.setattr(work, "sim", SimpleNamespace(trace=trace))
    mine = changed("rA[i] * rB[j]", "rB[j] * rA[i]")
    assert exercises.judge(mine, conflicts=0, does=exercises.overlap(0)).solved
    assert len(made) == len(set(made)) and (mine.title, (128, 128, 16)) in made


@pytest.mark.slow
def test_the_parents_code_is_no_answer():
    for text in ("// [dot]", "// [dot]  // a remark"), ("    // [dot]\n", "\n\n    // [dot]\n"):
        verdict = exercises.judge(changed(*text))
        assert verdict == exercises.Verdict(
            False, f"this is the unchanged code of {SWIZZLED}; the exercise asks for a change."
        )
        assert exercises.judge(changed(*text), differs=False).solved
    assert exercises.judge(changed("rA[i] * rB[j]", "rB[j] * rA[i]")).solved


def test_the_parents_code_under_another_name_is_no_answer_either():
    parent = registry.get("sgemm_02_coalesced")
    mine = cells.make("mine", parent.path.read_text().replace(parent.name, "mine"), parent, {})
    assert "unchanged code" in exercises.judge(mine.kernel).message


def test_a_wrong_element_is_named():
    verdict = exercises.judge(changed("sA[k][swizzle(k, m)", "sA[k][(m)"))
    assert verdict.message == "wrong in 9 of 12 cases on the simulator:"
    assert "elements wrong; the first is C[0, 0] = " in verdict.items[0]
    assert "M=128 N=128 K=16 alpha=1.0 beta=0.0: " in verdict.items[0]


def test_without_a_line_the_shapes_that_are_right_are_named(monkeypatch):
    def check(handle, *_, **__):
        cases = (Case(128, 128, K, 1.0, 0.0, 0.0, "wrong" * (K > 16)) for K in (8, 16, 24, 32))
        return CheckReport(handle.title, "sim", tuple(cases))

    monkeypatch.setattr(kernel_exercises, "check", check)
    verdict = exercises.judge(changed("m ^", "(m) ^"))
    assert verdict.items[1].startswith("it is right at all 2 shapes where K is 16 or less, and")


def test_a_race_is_named_by_its_lines_even_if_it_needs_two_tiles():
    late = "__syncthreads();  // everyone has read before the next tiles overwrite"
    verdict = exercises.judge(changed(late, ""))
    assert not verdict.solved
    assert "06_swizzled_a.cuh:53: race" in verdict.items[0]


def test_a_copy_over_what_is_still_read_is_a_race_first_and_what_is_left_out_is_counted():
    """The copy also makes reads of the buffer come before its wait: four findings of two causes."""
    mine = cells.make("mine", COPIES.replace(READ, ""), None, {}).kernel
    first, second, more = exercises.judge(mine).items
    assert first.startswith("race: line 13 of the cell writes shared memory that line 25 of")
    assert second.startswith("race: line 14 of the cell writes shared memory that line 26 of")
    assert more == "and 2 more findings"
    assert exercises.judge(cells.make("mine", COPIES, None, {}).kernel).solved


def test_a_kernel_that_stops_is_not_run_again(monkeypatch):
    def check(*_, **__):
        pytest.fail("checked a kernel that does not run to its end")

    monkeypatch.setattr(kernel_exercises, "check", check)
    verdict = exercises.judge(changed("gA + (size_t)i * K", "gA + (size_t)i * K * 1000000"))
    assert verdict.message == "it does not run to its end in the simulator:"
    assert "out-of-bounds" in verdict.items[0]


@pytest.mark.slow
def test_a_cells_kernel_is_judged_by_the_lines_of_its_cell():
    body = """
// [swizzle]
__device__ __forceinline__ int swizzle(int k, int m) { return m ^ (k / 4 * 16); }
// [/swizzle]
"""
    mine = cells.make("mine", body, registry.get(SWIZZLED), {}).kernel
    verdict = exercises.judge(mine, conflicts=0)
    assert not verdict.solved
    # The store that conflicts stands in a line of the parent, which the cell leaves as it is.
    assert "of kernels/sgemm/06_swizzled_a.cuh (unchanged): 16 st.shared" in verdict.items[0]
    body = body.replace("m ^ (k / 4 * 16)", "sA[k][m]")
    with pytest.raises(lab.GemmlabError, match="line 4 of the cell: 'sA' was not declared"):
        cells.make("mine", body, registry.get(SWIZZLED), {})
    body = "constexpr int WM = 32;\n// [dot]\n__syncthreads();\nacc[0][0] = sA[0][m];\n// [/dot]\n"
    mine = cells.make("mine", body, registry.get(SWIZZLED), {}).kernel
    verdict = exercises.judge(mine)
    assert not verdict.solved
    assert verdict.items[0].startswith("line 3 of the cell") or "of the cell" in verdict.items[0]


def test_operations_that_there_are_not():
    with pytest.raises(ArgumentError, match=r"wavefronts: no operation is called 'lds'; there are"):
        exercises.judge(SWIZZLED, wavefronts={"lds": 3})
    with pytest.raises(ArgumentError, match="conflicts: no operation"):
        exercises.judge(SWIZZLED, conflicts={"shared": 3})
    with pytest.raises(UnknownKernelError):
        exercises.judge(SWIZZLED, faster_than="sgemm_00")
    with pytest.raises(ArgumentError, match=r"M: is 200, .* multiple of 128"):
        exercises.judge(SWIZZLED, faster_than=PLAIN, size=200)


def test_without_a_gpu_the_speed_is_said_not_to_be_judged():
    verdict = exercises.judge(SWIZZLED, faster_than=PLAIN, by=100.0)
    assert verdict.solved
    assert "its speed is not judged here (" in verdict.message


@pytest.fixture
def on_a_gpu(monkeypatch):
    """Two kernels that are right; `times` are what a benchmark finds."""
    times = {SWIZZLED: 100.0, PLAIN: 120.0}

    def bench(kernels, sizes, baselines):
        assert [kernel.title for kernel in kernels] == [SWIZZLED, PLAIN] and sizes == [4096]
        return SimpleNamespace(row=lambda name, size: SimpleNamespace(time_us=times[name]))

    def check(handle, shapes, device, **_):
        case = Case(*shapes[0], 1.0, 0.0, 0.1)
        return CheckReport(handle.title, {"cpu": "sim", "cuda": "gpu"}[device], (case,))

    monkeypatch.setattr(kernel_exercises, "default_backend", lambda: "gpu")
    monkeypatch.setattr(kernel_exercises, "check", check)
    monkeypatch.setattr(kernel_exercises, "bench", bench)
    return times


@pytest.mark.slow
def test_on_a_gpu_the_speed_counts(on_a_gpu):
    verdict = exercises.judge(SWIZZLED, faster_than=PLAIN, by=1.2)
    assert verdict.solved
    assert f"1.2 times as fast as {PLAIN} at 4096, measured in turns" in verdict.message
    assert "right in all 1 cases on the GPU" in verdict.message
    on_a_gpu[SWIZZLED] = 110.0
    verdict = exercises.judge(SWIZZLED, faster_than=PLAIN, by=1.2)
    assert not verdict.solved
    assert "1.09 times as fast as" in verdict.message and "1.2 times is required" in verdict.message


@pytest.mark.slow
def test_a_launch_that_fails_is_no_answer_and_a_lost_context_an_error(on_a_gpu, monkeypatch):
    def fails(error):
        def bench(*_, **__):
            raise error

        return bench

    monkeypatch.setattr(kernel_exercises, "bench", fails(LaunchError("still running")))
    verdict = exercises.judge(SWIZZLED, faster_than=PLAIN)
    assert verdict == exercises.Verdict(False, "still running")
    monkeypatch.setattr(kernel_exercises, "bench", fails(ContextLostError("restart")))
    with pytest.raises(ContextLostError):
        exercises.judge(SWIZZLED, faster_than=PLAIN)


@pytest.mark.slow
def test_a_launch_of_ones_own_has_to_say_its_tile():
    """The judges compare blocks; without a tile one would hear of requests that differ."""
    text = (
        "__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {\n"
        "  int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;\n"
        "  if (row >= M || col >= N) return;\n"
        "  float sum = 0;\n"
        "  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
        "  C[row * N + col] = sum;\n"
        "}\n"
        "mine<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, N, K);\n"
    )
    mine = cells.make("mine", text, None, {}).kernel
    assert "as in --tile 8x32" in lab.exercises.rung(mine, 2).message
    assert lab.exercises.rung(cells.make("mine", text, None, {"tile": (8, 32)}).kernel, 2).solved
