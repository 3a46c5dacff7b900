"""Mistakes with the copy engine: how they are tried, counted, recorded and shown."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import asdict

import needs
import pytest
import torch
from sampling import sampled

import gemmlab as lab
from gemmlab import measurements, record
from gemmlab.core import worker as sandbox_process
from gemmlab.core.errors import ArgumentError, LaunchError, MeasurementError
from gemmlab.core.paths import kernels_folder
from gemmlab.experiments import releases
from gemmlab.experiments.faults import process as _fault_trial
from gemmlab.experiments.faults import runs as fault_trials
from gemmlab.experiments.faults import table as fault_table
from gemmlab.experiments.faults import try_wait as try_wait_probe
from gemmlab.experiments.faults.kernels import FAULTS
from gemmlab.experiments.faults.runs import Outcome
from gemmlab.gpu import build
from gemmlab.gpu.ptxas import parse, ptxas_log
from gemmlab.gpu.toolchain import FLAGS, gencode, nvcc
from gemmlab.measurements.store import SECTIONS, Measurements, save

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
RIGHT, FURTHER = "01, unchanged", "01, tiles 128 bytes further"
HANGS, ODD = "01, a second arrival expected", "01, columns from an odd one on"
OUTCOMES = (
    Outcome(RIGHT, 50, 0),
    Outcome(FURTHER, 50, 50, 0.8612),
    Outcome(HANGS, 0, 0, 0.0, "did not end in 5 s (killed)"),
)
TRIES = [
    dict(zip(try_wait_probe.KEYS, row, strict=True))
    for row in (
        (0, 1056, 2047, 992, 2016, 0),
        (10_000_000, 10_000_128, 19_800_000, 10**7, 10**7, 0),
    )
]


# ---- what is tried ----


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_still_applies_to_its_step(name):
    wrong = lab.experiments.fault(name)
    assert wrong.title == name
    assert wrong.spec.name == FAULTS[name][0]
    marks = [line.mark for line in lab.diff(wrong).lines]
    assert len(marks) - marks.count(" ") >= len(FAULTS[name][1])


def test_an_unknown_mistake_names_those_there_are():
    for ask in (lab.experiments.fault, lab.experiments.tma_faults):
        with pytest.raises(ArgumentError, match="got 'nothing', allowed are 28 mistakes, such as"):
            ask("nothing")


# ---- in the process of its own ----


class Right:
    """Stands for a kernel on a GPU: multiplies."""

    def launcher(self, A, B, C):
        return lambda: C.copy_(A.float() @ B.float())


class Late(Right):
    """Leaves half of the rows as they were."""

    def launcher(self, A, B, C):
        return lambda: C[::2].copy_((A.float() @ B.float())[::2])


class Refused(Right):
    def launcher(self, A, B, C):
        def launch():
            raise LaunchError("mine: launch failed, invalid argument: a box is too wide")

        return launch


class Lost(Right):
    def launcher(self, A, B, C):
        def launch():
            raise RuntimeError("CUDA error: unspecified launch failure\nmore words")

        return launch


@pytest.fixture
def trial(monkeypatch):
    """Answers to a request by a kernel of the given class, without a GPU."""
    kernel = lab.kernel("tma_01_load")
    monkeypatch.setattr(_fault_trial, "DEVICE", "cpu")
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(_fault_trial, "wait", lambda: "")
    request = json.loads(json.dumps({**fault_trials._request(kernel), "shape": (32, 16, 48)}))

    def ask(kind, launch: bool = True, seed: int = 3) -> tuple[dict, object]:
        monkeypatch.setattr(_fault_trial, "handle_of", lambda request: kind())
        return _fault_trial.run({**request, "launch": launch, "seed": seed})

    return ask


def test_what_is_wrong_is_counted(trial, monkeypatch):
    assert trial(Right)[0] == {"share": 0.0}
    assert trial(Late)[0] == {"share": 0.5}
    assert trial(Late, launch=False)[0] == {"share": 0.0}
    answer, _ = trial(Refused)
    assert answer == {"refused": "mine: launch failed, invalid argument: a box is too wide"}
    answer, keep = trial(Lost)
    assert answer == {"stopped": "CUDA error: unspecified launch failure"} and keep
    monkeypatch.setattr(_fault_trial, "wait", lambda: "misaligned address (X)")
    answer, keep = trial(Right)
    assert answer == {"stopped": "misaligned address (X)"} and keep


def test_operands_differ_from_run_to_run():
    def operands(seed):
        request = {"shape": (8, 8, 8), "dtypes": ("bfloat16", "bfloat16"), "seed": seed}
        return _fault_trial._operands(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fault_trial, "DEVICE", "cpu")
        (A, B, C, right), (again, *_), (other, *_) = map(operands, (1, 1, 2))
    assert torch.equal(A, again) and not torch.equal(A, other)
    assert C.isnan().all() and torch.equal(
        right.float(), (A.float() @ B.float()).bfloat16().float()
    )


# ---- seen from outside ----

CHILD = """
import json, os, sys, time
print(json.dumps({ready}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    seed, launch = request["seed"], request["launch"]
    answer = {{"share": 0.0}}
    {what}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def tried(tmp_path, monkeypatch):
    """A function: what the process does -> the outcome of a mistake, and that it has ended."""
    workers = []

    class Noted(sandbox_process.Worker):
        def __init__(self, *given):
            super().__init__(*given)
            workers.append(self)

    monkeypatch.setattr(fault_trials, "Worker", Noted)
    monkeypatch.setattr(fault_trials, "RUNS", 4)
    monkeypatch.setattr(build, "load", lambda *given: None)

    def outcome(what: str = "pass", ready: str = '{"ready": True}', names=(HANGS,), limit=60.0):
        monkeypatch.setattr(fault_trials, "LIMIT_S", limit)
        script = tmp_path / "child.py"
        script.write_text(CHILD.format(what=what, ready=ready))
        monkeypatch.setattr(fault_trials, "COMMAND", (sys.executable, str(script)))
        try:
            data = fault_trials.measure(names)["outcomes"]
        finally:
            assert all(worker._process.poll() is not None for worker in workers)
        found = [Outcome(**each) for each in data]
        assert [each.fault for each in found] == list(names)
        return found[0]

    return outcome


def test_a_right_kernel(tried):
    found = tried()
    assert found == Outcome(HANGS, 4, 0) and str(found) == "right in 4 of 4 runs"


def test_wrong_runs_are_counted(tried):
    found = tried('answer = {"share": 0.25 * seed * launch}')
    assert found == Outcome(HANGS, 4, 3, 0.5)
    assert str(found) == "wrong in 3 of 4 runs, 50 % of C"
    assert str(Outcome(HANGS, 50, 1, 0.0004321)) == "wrong in 1 of 50 runs, 0.043 % of C"


@pytest.mark.slow
def test_a_kernel_that_does_not_end_is_killed(tried):
    found = tried("if launch: time.sleep(60)", limit=0.5)
    assert str(found) == "did not end in 0.5 s (killed)" and found.runs == 0
    found = tried("if seed == 2: time.sleep(60)", limit=3.0)
    assert str(found) == "did not end in 3 s (killed); before, right in 2 of 2 runs"


def test_what_cuda_and_the_launcher_say_is_kept(tried):
    found = tried('answer = {"stopped": "misaligned address (E)"} if launch else answer')
    assert str(found) == "CUDA error: misaligned address (E)"
    said = "an illegal instruction was encountered"
    found = tried(f'answer = {{"stopped": {said!r}}} if launch else answer', names=(ODD,))
    assert str(found) == "CUDA error: an illegal instruction was encountered"
    said = "mine: launch failed, invalid argument: rows too long"
    found = tried(f'answer = {{"refused": {said!r}}} if launch else answer')
    assert str(found) == "refused: invalid argument: rows too long"
    assert str(tried("if launch: os.abort()")) == "its process ended: SIGABRT"


def test_a_process_that_does_not_start_is_no_outcome(tried):
    with pytest.raises(MeasurementError, match=r"expected: could not be tried .* \(no memory\)"):
        tried(ready='{"failed": "no memory"}')
    with pytest.raises(MeasurementError, match="could not be tried in a process of its own"):
        tried("sys.exit('gone')")


def test_nothing_is_compiled_while_the_gpu_is_held(tried, gpu_is_held, monkeypatch):
    compiled, launched = [], []
    one = fault_trials._one

    def launching(worker, request):
        launched.append(gpu_is_held())
        return one(worker, request)

    monkeypatch.setattr(build, "load", lambda *given: compiled.append(gpu_is_held()))
    monkeypatch.setattr(fault_trials, "_one", launching)
    tried()
    assert compiled == [False, False] and launched == [True] * 4


def test_one_launches_at_a_time(tried, tmp_path):
    log = tmp_path / "log"
    note = f"open({str(log)!r}, 'a').write(str(os.getpid()) + chr(10)) if launch else 0"
    tried(note, names=tuple(FAULTS)[:4])
    pids = log.read_text().split()
    assert len(pids) == 16 and all(len(set(pids[i : i + 4])) == 1 for i in range(0, 16, 4))
    assert threading.active_count() < 20


# ---- what is shown ----


def section(**changes) -> dict:
    data = {"environment": ENV, "shape": [4096, 2048, 512], "precision": "bf16", "limit_s": 5.0}
    outcomes = [asdict(outcome) for outcome in OUTCOMES]
    return {**data, "outcomes": outcomes, "try_wait": TRIES, **changes}


@pytest.fixture
def recording(tmp_path, monkeypatch, root):
    """A function: data of the section -> the newest recording has it."""
    (tmp_path / "kernels").symlink_to(root / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    monkeypatch.setattr(fault_table, "FAULTS", [outcome.fault for outcome in OUTCOMES])

    def write(data: dict | None) -> None:
        sections = {} if data is None else {"faults": data}
        save(Measurements("NVIDIA H200", sections, "tma"))

    return write


def test_the_recorded_table(recording):
    recording(section())
    table = lab.experiments.tma_faults()
    assert (table.outcomes, table.source) == (OUTCOMES, "recorded")
    lines = repr(table).splitlines()
    assert lines[0].split() == ["variant", "of", "a", "step", "on", "the", "GPU"]
    assert lines[2].endswith("wrong in 50 of 50 runs, 86 % of C")
    assert lines[3].endswith("did not end in 5 s (killed)")
    assert lines[-2].startswith("M = 4096, N = 2048, K = 512, bf16")
    assert lines[-1] == "Recorded on NVIDIA H200, 2026-11-22, driver 580.1, CUDA 13.0."
    assert "<td" in table._repr_html_() and json.dumps(table.to_dict())
    assert table.of(HANGS) == OUTCOMES[2]
    with pytest.raises(ArgumentError, match="there is no 'x', only '01, unchanged'"):
        table.of("x")


def test_some_of_the_table(recording):
    recording(section())
    assert lab.experiments.tma_faults(HANGS, RIGHT).outcomes == (OUTCOMES[2], OUTCOMES[0])
    with pytest.raises(MeasurementError, match=r"03, unchanged not in .* tma --only faults"):
        lab.experiments.tma_faults(RIGHT, "03, unchanged")


def test_the_time_limit_of_try_wait(recording):
    recording(section())
    lines = repr(lab.experiments.try_wait()).splitlines()
    assert " ".join(lines[1].split()) == "none 1,056 ns 2,047 992 ns 2,016 ns 0 of 7"
    assert lines[2].split()[:4] == ["10,000,000", "10,000,128", "ns", "19,800,000"]
    assert "NVIDIA H200" in lines[-1]


@pytest.mark.parametrize("ask", [lab.experiments.tma_faults, lab.experiments.try_wait])
def test_without_a_recording_it_is_said_how_to_make_one(recording, ask):
    recording(None)
    with pytest.raises(MeasurementError, match="record --family tma --only faults"):
        ask()


def test_an_outcome_that_is_incomplete_is_a_damaged_file(recording):
    recording(section(outcomes=[{"fault": HANGS}]))
    with pytest.raises(MeasurementError, match="an outcome is not complete"):
        measurements.load(measurements.file_of("NVIDIA H200", "tma"))


def test_on_a_gpu_it_is_measured(monkeypatch):
    monkeypatch.setattr(fault_trials, "default_backend", lambda: "gpu")
    monkeypatch.setattr(fault_trials.requirements, "lacking", lambda program: "")
    asked = []
    monkeypatch.setattr(fault_table, "measure", lambda names: asked.append(names) or section())
    monkeypatch.setattr(try_wait_probe, "measure", lambda: TRIES)
    for module in (fault_table, try_wait_probe):
        monkeypatch.setattr(module, "environment", lambda: ENV)
    assert lab.experiments.tma_faults(RIGHT).source == "live" and asked == [(RIGHT,)]
    assert "Measured now on NVIDIA H200" in repr(lab.experiments.try_wait())


def test_a_gpu_without_a_copy_engine_shows_the_recording(recording, monkeypatch):
    recording(section())
    monkeypatch.setattr(fault_trials, "default_backend", lambda: "gpu")
    monkeypatch.setattr(fault_trials.requirements, "lacking", lambda program: "needs 9.0")
    assert lab.experiments.tma_faults().source == "recorded"
    assert "Recorded on" in repr(lab.experiments.try_wait())


# ---- recording ----


def test_record_has_the_section_for_tma_only(monkeypatch):
    assert "faults" in SECTIONS and "faults" in record.SECTIONS_OF["tma"]
    assert not {"faults"} & {*record.SECTIONS_OF["sgemm"], *record.SECTIONS_OF["hgemm"]}
    monkeypatch.setattr(fault_table, "measure", lambda: {"outcomes": []})
    monkeypatch.setattr(try_wait_probe, "measure", lambda: TRIES)
    monkeypatch.setattr(releases, "speeds", lambda outcomes: {"speeds": {}})
    assert record._steps((), ())["faults"]() == {
        "outcomes": [],
        "try_wait": TRIES,
        "releases": {"speeds": {}},
    }


def test_the_rows_of_the_probe(monkeypatch, gpu_is_held):
    tries = {0: [(1000 + i, 2000 + i, 0) for i in range(7)], 5: [(7, 9, 1)] * 7}
    monkeypatch.setattr(try_wait_probe.requirements, "require", lambda program: None)
    compiled, tried = [], []
    monkeypatch.setattr(try_wait_probe, "_module", lambda: compiled.append(gpu_is_held()))

    def answers(hint):
        tried.append(gpu_is_held())
        return tries[hint]

    monkeypatch.setattr(try_wait_probe, "_tries", answers)
    rows = try_wait_probe.measure((0, 5))
    assert [tuple(row.values()) for row in rows] == [
        (0, 1003, 2003, 1000, 1006, 0),
        (5, 7, 9, 7, 7, 7),
    ]
    assert json.loads(json.dumps(rows)) == rows
    assert compiled == [False] and tried == [True] * 3


@needs.nvcc
@pytest.mark.parametrize("target", ["90a", "120a"])
def test_the_probe_compiles(target, tmp_path):
    (tmp_path / "probe.cu").write_text(try_wait_probe.sources()[1])
    command = [nvcc(), *FLAGS, f"-I{kernels_folder()}", gencode(target)]
    files = ["-cubin", tmp_path / "probe.cu", "-o", tmp_path / "probe.cubin"]
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@needs.nvcc
@pytest.mark.parametrize("name", sampled(list(FAULTS)))
def test_a_mistake_compiles(name):
    wrong = lab.experiments.fault(name)
    log = ptxas_log(wrong, "90a", fault_trials.PRECISION)
    kernels = log.split("Compiling entry function ")[1:]
    # Of tma_08's tiles, these run the one of 64x64.
    run = [said for said in kernels if "4TileI" not in said or "4TileILi64ELi64E" in said]
    assert run
    for used in map(parse, run):
        assert used.registers * wrong.spec.threads <= 65536
        assert used.spill_loads_bytes == used.spill_stores_bytes == 0
