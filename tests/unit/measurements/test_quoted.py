"""Recorded numbers in prose: what a key names, how it is written, what is refused."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

import gemmlab as lab
from gemmlab.core.errors import ArgumentError
from gemmlab.measurements.columns import Columns
from gemmlab.measurements.quoted import quoted, recordings, rewritten

MADE = {
    "gpu": "NVIDIA H200",
    "date": "2026-11-23T16:07:42Z",
    "commit": "abc1234",
    "driver": "580",
    "sms": 132,
}
ROW = {
    "kernel": "sgemm_05_transposed_a",
    **{"M": 4096, "N": 4096, "K": 4096, "time_us": 3200.0, "spread": [3150.0, 3300.0]},
    **{"tflops": 42.9, "ratio": 0.84, "flop_per_clk_sm": 163.4, "clock_mhz": 1979.4},
    **{"power_w": None, "samples": 50, "precision": "fp32", "cycles": 6.4e6},
    **{"cycles_by": "clock64"},
}


def recording(**sections: dict) -> dict[str, Columns]:
    """A recording of Part I alone, whose rows are those above and what is given."""
    from gemmlab.measurements.store import Measurements

    faster = ROW | {"kernel": "sgemm_06_swizzled_a", "time_us": 3000.0, "tflops": 45.81}
    half = faster | {"precision": "fp16", "tflops": 400.0}
    rows = [ROW, faster, half, ROW | {"kernel": "cublas", "ratio": 1.0}]
    benchmark = {"rows": rows, "source": "recorded", "environment": MADE}
    given = {name: data | {"environment": MADE} for name, data in sections.items()}
    return {"sgemm": Columns(Measurements("NVIDIA H200", {"benchmark": benchmark} | given))}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("sgemm_05 4096 tflops", "42.9"),
        ("sgemm_05 4096 ratio", "0.84"),
        ("sgemm_05 4096 percent", "84"),
        ("sgemm_05 4096 percent digits=1", "84.0"),
        ("sgemm_05 4096 time_us", "3,200"),
        ("sgemm_05 4096 time_us digits=-3", "3,000"),
        ("sgemm_05 4096 time_ms", "3.20"),
        ("sgemm_05 4096 slowest_ms", "3.30"),
        ("sgemm_05 4096 clock_mhz", "1979"),
        ("sgemm_05 4096 clock_ghz", "1.98"),
        ("sgemm_05_transposed_a 4096 cycles scale=1e-6", "6.40"),
        ("sgemm_06 4096 tflops", "45.8"),
        ("sgemm_06 4096 tflops precision=fp16", "400"),
        ("sgemm_06 4096 speedup:sgemm_05", "1.07"),
        ("sgemm_06 4096 gain:sgemm_05", "7"),
        ("sgemm_05 4096 loss:sgemm_06", "6"),
        ("sgemm_06 4096 saved_us:sgemm_05", "200"),
        ("sgemm_05 4096 loss:cublas", "16"),
        ("sgemm_06 4096 tflops minus=sgemm_05", "2.91"),
        ("sgemm_06 4096 tflops over=sgemm_05", "1.07"),
        ("cublas 4096 tflops family=sgemm", "42.9"),
    ],
)
def test_a_key_names_a_number(key, text):
    assert quoted(key, recording()).text == text


def test_other_sections_have_their_own_columns():
    runs = recording(
        limits={"size": 4096, "kernels": {"sgemm_05_transposed_a": {"l1_data": 84.37}}},
        resources={"kernels": {"sgemm_05_transposed_a": {"registers": 127}}},
        probes={"dram_read_tbs": 4.54113},
        pitfalls={"ways": [{"way": "by hand", "size": 4096, "time_us": 24.4795, "power_w": 655.4}]},
        tensor_cores={
            "rows": [
                {"probe": "wgmma", "load": "burst", "flop_per_clk_sm": 4096.0, "tflops": 940.0},
                {
                    "probe": "wgmma",
                    "load": "sustained",
                    "flop_per_clk_sm": 4096.0,
                    "tflops": 700.0,
                    "power_w": 699.0,
                },
            ]
        },
    )
    shown = {
        "sgemm_05 4096 l1_data": "84",
        "sgemm_05 - registers": "127",
        "probes - dram_read_tbs": "4.54",
        "'by hand' 4096 time_ms": "0.02",
        "'by hand' - power_w": "655",
        "wgmma - tflops": "940",
        "wgmma - tflops load=sustained": "700",
        "wgmma - clock_ghz": "1.74",
        "wgmma - pj_per_flop load=sustained": "1.00",
    }
    assert {key: quoted(key, runs).text for key in shown} == shown


def test_a_key_may_ask_for_another_gpu():
    ours, theirs = (quoted(f"wgmma_01 4096 tflops{gpu}") for gpu in ("", " gpu=H100"))
    assert "H200" in ours.origin and "H100" in theirs.origin
    assert ours.value != theirs.value


def test_a_number_says_where_and_when_it_was_measured():
    found = quoted("sgemm_05 4096 tflops", recording())
    assert found.origin == "NVIDIA H200, 2026-11-23, commit abc1234"
    assert found.value == 42.9


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("sgemm_05 tflops", "has 2 parts, expected a subject, a size and what is meant"),
        ("sgemm_05 '4096 tflops", "No closing quotation"),
        ("sgemm_5 4096 tflops", "sgemm_5 is no step"),
        ("sgemm_05 4097 tflops", "no row sgemm_05_transposed_a at size 4097; there is .* at 4096"),
        ("sgemm_05 4096 tflop", "no tflop of .*; there is tflops, ratio, percent"),
        ("sgemm_05 4096 power_w", "no power_w of sgemm_05_transposed_a"),
        ("sgemm_05 4096 tflops precision=bf16", "no row .* precision=bf16"),
        ("sgemm_05 4096 tflops digit=1", "digit= is no option; there is precision"),
        ("sgemm_05 4096 tflops digits=one", "digits=one is no number"),
        ("sgemm_05 4096 gain", "gain needs another row, as in gain:sgemm_05"),
        ("sgemm_05 4096 gain:sgemm_06", "negative .* would say the opposite"),
        ("sgemm_05 4096 tflops family=hgemm", "no recording of 'hgemm', only of sgemm"),
        ("sgemm_05 4096 ratio digits=0 scale=0.1", "round to zero; add digits="),
    ],
)
def test_what_names_nothing_is_refused_with_a_sentence(key, why):
    with pytest.raises(ArgumentError, match=rf"^key .*{why}"):
        quoted(key, recording())


def test_a_row_of_two_recordings_needs_its_family():
    runs = recordings()
    with pytest.raises(ArgumentError, match="in several recordings; add family="):
        quoted("cublas 4096 tflops", runs)
    assert quoted("cublas 4096 tflops family=wgmma", runs).value > 600


def test_short_names_are_whole_numbers_of_steps():
    """ "sgemm_03" is not "sgemm_03b"."""
    with pytest.raises(ArgumentError, match="sgemm_03b_column_per_thread"):
        quoted("sgemm_03b 1 tflops")
    with pytest.raises(ArgumentError, match="sgemm_03_block_tiling"):
        quoted("sgemm_03 1 tflops")


PAGE = """\
## The swizzle gains <span data-figure="sgemm_06 4096 gain:sgemm_05">7</span> %

It reaches **<span data-figure="sgemm_06 4096 tflops">45.8</span> TFLOP/s** in
<span data-figure="sgemm_06 4096 time_ms">3.00</span> ms. On another day it was
<span data-once="H200, 2026-11-21">45.7</span>.
"""


def test_a_page_that_says_what_the_recording_says_stays_as_it_is():
    assert rewritten(PAGE, recording()) == PAGE


def test_a_row_that_changes_by_a_tenth_leaves_the_old_numbers_nowhere():
    runs = recording()
    rows = copy.deepcopy(runs["sgemm"].run.sections)
    row = rows["benchmark"]["rows"][1]
    row |= {"time_us": row["time_us"] / 1.1, "tflops": row["tflops"] * 1.1}
    moved = {"sgemm": Columns(replace(runs["sgemm"].run, sections=rows))}
    page = rewritten(PAGE, moved)
    assert page == PAGE.replace('05">7<', '05">17<').replace('s">45.8<', 's">50.4<').replace(
        'ms">3.00<', 'ms">2.73<'
    )
    assert not {"7", "45.8", "3.00"} & set(page.replace("<", ">").split(">"))


def test_the_answer_of_a_prediction_is_rounded_as_prose_is():
    shown = quoted("sgemm_06 4096 time_us").text
    assert lab.number("sgemm_06 4096 time_us") == float(shown.replace(",", ""))
    with pytest.raises(ArgumentError, match=r"^key: got int"):
        lab.number(5)
