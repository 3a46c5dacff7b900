"""`bench` with a fake timer: who runs when, ratios; and the recorded run shown in its place."""

from __future__ import annotations

import statistics
from dataclasses import asdict, replace
from itertools import pairwise

import pytest

from gemmlab import bench as bench_function
from gemmlab import measurements, variant
from gemmlab.bench import interleaving
from gemmlab.bench import protocol as live
from gemmlab.bench.interleaving import Budget
from gemmlab.bench.timer import Launch, Timing, batch_size, percentile
from gemmlab.core.errors import ArgumentError, MeasurementError, UnknownKernelError
from gemmlab.core.paths import repository_root
from gemmlab.measurements.rows import BenchResult, BenchRow
from gemmlab.run import kernel as run
from gemmlab.steps import registry

NAIVE, COALESCED = registry.names()[:2]


class FakeTimer:
    """Times that drift, as a warming chip's do: `us` per launch, 1 % slower with every timing."""

    def __init__(self, us: dict[str, float], drift: float = 0.01):
        self.us, self.drift = us, drift
        self.log: list[str] = []
        self.rests: list[float] = []

    def time(self, launch: Launch, before=None) -> float:
        self.log.append(launch.name)
        return self.us[launch.name] * (1 + self.drift * len(self.log))

    def estimate(self, launch: Launch) -> float:
        return self.us[launch.name]

    def heat(self, launch: Launch, seconds: float) -> None:
        pass

    def rest(self, seconds: float) -> None:
        self.rests.append(seconds)

    def sustain(self, launch: Launch, seconds: float, time_us: float) -> Timing:
        return Timing([time_us] * 4, power_w=600.0)


def launches(us: dict[str, float]) -> list[Launch]:
    return [Launch(name, lambda: None) for name in us]


def test_everyone_gets_the_counted_number_of_turns_and_the_slow_ones_are_spread():
    orders = interleaving.schedule([50, 3, 50])
    assert len(orders) == 50
    assert [sum(i in order for order in orders) for i in range(3)] == [50, 3, 50]
    rounds_of_slow = [r for r, order in enumerate(orders) if 1 in order]
    gaps = [b - a for a, b in pairwise(rounds_of_slow)]
    assert min(gaps) >= 16


def test_the_order_changes_so_that_nobody_always_follows_the_same_neighbour():
    orders = interleaving.schedule([12, 12, 12])
    before = {
        i: {order[order.index(i) - 1] for order in orders if order.index(i)} for i in range(3)
    }
    assert all(len(neighbours) == 2 for neighbours in before.values())
    assert {order[0] for order in orders} == {0, 1, 2}


def test_ratio_is_paired_within_a_round_so_drift_cancels():
    us = {"mine": 200.0, "cublas": 100.0}
    timer = FakeTimer(us, drift=0.02)
    timings = interleaving.interleaved(
        launches(us), timer, list(us.values()), 1, Budget(samples=40)
    )
    assert len(timings[0].samples) == len(timings[1].samples) == 40
    assert timings[0].ratio == pytest.approx(0.5, rel=0.02)
    assert timings[1].ratio == 1
    assert timings[0].spread[0] < timings[0].time_us < timings[0].spread[1]


def test_slow_kernels_get_fewer_samples_and_the_baseline_plays_every_round():
    us = {"naive": 2.2e6, "tiled": 3000.0, "cublas": 21000.0}
    timer = FakeTimer(us, drift=0)
    budget = Budget(samples=50, seconds=1.0)
    timings = interleaving.interleaved(launches(us), timer, list(us.values()), 2, budget)
    assert [len(t.samples) for t in timings] == [3, 50, 50]
    assert timings[0].ratio == pytest.approx(21000 / 2.2e6)


def test_burst_rests_before_every_turn():
    us = {"mine": 200.0, "cublas": 100.0}
    timer = FakeTimer(us, drift=0)
    timings = interleaving.burst(launches(us), timer, list(us.values()), 1, repeats=3, rest_s=0.5)
    assert timer.rests == [0.5] * 6
    assert [len(t.samples) for t in timings] == [30, 30]
    assert timings[0].ratio == pytest.approx(0.5)


@pytest.mark.parametrize(("us", "count"), [(200, 10), (1350, 10), (11_000, 3), (40_000, 2)])
def test_a_burst_ends_before_the_power_limit_takes_hold(us, count):
    times = {"mine": us, "cublas": us}
    timings = interleaving.burst(launches(times), FakeTimer(times), [us, us], 1)
    assert [len(t.samples) for t in timings] == [3 * count] * 2


def test_sustained_has_power_and_a_ratio_of_medians():
    us = {"mine": 200.0, "cublas": 100.0}
    timings = interleaving.sustained(launches(us), FakeTimer(us), list(us.values()), 1, seconds=5)
    assert timings[0].ratio == pytest.approx(0.5)
    assert timings[0].power_w == 600.0


@pytest.mark.parametrize(("us", "batch"), [(57.0, 1), (20.0, 1), (10.0, 20), (0.5, 64)])
def test_only_short_launches_are_batched(us, batch):
    assert batch_size(us) == batch


def test_percentiles_interpolate():
    values = list(range(1, 12))
    assert percentile(values, 0.1) == 2
    assert percentile(values, 0.9) == 10
    assert percentile([7.0], 0.9) == 7
    assert percentile(values, 0.5) == statistics.median(values)


def test_variants_of_a_step_get_names_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path))
    from gemmlab.bench.bench import _labelled

    first = run.variant(NAIVE, {"float acc = 0.0f;": "float acc = 0;"})
    second = run.variant(NAIVE, {"float acc = 0.0f;": "float acc = {};"})
    names = list(_labelled([NAIVE, first, second, NAIVE]))
    assert names == [NAIVE, f"{NAIVE} (variant)", f"{NAIVE} (variant) #2"]


@pytest.mark.parametrize("before", ["nothing", "older", "newer"])
def test_tf32_is_off_inside_and_as_before_afterwards(before):
    import torch

    matmul = torch.backends.cuda.matmul
    if before == "newer" and not hasattr(matmul, "fp32_precision"):
        pytest.skip("this torch has only the older switch")
    old = torch.get_float32_matmul_precision()
    newer = getattr(matmul, "fp32_precision", None)
    try:
        if before == "older":
            torch.set_float32_matmul_precision("high")
        if before == "newer":
            matmul.fp32_precision = "tf32"
        seen = getattr(matmul, "fp32_precision", None)
        with live.tf32_off():
            assert not torch._C._get_cublas_allow_tf32()
        assert getattr(matmul, "fp32_precision", None) == seen
        if before == "older":
            assert torch.get_float32_matmul_precision() == "high"
    finally:
        matmul.allow_tf32 = False
        torch.set_float32_matmul_precision(old)
        if newer is not None:
            matmul.fp32_precision = newer


# ---- without a GPU ----


def row(kernel: str, size: int, tflops: float, **more) -> BenchRow:
    us = 2 * size**3 / tflops / 1e6
    return BenchRow(
        kernel, size, size, size, us, (us, us), tflops, tflops / 50, 100.0, 1980.0, None, 50, **more
    )


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """A repository with a recorded run of two kernels at two sizes, and no GPU."""
    rows = [
        row(name, size, rate)
        for size in (1024, 4096)
        for name, rate in ((NAIVE, 0.5), (COALESCED, 4.4), ("cublas", 50), ("cublaslt_best", 51))
    ]
    env = {"gpu": "NVIDIA H200", "date": "2026-11-22T10:00:00Z", "driver": "580.1", "cuda": "13.0"}
    result = BenchResult(tuple(rows), "recorded", env)
    section = {"environment": env, **result.to_dict()}
    kernels = repository_root() / "kernels"
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    (tmp_path / "kernels").symlink_to(kernels)
    path = measurements.save(measurements.Measurements("NVIDIA H200", {"benchmark": section}))
    assert path == tmp_path / "book" / "measurements" / "h200.json"
    return path


def test_without_a_gpu_the_recorded_rows_are_shown_and_say_so(recording):
    result = bench_function([COALESCED], sizes=[4096])
    assert result.source == "recorded"
    assert [r.kernel for r in result.rows] == [COALESCED, "cublas", "cublaslt_best"]
    assert {r.size for r in result.rows} == {"4096"}
    for text in (repr(result), result._repr_html_()):
        assert "Recorded on NVIDIA H200, 2026-11-22, driver 580.1, CUDA 13.0" in text
        assert "4.40" in text


TF32 = ("cublas", "cublas_tf32")


def add(path, section: str, rows, date: str = "2026-11-22T10:00:00Z", **more) -> None:
    """Add rows to a section of a recording, or make the section."""
    loaded = measurements.load(path)
    env = {**loaded.environment, "date": date}
    data = loaded.sections.setdefault(section, {"environment": env, "rows": []})
    data["rows"] += [asdict(row) for row in rows]
    data |= {"source": "recorded", **more}
    measurements.save(loaded, path)


def test_tf32_is_shown_on_request_only_and_never_in_a_ladder(recording):
    add(recording, "benchmark", [row("cublas_tf32", 4096, 398)])
    assert "cublas_tf32" not in {r.kernel for r in bench_function(COALESCED).rows}
    result = bench_function(COALESCED, baselines=TF32)
    assert [r.kernel for r in result.rows] == [COALESCED, *TF32]
    assert "cuBLAS with TF32 (torch.matmul)" in repr(result)
    assert "fp32 without TF32, but where a row says so" in repr(result)
    assert result._repr_html_().count("class=quiet") == 2
    assert {r.kernel for r in measurements.recorded().rows} == {
        *(NAIVE, COALESCED, "cublas", "cublaslt_best")
    }


def test_tf32_that_was_not_recorded_is_said(recording):
    with pytest.raises(MeasurementError, match="cublas_tf32 at 4096"):
        bench_function(COALESCED, baselines=TF32)


def test_awkward_shapes_are_found_and_stay_out_of_ladders(recording):
    wide = replace(row(COALESCED, 64, 3.0), N=8192, K=8192)
    reference = replace(wide, kernel="cublas", tflops=30.0)
    add(recording, "shapes", [wide, reference], "2026-12-24T10:00:00Z")
    result = bench_function(COALESCED, sizes=[(64, 8192, 8192)])
    assert [r.kernel for r in result.rows] == [COALESCED, "cublas"]
    assert "Recorded on NVIDIA H200, 2026-12-24" in repr(result)
    assert all(r.M == r.N for r in measurements.recorded().rows)
    with pytest.raises(MeasurementError) as caught:
        bench_function(NAIVE, sizes=[(64, 8192, 8192)])
    assert "It is recorded at 1024, 4096 (fp32, mode" in str(caught.value)
    with pytest.raises(MeasurementError, match="It is recorded at 1024, 4096, 64x8192x8192 "):
        bench_function(COALESCED, sizes=[777])
    both = bench_function(COALESCED, sizes=[4096, (64, 8192, 8192)], baselines=("cublas",))
    assert [r.size for r in both.rows] == ["4096"] * 2 + ["64x8192x8192"] * 2
    assert "64x8192x8192: recorded on NVIDIA H200, 2026-12-24" in both.note


def test_a_kernel_that_changed_since_its_shapes_were_recorded(recording):
    wide = replace(row(COALESCED, 64, 3.0), N=8192)
    add(recording, "shapes", [wide], sources={COALESCED: "0" * 12})
    assert "has changed" in bench_function(COALESCED, [(64, 8192, 64)]).note
    assert "has changed" not in bench_function(COALESCED, 4096).note


def test_what_stands_in_two_sections_is_shown_once(recording):
    add(recording, "shapes", [row(COALESCED, 4096, 9.9), row("cublas", 4096, 49)])
    result = bench_function(COALESCED, baselines=("cublas",))
    assert [(r.kernel, r.tflops) for r in result.rows] == [(COALESCED, 4.4), ("cublas", 50)]


def test_a_configuration_that_a_name_does_not_tell_is_a_column():
    told = replace(row(f"{NAIVE} [a]", 1024, 1.0), config="a")
    chosen = replace(row(NAIVE, 1024, 1.0), config="b")
    plain = row("cublas", 1024, 2.0)
    env = {"gpu": "X"}
    assert "configuration" not in repr(BenchResult((told, plain), "live", env))
    head, _, second, third = repr(BenchResult((told, chosen, plain), "live", env)).splitlines()[:4]
    assert "configuration" in head
    assert " b " in second and " - " in third


def test_sizes_come_back_in_the_order_asked_for(recording):
    result = bench_function(COALESCED, sizes=[4096, 1024], baselines=("cublas",))
    assert [(r.kernel, r.M) for r in result.rows] == [
        (COALESCED, 4096),
        ("cublas", 4096),
        (COALESCED, 1024),
        ("cublas", 1024),
    ]


@pytest.mark.parametrize(
    ("arguments", "needle"),
    [
        ({"kernels": ["sgemm_03_block_tiling"]}, "sgemm_03_block_tiling at 4096"),
        ({"kernels": [NAIVE], "sizes": 512}, f"{NAIVE} at 512"),
        ({"kernels": [NAIVE], "warm_l2": True}, "L2 warm"),
        ({"kernels": [NAIVE], "mode": "burst"}, "mode burst"),
    ],
)
def test_what_is_not_recorded_is_an_error_that_lists_what_is(recording, arguments, needle):
    with pytest.raises(MeasurementError, match="recorded at") as caught:
        bench_function(**arguments)
    assert needle in str(caught.value)
    assert "1024, 4096" in str(caught.value)


def test_a_changed_kernel_is_noted(recording):
    loaded = measurements.load(recording)
    loaded.sections["benchmark"]["sources"] = {NAIVE: "0" * 12}
    measurements.save(loaded, recording)
    assert f"The source of {NAIVE} has changed since the recording" in bench_function(NAIVE).note


@pytest.mark.parametrize(
    ("arguments", "needle"),
    [
        ({"sizes": []}, "sizes"),
        ({"sizes": [0]}, "sizes"),
        ({"sizes": [(128, 128)]}, "sizes"),
        ({"mode": "warm"}, "mode"),
        ({"samples": 0}, "samples"),
        ({"seconds": 0}, "seconds"),
        ({"baselines": ("mkl",)}, "baselines"),
        ({"kernels": "sgemm_06_swizzled_a", "sizes": 100}, "multiple of 128"),
    ],
)
def test_bad_arguments_are_named(arguments, needle):
    with pytest.raises(ArgumentError, match=needle):
        bench_function(**{"kernels": [NAIVE], **arguments})


def test_a_size_as_text_is_shown_whole():
    with pytest.raises(ArgumentError, match="sizes: got '4096'"):
        bench_function(sizes="4096")


def test_an_unknown_kernel_offers_the_closest():
    with pytest.raises(UnknownKernelError, match=NAIVE):
        bench_function("naive")


def test_a_result_survives_the_way_through_json():
    result = BenchResult((row(NAIVE, 1024, 0.5),), "live", {"gpu": "X"}, {"1024": {}}, "note")
    assert BenchResult.from_dict(result.to_dict()) == result


def test_a_missing_row_is_named(recording):
    with pytest.raises(MeasurementError, match="no row for sgemm_09"):
        measurements.recorded().row("sgemm_09", 4096)
    with pytest.raises(MeasurementError, match="2 rows for cublas"):
        measurements.recorded().row("cublas")


# ---- 16-bit types ----

STAGES, WRITE_BACK = "hgemm_17_stages", "hgemm_16_write_back"


@pytest.fixture
def half_recording(recording):
    """Also a recording of two 16-bit steps: in bf16 at two sizes, in fp16 and with C in fp32."""
    runs = [(1024, "bf16"), (4096, "bf16"), (4096, "fp16"), (4096, "bf16_fp32")]
    rates = {STAGES: 600, WRITE_BACK: 500, "cublas": 700, "cublaslt_best": 710}
    rows = [
        row(name, size, rate - 10 * i, precision=types)
        for i, (size, types) in enumerate(runs)
        for name, rate in rates.items()
    ]
    env = measurements.load(recording).environment
    section = {"environment": env, **BenchResult(tuple(rows), "recorded", env).to_dict()}
    made = measurements.Measurements("NVIDIA H200", {"benchmark": section}, "hgemm")
    path = measurements.save(made)
    assert path.name == "h200_hgemm.json"
    return path


def test_a_16_bit_step_is_shown_in_its_first_precision(half_recording):
    result = bench_function([STAGES, WRITE_BACK], sizes=[1024, 4096])
    assert {r.precision for r in result.rows} == {"bf16"}
    assert [r.tflops for r in result.rows] == [600, 500, 700, 710, 590, 490, 690, 700]
    assert "; bf16, sums in fp32." in repr(result)
    assert "types" not in result.shown().head


@pytest.mark.parametrize(("types", "rate"), [("fp16", 580), ("bf16_fp32", 570)])
def test_another_precision_is_shown_on_request(half_recording, types, rate):
    result = bench_function(STAGES, precision=types)
    assert [r.tflops for r in result.rows] == [rate, rate + 100, rate + 110]
    assert {r.precision for r in result.rows} == {types}


def test_fp32_s_recording_is_left_alone(half_recording):
    assert {r.precision for r in bench_function(COALESCED).rows} == {"fp32"}
    assert bench_function(COALESCED).row("cublas").tflops == 50
    assert measurements.load().family == "sgemm"
    assert measurements.load(family="hgemm").family == "hgemm"
    assert [path.name for path in measurements.paths()] == ["h200.json", "h200_hgemm.json"]
    assert measurements.paths("sgemm")[0].name == "h200.json"


def test_a_precision_that_was_not_recorded_is_said(half_recording):
    with pytest.raises(MeasurementError, match=r"hgemm_17_stages at 4096 \(fp16_fp32, mode int"):
        bench_function(STAGES, precision="fp16_fp32")
    with pytest.raises(MeasurementError, match=r"; 4096 \(fp16, mode interleaved, L2 cold\)"):
        bench_function(STAGES, sizes=[2048], precision="fp16")


def test_rows_of_several_precisions_name_them(half_recording):
    found = measurements.load(half_recording).bench().only(kernels=[STAGES])
    assert "types" in found.shown().head
    assert "bf16 and fp16 and bf16, C in fp32, sums in fp32" in repr(found)
    assert found.only(precision="fp16").row(STAGES).tflops == 580
    with pytest.raises(MeasurementError, match="3 rows for"):
        found.row(STAGES, 4096)


def test_steps_of_two_families_are_not_timed_together(recording):
    with pytest.raises(ArgumentError, match="sgemm_02_coalesced runs in fp32, which hgemm_17"):
        bench_function([COALESCED, STAGES])
    with pytest.raises(ArgumentError, match="hgemm_17_stages runs in bf16, which sgemm_02"):
        bench_function([STAGES, COALESCED])


def test_tf32_is_no_baseline_of_16_bit_inputs(recording):
    with pytest.raises(
        ArgumentError, match="cublas_tf32 has fp32 inputs, and the kernels here take bf"
    ):
        bench_function(STAGES, baselines=TF32)


def test_without_kernels_all_that_have_the_precision_run(recording, monkeypatch):
    import sys

    module = sys.modules["gemmlab.bench.bench"]
    asked = []
    monkeypatch.setattr(module, "_recorded", lambda handles, *_: asked.append(list(handles)))
    monkeypatch.setattr(registry, "KERNELS", (*registry.KERNELS, LOAD))
    bench_function(sizes=[4096])
    bench_function(sizes=[4096], precision="fp16_fp32")
    assert [name.partition("_")[0] for name in (asked[0][0], asked[0][-1])] == ["sgemm"] * 2
    assert asked[1] == [spec.name for spec in registry.KERNELS if spec.family == "hgemm"]


# ---- parts that are compared with each other ----

LOAD = replace(registry.get(STAGES), name="tma_01_load", file="tma/01_load.cuh", parent=STAGES)


@pytest.fixture
def tma_recording(half_recording, monkeypatch):
    """Also a recording of a step of Part III, in whose run one of Part II's was timed."""
    monkeypatch.setitem(registry._BY_NAME, LOAD.name, LOAD)
    env = {**measurements.load(half_recording).environment, "commit": "abc"}
    rates = {STAGES: 610, LOAD.name: 650, "cublas": 720, "cublaslt_best": 730}
    rows = tuple(row(name, 4096, rate, precision="bf16") for name, rate in rates.items())
    section = {"environment": env, **BenchResult(rows, "recorded", env).to_dict()}
    made = measurements.Measurements("NVIDIA H200", {"benchmark": section}, "tma")
    return measurements.save(made)


@pytest.mark.parametrize("kernels", [[STAGES, LOAD.name], [LOAD.name, STAGES]])
def test_steps_of_two_parts_are_those_of_the_run_that_has_both(tma_recording, kernels):
    assert tma_recording.name == "h200_tma.json"
    result = bench_function(kernels)
    rates = {r.kernel: r.tflops for r in result.rows}
    assert rates == {STAGES: 610, LOAD.name: 650, "cublas": 720, "cublaslt_best": 730}
    assert "commit abc" in repr(result)


def test_steps_of_one_part_are_those_of_its_own_run(tma_recording):
    assert bench_function(STAGES).row("cublas").tflops == 690
    assert bench_function(LOAD.name).row("cublas").tflops == 720


def test_steps_that_no_run_has_together_are_named(tma_recording):
    lacks = r"no recorded run has all of them \(tma: hgemm_16_write_back at 4096 \(bf16.*; hgemm: "
    with pytest.raises(MeasurementError, match=lacks) as caught:
        bench_function([WRITE_BACK, LOAD.name])
    assert "hgemm: tma_01_load at 4096" in str(caught.value)
    tma_recording.unlink()
    with pytest.raises(MeasurementError, match=r"tma: .* holds no recorded run of tma; `python -m"):
        bench_function([STAGES, LOAD.name])


def test_no_recording_of_a_family_says_how_to_make_one(recording):
    how = r"no recorded run of hgemm; `python -m gemmlab record --family hgemm` on a machine with"
    with pytest.raises(MeasurementError, match=how):
        bench_function(STAGES)


def test_a_section_that_is_missing_names_the_family(half_recording):
    loaded = measurements.load(half_recording)
    with pytest.raises(MeasurementError, match="`python -m gemmlab record --family hgemm --only l"):
        loaded.section("limits")


def test_a_kernel_of_one_s_own_has_no_recorded_time(recording):
    mine = variant(NAIVE, {"acc += ": "acc += 0.0f + "})
    with pytest.raises(MeasurementError, match="Only steps of the course have recorded times"):
        bench_function(mine)
