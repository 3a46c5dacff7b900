"""The command line: help, JSON, exit codes, and errors without a traceback."""

from __future__ import annotations

import json
import types

import pytest
from click.testing import CliRunner

from gemmlab import cli, record
from gemmlab.check.report import Case, CheckReport
from gemmlab.cli import main
from gemmlab.steps import registry


@pytest.fixture
def call(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")

    def run(*arguments: str):
        return CliRunner().invoke(main, arguments)

    return run


@pytest.mark.parametrize("command", ["doctor", "list", "check", "bench", "tune", "trace", "record"])
def test_every_command_explains_itself(call, command):
    done = call(command, "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.output
    assert command in call("--help").output


def test_list_prints_every_step(call):
    output = call("list").output
    assert all(name in output for name in registry.names())
    steps = json.loads(call("list", "--json").output)
    assert [step["name"] for step in steps] == registry.names()
    step = next(step for step in steps if step["name"] == "sgemm_06_swizzled_a")
    assert step["seed"] == ["003/sgemm_at_bcf_swizzling"]
    assert (step["workspace"], step["configs"]) == (False, [])


def test_doctor_prints_json(call):
    done = call("doctor", "--json")
    report = json.loads(done.output)
    assert report["backend"] in ("sim", "none")
    assert done.exit_code == (report["backend"] == "none")
    assert {"name", "ok", "found", "hint"} == set(report["items"][0])


@pytest.mark.parametrize("command", ["check", "bench", "tune", "trace"])
def test_an_unknown_kernel_is_one_message_that_offers_the_closest(call, command):
    done = call(command, "sgemm_06_swizzled")
    assert done.exit_code == 1
    assert "did you mean sgemm_06_swizzled_a" in done.output
    assert "Traceback" not in done.output
    assert isinstance(done.exception, SystemExit)


def test_bench_shows_the_recording_or_says_that_there_is_none(call, root, tmp_path, monkeypatch):
    (tmp_path / "kernels").symlink_to(root / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    done = call("bench", "sgemm_01_naive")
    assert done.exit_code == 1
    assert "holds no recorded run" in done.output


def test_tune_names_a_step_that_has_nothing_to_choose_from(call):
    done = call("tune", "sgemm_01_naive", "--sizes", "512,64x64x128")
    assert done.exit_code == 1
    assert "sgemm_01_naive has no configurations" in done.output


def test_bench_with_tf32_asks_for_one_more_baseline(call, monkeypatch):
    asked = []
    result = types.SimpleNamespace(to_dict=dict)
    fake = lambda *_, baselines, **__: asked.append(baselines) or result  # noqa: E731
    monkeypatch.setattr(cli, "run_bench", fake)
    assert call("bench", "--json").exit_code == call("bench", "--tf32", "--json").exit_code == 0
    assert asked == [
        ("cublas", "cublaslt_best"),
        ("cublas", "cublaslt_best", "cublas_tf32"),
    ]


def test_bench_and_record_take_types_and_families(call, monkeypatch):
    asked = []
    result = types.SimpleNamespace(to_dict=dict)
    fake = lambda *_, precision, **__: asked.append(precision) or result  # noqa: E731
    monkeypatch.setattr(cli, "run_bench", fake)
    assert call("bench", "--json", "--precision", "bf16_fp32").exit_code == 0
    assert call("bench", "--precision", "int8").exit_code == 2
    fake = lambda *given: asked.append(given) or "h200_hgemm.json"  # noqa: E731
    monkeypatch.setattr(cli, "run_record", fake)
    assert "wrote h200_hgemm.json" in call("record", "--family", "hgemm").output
    assert call("record", "--family", "dgemm").exit_code == 2
    assert asked == ["bf16_fp32", (None, None, None, None, "hgemm")]


@pytest.mark.parametrize("sizes", ["4k", "12x13", "", "-5", "1024;2048"])
def test_bad_sizes_are_a_usage_error(call, sizes):
    done = call("bench", "--sizes", sizes)
    assert done.exit_code == 2
    assert "neither a number" in done.output


def test_record_needs_a_gpu(call, monkeypatch):
    monkeypatch.setattr(record, "why_no_gpu", lambda: "no GPU here")
    done = call("record")
    assert done.exit_code == 1
    assert "no GPU here" in done.output
    assert call("record", "--only", "everything").exit_code == 2


def test_check_exits_with_1_if_a_kernel_is_wrong(call, monkeypatch):
    def fake(error: float, problem: str):
        case = Case(33, 65, 17, 1.0, 0.0, error, problem)
        return lambda spec, shapes, **how: CheckReport(spec.name, "sim", (case,))

    monkeypatch.setattr(cli, "check_one", fake(0.1, ""))
    assert call("check", "sgemm_01_naive").exit_code == 0
    monkeypatch.setattr(cli, "check_one", fake(9.0, "3 of 9 elements wrong"))
    done = call("check", "sgemm_01_naive", "--json")
    assert done.exit_code == 1
    assert json.loads(done.output)[0]["ok"] is False


def test_check_of_all_leaves_out_what_this_gpu_cannot_run(call, monkeypatch):
    checked = []

    def fake(spec, shapes, **how):
        checked.append(spec.name)
        return CheckReport(spec.name, "gpu", (Case(8, 8, 8, 1.0, 0.0, 0.1),))

    monkeypatch.setattr(cli, "check_one", fake)
    monkeypatch.setattr(cli, "why_no_gpu", lambda: "")
    new = {spec.name: f"{spec.name} needs 9.0" for spec in registry.KERNELS if spec.min_arch > 80}
    monkeypatch.setattr(cli, "lacking", lambda program: new.get(program.name, ""))
    done = call("check", "--on", "gpu")
    assert done.exit_code == 0
    assert checked == [name for name in registry.names() if name not in new]
    assert all(f"Left out: {why}" in done.output for why in new.values())
    checked.clear()
    call("check", "--on", "sim")
    assert checked == registry.names()


def test_check_on_a_gpu_that_is_not_there(call, monkeypatch):
    monkeypatch.setattr(cli, "why_no_gpu", lambda: "no GPU here")
    done = call("check", "--on", "gpu")
    assert done.exit_code == 1
    assert "no GPU here; --on sim" in done.output
