"""Scratch memory and configurations: a split-K that adds its slices up in a second kernel."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import gemmlab as lab
from gemmlab import sim
from gemmlab.core.errors import ArgumentError, LaunchError, RefusedError
from gemmlab.core.paths import repository_root
from gemmlab.run.kernel import variant
from gemmlab.steps.spec import KernelSpec

NAME = "gemm_split_k"
SHAPE = (5, 33, 17)
FILE = repository_root() / "tests" / "sim" / "fixtures" / f"{NAME}.cu"
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


def module(**options):
    return sim.compile_source(FILE, f"launch_{NAME}", workspace=True, **options)


def run(module, config=-1, traced=False, scales=(1.0, 0.0)):
    A, B, C = sim.integer_matrices(*SHAPE)
    expected = scales[0] * (A @ B) + scales[1] * C
    how = module.trace if traced else module.launch
    trace = how(A, B, C, *SHAPE, *scales, config=config)
    return trace, np.array_equal(C, expected), C


@pytest.mark.parametrize("config", [-1, 0, 1])
@pytest.mark.parametrize("traced", [False, True])
def test_every_configuration_is_exact(config, traced):
    trace, exact, _ = run(module(), config, traced, (2.0, -1.0))
    assert exact
    assert not (traced and trace.findings)


def test_the_workspace_has_the_size_that_the_step_asked_for():
    for config, slices in ((-1, 2), (0, 2), (1, 5)):
        trace, _, _ = run(module(), config, traced=True)
        (scratch,) = (place for place in trace.places if place.name == "workspace")
        assert scratch.bytes == 4 * slices * SHAPE[0] * SHAPE[1]
        assert scratch.memory == "global"
    stored = {e for s in trace.samples if s.op == "st.global" for e in s.elements if e}
    assert "workspace + 0 B" in stored


def test_scratch_memory_that_is_read_before_it_is_written_is_nan():
    broken = module(
        changes={"part[slice * M * N + i] = acc;": "if (slice > 0) part[slice * M * N + i] = acc;"}
    )
    _, exact, C = run(broken)
    assert not exact
    assert np.isnan(C).all()


def test_an_access_past_the_workspace_names_it():
    broken = module(changes={"part[slice * M * N + i] = acc;": "part[slices * M * N + i] = acc;"})
    trace, _, _ = run(broken, traced=True)
    assert trace.findings[0].kind == "out-of-bounds"
    assert "4 bytes past the end of the workspace" in trace.findings[0].message


def test_a_workspace_that_does_not_fit():
    change = {
        "return sizeof(float) * slices_of(g)": "return sizeof(float) * 100000000 * slices_of(g)"
    }
    with pytest.raises(LaunchError, match="its workspace takes 132000000000 bytes"):
        run(module(changes=change))


def test_a_fault_of_the_workspace_function_is_a_finding():
    change = {"return sizeof(float) * slices_of(g)": "return g.M / (g.K - 17) * slices_of(g)"}
    with pytest.raises(LaunchError, match="stopped in the simulator"):
        run(module(changes=change))


def test_without_its_function_a_step_gets_no_workspace():
    A, B, C = sim.integer_matrices(*SHAPE)
    with pytest.raises(LaunchError):
        sim.compile_source(FILE, f"launch_{NAME}").launch(A, B, C, *SHAPE)


@pytest.mark.parametrize("config", ["", *SPEC.configs])
def test_a_step_with_configurations_is_called_like_any_other(config):
    kernel = lab.kernel(SPEC, config=config)
    A, B = lab.matrices(*SHAPE, device="cpu")
    torch.testing.assert_close(kernel(A, B), A @ B)
    trace = lab.trace(kernel, *SHAPE)
    slices = 5 if config == "5 slices" else 2
    rows = [line for line in trace.lines if line.op == "st.global"]
    assert rows[0].lanes * rows[0].requests == slices * SHAPE[0] * SHAPE[1]


def test_a_configuration_is_in_the_title_and_a_variant_keeps_it():
    kernel = lab.kernel(SPEC, config="5 slices")
    assert kernel.title == f"{NAME} [5 slices]"
    assert "[5 slices]" in repr(kernel)
    assert lab.kernel(kernel) == kernel
    assert lab.kernel(kernel, config="2 slices").title == f"{NAME} [2 slices]"


def test_a_configuration_that_is_not_there_names_those_that_are():
    with pytest.raises(ArgumentError, match=r"config: got '3'; gemm_split_k has '2 slices', '5 s"):
        lab.kernel(SPEC, config="3")
    with pytest.raises(ArgumentError, match="sgemm_01_naive has no configurations"):
        lab.kernel("sgemm_01_naive", config="2 slices")


def test_a_number_out_of_range_is_the_steps_own_refusal():
    with pytest.raises(RefusedError, match="cudaErrorInvalidValue"):
        run(module(), config=2)
    with pytest.raises(ArgumentError, match=r"config: got 1\.5"):
        run(module(), config=1.5)


def changed(text: str, instead: str) -> KernelSpec:
    return variant(SPEC, {text: instead})


def test_check_runs_every_configuration():
    report = lab.check(SPEC, device="cpu")
    assert report.ok, report
    assert {case.config for case in report.cases} == {"", "2 slices", "5 slices"}
    one = lab.check(lab.kernel(SPEC, config="5 slices"), device="cpu")
    assert one.kernel == f"{NAME} [5 slices]"
    assert {case.config for case in one.cases} == {"5 slices"}


def test_check_names_the_configuration_that_is_wrong():
    loses_one = changed("s < slices; ++s", "s < (slices == 5 ? 4 : slices); ++s")
    report = lab.check(loses_one, device="cpu")
    assert not report.ok
    assert {case.config for case in report.cases if case.problem} == {"5 slices"}
    assert "alpha=1.25 beta=-2.0 [5 slices]" in repr(report)


def test_a_configuration_may_refuse_a_shape_but_not_all():
    picky = changed("if (g.config > 1)", "if (g.config > 1 || (g.config == 1 && g.M < 2))")
    report = lab.check(picky, device="cpu")
    assert report.ok, report
    taken = [case.M for case in report.cases if case.config == "5 slices"]
    assert taken and min(taken) >= 2
    useless = changed("if (g.config > 1)", "if (g.config > 0)")
    report = lab.check(useless, device="cpu")
    assert [case.config for case in report.cases if case.problem] == ["5 slices"]
    assert "cudaErrorInvalidValue" in repr(report)


def test_a_step_that_refuses_a_shape_itself_is_wrong():
    refuses = changed("if (g.config > 1)", "if (g.M == 1)")
    assert not lab.check(refuses, device="cpu").ok
