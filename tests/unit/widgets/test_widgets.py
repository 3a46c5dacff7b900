"""The widgets' Python side: what they show without a browser, and what they refuse."""

import base64
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest
from PIL import Image

from gemmlab import sim
from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import Access, Layout, Swizzle
from gemmlab.widgets import (
    BankMap,
    FragmentMap,
    HeatMap,
    Ladder,
    MbarrierTimeline,
    Metric,
    PipelineTimeline,
    Predict,
    SwizzleWorkshop,
    TensorMapFields,
    TmaBox,
    TraceView,
    predict,
)
from gemmlab.widgets.shared.base import with_note

ENVIRONMENT = "some GPU, 2026-01-02, driver 1.2, CUDA 13.0"


def bench_rows():
    speed = {"sgemm_01_naive": 0.5, "sgemm_04_register_tiling": 38.0, "cublas": 50.0}
    return [
        {"kernel": kernel, "M": n, "N": n, "K": n, "tflops": tflops, "ratio": tflops / 50,
         "flop_per_clk_sm": None, "time_us": 2e-6 * n**3 / tflops}
        for n in (1024, 4096)
        for kernel, tflops in speed.items()
    ]  # fmt: skip


def bank_map(**more):
    arguments = {"pattern": "transposed A store", "row_length": 128, "rows": 16}
    return BankMap(**{**arguments, **more})


def both_accesses(**more):
    accesses = [
        Access("transposed A store", 4, True, "store"),
        Access("float4 fragment of A", 16, False, "read"),
    ]
    return BankMap(accesses=accesses, row_length=128, rows=16, **more)


def make_predict():
    return predict("How many `wavefronts`?", 4, "wavefronts", "Four lanes **meet** in one bank.")


def make_ladder():
    return Ladder(bench_rows(), ENVIRONMENT)


@cache
def traced(name):
    return sim.trace(name, 128, 128, 32)


def trace_view(**more):
    return TraceView(traced("sgemm_05_transposed_a"), **more)


def naive_trace_view():
    return TraceView(traced("sgemm_01_naive"))


def make_heat_map():
    rows = [{"TM": m, "TN": 4, "WMITER": w, "WNITER": 2, "x": 1.5 * m} for m, w in ((4, 4), (8, 2))]
    return HeatMap(rows, {"x": Metric("speed", "TFLOP/s", "Made up.")})


WIDGETS = [
    bank_map,
    make_predict,
    make_ladder,
    trace_view,
    naive_trace_view,
    PipelineTimeline,
    make_heat_map,
    FragmentMap,
    SwizzleWorkshop,
    TmaBox,
    TensorMapFields,
    MbarrierTimeline,
]


@pytest.fixture(params=WIDGETS, ids=lambda make: make.__name__)
def make(request):
    return request.param


def without_pictures(html):
    return re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", html)


def test_a_bundle_has_four_faces(make):
    bundle = make()._repr_mimebundle_()
    assert set(bundle) == {
        "application/vnd.jupyter.widget-view+json", "text/html", "image/png", "text/plain"
    }  # fmt: skip
    image = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))
    assert image.format == "PNG"
    assert 700 <= image.width <= 800
    assert bundle["text/plain"] == repr(make())


@pytest.mark.slow
def test_html_is_deterministic(make):
    assert make().to_html() == make().to_html()


@pytest.mark.slow
def test_html_is_the_same_in_another_process():
    code = "import json,sys; from gemmlab.widgets import *; print(BankMap().to_html())"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert without_pictures(runs[0].stdout) == without_pictures(runs[1].stdout)
    assert without_pictures(BankMap().to_html()) == without_pictures(runs[0].stdout.rstrip("\n"))


def module_of(html):
    return base64.b64decode(re.search(r"text/javascript;base64,([^\"]+)", html)[1]).decode()


def test_html_is_self_contained(make):
    html = make().to_html()
    assert len(html) < 150_000
    text = re.sub(r"base64,[A-Za-z0-9+/=]+|atob\([^)]*\)", "", html)
    assert not re.findall(r"""(?:https?:)?//[a-z]|url\(|@import|<link|<iframe""", text)
    assert not re.findall(r"https?://|^import |fetch\(", module_of(html), re.MULTILINE)


def test_html_holds_what_it_needs(make):
    widget = make()
    html = widget.to_html()
    assert html.count("<style>") == html.count('<script type="module">') == 1
    key = re.search(r'data-gemmlab="([0-9a-f]{12})"', html)[1]
    data = json.loads(base64.b64decode(re.search(r'atob\("([^"]+)"\)', html)[1]))
    assert data == [key, widget.config, widget.state]


def test_different_widgets_have_different_keys():
    assert bank_map().key() != bank_map(layout="pad 1").key()
    assert bank_map().key() == bank_map().key()


# --- BankMap --------------------------------------------------------------------------------------


def test_the_alt_text_states_the_reading():
    alt = re.search(r'<img alt="([^"]*)"', bank_map().to_html())[1]
    assert "4 wavefronts, the minimum is 1: 3 too many" in alt
    assert "Lanes 0 to 3 meet in bank 0" in alt


def test_a_bank_map_follows_its_state():
    widget = bank_map(swizzle=Swizzle(2, 3, 6), pad=0)
    assert [request.wavefronts for request in widget.requests] == [4]
    widget.state = {**widget.state, "kind": "swizzle"}
    assert widget.shown_layout == Layout.parse(Swizzle(2, 3, 6))
    assert [request.wavefronts for request in widget.requests] == [1]


def test_a_layout_can_be_the_first_state():
    assert bank_map(layout="Swizzle<2,3,6>").requests[0].conflicts == 0
    assert bank_map(layout=Swizzle(2, 3, 6)).requests[0].conflicts == 0
    assert bank_map(layout="col ^ (row/4*8)").requests[0].conflicts == 0
    assert bank_map(layout="pad 2").requests[0].conflicts == 0


def test_matrices_and_copies_are_served_eight_lanes_at_a_time():
    """With 32 lanes at one address a load takes two phases; ldmatrix one for each matrix."""
    rows = "row = lane%16; col = lane/16*8"
    for op, phases in (("ldmatrix.x4", 4), ("ldmatrix.x2", 2), ("ldmatrix.x1", 1), ("cp.async", 4)):
        widget = BankMap(
            accesses=[Access(rows, 16, op=op)], element=2, row_length=64, rows=16,
            layout="Swizzle<3,3,3>",
        )  # fmt: skip
        assert [len(phase.lanes) for phase in widget.requests[0].phases] == [8] * phases
        assert widget.requests[0].conflicts == 0
        assert f"{op}, 16 bytes a {'lane' if op == 'cp.async' else 'row'}" in repr(widget)
        assert ("depend on its sources" in repr(widget)) == (op == "cp.async")


def test_a_preset_s_name_says_whether_it_stores():
    assert bank_map().state["accesses"][0]["store"] is True
    assert bank_map(store=False).state["accesses"][0]["store"] is False
    assert BankMap().state["accesses"][0]["store"] is False


def test_the_default_swizzle_frees_columns():
    widget = BankMap(width=16, element=2, row_length=64, pattern="column")
    widget.state = {**widget.state, "kind": "swizzle"}
    assert widget.state["swizzle"] == [3, 3, 3]
    assert widget.requests[0].conflicts == 0


def test_a_goal_counts_all_accesses():
    widget = both_accesses(goal={"conflicts": 0})
    assert not widget.solved
    for kind, change, solved in (
        ("pad", {"pad": 2}, False),  # mends the store, misaligns the read
        ("pad", {"pad": 4}, False),
        ("swizzle", {"swizzle": [2, 3, 6]}, True),
        ("formula", {"formula": "col ^ (row/4*8)"}, True),
        ("formula", {"formula": "col ^"}, False),
    ):
        widget.state = {**widget.state, "kind": kind, **change}
        assert widget.solved == solved, (kind, change)


def test_a_goal_can_ask_for_a_kind_of_layout():
    widget = bank_map(goal={"wavefronts": 1, "layout": "swizzle"})
    assert widget.config["goal"]["text"] == "1 wavefront, by a swizzle."
    widget.state = {**widget.state, "kind": "pad", "pad": 2}
    assert not widget.solved
    widget.state = {**widget.state, "kind": "swizzle", "swizzle": [2, 3, 6]}
    assert widget.solved


def test_without_a_goal_nothing_is_solved():
    assert bank_map(layout="pad 2").solved is False


def test_a_layout_that_faults_is_shown_not_refused():
    widget = BankMap(width=16, pattern="float4 row by row", row_length=16, layout="pad 1")
    assert "misaligned" in widget.summary()
    assert widget.png()[:4] == b"\x89PNG"
    with pytest.raises(ArgumentError, match="misaligned"):
        _ = widget.requests


def test_what_a_reader_types_may_be_broken():
    widget = bank_map(swizzle=Swizzle(2, 3, 6), goal={"wavefronts": 1})
    start = widget.state
    widget.state = {**start, "kind": "formula", "formula": "col ^"}
    assert "found the end" in widget.summary()
    widget.state = {**widget.state, "kind": "swizzle"}
    assert widget.solved
    broken = {**start["accesses"][0], "pattern": "row = ; col = 0"}
    widget.state = {**start, "accesses": [broken]}
    assert "expected a number or a name" in repr(widget)
    assert widget.png()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"width": 3}, "width"),
        ({"row_length": 0}, "row_length"),
        ({"row_length": "128"}, "row_length"),
        ({"rows": 8}, "rows"),
        ({"rows": 1000}, "rows"),
        ({"element": 3}, "element"),
        ({"element": 8}, "element"),
        ({"pattern": "zigzag"}, "pattern"),
        ({"pattern": "row = lane; col = "}, "formula"),
        ({"pattern": "row = __import__('os'); col = 0"}, "formula"),
        ({"pattern": "row = 0; col = lane - 1"}, "pattern"),
        ({"layout": "twisted"}, "layout"),
        ({"layout": "Swizzle<2,3,1>"}, "S"),
        ({"layout": Swizzle(2, 3, -6)}, "swizzle"),
        ({"swizzle": Swizzle(2, 3, -6)}, "swizzle"),
        ({"swizzle": "col"}, "swizzle"),
        ({"pad": 1.5}, "pad"),
        ({"swizzle": "none"}, "swizzle"),
        ({"formula": "row ^"}, "formula"),
        ({"accesses": []}, "accesses"),
        ({"accesses": ["row"]}, "accesses"),
        ({"goal": {}}, "goal"),
        ({"goal": {"speed": 1}}, "goal"),
        ({"goal": {"wavefronts": -1}}, "goal"),
        ({"goal": {"wavefronts": 1, "layout": "none"}}, "goal"),
        ({"goal": "1 wavefront"}, "goal"),
        ({"caption": 3}, "caption"),
    ],
)
def test_bad_arguments_of_bank_map_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=name):
        bank_map(**arguments)


# --- Predict --------------------------------------------------------------------------------------


def test_the_answer_is_folded_away_and_nowhere_else():
    widget = predict("How many?", 1234, "wavefronts", "Because of that.")
    hidden = re.compile(r"<details>.*?</details>|<script.*?</script>", re.DOTALL)
    outside = hidden.sub("", widget.to_html())
    assert "1,234" not in outside
    assert "Because" not in outside
    assert "1,234 wavefronts" in re.search(r"<details>.*?</details>", widget.to_html(), re.S)[0]
    assert "1234" not in widget.summary() + repr(widget)
    script = re.search(r"<script.*?</script>", widget.to_html(), re.S)[0]
    assert "Because" not in script


def test_markup_is_escaped():
    html = predict("Is `a<b` **so**? <script>alert(1)</script>", 1).fallback()
    assert "<code>a&lt;b</code> <strong>so</strong>? &lt;script&gt;" in html


@pytest.mark.parametrize(
    ("answer", "tolerance", "guess", "right"),
    [(4, 0, 4, True), (4, 0, 5, False), (43.0, "10%", 40, True), (43.0, "10%", 38, False),
     (43.0, 0.5, 43.5, True), (43.0, 0.5, 43.6, False), (0, 0, 0, True), (-2, "50%", -3, True)],
)  # fmt: skip
def test_right_and_wrong_numbers(answer, tolerance, guess, right):
    widget = predict("?", answer, tolerance=tolerance)
    assert widget.correct is None
    widget.state = {"guess": guess, "first": guess}
    assert widget.correct is right


def test_right_and_wrong_choices():
    widget = predict("Which?", "b", choices=["a", "b"])
    widget.state = {"guess": "a", "first": "a"}
    assert widget.correct is False
    widget.state = {"guess": "b", "first": "a"}
    assert widget.correct is True


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"question": ""}, "question"),
        ({"question": 3}, "question"),
        ({"answer": "four"}, "answer"),
        ({"answer": float("nan")}, "answer"),
        ({"answer": True}, "answer"),
        ({"unit": None}, "unit"),
        ({"explain": 3}, "explain"),
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": "10"}, "tolerance"),
        ({"tolerance": float("inf")}, "tolerance"),
        ({"tolerance": None}, "tolerance"),
        ({"choices": ["a"], "answer": "a"}, "choices"),
        ({"choices": "ab", "answer": "a"}, "choices"),
        ({"choices": ["a", "a"], "answer": "a"}, "choices"),
        ({"choices": ["a", "b"]}, "answer"),
        ({"choices": ["a", "b"], "answer": "b", "tolerance": 1}, "tolerance"),
    ],
)
def test_bad_arguments_of_predict_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=name):
        Predict(**{"question": "How many?", "answer": 4, **arguments})


# --- Ladder ---------------------------------------------------------------------------------------


def test_the_ladder_in_words():
    text = make_ladder().summary()
    assert text.startswith("TFLOP/s at 4096: 01 naive 0.50, 04 register tiling 38.0, cuBLAS 50.0.")
    assert text.endswith(f"recorded on {ENVIRONMENT}.")


def test_the_ladder_so_far():
    widget = Ladder(bench_rows(), ENVIRONMENT, until="sgemm_01_naive", size=1024, metric="time_us")
    assert [row["kernel"] for row in widget.config["rows"]] == ["sgemm_01_naive", "cublas"] * 2
    assert widget.config["highlight"] == "sgemm_01_naive"
    assert widget.config["metrics"] == ["tflops", "ratio", "time_us"]
    assert widget.config["sizes"] == ["1024", "4096"]
    assert "01 naive 4.29 ms" in widget.summary()


def test_the_ladder_draws_the_last_steps_and_tells_of_all():
    rows = [{**bench_rows()[0], "kernel": f"sgemm_{n:02}_step"} for n in range(1, 9)]
    widget = Ladder(rows, ENVIRONMENT)
    assert [row["label"] for row in widget._window()] == [f"0{n} step" for n in range(4, 9)]
    assert "01 step" in widget.summary()
    assert len(Ladder(rows, ENVIRONMENT, steps=8)._window()) == 8


def test_a_bench_result_brings_its_own_environment():
    from gemmlab.measurements.rows import BenchResult, BenchRow

    row = BenchRow("cublas", 64, 32, 16, 2.0, (1.9, 2.1), 0.03, 1.0, None, None, None, 20)
    steady = BenchRow("cublas", 64, 32, 16, 2.0, (1.9, 2.1), 0.03, 1.0, None, None, 300.0, 20,
                      mode="sustained")  # fmt: skip
    environment = {"gpu": "some GPU", "date": "2026-01-02T03:04:05", "driver": "1.2"}
    widget = Ladder(BenchResult((row, steady), "live", environment))
    assert widget.config["origin"] == "measured now on some GPU, 2026-01-02, driver 1.2"
    assert widget.config["sizes"] == ["64x32x16"]
    assert len(widget.config["rows"]) == 1


def test_the_ladder_of_another_gpu_has_its_numbers_and_says_whose_they_are():
    slow = [{**row, "tflops": row["tflops"] / 4} for row in bench_rows() if row["M"] == 4096][1:]
    widget = Ladder(bench_rows(), ENVIRONMENT, gpu="big", others={"small": (slow, "a small one")})
    assert "cuBLAS 50.0" in widget.summary() and widget.summary().endswith(f"{ENVIRONMENT}.")
    widget.state["gpu"] = "small"
    assert "01 naive not measured" in widget.summary() and "cuBLAS 12.5" in widget.summary()
    assert widget.summary().endswith("recorded on a small one.")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"gpu": 5}, "gpu"),
        ({"others": {"small": ([], "x")}}, "rows"),
        ({"others": {"small": (bench_rows(), "")}}, "environment"),
        ({"rows": []}, "rows"),
        ({"rows": [{"kernel": "cublas"}]}, "rows"),
        ({"rows": bench_rows() + bench_rows()[:1]}, "rows"),
        ({"environment": " "}, "environment"),
        ({"source": "guessed"}, "source"),
        ({"size": 512}, "size"),
        ({"metric": "flop_per_clk_sm"}, "metric"),
        ({"highlight": "sgemm_09"}, "highlight"),
        ({"until": "cublas"}, "until"),
        ({"steps": 0}, "steps"),
    ],
)
def test_bad_arguments_of_ladder_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=name):
        Ladder(**{"rows": bench_rows(), "environment": ENVIRONMENT, **arguments})


# --- TraceView ------------------------------------------------------------------------------------


def shown(widget):
    line, sample = widget._now()
    return line["code"], line["op"], sample["cost"], sample["least"]


def test_a_trace_opens_where_the_conflicts_are():
    assert shown(trace_view()) == ("sA[a_col + 0][a_row + i] = a.x;", "st.shared", 4, 1)
    assert "Lanes 0 to 3 meet in bank 0" in repr(trace_view())
    code, op, cost, least = shown(naive_trace_view())
    assert ("row * K + k" in code, op, cost, least) == (True, "ld.global", 32, 4)
    assert "1,024 bytes are moved for 128" in repr(naive_trace_view())


def test_a_trace_opens_at_a_line():
    count = next(c for c in traced("sgemm_05_transposed_a").lines if "load4(&sA[k][m])" in c.source)
    by_number = trace_view(line=count.line)
    assert shown(by_number) == (count.source, "ld.shared", 2, 2)
    assert by_number.to_html() == trace_view(line="load4(&sA[k][m])").to_html()
    both = [shown(trace_view(line="store4(&sB", op=op))[1:3] for op in ("ld.global", "st.shared")]
    assert both == [("ld.global", 16), ("st.shared", 4)]


def test_a_trace_opens_at_a_request():
    trace = traced("sgemm_06_swizzled_a")
    views = [TraceView(trace, "&rA[0]", request=n) for n in range(4)]
    assert [view._now()[1]["time"] for view in views] == [0, 4, 8, 12]
    stores = [TraceView(trace, "sA[a_col + 1]", request=n) for n in range(4)]
    assert [view._now()[1]["warp"] for view in stores] == [0, 1, 2, 3]
    assert len({view.png() for view in stores}) == 4


def test_a_trace_view_follows_its_state():
    widget = trace_view()
    lines = widget.config["lines"]
    where = next(i for i, line in enumerate(lines) if line["op"] == "st.global")
    widget.state = {"line": where, "request": 0, "step": 0}
    assert "32 sectors, the minimum is 16: 16 too many" in widget.summary()
    assert widget.png()[:4] == b"\x89PNG"


def test_a_trace_view_holds_what_the_kernel_did():
    trace = traced("sgemm_05_transposed_a")
    lines = trace_view().config["lines"]
    assert [(x["line"], x["op"], x["requests"]) for x in lines] == [
        (x.line, x.op, x.requests) for x in trace.lines
    ]
    held = [sample["addresses"] for line in lines for sample in line["samples"]]
    assert held == [list(sample.addresses) for sample in trace.samples]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"trace": "sgemm_01_naive"}, "trace"),
        ({"line": 1}, "line"),
        ({"line": "no such text"}, "line"),
        ({"line": 48, "op": "ld.global"}, "line"),
        ({"op": "ldmatrix"}, "line"),
        ({"request": 1}, "request"),
        ({"request": True}, "request"),
        ({"request": -1}, "request"),
        ({"caption": 3}, "caption"),
    ],
)
def test_bad_arguments_of_trace_view_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        TraceView(**{"trace": traced("sgemm_05_transposed_a"), **arguments})


def test_a_trace_without_requests_is_refused():
    empty = replace(traced("sgemm_05_transposed_a"), samples=())
    with pytest.raises(ArgumentError, match="trace: it has no request"):
        TraceView(empty)


def test_a_bundle_draws_its_picture_once_for_what_it_shows(monkeypatch):
    drawn = []
    draw = BankMap.png
    monkeypatch.setattr(BankMap, "png", lambda self: drawn.append(self.state) or draw(self))
    widget = BankMap(pattern="row")
    bundle = widget._repr_mimebundle_()
    assert len(drawn) == 1
    # What the page shows is what the notebook shows, there with a line below it.
    shown = base64.b64decode(re.search(r'image/png;base64,([^"]+)"', bundle["text/html"])[1])
    noted = base64.b64decode(bundle["image/png"])
    assert noted == with_note(shown, "Run the cell above to make this live.") != shown
    other = BankMap(pattern="column")
    widget.config, widget.state = other.config, other.state
    assert widget._repr_mimebundle_()["image/png"] != bundle["image/png"]
    assert len(drawn) == 2
