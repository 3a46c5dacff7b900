"""Tuning on a GPU of fakes: what is measured, kept, taken, passed over; and the recorded tuning."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from importlib import import_module

import pytest

import gemmlab as lab
from gemmlab import measurements
from gemmlab.core.errors import (
    ArgumentError,
    ContextLostError,
    LaunchError,
    MeasurementError,
    RefusedError,
    WrongResultError,
)
from gemmlab.core.paths import repository_root
from gemmlab.measurements.rows import BenchRow
from gemmlab.measurements.trials import TuningTrial, choose
from gemmlab.run import kernel as run
from gemmlab.run import tuned as tuning
from gemmlab.run.tuned import Machine
from gemmlab.steps import registry
from gemmlab.steps.spec import KernelSpec
from gemmlab.steps.text import source_digest

tune = import_module("gemmlab.bench.tune")

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
TWO, FIVE = SPEC.configs
H200 = Machine("NVIDIA H200", "580.1", "13.0")
ENV = {"gpu": H200.gpu, "driver": H200.driver, "cuda": H200.cuda, "date": "2026-11-22T10:00:00Z"}
WIDE = (64, 8192, 8192)


def row(config: str, shape, ratio: float) -> BenchRow:
    us = 100 / ratio
    tflops = 2 * shape[0] * shape[1] * shape[2] / us / 1e6
    name = f"{NAME} [{config}]"
    return BenchRow(
        *(name, *shape, us, (us, us), tflops, ratio, 100.0, 1980.0, None, 20), config=config
    )


class FakeMeasure:
    """`measure` that knows how fast each configuration is: 2 slices at cubes, 5 elsewhere."""

    def __init__(self):
        self.calls, self.protocols, self.fail = [], [], {}
        self.worse, self.together = 0.7, {}  # of cuBLAS: the other one; each, in one run

    def __call__(self, handles, shape, protocol):
        self.protocols.append(protocol)
        if len(handles) > 1:
            configs = [handle.config for handle in handles.values()]
            self.calls.append((*configs, shape))
            return [row(config, shape, self.together[config]) for config in configs], {}, ""
        ((title, handle),) = handles.items()
        self.calls.append((handle.config, shape))
        if error := self.fail.get((handle.config, shape)):
            raise error
        best = TWO if len(set(shape)) == 1 else FIVE
        assert title == f"{NAME} [{handle.config}]"
        return [row(handle.config, shape, 1.1 if handle.config == best else self.worse)], {}, ""


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """A GPU that is not there, an empty cache, and a repository without a recording."""
    kernels = repository_root() / "kernels"
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "kernels").symlink_to(kernels)
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path / "root"))
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GEMMLAB_TUNING", raising=False)
    monkeypatch.setattr(tuning, "machine", lambda: H200)
    monkeypatch.setattr(tune, "default_backend", lambda: "gpu")
    monkeypatch.setattr(tune, "environment", lambda: dict(ENV))
    tuning._say.cache_clear()
    fake = FakeMeasure()
    monkeypatch.setattr(tune, "measure", fake)
    return fake


def cache_file():
    return tuning.path(H200)


def record(trials, gpu: str = H200.gpu):
    """A recording that has these trials."""
    section = {"environment": {**ENV, "gpu": gpu}, "trials": [t.to_dict() for t in trials]}
    return measurements.save(measurements.Measurements(gpu, {"tuning": section}))


def trials(shape=(4096, 4096, 4096), source=None):
    source = source or source_digest(SPEC.path)
    return [
        TuningTrial(NAME, source, config, shape, row(config, shape, 0.8 + 0.1 * i))
        for i, config in enumerate(SPEC.configs)
    ]


# ---- measuring ----


def test_every_configuration_is_measured_at_every_shape(gpu):
    result = lab.tune(SPEC, sizes=[4096, WIDE], samples=7, seconds=0.2)
    cube = (4096, 4096, 4096)
    assert gpu.calls == [(TWO, cube), (FIVE, cube), (TWO, WIDE), (FIVE, WIDE)]
    protocol = gpu.protocols[0]
    assert (protocol.mode, protocol.l2, protocol.samples, protocol.seconds) == (
        *("interleaved", "cold", 7, 0.2),
    )
    assert result.choices == {"4096": TWO, "64x8192x8192": FIVE}
    assert (result.choice(4096), result.choice(WIDE)) == (TWO, FIVE)
    assert (result.source, result.note) == ("live", "")


def test_those_that_are_nearly_alike_are_compared_in_one_run(gpu):
    gpu.worse, gpu.together = 1.08, {TWO: 0.98, FIVE: 1.01}
    result = lab.tune(SPEC, sizes=[4096])
    cube = (4096, 4096, 4096)
    assert gpu.calls == [(TWO, cube), (FIVE, cube), (TWO, FIVE, cube)]
    assert result.choice(4096) == FIVE
    assert [trial.ratio for trial in result.trials] == [0.98, 1.01]
    # It is kept: a second call measures nothing.
    assert lab.tune(SPEC, sizes=[4096]).choice(4096) == FIVE and len(gpu.calls) == 3


def test_one_that_looks_better_than_those_in_the_run_joins_them(gpu, monkeypatch):
    three = (*SPEC.configs, "7 slices")
    spec = replace(SPEC, configs=three)
    alone = dict(zip(three, (1.10, 1.08, 1.04), strict=True))
    together = dict(zip(three, (0.98, 1.01, 0.97), strict=True))
    runs = []

    def measure(handles, shape, protocol):
        configs = [handle.config for handle in handles.values()]
        runs.append(configs)
        ratios = alone if len(configs) == 1 else together
        return [row(config, shape, ratios[config]) for config in configs], {}, ""

    monkeypatch.setattr(tune, "measure", measure)
    assert lab.tune(spec, sizes=[4096]).choice(4096) == FIVE
    assert runs[3:] == [[TWO, FIVE], list(three)]


def test_one_that_is_alone_is_not_measured_again(gpu):
    gpu.worse = 1.04
    lab.tune(SPEC, sizes=[4096])
    assert len(gpu.calls) == 2


def test_the_table_says_in_words_what_was_chosen(gpu):
    result = lab.tune(SPEC, sizes=[4096, WIDE])
    lines = repr(result).splitlines()
    assert lines[1].split() == ["4096", "2", "slices", "1512", "110", "%", "90.9", "us", "chosen"]
    assert lines[2].split()[:3] == ["4096", "5", "slices"] and "chosen" not in lines[2]
    assert lines[3].startswith("64x8192x8192  5 slices") and lines[3].endswith("chosen")
    assert "Measured now on NVIDIA H200" in repr(result)
    assert result._repr_html_().count(">chosen<") == 2
    data = json.loads(json.dumps(result.to_dict()))
    assert data["choices"]["4096"] == TWO and len(data["trials"]) == 4


def test_an_interrupted_tuning_goes_on_where_it_was(gpu):
    gpu.fail[TWO, WIDE] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        lab.tune(SPEC, sizes=[4096, WIDE])
    assert len(json.loads(cache_file().read_text())["trials"]) == 2
    gpu.fail, gpu.calls = {}, []
    result = lab.tune(SPEC, sizes=[4096, WIDE])
    assert gpu.calls == [(TWO, WIDE), (FIVE, WIDE)]
    assert result.note == "2 of 4 were measured before"
    assert result.choices == {"4096": TWO, "64x8192x8192": FIVE}
    gpu.calls = []
    assert lab.tune(SPEC, sizes=[4096, WIDE]).trials == result.trials
    assert gpu.calls == []


def test_again_measures_what_is_known(gpu):
    lab.tune(SPEC)
    gpu.calls = []
    assert lab.tune(SPEC, again=True).note == ""
    assert len(gpu.calls) == 2
    assert len(json.loads(cache_file().read_text())["trials"]) == 2


def test_a_refused_configuration_is_passed_over_and_named(gpu):
    gpu.fail[TWO, (4096, 4096, 4096)] = RefusedError("launch failed, invalid argument")
    result = lab.tune(SPEC)
    assert result.choices == {"4096": FIVE}
    assert "refused: launch failed, invalid argument" in repr(result)
    gpu.calls = []
    lab.tune(SPEC)
    assert gpu.calls == []


def test_a_step_that_refuses_a_shape_altogether_has_no_choice_there(gpu):
    shape = (4096, 4096, 4096)
    gpu.fail = {(config, shape): RefusedError("no") for config in SPEC.configs}
    assert lab.tune(SPEC).choices == {"4096": ""}
    assert lab.kernel(SPEC).config_for(*shape) == ""


@pytest.mark.parametrize(
    "error", [WrongResultError("wrong"), ContextLostError("lost"), LaunchError("earlier")]
)
def test_what_is_wrong_is_no_refusal(gpu, error):
    gpu.fail[FIVE, (4096, 4096, 4096)] = error
    with pytest.raises(type(error)):
        lab.tune(SPEC)
    assert [t["config"] for t in json.loads(cache_file().read_text())["trials"]] == [TWO]


@pytest.mark.parametrize(
    ("kernel", "options", "needle"),
    [
        ("sgemm_01_naive", {}, "kernel: sgemm_01_naive has no configurations"),
        (run.Kernel(SPEC, config=TWO), {}, "has its configuration already"),
        (SPEC, {"sizes": []}, "sizes: is empty"),
        (SPEC, {"samples": 0}, "samples: got 0"),
        (SPEC, {"seconds": 0}, "seconds: got 0"),
        (replace(SPEC, multiple_of=(128, 1, 1)), {"sizes": [100]}, "M: is 100"),
    ],
)
def test_bad_arguments_are_named(gpu, kernel, options, needle):
    with pytest.raises(ArgumentError, match=needle):
        lab.tune(kernel, **options)


def test_a_size_that_was_not_tuned_is_named(gpu):
    with pytest.raises(ArgumentError, match=r"size: got 512; gemm_split_k was tuned at 4096"):
        lab.tune(SPEC).choice(512)


# ---- what a launch takes ----


def test_a_launch_takes_the_choice_of_exactly_its_shape(gpu):
    lab.tune(SPEC, sizes=[4096, WIDE])
    assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == TWO
    assert lab.kernel(SPEC).config_for(*WIDE) == FIVE
    assert lab.kernel(SPEC).config_for(4096, 4096, 4097) == ""
    assert lab.kernel(SPEC, config=FIVE).config_for(4096, 4096, 4096) == FIVE
    assert lab.kernel("sgemm_01_naive").config_for(4096, 4096, 4096) == ""


def test_half_a_tuning_is_no_choice(gpu):
    gpu.fail[FIVE, (4096, 4096, 4096)] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        lab.tune(SPEC)
    assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == ""


def test_the_choice_can_be_left_to_the_step(gpu, monkeypatch):
    lab.tune(SPEC)
    monkeypatch.setenv("GEMMLAB_TUNING", "0")
    assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == ""


def test_no_gpu_no_choice(gpu, monkeypatch):
    lab.tune(SPEC)
    monkeypatch.setattr(tuning, "machine", lambda: None)
    assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == ""


@pytest.mark.parametrize(
    ("change", "needle"),
    [
        ({"gpu": "NVIDIA H200 NVL"}, "was measured with NVIDIA H200 NVL, driver 580.1"),
        ({"driver": "570.0"}, "driver 570.0, CUDA 13.0, and here is NVIDIA H200, driver 580.1"),
        ({"cuda": "12.8"}, "CUDA 12.8"),
        ({"schema": 99}, "has schema 99, expected 1"),
        ({"trials": [{"kernel": NAME}]}, "is damaged"),
        ({"trials": 5}, "is damaged"),
        (None, "is damaged"),
    ],
)
def test_a_cache_of_something_else_is_passed_over_said_once_and_written_anew(gpu, change, needle):
    lab.tune(SPEC)
    data = json.loads(cache_file().read_text())
    cache_file().write_text("{" if change is None else json.dumps({**data, **change}))
    kernel = lab.kernel(SPEC)
    with pytest.warns(UserWarning, match=needle):
        assert kernel.config_for(4096, 4096, 4096) == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel.config_for(4096, 4096, 4096) == ""
    gpu.calls = []
    result = lab.tune(SPEC)
    assert len(gpu.calls) == 2
    assert needle in result.note and "not taken" in result.note
    assert kernel.config_for(4096, 4096, 4096) == TWO
    assert lab.tune(SPEC).note == "2 of 2 were measured before"


def test_choices_for_other_code_are_passed_over(gpu):
    for trial in trials(source="0" * 12):
        tuning.add(H200, trial)
    with pytest.warns(UserWarning, match="gemm_split_k: its code has changed"):
        assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == ""
    assert "its code has changed" in lab.tune(SPEC).note
    assert {t["source"] for t in json.loads(cache_file().read_text())["trials"]} == {
        source_digest(SPEC.path)
    }


def test_other_steps_stay_in_the_cache(gpu):
    other = [replace(trial, kernel="another") for trial in trials()]
    for trial in other:
        tuning.add(H200, trial)
    lab.tune(SPEC)
    assert [t.kernel for t in tuning.load(H200)[0]] == ["another"] * 2 + [NAME] * 2


def test_a_write_that_fails_leaves_the_old_cache(gpu, monkeypatch):
    lab.tune(SPEC)
    before = cache_file().read_text()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        lab.tune(SPEC, sizes=[WIDE])
    assert cache_file().read_text() == before
    assert list(cache_file().parent.iterdir()) == [cache_file()]


# ---- the recording ----


def test_a_recording_of_a_gpu_of_this_name_is_taken_where_the_cache_has_nothing(gpu):
    record(trials())
    assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == FIVE
    lab.tune(SPEC, again=True)
    assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == TWO


def test_what_the_recording_has_is_not_measured_again_unless_asked(gpu):
    record(trials())
    result = lab.tune(SPEC, sizes=[4096, WIDE])
    assert gpu.calls == [(TWO, WIDE), (FIVE, WIDE)]
    assert result.choices == {"4096": FIVE, "64x8192x8192": FIVE}
    assert result.note == "2 of 4 were measured before, 2 of them for the recording"
    lab.tune(SPEC, again=True)
    assert result.choice(4096) == FIVE and lab.tune(SPEC).choice(4096) == TWO


@pytest.mark.parametrize("other", ["NVIDIA A100", "H200"])  # the second has the same file name
def test_a_recording_of_another_gpu_is_not(gpu, other):
    record(trials(), other)
    assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == ""


def test_a_recording_of_other_code_is_not(gpu):
    record(trials(source="0" * 12))
    with pytest.warns(UserWarning, match="its code has changed"):
        assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == ""


def test_a_damaged_recording_is_said_once(gpu):
    record(trials()).write_text("{")
    with pytest.warns(UserWarning, match=r"h200\.json: not readable as JSON"):
        assert lab.kernel(SPEC).config_for(4096, 4096, 4096) == ""


@pytest.fixture
def no_gpu(gpu, monkeypatch):
    monkeypatch.setattr(tune, "default_backend", lambda: "sim")
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    return gpu


def test_without_a_gpu_the_recorded_tuning_is_shown_and_says_so(no_gpu):
    record([*trials(), *trials(WIDE)])
    result = lab.tune(SPEC, sizes=[WIDE, 4096])
    assert no_gpu.calls == []
    assert (result.source, list(result.choices)) == ("recorded", ["64x8192x8192", "4096"])
    for text in (repr(result), result._repr_html_()):
        assert "Recorded on NVIDIA H200, 2026-11-22" in text
        assert "Not measured here" in text and "changed" not in text


def test_a_changed_step_is_noted(no_gpu, monkeypatch):
    monkeypatch.setattr(registry, "KERNELS", (*registry.KERNELS, SPEC))
    record(trials(source="0" * 12))
    assert f"The source of {NAME} has changed since the recording" in lab.tune(SPEC).note


def test_what_was_not_tuned_is_an_error_that_says_what_was(no_gpu):
    record(trials())
    with pytest.raises(MeasurementError, match=r"at 512 is not in .* It was tuned at 4096"):
        lab.tune(SPEC, sizes=[512])
    measurements.save(measurements.Measurements(H200.gpu, {"probes": {"environment": ENV}}))
    with pytest.raises(MeasurementError, match="tuning: not recorded for NVIDIA H200"):
        lab.tune(SPEC)


def test_a_damaged_tuning_is_a_damaged_file(no_gpu):
    path = record(trials())
    data = json.loads(path.read_text())
    data["tuning"]["trials"][0]["row"]["ratio"] = None
    path.write_text(json.dumps(data))
    with pytest.raises(MeasurementError, match=r"h200\.json: corrupt"):
        lab.tune(SPEC)


def test_bench_finds_recorded_configurations(no_gpu):
    benchmark = {"environment": ENV, "rows": [], "source": "recorded"}
    plain = replace(row(TWO, (1024, 1024, 1024), 1.0), kernel="cublas", config="")
    benchmark["rows"] = [vars(plain)]
    section = {"environment": ENV, "trials": [t.to_dict() for t in trials(WIDE)]}
    loaded = {"benchmark": benchmark, "tuning": section}
    measurements.save(measurements.Measurements(H200.gpu, loaded))
    result = lab.bench(lab.kernel(SPEC, config=FIVE), sizes=[WIDE])
    assert [r.kernel for r in result.rows] == [f"{NAME} [{FIVE}]"]
    assert "configuration" not in repr(result)


# ---- trials ----


def test_the_best_ratio_is_chosen_not_the_shortest_time():
    slow_clock, fast_clock = trials()
    hurried = replace(slow_clock, row=replace(slow_clock.row, time_us=1.0))
    assert choose([hurried, fast_clock], SPEC.configs).config == FIVE


def test_a_configuration_that_the_step_no_longer_has_is_not_chosen():
    assert choose(trials(), (TWO,)).config == TWO
    assert choose(trials(), (TWO, FIVE, "9 slices")) is None


def test_a_trial_survives_the_way_through_json():
    refused = TuningTrial(NAME, "0" * 12, TWO, WIDE, refused="no")
    for trial in (*trials(), refused):
        assert TuningTrial.from_dict(json.loads(json.dumps(trial.to_dict()))) == trial
