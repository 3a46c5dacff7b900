"""Scratch memory, configurations and tuning on a real GPU, with the simulator's test kernel."""

from __future__ import annotations

import pytest
import torch

import gemmlab as lab
from gemmlab.bench import protocol as live
from gemmlab.core.errors import RefusedError
from gemmlab.run import kernel as run
from gemmlab.run import tuned as tuning
from gemmlab.steps.program import Program
from gemmlab.steps.spec import KernelSpec

pytestmark = pytest.mark.gpu

NAME = "gemm_split_k"
SPEC = KernelSpec(
    name=NAME,
    file=f"../tests/sim/fixtures/{NAME}.cu",
    idea="K in slices",
    tile=(1, 64, 1),
    thread_tile=(1, 1),
    threads=64,
    shared_bytes=0,
    workspace=True,
    configs=("2 slices", "5 slices"),
)
SIZE = 192


@pytest.fixture
def no_choices(monkeypatch, tmp_path):
    monkeypatch.setattr(tuning, "path", lambda here: tmp_path / "gpu.json")


def test_every_configuration_is_right(no_choices):
    report = lab.check(SPEC, device="cuda")
    assert report.ok, report
    assert {case.config for case in report.cases} == {"", *SPEC.configs}


def test_gpu_and_simulator_agree_exactly():
    A, B = (torch.randint(-4, 5, shape).float() for shape in ((40, 17), (17, 33)))
    for config in SPEC.configs:
        step = lab.kernel(SPEC, config=config)
        assert torch.equal(step(A.cuda(), B.cuda()).cpu(), step(A, B))


def test_a_launcher_keeps_its_workspace():
    A, B, C = live.random_operands((SIZE, SIZE, SIZE))
    right = A @ B  # cuBLAS keeps memory from its first call on
    before = torch.cuda.memory_allocated()
    launch = lab.kernel(SPEC, config="5 slices").launcher(A, B, C)
    assert torch.cuda.memory_allocated() - before >= 5 * 4 * SIZE * SIZE
    for _ in range(3):
        noise = torch.full((5 * SIZE * SIZE,), float("nan"), device="cuda")
        launch()
        del noise
    torch.testing.assert_close(C, right, rtol=1e-4, atol=1e-3)
    del launch
    assert torch.cuda.memory_allocated() == before


def test_a_graph_has_a_workspace_for_each_launch():
    operands = live.random_operands((SIZE, SIZE, SIZE))
    entry = live.Entry("split", lab.kernel(SPEC, config="5 slices").launcher)
    entry.prepare(*operands)()  # built before the graph is recorded
    C = operands[2]
    right = operands[0] @ operands[1]
    for l2 in ("warm", "cold"):
        replay = live._graph(entry, operands, 4, l2)
        C.fill_(float("nan"))
        torch.empty(1 << 24, device="cuda").fill_(float("nan"))
        replay()
        replay()
        if l2 == "warm":  # cold launches have operands of their own
            torch.testing.assert_close(C, right, rtol=1e-4, atol=1e-3)
    torch.cuda.synchronize()


def test_a_configuration_out_of_range_is_refused():
    code = run._gpu_module(Program(SPEC), "fp32").launch(0, 0, 0, 1, 1, 1, 1.0, 0.0, 0, 0, 7)
    assert code in RefusedError.CODES


def test_tuning_measures_keeps_and_is_taken(no_choices):
    sizes = [SIZE, (64, 64, 1024)]
    result = lab.tune(SPEC, sizes, samples=5, seconds=0.05)
    assert result.source == "live" and len(result.trials) == 4
    assert all(trial.row.ratio > 0 for trial in result.trials)
    assert lab.tune(SPEC, sizes).note == "4 of 4 were measured before"
    assert lab.kernel(SPEC).config_for(64, 64, 1024) == result.choice((64, 64, 1024))
    row = lab.bench(SPEC, sizes=[SIZE], samples=3).rows[0]
    assert (row.kernel, row.config) == (NAME, result.choice(SIZE))


def test_cublas_with_tf32_is_faster_and_leaves_the_others_alone():
    asked = ("cublas", "cublas_tf32")
    result = lab.bench([], sizes=[2048], samples=10, baselines=asked)
    plain = lab.bench([], sizes=[2048], samples=10, baselines=("cublas",))
    if torch.cuda.get_device_capability() >= (8, 0):
        assert result.row("cublas_tf32").tflops > 1.5 * result.row("cublas").tflops
    both = [r.row("cublas").time_us for r in (result, plain)]
    assert 0.8 < both[0] / both[1] < 1.25
    assert not torch.backends.cuda.matmul.allow_tf32
