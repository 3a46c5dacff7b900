"""The command line, each command as a user runs it: what it prints, and what it exits with.

Most run in this process, where nothing has to be imported again; nothing is replaced in any.
`test_cli_process.py` has what only shows in a process of its own.
"""

from __future__ import annotations

import json
import shutil

import needs
import pytest
from click.testing import CliRunner

from gemmlab import measurements
from gemmlab.cli import main
from gemmlab.steps import registry

NAIVE, SHARED = "sgemm_01_naive", "sgemm_03_block_tiling"


@pytest.fixture
def call(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")

    def run(*arguments: str):
        return CliRunner().invoke(main, arguments)

    return run


@pytest.fixture
def broken(tmp_path, root, monkeypatch):
    """A function that changes a step in a copy of the kernels, which the commands then take."""
    shutil.copytree(root / "kernels", tmp_path / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))

    def change(name: str, old: str, new: str) -> None:
        file = tmp_path / "kernels" / registry.get(name).file
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return change


@pytest.mark.parametrize("command", ["doctor", "list", "check", "bench", "tune", "trace", "record"])
def test_every_command_explains_itself(call, command):
    done = call(command, "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.output
    assert command in call("--help").output


def test_the_help_says_what_each_exit_status_means(call):
    first = [line.split()[0] for line in call("--help").output.splitlines() if line.split()]
    assert [word for word in first if word.isdigit()] == ["0", "1", "2", "70", "130"]


def test_list_prints_every_step(call):
    output = call("list").output
    assert all(name in output for name in registry.names())
    steps = json.loads(call("list", "--json").stdout)
    assert [step["name"] for step in steps] == registry.names()
    step = next(step for step in steps if step["name"] == "sgemm_06_swizzled_a")
    assert step["seed"] == ["003/sgemm_at_bcf_swizzling"]
    assert (step["workspace"], step["configs"]) == (False, [])


def test_doctor_prints_json(call):
    done = call("doctor", "--json")
    report = json.loads(done.stdout)
    assert report["backend"] in ("sim", "none")
    assert done.exit_code == (report["backend"] == "none")
    assert {"name", "ok", "found", "hint"} == set(report["items"][0])


def test_doctor_exits_with_1_where_nothing_can_run(call, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for variable, value, why in (
        ("PATH", str(tmp_path), "no g++"),
        ("GEMMLAB_CACHE", str(tmp_path / "file" / "cache"), "cannot be kept"),
        ("GEMMLAB_ROOT", str(tmp_path), "no kernels"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(variable, value)
            done = call("doctor")
        head = done.output.splitlines()[0]
        assert (done.exit_code, head.partition(":")[0]) == (1, "No kernel can run here")
        assert why in head


def test_what_nobody_thought_of_is_one_line_and_a_traceback_on_request(
    call, root, tmp_path, monkeypatch
):
    (tmp_path / "book").symlink_to(root / "book")
    shutil.copytree(root / "kernels", tmp_path / "kernels")
    with (tmp_path / "kernels" / registry.get(NAIVE).file).open("ab") as file:
        file.write(b"// \xff\n")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    done = call("list")
    assert done.exit_code == 70
    assert len(done.stderr.splitlines()) == 1
    assert "UnicodeDecodeError" in done.stderr and "GEMMLAB_DEBUG=1" in done.stderr
    monkeypatch.setenv("GEMMLAB_DEBUG", "1")
    assert isinstance(call("list").exception, UnicodeDecodeError)


def test_a_time_limit_that_is_no_time_is_wrong_usage(call, monkeypatch, tmp_path):
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("GEMMLAB_COMPILE_S", "soon")
    done = call("trace", NAIVE)
    assert done.exit_code == 2
    assert "GEMMLAB_COMPILE_S: is 'soon', expected seconds" in done.stderr


@pytest.mark.parametrize("command", ["check", "bench", "tune", "trace"])
def test_an_unknown_kernel_is_one_message_that_offers_the_closest(call, command):
    done = call(command, "sgemm_06_swizzled")
    assert done.exit_code == 2
    assert "did you mean sgemm_06_swizzled_a" in done.output
    assert isinstance(done.exception, SystemExit)


def test_bench_shows_the_recording_or_says_that_there_is_none(call, root, tmp_path, monkeypatch):
    done = call("bench", NAIVE, "--json")
    assert done.exit_code == 0
    shown = json.loads(done.stdout)
    recorded = measurements.load().bench().row(NAIVE, 4096)
    assert {row["kernel"] for row in shown["rows"]} == {NAIVE, "cublas", "cublaslt_best"}
    assert shown["rows"][0]["tflops"] == recorded.tflops
    assert f"{recorded.tflops:.1f}" in call("bench", NAIVE).output
    (tmp_path / "kernels").symlink_to(root / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    done = call("bench", NAIVE)
    assert done.exit_code == 1
    assert "holds no recorded run" in done.output


def test_bench_takes_what_its_options_ask_for(call):
    def kernels(*options: str) -> set[tuple[str, str]]:
        rows = json.loads(call("bench", "--json", *options).stdout)["rows"]
        return {(row["kernel"], row["precision"]) for row in rows}

    own = {(name, "fp32") for name in registry.names() if name.startswith("sgemm")}
    assert kernels() == own | {("cublas", "fp32"), ("cublaslt_best", "fp32")}
    assert kernels("--tf32") - kernels() == {("cublas_tf32", "fp32")}
    half = kernels("hgemm_10_mma", "--precision", "fp16_fp32")
    assert {precision for _, precision in half} == {"fp16_fp32"}


def test_tune_shows_the_recorded_choices(call):
    step = "sgemm_20_any_shape"
    done = call("tune", step, "--sizes", "4096,100", "--json")
    assert done.exit_code == 0
    shown = json.loads(done.stdout)
    assert set(shown["choices"]) == {"4096", "100"}
    assert {trial["config"] for trial in shown["trials"]} == set(registry.get(step).configs)
    done = call("tune", step)
    assert done.exit_code == 0
    assert f"{shown['choices']['4096']} " in done.output


@needs.gxx
def test_trace_counts_and_finds(call, broken):
    small = ("-M", "32", "-N", "32", "-K", "64")
    done = call("trace", SHARED, *small, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["totals"]["ld.shared"]["requests"] > 0
    broken(SHARED, "__syncthreads();  // everyone has read", "// everyone has read")
    done = call("trace", SHARED, *small)
    assert done.exit_code == 1
    assert "race" in done.output


@needs.gxx
def test_check_exits_with_1_if_a_kernel_is_wrong(call, broken):
    asked = ("check", NAIVE, "--shapes", "8,5x7x3", "--json")
    done = call(*asked)
    assert done.exit_code == 0
    assert json.loads(done.stdout)[0]["verdict"] == "clean"
    broken(NAIVE, "acc += a * b", "acc -= a * b")
    done = call(*asked)
    assert done.exit_code == 1
    assert json.loads(done.stdout)[0]["verdict"] == "wrong"
