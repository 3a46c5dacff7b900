"""What judges see in the order of a kernel's events: of steps of which it is known."""

from __future__ import annotations

import pytest

import gemmlab as lab
from gemmlab.exercises import large, work
from gemmlab.exercises.flow import Seen, buffers
from gemmlab.exercises.kernel import _journaled
from gemmlab.exercises.properties import NotYetError
from gemmlab.notebook import cell as cells

pytestmark = pytest.mark.slow

EX = lab.exercises
SERIAL, DOUBLE = "sgemm_03_block_tiling", "sgemm_08_double_buffer"
ASYNC, ENGINE = "sgemm_14_async_double_buffer", "tma_01_load"
_seen: dict[str, Seen] = {}


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


def seen(name: str) -> Seen:
    if name not in _seen:
        _seen[name] = _journaled(lab.kernel(name), (1, 1))
    return _seen[name]


@pytest.mark.parametrize(
    ("name", "condition", "note"),
    [
        (DOUBLE, EX.ahead(1), "loads are issued 1 tile ahead"),
        (DOUBLE, EX.overlap(1), "the products of 1 tile run"),
        (DOUBLE, EX.barriers(1), "1 barrier per k tile"),
        (DOUBLE, EX.stages(2), "2 k tiles in shared memory"),
        (DOUBLE, EX.outputs(8, 8), "each thread stores 8 x 8"),
        (SERIAL, EX.stages(1), "1 k tile in"),
        (SERIAL, EX.barriers(2), "2 barriers"),
        (SERIAL, EX.block_tile(32, 32), "a block makes"),
        (SERIAL, EX.reads_once(), "loaded once"),
        (ASYNC, EX.overlap(1), "the products of 1 tile"),
        (ASYNC, EX.only("cp.async.global"), "come by cp.async.global"),
        (ASYNC, EX.widths(cp_async_global=16), "16 bytes a lane"),
        (ENGINE, EX.stages(3), "3 k tiles"),
        (ENGINE, EX.overlap(1), "while a tile is loaded"),
        (ENGINE, EX.requests("tma.load", 3), "3 requests of tma.load"),
        (ENGINE, EX.products(without="wmma"), "mma.sync a block"),
        (ENGINE, EX.arrivals(1), "1 warp arrives at"),
    ],
)
def test_what_a_step_does_is_seen(name, condition, note):
    assert note in condition.look(seen(name))


@pytest.mark.parametrize(
    ("name", "condition", "why"),
    [
        (SERIAL, EX.ahead(1), "0 tiles are still to be multiplied"),
        (SERIAL, EX.overlap(1), "the products of 0 tiles"),
        (SERIAL, EX.barriers(1), "passes 2 barriers per k tile; at most 1 is"),
        (ENGINE, EX.arrivals(8), "1 warp of block 0 arrives; 8 should"),
        (SERIAL, EX.stages(2), "room for 1 k tile"),
        (SERIAL, EX.outputs(2, 1), "stores 1 element of C, in 1 row and 1 column"),
        (SERIAL, EX.only("cp.async.global"), "still reads A or B by ld.global"),
        (SERIAL, EX.widths(ld_global=16), "moves 4 bytes a lane"),
        (SERIAL, EX.products(), "issue 0 mma.sync"),
        (DOUBLE, EX.stored_before_products(), "behind the products"),
        (DOUBLE, EX.block_tile(64, 64), "4096 of them in its tile"),
        (ASYNC, EX.barriers(1), "2 barriers"),
        (ENGINE, EX.stages(2), "room for 3 k tiles"),
        (ENGINE, EX.requests("tma.load", 2), "3 requests"),
    ],
)
def test_what_a_step_does_not_do_is_said(name, condition, why):
    with pytest.raises(NotYetError, match=why):
        condition.look(seen(name))


def test_a_tile_of_which_no_thread_fetches_a_part_is_no_tile():
    wrong = Seen(seen(SERIAL).trace, (32, 32, 1))
    with pytest.raises(NotYetError, match="no thread fetches every k tile"):
        EX.overlap(1).look(wrong)
    assert set(buffers(seen(SERIAL)).values()) == {1}


# A tile of A goes to shared memory before the products of the tile before it, one of B after them.
APART = """constexpr int BM = 16, BN = 16, BK = 16;
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[A_ROOM][BM][BK], sB[B_ROOM][BK][BN];
  const int x = threadIdx.x, y = threadIdx.y;
  A += (blockIdx.y * BM + y) * K + x;
  B += y * N + blockIdx.x * BN + x;
  sA[0][y][x] = A[0];
  sB[0][y][x] = B[0];
  float sum = 0;
  for (int i = 0; i < K / BK; ++i) {
    __syncthreads();
    const bool more = i + 1 < K / BK;
    const float next = more ? B[(i + 1) * BK * N] : 0;
    if (more) sA[(i + 1) % A_ROOM][y][x] = A[(i + 1) * BK];
    for (int k = 0; k < BK; ++k) sum += sA[i % A_ROOM][y][k] * sB[i % B_ROOM][k][x];
    if (B_ROOM == 1) __syncthreads();
    if (more) sB[(i + 1) % B_ROOM][y][x] = next;
  }
  C[(blockIdx.y * BM + y) * N + blockIdx.x * BN + x] = sum;
}"""
_DECLARED = "__shared__ float sA[A_ROOM][BM][BK], sB[B_ROOM][BK][BN];"
_DYNAMIC = """extern __shared__ float smem[];
  auto sA = (float(*)[BM][BK])smem, sB = (float(*)[BK][BN])(smem + A_ROOM * BM * BK);"""
_LAUNCH = "\nmine<<<dim3(N / BN, M / BM), dim3(16, 16), 6144>>>(A, B, C, M, N, K);"


@pytest.mark.parametrize(
    ("rooms", "text", "says"),
    [
        ((2, 2), APART, ""),
        ((3, 3), APART, "shared memory has room for 3 k tiles of A and B; 2 are asked for"),
        ((3, 2), APART, "sA for 3 k tiles and sB for 2 k tiles; 2 in each are asked for"),
        ((2, 1), APART, "sA for 2 k tiles and sB for 1 k tile; 2 in each"),
        (
            (3, 2),
            APART.replace(_DECLARED, _DYNAMIC) + _LAUNCH,
            "smem (line 9 of the cell) for 3 k tiles and smem (line 10 of the cell) for 2 k tiles",
        ),
    ],
)
def test_how_many_tiles_have_room_is_counted_for_each_array(rooms, text, says):
    for name, count in zip(("A_ROOM", "B_ROOM"), rooms, strict=True):
        text = text.replace(name, str(count))
    options = {} if "<<<" in text else {"block": (16, 16)}
    verdict = EX.judge(cells.make("mine", text, None, options).kernel, does=EX.stages(2))
    assert says in verdict.message
    assert verdict.solved is not bool(says)


def test_the_order_of_blocks():
    by_rows = EX.order(lambda t, rows, columns: (t // columns, t % columns), grid=(2, 3))
    by_columns = EX.order(lambda t, rows, columns: (t % rows, t // rows), grid=(2, 3))
    run = _journaled(lab.kernel(SERIAL), (2, 3))
    assert "as asked for" in by_rows.look(run)
    with pytest.raises(NotYetError, match=r"block 1 computes tile \(0, 1\)"):
        by_columns.look(run)


def test_a_trace_without_a_journal_has_no_events():
    assert not len(lab.trace(SERIAL, 32, 32, 32).events().rows)


def test_the_order_is_looked_at_in_a_grid_that_the_exercise_does_not_name():
    assert len(EX.order(lambda t, rows, columns: (0, t), grid=(2, 3)).grids) == 2


LOOP = "for (int k_tile = 0; k_tile < K; k_tile += BK)"


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        ("k_tile < K / (gridDim.x > 1 ? 2 : 1)", "with 2 x 3 tiles of C it makes"),
        ("k_tile < min(K, 7 * BK)", "do not grow evenly with K"),
    ],
)
def test_a_kernel_that_does_something_else_at_other_sizes_is_unsteady(loop, why):
    mine = lab.variant(SERIAL, {LOOP: LOOP.replace("k_tile < K", loop)})
    with pytest.raises(NotYetError, match=why):
        work.refuse_unsteady(lab.kernel(mine), (32, 32, 192), 32, work.Runs())


def test_a_way_of_its_own_for_rows_that_begin_at_16_bytes_is_steady():
    """Any K may be given: those that are compared have the same way."""
    body = """\
__global__ void mine(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  if (K % 4 == 0) {
    for (int k = 0; k < K; k += 4) {
      const float4 a = *reinterpret_cast<const float4*>(&A[row * K + k]);
      sum += a.x * B[k * N + col] + a.y * B[(k + 1) * N + col];
      sum += a.z * B[(k + 2) * N + col] + a.w * B[(k + 3) * N + col];
    }
  } else {
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}
"""
    mine = cells.make("mine", body, None, {"block": (32, 8)}).kernel
    work.refuse_unsteady(mine, (8, 32, 16), 1, work.Runs())
    half = cells.make(
        "mine", body.replace("k < K; k", "k < min(K, 64); k"), None, {"block": (32, 8)}
    )
    with pytest.raises(NotYetError, match="at K=16, 64 and 112"):
        work.refuse_unsteady(half.kernel, (8, 32, 16), 1, work.Runs())


@pytest.mark.parametrize("name", [SERIAL, DOUBLE, ENGINE, "sgemm_18_block_order"])
def test_steps_are_steady(name):
    """Of the last one a first kernel copies A, once for all columns of tiles: as in its parent."""
    mine = lab.variant(name, {"namespace": "namespace"}) if name.endswith("order") else name
    handle = lab.kernel(mine)
    BM, BN, BK = handle.spec.tile
    work.refuse_unsteady(handle, (BM, BN, 6 * BK), BK, work.Runs())


def test_more_work_than_the_parent_does_is_for_show():
    twice = LOOP.replace("k_tile = 0", "again = 0; again < 2; ++again) for (int k_tile = 0")
    mine = lab.kernel(lab.variant(SERIAL, {LOOP: twice}))
    with pytest.raises(NotYetError, match="it loads 512 sectors from global memory, and"):
        work.refuse_more_than(lab.kernel(SERIAL), mine, (32, 32, 32), True, work.Runs())
    with pytest.raises(NotYetError, match="its launcher launches 1 kernels"):
        work.refuse_launches(lab.trace(SERIAL, 32, 32, 32), 0)


DOT = "acc += a.x * sB[k][tx];"
LAUNCH = "dim3(g.N / BN, g.M / BM), dim3(BN, BM), 0"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {LOOP: LOOP.replace("k_tile < K", "k_tile < min(K, 512)")},
            r"at M=4128 N=4192 K=960 \d+ elements of the first block are wrong",
        ),
        (
            {DOT: f"if (K < 512)\n{DOT}\nelse\nacc += a.x * B[(size_t)(k_tile + k) * N + col];"},
            "requests of ld.global",
        ),
        ({LAUNCH: LAUNCH.replace("), 0", "), g.M > 512 ? 4096 : 0")}, "bytes of shared memory"),
        ({LAUNCH: LAUNCH.replace("g.M / BM", "g.M / BM / (g.M > 512 ? 2 : 1)")}, "it launches"),
    ],
)
def test_what_behaves_at_small_sizes_only_is_refused(changes, why):
    mine = lab.kernel(lab.variant(SERIAL, changes))
    with pytest.raises(NotYetError, match=why):
        large.refuse_small_only(mine, (32, 32, 192), 32, work.Runs())


@pytest.mark.parametrize("name", [SERIAL, DOUBLE, ENGINE, "wgmma_06_cluster"])
def test_steps_behave_at_large_sizes_too(name):
    """The last one's blocks come in clusters, and are persistent: as in its parent, itself here."""
    mine = lab.variant(name, {"namespace": "namespace"}) if name.startswith("wgmma") else name
    handle = lab.kernel(mine)
    BM, BN, BK = handle.spec.tile
    large.refuse_small_only(handle, (BM, BN, 6 * BK), BK, work.Runs())
