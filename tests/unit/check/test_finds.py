"""Mistakes that show only where a step meets its limits, and what a check says that it has met."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sampling import sampled

import gemmlab as lab
from gemmlab.check import runner
from gemmlab.check.compare import problem
from gemmlab.check.plan import ADDED, SCALED, Run, default_runs, few_shapes, limits
from gemmlab.check.report import Case, CheckReport
from gemmlab.core.errors import SlowRunError
from gemmlab.sim.module import SimModule
from gemmlab.steps import registry

STAGES, PERSISTENT, ANY = "hgemm_17_stages", "tma_06_persistent", "hgemm_20_any_shape"
BARRIER = "__syncthreads();              // everyone's is"
SLICES = "launch_add_slices<TC>(p.g.C, g,"
# What is changed, the configuration, the verdict, and what the report says.
MISTAKES = {
    "a race in the third k tile only": (
        *(STAGES, {BARRIER: f"if (k_tile != 2 * BK) {BARRIER}"}, ""),
        *("finding|wrong", "race"),
    ),
    "a race only where a stage is filled again": (
        *(
            "sgemm_17_pipeline",
            {"        __syncthreads();  // the next tile": "if (tile < 2) __syncthreads();  //"},
            "",
        ),
        *("finding|wrong", "race"),
    ),
    "sums of the last tile stay": (
        *(PERSISTENT, {"sums.clear();": "if (t == (int)blockIdx.x) sums.clear();"}, ""),
        *("wrong", r"on 2 SMs: \d+ of \d+ elements wrong"),
    ),
    "the parity of C begins anew with a tile": (
        *(PERSISTENT, {"sums.clear();": "sums.clear(), part_parity = 0;"}, ""),
        *("wrong|finding", r"on 2 SMs: |race|unfinished"),
    ),
    "the ring begins anew with a tile": (
        *(PERSISTENT, {"sums.clear();": "sums.clear(), ring.parity = 0;"}, ""),
        *("wrong|finding", r"on 2 SMs: |race|deadlock"),
    ),
    "beta is forgotten where K is cut": (
        *(
            ANY,
            {SLICES: "launch_add_slices<TC>(p.g.C, [&] { auto h = g; h.beta = 0; return h; }(),"},
        ),
        *("64x64 split", "wrong", r"K=\d+ alpha=1.25 beta=-2.0 .*: \d+ of \d+ elements wrong"),
    ),
    "columns have no guard": (
        *("sgemm_20_any_shape", {"left - j * LN, alpha": "4, alpha"}, "64x64"),
        *("wrong|finding", "elements wrong|out-of-bounds"),
    ),
    "whole vectors go to any C": (
        *(ANY, {" && PaddedInputs<T>::aligned(g.C);": ";"}, "64x64"),
        *("wrong|finding", "misaligned"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "mistake", sampled(list(MISTAKES), of=3, dear=lambda mistake: MISTAKES[mistake][0] == ANY)
)
def test_a_mistake_at_a_limit_is_found(mistake):
    name, changes, config, verdict, says = MISTAKES[mistake]
    report = lab.check(lab.kernel(lab.variant(name, changes), config=config), device="cpu")
    assert re.fullmatch(verdict, report.verdict), report
    assert re.search(says, repr(report)), report


def test_a_first_tile_without_any_k_hides_nothing_else():
    """It ends the check, so it is run last; and if nothing else is wrong, the report says so."""
    early = {
        "const float a = A[(size_t)row * K + k];": "const float a = k ? A[row * K + k] : first;",
        "float acc = 0.0f;": "float acc = 0.0f, first = A[row * K];",
    }
    alone = lab.check(lab.variant("sgemm_01_naive", early), device="cpu")
    assert [case.K for case in alone.cases if case.problem] == [0]
    assert "only K = 0 is wrong" in repr(alone).splitlines()[-1]
    assert any(any(case.offsets) for case in alone.cases), "what follows in the plan has run"


def test_findings_come_first_and_once():
    careless = lab.variant("sgemm_03_block_tiling", {"__syncthreads();  // everyone has r": "// r"})
    report = lab.check(careless, device="cpu")
    assert report.findings and len(set(report.findings)) == len(report.findings)
    lines = repr(report).splitlines()
    assert " 0 of" not in lines[0]
    assert lines[1 : 1 + len(report.findings)] == [f"  {found}" for found in report.findings]


# ---- verdicts ----

RIGHT, BAD = Case(8, 8, 8, 1.0, 0.0, 0.25), Case(8, 8, 8, 1.0, 0.0, 9.0, "3 elements wrong")


@pytest.mark.parametrize(
    ("cases", "findings", "lacks", "verdict", "head"),
    [
        ((RIGHT,), (), (), "clean", "right in all 1 cases on the simulator; largest error 0.25"),
        ((RIGHT,), ("race",), (), "finding", "1 finding on the simulator; the values of all 1"),
        ((RIGHT, BAD), (), ("x",), "wrong", "WRONG on the simulator, 1 of 2 cases"),
        ((BAD,), ("race",), (), "wrong", "WRONG on the simulator with 1 finding, 1 of 1 cases"),
        ((RIGHT,), (), ("x",), "incomplete", "INCOMPLETE on the simulator; the values of 1 cases"),
        ((), (), ("x",), "incomplete", "INCOMPLETE on the simulator; nothing was run"),
    ],
)
def test_a_verdict_is_the_worst_that_was_seen(cases, findings, lacks, verdict, head):
    report = CheckReport("k", "sim", cases, findings, lacks=lacks)
    assert report.verdict == verdict and report.ok == (verdict == "clean")
    assert repr(report).startswith(f"k: {head}")
    assert report.to_dict()["verdict"] == verdict


def test_what_was_found_survives_a_shape_that_is_too_slow(monkeypatch):
    trace = SimModule.trace

    def slow(self, A, B, C, M, *others, **how):
        if M == 64:
            raise SlowRunError("would take about 9 h")
        return trace(self, A, B, C, M, *others, **how)

    monkeypatch.setattr(SimModule, "trace", slow)
    careless = lab.variant("sgemm_03_block_tiling", {"__syncthreads();  // everyone has r": "// r"})
    shapes = [(32, 32, 64), (64, 32, 32)]
    report = lab.check(careless, shapes, device="cpu")
    assert report.findings and report.lacks == ("not covered: would take about 9 h",)
    report = lab.check("sgemm_03_block_tiling", shapes, device="cpu")
    assert report.verdict == "incomplete" and len(report.cases) == 4


def test_a_budget_that_ends_leaves_the_check_incomplete(monkeypatch):
    monkeypatch.setattr(runner, "BUDGET_SECONDS", 0.0)
    report = lab.check("sgemm_01_naive", device="cpu")
    assert report.verdict == "incomplete" and "for lack of time" in repr(report)


def test_the_time_of_a_readers_kernel_counts_though_it_runs_elsewhere(monkeypatch):
    monkeypatch.setattr(runner.time, "process_time", lambda: 0.0)  # this process takes none
    monkeypatch.setattr(runner, "BUDGET_SECONDS", 0.0)  # so what ends the check is any time at all
    shapes = [(8, 8, 8)] * 3
    report = lab.check("sgemm_01_naive", shapes, device="cpu")
    assert report.verdict == "clean"
    mine = lab.variant("sgemm_01_naive", {"acc += a * b": "acc +=  a * b"})
    report = lab.check(mine, shapes, device="cpu")
    assert report.verdict == "incomplete" and "for lack of time" in repr(report)


def test_a_step_that_should_cut_and_never_does_is_incomplete():
    spec = replace(registry.get("sgemm_03_block_tiling"), persistent=True, cuts=((2, 4, 5),))
    lacks = lab.check(spec, device="cpu").lacks
    assert lacks == (
        "not covered: no block of the persistent kernel had a second tile",
        "not covered: no tile was cut along k",
    )


def test_coverage_is_told():
    said = "\n".join(lab.check("sgemm_18_block_order", device="cpu").coverage)
    assert "up to 7 k tiles through 3 stages" in said
    assert "blocks in 2 orders" in said


# ---- what is planned ----


def runs(name: str) -> list[Run]:
    spec = registry.get(name)
    return default_runs(spec, spec.precisions, ("", *spec.configs), "sim")


@pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)
def test_every_step_meets_its_limits(spec):
    planned = runs(spec.name)
    for run in planned:
        spec.check_sizes(*run.shape)
    assert {run.precision for run in planned} == set(spec.precisions)
    assert {run.config for run in planned} == {"", *spec.configs}
    assert max(run.shape[2] for run in planned) >= (spec.stages + 2) * spec.tile[2]
    assert {run.sms for run in planned} == ({0, 2, 5} if spec.persistent or spec.cuts else {0})
    for config in ("", *spec.configs):
        of = [run for run in planned if run.config == config]
        assert {run.factors for run in of} >= {ADDED, SCALED}
        assert {run.shape for run in of if run.factors == SCALED and any(run.offsets)}
        assert any(run.shape[2] == 0 for run in of)


def test_views_begin_where_they_are_told_to():
    given = problem(Run((8, 8, 8), ADDED, "bf16", offsets=(1, 2, 3)), "cpu")
    for placed, elements in ((given.A, 1), (given.B, 2), (given.C, 3)):
        assert placed.matrix.storage_offset() == elements and placed.matrix.is_contiguous()
        assert placed.intact()
    given.C.matrix.as_strided((1,), (1,), 2).zero_()  # the element before it
    assert not given.C.intact()


def test_few_shapes_are_deep_and_have_edges():
    spec = registry.get("hgemm_18_wide_tile")
    assert few_shapes(spec) == [(128, 256, 64), (256, 256, 576), (128, 768, 128)]
    assert limits(spec).deep == 576
    rows = replace(spec, multiple_of=(1, 8, 8))
    assert few_shapes(rows)[:2] == [(131, 264, 544), (128, 256, 72)]
