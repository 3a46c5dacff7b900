"""Recorded files: whole or not at all; and what is made of ncu's output."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import types
from contextlib import nullcontext

import pytest

from gemmlab import measurements, record
from gemmlab.core.errors import ArgumentError, BackendError, BuildError, MeasurementError
from gemmlab.core.paths import repository_root
from gemmlab.evidence.counters import COUNTED
from gemmlab.measurements import sizes as recorded_sizes
from gemmlab.measurements import store
from gemmlab.measurements.rows import DEFAULT_BASELINES, BenchResult, BenchRow
from gemmlab.measurements.store import Measurements, load, save
from gemmlab.measurements.trials import TuningTrial
from gemmlab.record import ncu as counters
from gemmlab.report import tables
from gemmlab.steps import registry
from gemmlab.steps.text import source_digest

ENV = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
NAIVE, COALESCED = registry.names()[:2]


@pytest.fixture
def folder(tmp_path, monkeypatch, root):
    (tmp_path / "kernels").symlink_to(root / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    return tmp_path / "book" / "measurements"


def probes(value: float = 65.2) -> dict:
    return {"environment": ENV, "ffma_tflops": value}


# ---- the file ----


def test_what_is_saved_is_loaded(folder):
    path = save(Measurements("NVIDIA H200", {"probes": probes(65.123456789)}))
    assert path == folder / "h200.json"
    loaded = load(path)
    assert loaded.gpu == "NVIDIA H200"
    assert loaded.section("probes")["ffma_tflops"] == 65.1235
    assert loaded.environment == ENV
    assert load() == loaded


def test_counters_keep_all_their_digits(folder):
    data = {"environment": ENV, "size": 256, "kernels": {NAIVE: {"sectors": 17301504}}}
    path = save(Measurements("NVIDIA H200", {"counters": data}))
    assert load(path).section("counters")["kernels"][NAIVE]["sectors"] == 17301504


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("", "not readable as JSON"),
        ('{"schema": 1, "gpu": "X", "bench', "not readable as JSON"),
        ('{"schema": 99, "gpu": "X"}', "has schema 99, expected 2"),
        ('{"gpu": "X"}', "has schema None"),
        ("[1, 2]", "has schema 'list'"),
        ('{"schema": 1}', "corrupt"),
        ('{"schema": 1, "gpu": "X", "probes": {}}', "corrupt"),
        ('{"schema": 1, "gpu": "X", "probes": []}', "corrupt"),
        ('{"schema": 1, "gpu": "X", "benchmark": {"environment": {}}}', "corrupt"),
        (
            '{"schema": 1, "gpu": "X", "benchmark": {"environment": {}, "source": "recorded", '
            '"rows": [{"kernel": "a"}]}}',
            "corrupt",
        ),
    ],
)
def test_a_damaged_file_is_named_with_what_to_do(folder, text, needle):
    folder.mkdir(parents=True)
    path = folder / "h200.json"
    path.write_text(text)
    with pytest.raises(MeasurementError, match=needle) as caught:
        load(path)
    assert "h200.json" in str(caught.value)
    assert "gemmlab record" in str(caught.value)


def load_counters() -> dict:
    return load().section("counters")


@pytest.mark.parametrize(
    ("section", "data", "shown"),
    [
        ("probes", {}, tables.ceilings),
        ("counters", {"size": 256}, lambda: load_counters()["kernels"]),
        ("resources", {"kernels": {}}, lambda: tables.resources(NAIVE)),
        ("limits", {"size": 4096}, lambda: tables.limits(NAIVE)),
        ("arbitration", {"kernels": {NAIVE: {}}}, lambda: tables.arbitration(COALESCED)),
    ],
)
def test_a_section_that_lacks_something_says_how_to_record_it(folder, section, data, shown):
    save(Measurements("NVIDIA H200", {section: {"environment": ENV, **data}}))
    with pytest.raises(MeasurementError, match=f"{section}: .* --only {section}"):
        shown()


def test_pitfalls_that_are_incomplete_are_a_damaged_file(folder):
    ways = [{"way": "CUDA events", "size": 4096}]
    save(Measurements("NVIDIA H200", {"pitfalls": {"environment": ENV, "ways": ways}}))
    with pytest.raises(MeasurementError, match=r"h200.json: corrupt .*a way is not complete"):
        load(folder / "h200.json")


def test_bytes_that_are_no_text_are_a_damaged_file_too(folder):
    folder.mkdir(parents=True)
    (folder / "h200.json").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(MeasurementError, match="not readable"):
        load()


def test_no_file_at_all_says_how_to_make_one(folder):
    with pytest.raises(MeasurementError, match="gemmlab record"):
        load()
    with pytest.raises(MeasurementError, match="no such recorded run"):
        load(folder / "h100.json")


def test_a_section_never_recorded_or_left_out_says_why(folder):
    loaded = Measurements("X", {"counters": {"environment": ENV, "omitted": "no ncu here"}})
    with pytest.raises(MeasurementError, match="no ncu here"):
        loaded.section("counters")
    with pytest.raises(MeasurementError, match="record --only probes"):
        loaded.section("probes")


def test_of_several_recordings_the_newest_is_shown(folder):
    old = {**ENV, "gpu": "NVIDIA A100", "date": "2025-01-01T00:00:00Z"}
    save(Measurements("NVIDIA A100", {"probes": {"environment": old}}))
    save(Measurements("NVIDIA H200", {"probes": probes()}))
    assert load().gpu == "NVIDIA H200"


def test_the_gpu_that_the_book_shows_beside_its_own_is_never_the_default(folder):
    late = {**ENV, "gpu": "NVIDIA H100 80GB HBM3", "date": "2099-01-01T00:00:00Z"}
    save(Measurements("NVIDIA H100 80GB HBM3", {"probes": {"environment": late}}))
    save(Measurements("NVIDIA H200", {"probes": probes()}))
    assert load().gpu == "NVIDIA H200"
    assert load(gpu="H100").gpu == "NVIDIA H100 80GB HBM3"
    assert measurements.gpus() == ("NVIDIA H200", "NVIDIA H100 80GB HBM3")


@pytest.mark.parametrize(
    ("gpu", "name"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA GeForce RTX 4090", "rtx-4090"),
        ("NVIDIA H100 80GB HBM3", "h100-80gb-hbm3"),
    ],
)
def test_file_names(gpu, name):
    assert measurements.slug(gpu) == name


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(folder, monkeypatch):
    path = save(Measurements("NVIDIA H200", {"probes": probes()}))
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save(Measurements("NVIDIA H200", {"probes": probes(1.0)}))
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]


def test_a_number_that_is_none_is_refused_before_anything_is_written(folder):
    with pytest.raises(ValueError, match="JSON"):
        save(Measurements("NVIDIA H200", {"probes": probes(float("nan"))}))
    assert not list(folder.glob("*"))


def test_comments_and_spaces_do_not_change_the_digest_but_code_does(tmp_path):
    text = registry.get(NAIVE).path.read_text()

    def digest(changed: str) -> str:
        path = tmp_path / "kernel.cuh"
        common = repository_root() / "kernels" / "common"
        path.write_text(changed.replace('"../common/', f'"{common}/'))
        return source_digest(path)

    assert digest(text) == digest("// a word\n" + text.replace("  ", "    "))
    assert digest(text) != digest(text.replace("acc += a * b", "acc -= a * b"))


# ---- recording ----


def stamp(kernels) -> dict:
    """What `stamp` says of kernels, without compiling them."""
    known = [(program, tuple(types)) for program, types in kernels]
    return {
        "sources": {program.name: "0" * 12 for program, _ in known},
        "machine_code": {p.name: dict.fromkeys(types, "0" * 16) for p, types in known},
    }


@pytest.fixture
def on_a_gpu(folder, monkeypatch):
    """`record` with everything that needs a GPU replaced."""
    monkeypatch.setattr(record, "why_no_gpu", lambda: "")
    monkeypatch.setattr(record, "environment", lambda: dict(ENV))
    monkeypatch.setattr(record, "_build_all", lambda names: None)
    monkeypatch.setattr(record, "EXPERIMENTS", {})
    monkeypatch.setattr(record.probes, "ceilings", lambda: {"ffma_tflops": 65.0})
    monkeypatch.setattr(record, "stamp", stamp)
    monkeypatch.setattr(record, "_resources", lambda program: {"registers": 40})
    return folder / "h200.json"


def test_only_the_asked_section_changes(on_a_gpu):
    save(Measurements("NVIDIA H200", {"probes": probes(1.0)}), on_a_gpu)
    assert record.record(only=["resources"]) == on_a_gpu
    loaded = load(on_a_gpu)
    assert loaded.section("probes")["ffma_tflops"] == 1.0
    assert loaded.section("resources")["kernels"][NAIVE] == {"registers": 40}
    record.record(only=["probes"])
    assert load(on_a_gpu).section("probes")["ffma_tflops"] == 65.0


def test_an_interrupted_recording_keeps_the_sections_before(on_a_gpu, monkeypatch):
    save(Measurements("NVIDIA H200", {"probes": probes(1.0)}), on_a_gpu)

    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(record, "_resources", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record.record(only=["probes", "resources"])
    assert load(on_a_gpu).section("probes")["ffma_tflops"] == 65.0
    assert set(load(on_a_gpu).sections) == {"probes"}
    assert list(on_a_gpu.parent.iterdir()) == [on_a_gpu]


def test_a_section_that_fails_does_not_lose_the_others(on_a_gpu, monkeypatch):
    def broken():
        raise RuntimeError("out of memory")

    monkeypatch.setattr(record.probes, "ceilings", broken)
    with pytest.raises(MeasurementError, match="probes: out of memory"):
        record.record(only=["probes", "resources"])
    assert set(load(on_a_gpu).sections) == {"resources"}


def test_traces_are_recorded_of_the_steps_that_have_events(on_a_gpu, monkeypatch):
    asked = []

    def measured(names):
        asked.append(list(names))
        return {"size": 4096, "steps": {name: {"note": "none"} for name in names}}

    monkeypatch.setattr(record.warpgroup_traces, "measure", measured)
    path = record.record(only=["traces"], family="wgmma")
    assert asked == [["wgmma_05_persistent", "wgmma_08_order", "wgmma_13_ping_pong"]]
    found = load(path)
    assert set(found.digests("traces")) == set(asked[0])
    assert found.section("traces")["environment"] == ENV
    record.record(only=["traces"], kernels=["wgmma_06_cluster"], family="wgmma")
    assert len(asked) == 1 and load(path) == found


def test_counters_that_may_not_be_read_are_left_out_with_the_reason(on_a_gpu, monkeypatch):
    def refused(*_):
        raise MeasurementError("the driver lets only administrators read counters")

    monkeypatch.setattr(record.ncu, "collect", refused)
    record.record(only=["counters", "traffic"])
    with pytest.raises(MeasurementError, match="administrators"):
        load(on_a_gpu).section("counters")


def test_a_damaged_file_is_not_written_over(on_a_gpu):
    on_a_gpu.parent.mkdir(parents=True)
    on_a_gpu.write_text("{")
    with pytest.raises(MeasurementError, match="not readable"):
        record.record(only=["probes"])
    assert on_a_gpu.read_text() == "{"


def test_record_refuses_what_it_cannot_do(folder, monkeypatch):
    with pytest.raises(ArgumentError, match="allowed for sgemm are benchmark"):
        record.record(only=["everything"])
    with pytest.raises(ArgumentError, match="cubes"):
        record.record(sizes=[(128, 256, 64)])
    monkeypatch.setattr(record, "why_no_gpu", lambda: "torch sees no CUDA GPU")
    with pytest.raises(BackendError, match="no CUDA GPU"):
        record.record()


class Measured:
    """`bench` and `tune` that note what was asked for, and give one row a kernel and shape."""

    def __init__(self):
        self.benched, self.tuned = [], []

    def bench(self, kernels, sizes, baselines=DEFAULT_BASELINES, **how):
        self.benched.append((list(kernels), list(sizes), tuple(baselines)))
        shapes = [(s, s, s) if isinstance(s, int) else s for s in sizes]
        rows = [self.row(name, shape) for shape in shapes for name in (*kernels, *baselines)]
        return BenchResult(tuple(rows), "live", dict(ENV), {}, "")

    def tune(self, spec, shapes, again):
        self.tuned.append((spec.name, list(shapes), again))
        digest = source_digest(spec.path)
        trials = [
            TuningTrial(
                spec.name, digest, config, shape, self.row(f"{spec.name} [{config}]", shape)
            )
            for shape in shapes
            for config in spec.configs
        ]
        return types.SimpleNamespace(trials=tuple(trials))

    def row(self, name, shape):
        return BenchRow(name, *shape, 1.0, (1.0, 1.0), 1.0, 1.0, 1.0, 1980.0, None, 3)


@pytest.fixture
def measured(on_a_gpu, monkeypatch):
    """Measuring replaced, too; 01 is tiled, 02 takes any shape and has two configurations."""
    fake = Measured()
    monkeypatch.setattr(record, "bench", fake.bench)
    monkeypatch.setattr(record, "tune", fake.tune)
    changes = {NAIVE: {"multiple_of": (8, 8, 8)}, COALESCED: {"configs": ("a", "b")}}
    for name, change in changes.items():
        changed = dataclasses.replace(registry.get(name), **change)
        monkeypatch.setitem(registry._BY_NAME, name, changed)
    return fake


def test_every_baseline_is_recorded_at_every_size(on_a_gpu, measured):
    record.record(sizes=[64, 128], only=["benchmark"], kernels=[NAIVE, COALESCED])
    assert measured.benched == [
        ([NAIVE, COALESCED], [size], ("cublas", "cublaslt_best", "cublas_tf32"))
        for size in (64, 128)
    ]


def test_the_shapes_section_has_the_steps_that_take_any(on_a_gpu, measured, monkeypatch):
    monkeypatch.setattr(record, "ANY_SHAPE", (COALESCED,))
    record.record(only=["shapes"], kernels=[NAIVE, COALESCED])
    ((kernels, sizes, baselines),) = measured.benched
    assert (kernels, baselines) == ([COALESCED], ("cublas", "cublaslt_best"))
    shapes = recorded_sizes.shapes_of("sgemm")
    assert sizes == list(shapes) and (4095, 4097, 4093) in sizes
    section = load(on_a_gpu).section("shapes")
    assert set(section["sources"]) == {COALESCED}
    assert len(section["rows"]) == 3 * len(shapes)


def test_without_steps_for_any_shape_cublas_is_recorded_alone(on_a_gpu, measured, monkeypatch):
    monkeypatch.setattr(record, "ANY_SHAPE", ())
    record.record(only=["shapes"])
    assert {row.kernel for row in load(on_a_gpu).timings()["shapes"].rows} == {
        *("cublas", "cublaslt_best")
    }


def test_steps_for_any_shape_take_any():
    there = [name for name in record.ANY_SHAPE if name in registry.names()]
    assert "sgemm_20_any_shape" in there
    for name in there:
        assert registry.get(name).multiple_of == (1, 1, 1)
    for family, sizes in record.SIZES.items():
        shapes = recorded_sizes.shapes_of(family)
        assert len(set(shapes)) == len(shapes)
        assert not {(size, size, size) for size in sizes} & set(shapes)


def test_tuning_comes_first_and_measures_everything_anew(on_a_gpu, measured, monkeypatch):
    order = []
    monkeypatch.setattr(record, "busy", lambda text: order.append(text) or nullcontext())
    record.record(sizes=[64], only=["benchmark", "tuning"], kernels=[NAIVE, COALESCED])
    assert order == ["recording tuning", "recording benchmark"]
    shapes = [(64, 64, 64), *recorded_sizes.shapes_of("sgemm")]
    assert measured.tuned == [(COALESCED, shapes, True)]
    trials = load(on_a_gpu).trials()
    assert {(trial.kernel, trial.config) for trial in trials} == {
        (COALESCED, "a"),
        (COALESCED, "b"),
    }


def test_a_tiled_step_is_tuned_where_it_fits(on_a_gpu, measured, monkeypatch):
    tiled = dataclasses.replace(registry.get(NAIVE), configs=("c", "d"))
    monkeypatch.setitem(registry._BY_NAME, NAIVE, tiled)
    record.record(sizes=[64, 100], only=["tuning"], kernels=[NAIVE])
    ((_, shapes, _),) = measured.tuned
    assert (64, 64, 64) in shapes and (8192, 8192, 64) in shapes
    assert (100, 100, 100) not in shapes and (4095, 4097, 4093) not in shapes


def test_nothing_to_tune_is_an_empty_section(on_a_gpu, measured):
    record.record(only=["tuning"], kernels=[NAIVE])
    assert load(on_a_gpu).trials() == ()


# ---- families ----

HALVES = [spec.name for spec in registry.KERNELS if spec.family == "hgemm"]
FIRST, LAST = HALVES[0], HALVES[-1]


class MeasuredInTypes(Measured):
    """`Measured` that also notes the precision, and writes it into the rows."""

    def __init__(self):
        super().__init__()
        self.types = "bf16"

    def bench(self, kernels, sizes, baselines=DEFAULT_BASELINES, precision="bf16", mode="", **how):
        self.types = precision
        result = super().bench(kernels, sizes, baselines)
        self.benched[-1] = (len(kernels), list(sizes), tuple(baselines), precision)
        return result

    def row(self, name, shape):
        return dataclasses.replace(super().row(name, shape), precision=self.types)


@pytest.fixture
def halves(on_a_gpu, monkeypatch):
    fake = MeasuredInTypes()
    monkeypatch.setattr(record, "bench", fake.bench)
    monkeypatch.setattr(record, "tune", fake.tune)
    return fake


def test_a_family_has_a_file_of_its_own(on_a_gpu):
    save(Measurements("NVIDIA H200", {"probes": probes(1.0)}), on_a_gpu)
    path = record.record(only=["resources"], family="hgemm")
    assert path == on_a_gpu.parent / "h200_hgemm.json"
    assert list(load(path).section("resources")["kernels"]) == HALVES
    assert set(load(on_a_gpu).sections) == {"probes"}
    assert load(family="hgemm").family == load(path).family == "hgemm"
    assert load().family == "sgemm"
    assert save(load(path)) == path


def test_the_usual_types_run_at_all_sizes_and_the_others_at_one(on_a_gpu, halves):
    path = record.record(sizes=[1024, 4096], only=["benchmark"], family="hgemm")
    count, both = len(HALVES), ("cublas", "cublaslt_best")
    assert halves.benched == [
        (count, [1024], both, "bf16"),
        *((count, [4096], both, types) for types in ("bf16", "fp16", "bf16_fp32", "fp16_fp32")),
    ]
    found = load(path).bench()
    assert found.only(precision="fp16", kernels=[LAST]).row(LAST).size == "4096"
    assert len(found.only(kernels=[LAST]).rows) == 5


def test_conditions_of_each_precision_are_kept(on_a_gpu, halves, monkeypatch):
    plain = halves.bench

    def bench(kernels, sizes, **how):
        return dataclasses.replace(plain(kernels, sizes, **how), conditions={str(sizes[0]): {}})

    monkeypatch.setattr(record, "bench", bench)
    path = record.record(sizes=[4096], only=["benchmark"], kernels=[LAST], family="hgemm")
    how = [f"4096 interleaved {types}" for types in ("bf16", "fp16", "bf16_fp32", "fp16_fp32")]
    assert list(load(path).section("benchmark")["conditions"]) == how


def test_slow_steps_are_left_out_where_they_would_take_seconds():
    for size, left in ((4096, 0), (8192, 5), (16384, 15)):
        assert record._fitting(HALVES, size) == HALVES[left:]
    steps = [spec.name for spec in registry.KERNELS if spec.family == "sgemm"]
    assert record._fitting(steps, 16384) == steps


def test_shapes_are_recorded_in_the_family_s_types(on_a_gpu, halves):
    record.record(only=["shapes"], family="hgemm")
    there = sum(name in HALVES for name in record.ANY_SHAPE)
    assert halves.benched == [(there, list(recorded_sizes.SHAPES_HGEMM), DEFAULT_BASELINES, "bf16")]


def test_a_family_without_experiments_leaves_them_out(on_a_gpu, halves):
    path = record.record(only=["experiments", "resources"], family="hgemm")
    assert set(load(path).sections) == {"resources"}


def test_what_a_family_counts(on_a_gpu, monkeypatch):
    last = [name for name in HALVES if not registry.get(name).configs][-1]
    asked = []
    monkeypatch.setattr(record.ncu, "collect", lambda *given: asked.append(given) or {})
    record.record(only=["counters", "limits"], kernels=[last], family="hgemm")
    record.record(only=["counters", "limits"], kernels=[NAIVE])
    (names, size, counted, types), (_, large, limits, _), (*_, usual, fp32), (_, _, fma, _) = asked
    assert (names, size, large, types, fp32) == ([last], 256, 4096, "bf16", "fp32")
    assert counted["ldmatrix_wavefronts"].endswith("mem_shared_op_ldsm.sum")
    assert counted["copy_wavefronts"].endswith("mem_shared_op_ldgsts.sum")
    assert counted["ldmatrix_instructions"] == "smsp__sass_inst_executed_op_ldsm.sum"
    assert counted.items() > usual.items() and "ldmatrix_wavefronts" not in usual
    assert "hmma" in limits["tensor_pipe"] and "tensor_pipe" not in fma
    assert limits.items() > fma.items()
    both = (COUNTED["hgemm"], COUNTED["tma"])
    keys = {key for columns in both for pairs in columns.values() for key in pairs[1:]}
    assert keys <= set(counted)


def test_families_are_not_mixed(folder):
    with pytest.raises(ArgumentError, match="family: got 'dgemm'; allowed are sgemm, hgemm"):
        record.record(family="dgemm")
    with pytest.raises(ArgumentError, match="kernels: sgemm_01_naive not of family hgemm"):
        record.record(kernels=[LAST, NAIVE], family="hgemm")
    with pytest.raises(ArgumentError, match="only: got 'pitfalls'; allowed for hgemm are tun"):
        record.record(only=["pitfalls"], family="hgemm")
    with pytest.raises(ArgumentError, match="only: got 'tensor_cores'; allowed for sgemm are"):
        record.record(only=["tensor_cores"])


# ---- a part that is compared with an earlier one ----

COMPARED = list(record.REFERENCES["tma"])


@pytest.fixture
def tma(halves, monkeypatch):
    """Two steps of Part III, the second for any shape; their names."""
    like = registry.get("hgemm_17_stages")
    names = ["tma_01_load", "tma_07_any_shape"]
    known = {name: registry.get(name) for name in registry.names() if not name.startswith("tma")}
    fakes = {
        name: dataclasses.replace(like, name=name, file=f"tma/{name[4:]}.cuh") for name in names
    }
    monkeypatch.setattr(registry, "_BY_NAME", known | fakes)
    monkeypatch.setattr(record, "ANY_SHAPE", (*record.ANY_SHAPE, names[1]))
    return names


def test_a_part_is_timed_beside_the_steps_that_it_is_compared_with(on_a_gpu, tma, monkeypatch):
    benched = []
    fake = record.bench
    monkeypatch.setattr(
        record,
        "bench",
        lambda names, *sizes, **how: benched.append(names) or fake(names, *sizes, **how),
    )
    path = record.record(sizes=[4096], only=["benchmark"], family="tma")
    assert path == on_a_gpu.parent / "h200_tma.json"
    assert benched == [[*COMPARED, *tma]] * 4
    found = load(path)
    assert found.family == "tma" and list(found.section("benchmark")["sources"]) == COMPARED + tma
    assert found.bench().only(precision="bf16").row("hgemm_17_stages").ratio == 1


def test_only_its_own_steps_are_counted_and_its_last_one_draws_power(on_a_gpu, tma, monkeypatch):
    benched, counted = [], []
    fake = record.bench
    monkeypatch.setattr(
        record,
        "bench",
        lambda names, *sizes, **how: benched.append(names) or fake(names, *sizes, **how),
    )
    monkeypatch.setattr(record.ncu, "collect", lambda *given: counted.append(given[0]) or {})
    path = record.record(only=["resources", "counters", "limits", "power", "shapes"], family="tma")
    assert list(load(path).section("resources")["kernels"]) == tma
    assert counted == [tma, tma]
    assert benched == [["hgemm_20_any_shape", tma[1]], [tma[1]], [tma[1]]]


def test_what_it_is_compared_with_is_built_before(on_a_gpu, tma, monkeypatch):
    built = []
    monkeypatch.setattr(record, "_build_all", built.append)
    record.record(only=["resources"], family="tma", kernels=tma[:1])
    assert built == [[*COMPARED, tma[0]]]
    with pytest.raises(ArgumentError, match="only: got 'tensor_cores'; allowed for tma are"):
        record.record(only=["tensor_cores"], family="tma")
    with pytest.raises(ArgumentError, match="kernels: hgemm_17_stages not of family tma"):
        record.record(kernels=["hgemm_17_stages"], family="tma")
    known = {name: registry.get(name) for name in registry.names() if name not in tma}
    monkeypatch.setattr(registry, "_BY_NAME", known)
    with pytest.raises(ArgumentError, match="family: there is no step of tma"):
        record.record(family="tma")


def test_a_step_of_another_part_runs_at_every_size(tma):
    assert record._fitting([*COMPARED, *tma], 16384) == [*COMPARED, *tma]


def test_experiments_run_at_their_shapes_with_their_steps_and_in_their_types(monkeypatch):
    wide, types = "hgemm 16, strips of columns", "hgemm 06, as published"
    chosen = {name: record.EXPERIMENTS[name] for name in ("hgemm 14, BK = 64", wide, types)}
    asked = []

    def bench(programs, sizes, baselines, precision, **how):
        asked.append(([program.title for program in programs], sizes, precision))
        return Measured().bench(asked[-1][0], sizes, baselines)

    monkeypatch.setattr(record, "EXPERIMENTS", chosen)
    monkeypatch.setattr(record, "bench", bench)
    monkeypatch.setattr(record, "stamp", stamp)
    names = [step for step, _ in chosen.values()]
    data = record._experiments(names)
    assert asked == [
        (["hgemm 14, BK = 64"], [(4096, 4096, 4096)], "bf16"),
        (["hgemm_16_write_back", wide], [(2048, 16384, 4096)], "bf16"),
        ([types], [(4096, 4096, 4096)], "bf16_fp32"),
    ]
    assert data["machine_code"]["hgemm_06_wmma"] == {"bf16_fp32": "0" * 16}


def test_every_precision_and_layout_is_built_before_and_the_builds_that_count_cycles(monkeypatch):
    built, clocked = [], []
    monkeypatch.setattr(record.build, "load", lambda *given: built.append(given))

    def fails(program, types):
        clocked.append((program.name, types))
        raise BuildError("it does not compile")  # which a row says later

    monkeypatch.setattr(record.block_clock, "load", fails)
    monkeypatch.setattr(record, "EXPERIMENTS", {})
    record._build_all([NAIVE, LAST])
    spec = registry.get(LAST)
    assert {(program.name, *how) for program, *how in built} == {
        (NAIVE, "fp32"),
        *((LAST, types) for types in spec.precisions),
        *((LAST, spec.precisions[0], layout) for layout in spec.layouts[1:]),
    }
    assert set(clocked) == {(NAIVE, "fp32"), (LAST, spec.precisions[0])}


def test_cublas_has_the_cycles_that_ncu_counts(monkeypatch):
    plain = {"spread": (1.0, 1.0), "ratio": 1.0, "power_w": None, "samples": 3}
    none = {"flop_per_clk_sm": None, "clock_mhz": None}
    rows = [
        BenchRow(name, 4096, 4096, 4096, time_us=1.0, tflops=1.0, **plain, **none)
        for name in (NAIVE, "cublas", "cublaslt_best")
    ]
    result = BenchResult(tuple(rows), "live", {**ENV, "sms": 132})
    monkeypatch.setattr(record.ncu, "collect", lambda *_: {"cublas": {"cycles": 5_000_000}})
    mine, cublas, other = record._library_cycles(result, 4096).rows
    assert (cublas.cycles, cublas.cycles_by) == (5_000_000, "ncu")
    assert cublas.flop_per_clk_sm == pytest.approx(2 * 4096**3 / 5e6 / 132)
    assert (mine, other) == (rows[0], rows[2])
    slower = dataclasses.replace(rows[0], clock_note="its second build is slower")

    def both(names, *_):
        return {name: {"cycles": 5_000_000} for name in names}

    monkeypatch.setattr(record.ncu, "collect", both)
    mine, *_ = record._library_cycles(
        dataclasses.replace(result, rows=(slower, *rows[1:])), 4096
    ).rows
    assert (mine.cycles_by, mine.clock_mhz, mine.clock_note) == ("ncu", None, slower.clock_note)

    def refused(*_):
        raise MeasurementError("only administrators may")

    monkeypatch.setattr(record.ncu, "collect", refused)
    _, cublas, _ = record._library_cycles(result, 4096).rows
    assert (cublas.cycles, cublas.clock_note) == (None, "only administrators may")


def test_steps_with_layouts_are_recorded_in_each(monkeypatch):
    asked = []

    def bench(names, shapes, *, layout, **how):
        asked.append((list(names), list(shapes), layout, how["baselines"]))
        row = BenchRow(
            *(LAST, 1, 1, 1, 1.0, (1.0, 1.0), 1.0, 1.0, None, None, None, 3), layout=layout
        )
        return BenchResult((row,), "live", dict(ENV), {"1": {}})

    monkeypatch.setattr(record, "bench", bench)
    monkeypatch.setattr(record, "_digests", lambda *_: {})
    data = record._layouts([NAIVE, LAST])
    assert [layout for *_, layout, _ in asked] == list(registry.get(LAST).layouts)
    assert all(names == [LAST] and (4096,) * 3 in shapes for names, shapes, *_ in asked)
    assert list(data["conditions"]) == ["1 interleaved", "1 interleaved nt"]
    assert "layouts" not in record._steps([NAIVE], [64])


# ---- ncu ----

WIDE = """==PROF== Connected to process 4711 (/usr/bin/python3.12)
==PROF== Profiling "kernel" - 0: 0%....50%....100% - 3 passes
"ID","Process ID","Kernel Name","Block Size","m__a.sum","m__b.sum"
"","","","","sector","byte"
"0","4711","sgemm_01_naive::kernel(const float *, float *)","(32, 8, 1)","17,301,504","1,024"
"1","4711","sgemm_02_coalesced::kernel(const float *, float *)","(32, 8, 1)","2,359,296","n/a"
==PROF== Disconnected from process 4711
"""
LONG = """"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","sgemm_01_naive::kernel(int)","Command line metrics","m__a.sum","sector","17,301,504"
"0","sgemm_01_naive::kernel(int)","Command line metrics","m__b.sum","byte","1,024"
"1","sgemm_02_coalesced::kernel(int)","Command line metrics","m__a.sum","sector","2,359,296"
"""


@pytest.mark.parametrize("text", [WIDE, LONG])
def test_both_forms_of_ncus_csv_are_read(text):
    first, second = counters.parse(text)
    assert (first["m__a.sum"], first["m__b.sum"]) == (17301504, 1024)
    assert second["m__a.sum"] == 2359296
    assert second.get("m__b.sum") in (None, "n/a")


def test_no_csv_is_no_launch():
    assert counters.parse("==ERROR== something\n") == []


class FakeNcu:
    """Answers `subprocess.run` as ncu would: a log file, what it printed, an exit code."""

    def __init__(self, *answers: tuple[str, str, int]):
        self.answers = list(answers)
        self.commands: list[list[str]] = []

    def __call__(self, command, **_):
        self.commands.append(command)
        log, printed, code = self.answers.pop(0)
        with open(command[command.index("--log-file") + 1], "w") as file:
            file.write(log)
        return subprocess.CompletedProcess(command, code, printed, "")


@pytest.fixture
def fake_ncu(monkeypatch):
    def install(*answers):
        fake = FakeNcu(*answers)
        monkeypatch.setattr(counters, "find_ncu", lambda: "/usr/bin/ncu")
        monkeypatch.setattr(counters.subprocess, "run", fake)
        return fake

    return install


def test_launches_go_to_names_by_order_and_a_missing_value_is_left_out(fake_ncu):
    fake = fake_ncu((WIDE, "", 0))
    found = counters.collect([NAIVE, COALESCED], 256, {"A": "m__a.sum", "B": "m__b.sum"})
    assert found == {NAIVE: {"A": 17301504, "B": 1024}, COALESCED: {"A": 2359296}}
    command = fake.commands[0]
    assert command[command.index("--clock-control") + 1] == "none"
    assert command[-6:] == ["--size", "256", "--precision", "fp32", NAIVE, COALESCED]


def test_cublas_may_be_several_launches(fake_ncu):
    text = WIDE.replace("sgemm_01_naive", "cutlass").replace("sgemm_02_coalesced", "reduce")
    fake_ncu((text, "", 0))
    assert counters.collect(["cublas"], 256, {"A": "m__a.sum"}) == {
        "cublas": {"A": 17301504 + 2359296}
    }


PACKED = """"ID","Kernel Name","m__a.sum","m__b.avg.pct","gpu__time_duration.sum"
"","","sector","%","ns"
"0","void sgemm_01_naive::pack<(int)128>(const float *, float *)","40","90.5","1,000"
"1","sgemm_01_naive::kernel(const float *, float *)","2","30.5","9,000"
"2","sgemm_02_coalesced::kernel(const float *)","5","60.5","8,000"
"3","sgemm_02_coalesced::reduce(const float *)","7","70.5","2,000"
"""
BOTH = {"A": "m__a.sum", "B": "m__b.avg.pct"}


def test_a_step_may_be_several_kernels_of_its_namespace(fake_ncu):
    fake = fake_ncu((PACKED, "", 0))
    found = counters.collect([NAIVE, COALESCED], 256, BOTH)
    # Counts add up; a share is that of the longest launch, be it the last or not.
    assert found == {NAIVE: {"A": 42, "B": 30.5}, COALESCED: {"A": 12, "B": 60.5}}
    asked = fake.commands[0][fake.commands[0].index("--metrics") + 1]
    assert asked == "m__a.sum,m__b.avg.pct,gpu__time_duration.sum"


def test_a_share_of_several_launches_without_their_times_is_left_out(fake_ncu):
    fake_ncu((PACKED.replace("9,000", "n/a"), "", 0))
    found = counters.collect([NAIVE, COALESCED], 256, BOTH)
    assert found == {NAIVE: {"A": 42}, COALESCED: {"A": 12, "B": 60.5}}


def test_cublas_comes_after_a_step_of_two_kernels(fake_ncu):
    text = PACKED.replace("sgemm_02_coalesced", "cutlass")
    fake_ncu((text, "", 0))
    found = counters.collect([NAIVE, "cublas"], 256, BOTH)
    assert found["cublas"] == {"A": 12, "B": 60.5}


def test_a_kernel_without_a_namespace_belongs_to_the_step_that_comes_next(fake_ncu):
    text = PACKED.replace("sgemm_01_naive::pack", "pack_panels")
    shared = text.replace("sgemm_02_coalesced::kernel", "pack_panels").replace("::reduce", "::last")
    fake_ncu((shared, "", 0))
    found = counters.collect([NAIVE, COALESCED], 256, {"A": "m__a.sum"})
    assert found == {NAIVE: {"A": 42}, COALESCED: {"A": 12}}
    fake_ncu((shared.replace("sgemm_02_coalesced::last", "sm90_xmma_gemm"), "", 0))
    assert counters.collect([NAIVE, "cublas"], 256, {"A": "m__a.sum"})["cublas"] == {"A": 12}


def test_a_step_that_was_not_launched_is_named(fake_ncu):
    fake_ncu((PACKED, "", 0))
    with pytest.raises(MeasurementError, match="nothing where sgemm_03_block_tiling was launched"):
        counters.collect([NAIVE, COALESCED, "sgemm_03_block_tiling"], 256, BOTH)
    fake_ncu((PACKED, "", 0))
    with pytest.raises(MeasurementError, match=r"sgemm_02_coalesced::kernel is not one of"):
        counters.collect([NAIVE], 256, BOTH)


def test_a_metric_that_ncu_does_not_know_is_dropped_and_the_rest_read(fake_ncu):
    fake = fake_ncu(("==ERROR== Failed to find metric m__b.sum\n", "", 1), (WIDE, "", 0))
    found = counters.collect([NAIVE, COALESCED], 256, {"A": "m__a.sum", "B": "m__b.sum"})
    assert found[NAIVE] == {"A": 17301504}
    assert fake.commands[1][fake.commands[1].index("--metrics") + 1] == "m__a.sum"


def test_a_refusal_says_what_would_help(fake_ncu):
    fake_ncu(("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "", 1))
    with pytest.raises(MeasurementError, match="only administrators"):
        counters.collect([NAIVE], 256, {"A": "m__a.sum"})


def test_an_unexpected_failure_carries_ncus_own_words(fake_ncu):
    fake_ncu(("==ERROR== LibraryNotLoaded\n", "", 1))
    with pytest.raises(MeasurementError, match="LibraryNotLoaded"):
        counters.collect([NAIVE], 256, {"A": "m__a.sum"})


def test_launches_that_do_not_match_the_kernels_are_refused(fake_ncu):
    fake_ncu((WIDE, "", 0))
    with pytest.raises(MeasurementError, match="2 launches for 1"):
        counters.collect([NAIVE], 256, {"A": "m__a.sum"})
    fake_ncu((WIDE, "", 0))
    with pytest.raises(MeasurementError, match="where sgemm_02_coalesced was launched"):
        counters.collect([COALESCED, NAIVE], 256, {"A": "m__a.sum"})


def test_no_ncu_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(counters, "find_ncu", lambda: None)
    with pytest.raises(BackendError, match="Nsight Compute"):
        counters.collect([NAIVE], 256, {"A": "m__a.sum"})


def test_the_file_is_plain_json_with_short_lines(folder):
    path = save(Measurements("NVIDIA H200", {"probes": probes()}))
    text = path.read_text()
    assert json.loads(text)["schema"] == store.SCHEMA
    assert max(map(len, text.splitlines())) < 100
