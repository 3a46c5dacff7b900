"""The live half of `bench` on a GPU of fakes: CPU tensors, events that count, cublasLt in C."""

from __future__ import annotations

import contextlib
import ctypes
import shutil
import subprocess
import types
import weakref
from fcntl import LOCK_EX, LOCK_NB, flock

import needs
import pytest
import torch

from gemmlab.bench import protocol as live
from gemmlab.bench import timer
from gemmlab.bench.protocol import Protocol
from gemmlab.bench.timer import GpuTimer, Launch
from gemmlab.core.errors import ArgumentError, LaunchError, WrongResultError
from gemmlab.core.precision import HALF, PRECISIONS
from gemmlab.gpu import cublaslt
from gemmlab.gpu.turns import VARIABLE
from gemmlab.run.kernel import LaunchPlan
from gemmlab.steps import registry

SHAPE = (64, 96, 32)
choose_cublaslt = live._cublaslt  # before a fixture replaces it


class FakeEvent:
    """A CUDA event on a clock that moves on by a microsecond with every launch."""

    now = 0.0

    def __init__(self, enable_timing: bool = False):
        self.at = 0.0

    def record(self) -> None:
        self.at = FakeEvent.now

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: FakeEvent) -> float:
        return (end.at - self.at) / 1000


class FakeHandle:
    """A step that multiplies on the CPU and takes `us`."""

    def __init__(self, us: float, error: float = 0.0, config: str = ""):
        self.us, self.error, self.config = us, error, config
        self.spec = registry.KERNELS[0]

    def build(self, precision, layout) -> None:
        """There is nothing to compile."""

    def plan(self, launch) -> LaunchPlan:
        module = types.SimpleNamespace(launch=launch)
        return LaunchPlan(title="mine", config=self.config, module=module, arguments=())

    def launcher(self, A, B, C):
        def launch() -> None:
            FakeEvent.now += self.us
            torch.matmul(A, B, out=C)
            C.mul_(1 + self.error)

        return self.plan(launch)


@pytest.fixture
def gpu(monkeypatch):
    """torch.cuda as far as `measure` uses it."""
    properties = types.SimpleNamespace(L2_cache_size=1 << 20, multi_processor_count=132)
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    stream = types.SimpleNamespace(cuda_stream=7)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: stream)
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *size, device=None, **more: empty(*size, **more))
    monkeypatch.setattr(timer, "hold", lambda: None)
    M, N, K = SHAPE
    operands = (torch.randn(M, K), torch.randn(K, N), torch.empty(M, N))
    monkeypatch.setattr(live, "random_operands", lambda *_, **how: operands)
    monkeypatch.setattr(GpuTimer, "heat", lambda *_: None)
    monkeypatch.setattr(GpuTimer, "rest", lambda *_: None)

    def cublas(A, B, C):
        return FakeHandle(100.0).launcher(A, B, C)

    monkeypatch.setattr(live, "launch_cublas", cublas)
    monkeypatch.setattr(live, "_cublaslt", lambda *_: (live.Entry("cublaslt_best", cublas), ""))
    return operands


def protocol(mode: str = "interleaved", **more) -> Protocol:
    values = {"warm_l2": False, "baselines": ("cublas",), "samples": 10, "seconds": None}
    return Protocol(mode, **{**values, **more})


def test_nothing_is_compiled_while_the_gpu_is_held(gpu, monkeypatch, tmp_path):
    """Other processes would wait for nvcc, and not for a measurement."""
    turns = tmp_path / "turns"
    monkeypatch.setenv(VARIABLE, str(turns))
    free = []

    class Watched(FakeHandle):
        def build(self, precision, layout):
            with turns.open("a") as file:
                flock(file, LOCK_EX | LOCK_NB)  # raises if somebody holds it
            free.append((precision, layout))

        def launcher(self, A, B, C):
            with turns.open("a") as file, pytest.raises(BlockingIOError):
                flock(file, LOCK_EX | LOCK_NB)
            return super().launcher(A, B, C)

    live.measure({"mine": Watched(200.0)}, SHAPE, protocol())
    assert free == [("fp32", "nn")]


def test_rows_of_one_size(gpu):
    rows, during, note = live.measure({"mine": FakeHandle(200.0)}, SHAPE, protocol())
    mine, cublas = rows
    assert (mine.kernel, cublas.kernel, note) == ("mine", "cublas", "")
    assert mine.time_us == pytest.approx(200)
    assert mine.spread == pytest.approx((200, 200))
    assert mine.ratio == pytest.approx(0.5)
    flops = 2 * 64 * 96 * 32
    assert mine.tflops == pytest.approx(flops / 200e-6 / 1e12)
    assert (mine.cycles, mine.clock_mhz, mine.flop_per_clk_sm) == (None, None, None)
    assert (mine.samples, mine.batch, mine.l2, mine.mode) == (10, 1, "cold", "interleaved")
    assert during["power_w"] is None


def test_baselines_not_asked_for_still_give_the_ratio(gpu):
    rows, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, protocol(baselines=()))
    assert [row.kernel for row in rows] == ["mine"]
    assert rows[0].ratio == pytest.approx(0.5)
    both = protocol(baselines=("cublas", "cublaslt_best"))
    rows, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, both)
    assert [row.kernel for row in rows] == ["mine", "cublas", "cublaslt_best"]


@pytest.fixture
def tf32(gpu, monkeypatch):
    """torch.matmul takes 12 us with TF32 on and 100 us with it off; and what it was called with."""
    seen, product = [], torch.matmul

    def matmul(A, B, out):
        seen.append(torch.backends.cuda.matmul.allow_tf32)
        FakeEvent.now += 12 if seen[-1] else 0  # a handle counts its own time
        return product(A, B, out=out)

    monkeypatch.setattr(torch, "matmul", matmul)
    monkeypatch.setattr(live, "_graph", in_turns)
    return seen


def in_turns(entry, operands, batch, l2):
    launch = entry.prepare(*operands)
    return lambda: [launch() for _ in range(batch)]


def test_tf32_is_a_baseline_that_decides_nothing_for_the_others(tf32):
    asked = protocol(baselines=("cublas", "cublas_tf32"))
    with live.tf32_off():
        rows, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, asked)
        assert not torch.backends.cuda.matmul.allow_tf32
    assert [row.kernel for row in rows] == ["mine", "cublas", "cublas_tf32"]
    assert [row.batch for row in rows] == [1, 1, 17]  # 200 us of launches for the short ones
    assert rows[2].time_us == pytest.approx(12)
    assert rows[2].ratio == pytest.approx(100 / 12)
    assert rows[0].ratio == pytest.approx(0.5)
    assert any(tf32) and not all(tf32)


def test_tf32_goes_off_again_when_a_product_fails(gpu):
    launch = live.launch_cublas_tf32(torch.zeros(2, 3), torch.zeros(2, 3), torch.zeros(2, 3))
    with live.tf32_off():
        with pytest.raises(RuntimeError):
            launch()
        assert not torch.backends.cuda.matmul.allow_tf32


def test_a_row_names_the_configuration_that_ran(gpu):
    handles = {"mine": FakeHandle(200.0, config="128x64")}
    mine, cublas = live.measure(handles, SHAPE, protocol())[0]
    assert (mine.config, cublas.config) == ("128x64", "")


def test_a_graph_keeps_what_its_launches_need(gpu, monkeypatch):
    made = []

    def prepare(A, B, C):
        def launch():
            pass

        made.append(weakref.ref(launch))
        return launch

    graph = types.SimpleNamespace(replay=lambda: None)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: graph)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph: contextlib.nullcontext())
    replay = live._graph(live.Entry("mine", prepare), gpu, 3, "cold")
    assert len(made) == 3 and all(launch() is not None for launch in made)
    del replay
    assert all(launch() is None for launch in made)


def test_short_launches_are_timed_in_batches(gpu, monkeypatch):
    monkeypatch.setattr(live, "_graph", in_turns)
    rows, _, _ = live.measure({"mine": FakeHandle(10.0)}, SHAPE, protocol())
    assert [row.batch for row in rows] == [20, 20]
    assert rows[0].time_us == pytest.approx(10)


def test_a_graph_has_as_many_launches_for_all_however_long_they_take(gpu, monkeypatch):
    monkeypatch.setattr(live, "_graph", in_turns)
    rows, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, protocol("graph"))
    assert [(row.mode, row.l2, row.batch) for row in rows] == [("graph", "cold", 24)] * 2
    assert rows[0].time_us == pytest.approx(200) and rows[0].ratio == pytest.approx(0.5)
    warm, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, protocol("graph", warm_l2=True))
    assert warm[0].l2 == "warm"


@pytest.mark.parametrize(("l2_bytes", "sets"), [(1 << 20, 5), (2600, 2), (1, 2)])
def test_matrices_of_a_graph_take_turns_as_far_as_the_l2_reaches(gpu, monkeypatch, l2_bytes, sets):
    properties = types.SimpleNamespace(L2_cache_size=l2_bytes)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    graph = types.SimpleNamespace(replay=lambda: None)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: graph)
    captured = []

    @contextlib.contextmanager
    def capture(graph):
        captured.append("begin")
        yield

    monkeypatch.setattr(torch.cuda, "graph", capture)
    given: list[int] = []

    def prepare(A, B, C):
        given.append(A.data_ptr())
        return lambda: None

    def arrange(operands):
        assert not captured  # what it does is no part of the graph
        return operands

    keep = live._graph(live.Entry("mine", prepare, arrange), gpu, 5, "cold")
    assert len(given) == 5 and len(set(given)) == sets
    assert given == [given[i % sets] for i in range(5)] and gpu[0].data_ptr() not in given
    assert keep is not None


def test_short_launches_at_steady_load_run_in_batches(gpu, monkeypatch):
    monkeypatch.setattr(live, "_graph", in_turns)
    steady = protocol("sustained", seconds=0.01)
    rows, _, _ = live.measure({"mine": FakeHandle(40.0)}, SHAPE, steady)
    assert [row.batch for row in rows] == [5, 5]
    rows, _, _ = live.measure({"mine": FakeHandle(60.0)}, SHAPE, steady)
    assert [row.batch for row in rows] == [1, 1]


def test_others_take_their_turns_with_operands_of_their_own(gpu):
    def prepare(A, Bt, C):
        assert Bt.is_contiguous() and Bt.shape == (96, 32)
        return FakeHandle(50.0).launcher(A, Bt.t(), C)

    def arrange(operands):
        A, B, C = operands
        return A, B.t().contiguous(), C

    other = live.Entry("theirs", prepare, arrange, "nt")
    rows, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, protocol(), [other])
    found = {row.kernel: (row.ratio, row.layout) for row in rows}
    assert found == {
        "mine": (pytest.approx(0.5), "nn"),
        "theirs": (pytest.approx(2.0), "nt"),
        "cublas": (1.0, "nn"),
    }
    wrong = live.Entry("theirs", FakeHandle(50.0, error=0.1).launcher)
    with pytest.raises(WrongResultError, match="theirs: its result"):
        live.measure({"mine": FakeHandle(200.0)}, SHAPE, protocol(), [wrong])


def test_burst_and_sustained(gpu):
    rows, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, protocol("burst"))
    assert (rows[0].mode, rows[0].samples, rows[0].l2) == ("burst", 30, "cold")
    steady = protocol("sustained", seconds=0.01)
    rows, _, _ = live.measure({"mine": FakeHandle(200.0)}, SHAPE, steady)
    assert (rows[0].mode, rows[0].l2) == ("sustained", "warm")
    assert rows[0].ratio == pytest.approx(0.5)


def test_a_wrong_kernel_is_not_timed(gpu):
    with pytest.raises(WrongResultError, match="mine: its result at 64x96x32 is wrong"):
        live.measure({"mine": FakeHandle(200.0, error=1e-3)}, SHAPE, protocol())
    with pytest.raises(LaunchError, match="wrong"):
        live.measure({"mine": FakeHandle(200.0, error=float("nan"))}, SHAPE, protocol())


# ---- 16-bit types ----


class HalfHandle(FakeHandle):
    """One of a step for 16-bit types, with sums in fp32."""

    def launcher(self, A, B, C):
        def launch() -> None:
            FakeEvent.now += self.us
            C.copy_((A.float() @ B.float()) * (1 + self.error))

        return self.plan(launch)


@pytest.fixture
def half(gpu, monkeypatch):
    """`gpu` with operands in the types that are asked for."""

    def random_operands(shape, types, layout):
        A, B, C = gpu
        given, made = (getattr(torch, t) for t in (PRECISIONS[types].given, PRECISIONS[types].made))
        return A.to(given), B.to(given), C.to(made)

    monkeypatch.setattr(live, "random_operands", random_operands)
    monkeypatch.setattr(live, "launch_cublas", HalfHandle(100.0).launcher)


@pytest.mark.parametrize("types", HALF)
def test_rows_name_their_precision(half, types):
    handles = {"mine": HalfHandle(200.0)}
    rows, _, _ = live.measure(handles, SHAPE, protocol(precision=types))
    assert [(row.kernel, row.precision) for row in rows] == [("mine", types), ("cublas", types)]
    assert rows[0].ratio == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("types", "right", "wrong"),
    [
        *(("bf16", 1e-3, 2e-2), ("fp16", 1e-4, 2e-3)),
        *(("bf16_fp32", 1e-5, 1e-3), ("fp16_fp32", 1e-5, 1e-3)),
    ],
)
def test_what_counts_as_wrong_depends_on_the_type_of_c(half, types, right, wrong):
    live.measure({"mine": HalfHandle(200.0, error=right)}, SHAPE, protocol(precision=types))
    with pytest.raises(WrongResultError, match="mine: its result at 64x96x32 is wrong"):
        live.measure({"mine": HalfHandle(200.0, error=wrong)}, SHAPE, protocol(precision=types))


def test_cublas_writes_fp32_where_c_is_fp32(monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "mm", lambda *_, **options: asked.append(options))
    A, B, C = torch.ones(2, 2).half(), torch.ones(2, 2).half(), torch.empty(2, 2)
    live.launch_cublas(A, B, C)()
    assert asked == [{"out_dtype": torch.float32, "out": C}]
    short = torch.empty(2, 2).half()
    live.launch_cublas(A, B, short)()  # torch.matmul
    assert len(asked) == 1 and torch.equal(short, A @ B)


def test_a_warm_launch_is_preceded_by_itself_and_a_cold_one_by_a_flush(gpu):
    calls = []
    launch = Launch("x", lambda: calls.append(1))
    GpuTimer(cold=True).time(launch)
    assert len(calls) == 1
    GpuTimer(cold=False).time(launch)
    assert len(calls) == 3


# ---- the L2 ----

L2_BYTES = 1 << 20


class Cache:
    """Stands for the L2: every launch leaves its matrices there, a buffer that is written, none.

    `seen`: for each time that the clock runs, what the launches in it found.
    """

    def __init__(self) -> None:
        self.holds, self.running, self.seen = False, False, []

    def launched(self) -> None:
        if self.running:
            self.seen[-1].append("warm" if self.holds else "cold")
        self.holds = True

    def hold(self) -> None:
        self.running = True
        self.seen.append([])

    def over(self) -> None:
        self.running = False


@pytest.fixture
def l2(gpu, monkeypatch):
    cache = Cache()

    class Buffer(torch.Tensor):
        """Memory on the GPU; what writes over it all empties the cache, if it is large enough."""

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            writes = func in (torch.Tensor.zero_, torch.Tensor.fill_, torch.Tensor.random_)
            if writes and args[0].nbytes >= 2 * L2_BYTES and not cache.running:
                cache.holds = False
            return super().__torch_function__(func, types, args, kwargs or {})

    empty = torch.empty

    def made(*size, device=None, **more):
        memory = empty(*size, **more)
        return memory.as_subclass(Buffer) if device == "cuda" else memory

    monkeypatch.setattr(torch, "empty", made)
    monkeypatch.setattr(timer, "hold", cache.hold)
    monkeypatch.setattr(FakeEvent, "synchronize", lambda event: cache.over())
    return cache


def test_before_every_cold_timing_the_l2_is_written_over(l2):
    launch = Launch("x", l2.launched)
    timer = GpuTimer(cold=True)
    for _ in range(3):
        timer.time(launch)
    assert l2.seen == [["cold"]] * 3
    timer.estimate(launch)
    assert set(map(tuple, l2.seen)) == {("cold",)}


def test_before_a_warm_timing_the_launch_itself_runs(l2):
    timer = GpuTimer(cold=False)
    timer.time(Launch("x", l2.launched))
    assert l2.seen == [["warm"]]


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ({"mode": "interleaved"}, {"cold"}),
        ({"mode": "burst"}, {"cold"}),
        ({"mode": "interleaved", "warm_l2": True}, {"warm"}),
    ],
)
def test_what_a_measurement_says_of_the_l2_is_so(l2, how, found):
    class Watched(FakeHandle):
        def launcher(self, A, B, C):
            launch = super().launcher(A, B, C)
            return self.plan(lambda: (launch(), l2.launched())[0])

    rows, *_ = live.measure({"mine": Watched(200.0)}, SHAPE, protocol(**how))
    mine = [launches for launches in l2.seen if launches]  # cuBLAS does not tell
    assert len(mine) >= rows[0].samples
    assert {one for launches in mine for one in launches} == found == {rows[0].l2}


@pytest.mark.parametrize(("l2_is", "sets"), [("cold", 3), ("warm", 1)])
def test_launches_of_a_batch_have_operands_of_their_own_unless_warm(gpu, monkeypatch, l2_is, sets):
    given = []
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: types.SimpleNamespace(replay=None))
    monkeypatch.setattr(torch.cuda, "graph", lambda graph: contextlib.nullcontext())
    entry = live.Entry("mine", lambda *tensors: given.append(tensors) or (lambda: None))
    keep = live._graph(entry, gpu, 3, l2_is)
    assert len(given) == 3
    assert {len({t.data_ptr() for t in column}) for column in zip(*given, strict=True)} == {sets}
    del keep


# ---- cublasLt ----

# A stand-in with the signatures and the structures of cublasLt.h. It multiplies column-major
# matrices on the CPU, and its second algorithm refuses to run.
STUB = r"""
#include <cstddef>
#include <cstdint>
struct Layout { int type; uint64_t rows, cols; int64_t ld; };
struct Algo { uint64_t data[8]; };
struct Result { Algo algo; size_t workspaceSize; int state; float wavesCount; int reserved[4]; };
struct Desc { int compute, scale; };
struct Preference { uint64_t workspace; };
extern "C" {
size_t cublasLtGetVersion() { return 130100; }
int result_bytes() { return sizeof(Result); }
int cublasLtCreate(void** handle) { *handle = (void*)0x7777; return 0; }
int cublasLtMatmulDescCreate(Desc** d, int compute, int scale) {
  *d = new Desc{compute, scale};
  return compute == 68 && scale == 0 ? 0 : 7;
}
int cublasLtMatrixLayoutCreate(Layout** l, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  *l = new Layout{type, rows, cols, ld};
  return 0;
}
int cublasLtMatmulPreferenceCreate(Preference** p) { *p = new Preference{0}; return 0; }
int cublasLtMatmulPreferenceSetAttribute(Preference* p, int what, const void* v, size_t bytes) {
  if (what != 1 || bytes != 8) return 7;
  p->workspace = *(const uint64_t*)v;
  return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void* handle, Desc*, Layout*, Layout*, Layout* c, Layout* d,
                                   Preference* p, int requested, Result* out, int* found) {
  if (handle != (void*)0x7777 || p->workspace != 32u << 20 || c != d || requested != 8) return 7;
  for (int i = 0; i < 3; ++i) {
    out[i] = {};
    out[i].algo.data[0] = 100 + i;
    out[i].state = i == 2 ? 15 : 0;  // the third is not supported
  }
  *found = 3;
  return 0;
}
int cublasLtMatmul(void* handle, Desc*, const float* alpha, const float* A, Layout* a,
                   const float* B, Layout* b, const float* beta, const float* C, Layout*, float* D,
                   Layout* d, const Algo* algo, void* workspace, size_t bytes, void* stream) {
  if (handle != (void*)0x7777 || C != D || !workspace || bytes != 32u << 20) return 7;
  if (stream != (void*)7 || *alpha != 1 || *beta != 0 || a->cols != b->rows) return 7;
  if (algo->data[0] != 100) return 15;
  for (uint64_t i = 0; i < d->rows; ++i)
    for (uint64_t j = 0; j < d->cols; ++j) {
      float sum = 0;
      for (uint64_t k = 0; k < a->cols; ++k) sum += A[i + k * a->ld] * B[k + j * b->ld];
      D[i + j * d->ld] = sum;
    }
  return 0;
}
int cublasLtMatmulPreferenceDestroy(Preference* p) { delete p; return 0; }
int cublasLtMatmulDescDestroy(Desc* d) { delete d; return 0; }
int cublasLtMatrixLayoutDestroy(Layout* l) { delete l; return 0; }
}
"""


@pytest.fixture(scope="module")
def stub(tmp_path_factory) -> ctypes.CDLL:
    if shutil.which("g++") is None:
        pytest.skip(needs.GXX)
    folder = tmp_path_factory.mktemp("cublaslt")
    (folder / "stub.cpp").write_text(STUB)
    command = ["g++", "-shared", "-fPIC", "-o", str(folder / "stub.so"), str(folder / "stub.cpp")]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "stub.so"))
    library.cublasLtGetVersion.restype = ctypes.c_size_t
    return library


@pytest.fixture
def lt(gpu, stub, monkeypatch):
    cublaslt._handle.cache_clear()
    monkeypatch.setattr(cublaslt, "_library", lambda: stub)
    yield gpu
    cublaslt._handle.cache_clear()


def test_the_structure_has_the_headers_size(stub):
    assert ctypes.sizeof(cublaslt._Heuristic) == stub.result_bytes() == 96


def test_row_major_products_through_a_column_major_library(lt):
    A, B, C = lt
    plan = cublaslt.Plan(A, B, C)
    assert len(plan) == 2  # the unsupported one is left out
    plan.launcher(0, A, B, C)()
    torch.testing.assert_close(C, A @ B, rtol=1e-5, atol=1e-5)
    with pytest.raises(LaunchError, match="status 15"):
        plan.launcher(1, A, B, C)()


def test_the_fastest_that_runs_is_taken(lt):
    A, B, C = lt
    entry, note = choose_cublaslt(lt, GpuTimer(cold=True))
    assert (entry.name, note) == ("cublaslt_best", "")
    C.zero_()
    entry.prepare(A, B, C)()
    torch.testing.assert_close(C, A @ B, rtol=1e-5, atol=1e-5)


def test_the_version_is_spelled_out(lt):
    assert cublaslt.version() == "13.1.0"


def test_other_dtypes_are_refused(lt):
    A, B, C = (t.double() for t in lt)
    with pytest.raises(ArgumentError, match="float64"):
        cublaslt.Plan(A, B, C)
