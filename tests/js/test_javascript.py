"""The widgets' JavaScript computes what the Python computes, messages included; needs node."""

import random
from dataclasses import asdict
from pathlib import Path

import pytest

import gemmlab.widgets
from gemmlab import sim
from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import PRESETS, Access, Layout, Swizzle, Tile, describe, locate
from gemmlab.layouts.shared import formula
from gemmlab.layouts.shared.access import OPS, request
from gemmlab.sim.places import Place, element
from gemmlab.widgets import BankMap, TraceView, predict
from gemmlab.widgets.shared.sector_picture import sectors
from gemmlab.widgets.trace_view import served

WIDGETS = Path(gemmlab.widgets.__file__).parent


def differences(ask, kind, inputs, expected):
    found = ask([(kind, item) for item in inputs])
    return [
        (item, got, want) for item, got, want in zip(inputs, found, expected, strict=True)
        if got != want
    ]  # fmt: skip


# --- banks and layouts ----------------------------------------------------------------------------

PATTERNS = [
    *PRESETS.values(),
    "row = lane%8; col = lane/8*8",
    "row = lane>>2; col = (lane&3)*n ^ 4",
    "row = lane - 2; col = 0",
    "row = 3; col = lane*lane%L",
    "g = lane/16; row = g*4 + lane%4; col = lane/4%4*4",
    "row = lane%{a}*{b}; col = lane/{a}*n",
    "row = lane/{a}; col = lane%{a}*{b}",
]


def random_layout(rng):
    kind = rng.choice(["none", "pad", "swizzle", "formula"])
    b = rng.randint(0, 4)
    return {
        "kind": kind,
        "pad": rng.randint(0, 8),
        "swizzle": [b, rng.randint(0, 4), rng.randint(b, 7)],
        "formula": rng.choice(
            ["col", "col ^ (row/4*8)", "col ^ row%8*4", "L-1-col", "col*2", "col/2", "(col+row)%L",
             "col ^"]
        ),
    }  # fmt: skip


def random_access(rng):
    width = rng.choice([2, 4, 8, 16])
    element = rng.choice([e for e in (1, 2, 4, 8) if e <= width])
    pattern = rng.choice(PATTERNS).format(a=rng.choice([2, 4, 8]), b=rng.randint(1, 4))
    ops = ["", "cp.async"][: 1 + (width > 2)] + [op for op in OPS if width == 16]
    return {
        "access": {
            "pattern": pattern,
            "width": width,
            "store": rng.random() < 0.5,
            "op": rng.choice(["", *ops]),
        },
        "tile": {
            "rows": rng.choice([8, 16, 32, 40]),
            "row_length": rng.choice([16, 32, 48, 64, 128]),
            "element": element,
        },
        "layout": random_layout(rng),
    }


def python_access(case):
    try:
        layout = Layout(**{**case["layout"], "swizzle": Swizzle(*case["layout"]["swizzle"])})
        access, tile = Access(**case["access"]), Tile(**case["tile"])
        found = request(access, tile, layout)
    except ArgumentError as error:
        return str(error)
    words = [
        [[w.index, w.bank, w.wavefront, list(w.lanes)] for w in phase.words]
        for phase in found.phases
    ]
    lanes = OPS.get(access.op, 32)
    addresses = [int(a) for a in locate(access, tile, layout)[:lanes]]
    return [addresses, words, found.wavefronts, found.conflicts, describe(found)]


@pytest.mark.twin("shared/banks")
def test_random_accesses_agree(ask):
    rng = random.Random(1)
    cases = [random_access(rng) for _ in range(500)]
    cases[0]["tile"] |= {"rows": 3, "row_length": 128}
    cases[0]["layout"] |= {"kind": "swizzle", "swizzle": [1, 7, 1]}
    for case in cases:
        # Python refuses a broken formula even where the layout does not use it.
        if case["layout"]["kind"] != "formula":
            case["layout"]["formula"] = "col"
    expected = [python_access(case) for case in cases]
    assert not differences(ask, "access", cases, expected)
    # The draw is worth something: many that work, and every kind of refusal.
    assert sum(isinstance(answer, list) for answer in expected) > 100
    refusals = " ".join(answer for answer in expected if isinstance(answer, str))
    for word in ("outside the tile", "parts the", "misaligned", "outside the row", "same place",
                 "out of the tile", "found the end"):  # fmt: skip
        assert word in refusals, word


# --- formulas -------------------------------------------------------------------------------------


def python_formula(text, env):
    try:
        return formula.expression(text, env)(env)
    except ArgumentError as error:
        return str(error)


@pytest.mark.twin("shared/formula")
def test_random_formulas_agree(ask):
    rng = random.Random(2)
    pieces = ["lane", "row", "x", "0", "7", "31", "65536", *"+-*/%&^|()= ", "<<", ">>", "$", "-"]
    cases = []
    for _ in range(1500):
        if rng.random() < 0.4:
            text = "".join(rng.choice(pieces) for _ in range(rng.randint(0, 9)))
        else:
            text = rng.choice(["lane", "row", "-5"])
            for _ in range(rng.randint(0, 6)):
                op = rng.choice(["+", "-", "*", "/", "%", "&", "^", "|", "<<", ">>"])
                text += f" {op} {rng.choice(['lane', 'row', '3', '-2', '(row+1)', '12345'])}"
        cases.append({"text": text, "env": {"lane": rng.randint(0, 31), "row": rng.randint(0, 9)}})
    expected = [python_formula(**case) for case in cases]
    assert not differences(ask, "formula", cases, expected)
    assert sum(isinstance(answer, int) for answer in expected) > 400


@pytest.mark.parametrize(
    "text",
    ["row = 1; col = 2", "row = lane/4; col = lane%4*n;", "row = 1", "a = 3; row = a; col = a*a",
     "row = 1 col = 2", "3 = 4", "", ";", "row = col; col = 1", "row ="],
)  # fmt: skip
def test_programs_agree(ask, text):
    try:
        found = formula.program(text, ("lane", "n", "L"), ("row", "col"))(
            {"lane": 13, "n": 4, "L": 128}
        )
        expected = [found["row"], found["col"]]
    except ArgumentError as error:
        expected = str(error)
    assert ask([("program", {"text": text})]) == [expected]


# --- goals, guesses, rows -------------------------------------------------------------------------


@pytest.mark.parametrize("goal", [{"conflicts": 0}, {"wavefronts": 3, "layout": "swizzle"}])
def test_goals_agree(ask, goal):
    accesses = [Access("transposed A store", 4, True), Access("float4 fragment of A", 16)]
    widget = BankMap(accesses=accesses, row_length=128, rows=16, goal=goal)
    start, cases, expected = widget.state, [], []
    for change in (
        {}, {"kind": "pad", "pad": 2}, {"kind": "pad", "pad": 4}, {"kind": "swizzle"},
        {"kind": "swizzle", "swizzle": [2, 3, 6]}, {"kind": "formula", "formula": "col ^"},
        {"kind": "formula", "formula": "col ^ (row/4*8)"},
    ):  # fmt: skip
        widget.state = {**start, **change}
        cases.append({"config": widget.config, "state": widget.state})
        expected.append(widget.solved)
    assert not differences(ask, "goal", cases, expected)
    assert True in expected
    assert False in expected


def test_guesses_agree(ask):
    cases, expected = [], []
    for answer, tolerance in ((4, 0), (43.0, "10%"), (0.3, 0.1), (-2, "50%"), (0, 0)):
        widget = predict("?", answer, tolerance=tolerance)
        for guess in (4, 5, 0, 38.7, 38.69, 47.3, 0.2, 0.4, 0.41, -1, -3, -3.1):
            widget.state = {"guess": guess, "first": guess}
            cases.append({"config": widget.config, "guess": guess})
            expected.append(widget.correct)
    assert not differences(ask, "guess", cases, expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [("4", 4), (" 1,024 ", 1024), ("1_000_000", 1000000), ("0.5", 0.5), (".5", 0.5), ("-3", -3),
     ("1e3", 1000), ("", None), ("four", None), ("1,02", None), ("3 4", None), ("1e", None),
     ("0x10", None), ("Infinity", None)],
)  # fmt: skip
def test_what_counts_as_a_number(ask, text, value):
    assert ask([("number", {"text": text})]) == [value]


@pytest.mark.parametrize(
    ("answer", "guess", "said"),
    [(4, 8, " That is 2 times the answer."), (4, 1, " That is 1/4 of the answer."), (4, 5, ""),
     (4, -1, ""), (0, 3, "")],
)  # fmt: skip
def test_how_far_off_a_guess_is(ask, answer, guess, said):
    config = predict("?", answer).config
    assert ask([("distance", {"config": config, "guess": guess})]) == [said]


def test_a_row_of_the_ladder_in_words(ask):
    row = {"kernel": "k", "label": "06 swizzled A", "size": "4096", "baseline": False}
    row |= {"tflops": 43.06, "ratio": 0.8412, "flop_per_clk_sm": 164.7, "time_us": 3192.0}
    assert ask([("row", {"row": row}), ("row", {"row": {**row, "flop_per_clk_sm": None}})]) == [
        "06 swizzled A, 4096: 43.1 TFLOP/s, 84.1 % of cuBLAS, 165 FLOP per clock and SM, 3.19 ms.",
        "06 swizzled A, 4096: 43.1 TFLOP/s, 84.1 % of cuBLAS, 3.19 ms.",
    ]


@pytest.mark.parametrize("name", sorted(file.parent.name for file in WIDGETS.glob("*/widget.js")))
def test_each_module_can_be_started_in_two_ways(ask, name):
    assert ask([("faces", {"name": name})]) == [["function", "function"]]


# --- traces ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["sgemm_01_naive", "sgemm_06_swizzled_a"])
def view(request):
    """The widget of a trace with lanes that take no part (naive) or many shapes."""
    M, N, K = (33, 9, 7) if request.param == "sgemm_01_naive" else (128, 128, 32)
    return TraceView(sim.trace(request.param, M, N, K))


def states(widget):
    return [
        {"line": i, "request": j, "step": 0}
        for i, line in enumerate(widget.config["lines"])
        for j in range(len(line["samples"]))
    ]


def test_requests_of_a_trace_are_served_as_in_python(ask, view):
    cases = [{"config": view.config, "state": state} for state in states(view)]
    expected = []
    for state in states(view):
        line = view.config["lines"][state["line"]]
        sample = line["samples"][state["request"]]
        if line["memory"] == "global":
            expected.append([sample["cost"]] * 2)
            continue
        request = served(sample["addresses"], line["width"], line["op"])
        words = [
            [[w.index, w.bank, w.wavefront, list(w.lanes)] for w in phase.words]
            for phase in request.phases
        ]
        expected.append([sample["cost"], sample["least"], words])
    assert not differences(ask, "sample", cases, expected)


def test_places_have_the_same_names(ask):
    rng = random.Random(3)
    places = (
        Place("A", "global", 4096, 4 * 6 * 10, (6, 10)),
        Place("sA", "shared", 4096, 2 * 3 * 4 * 8, (3, 4, 8)),
        Place("sum", "shared", 4, 4, (1,)),
        Place("smem", "shared", 8192, 1000),
    )
    plain = [{**asdict(place), "shape": list(place.shape)} for place in places]
    cases, expected = [], []
    for _ in range(300):
        memory = rng.choice(["shared", "global"])
        address = rng.choice(
            [4096 + rng.randint(-4, 250), rng.randint(0, 10), rng.randint(8190, 9200)]
        )
        cases.append({"places": plain, "memory": memory, "address": address})
        expected.append(element(places, memory, address))
    assert not differences(ask, "element", cases, expected)


def test_sectors_agree(ask):
    rng = random.Random(4)
    cases, expected = [], []
    for _ in range(200):
        width = rng.choice([1, 2, 4, 8, 16])
        slots = rng.choice([4, 40, 400])
        addresses = [
            None if rng.random() < 0.2 else rng.randrange(slots) * width for _ in range(32)
        ]
        cases.append({"addresses": addresses, "width": width})
        answer = []
        for index, words in sectors(addresses, width).items():
            here = [n for n, a in enumerate(addresses) if a is not None and a // 32 == index]
            used = len({addresses[n] for n in here}) * width
            answer.append([index, here, used, words])
        expected.append(answer)
    assert not differences(ask, "sectors", cases, expected)


@pytest.mark.parametrize(
    ("requests", "sample", "said"),
    [
        (16, (0, 0, 16), "the 1st time. All 16 requests of the line have this shape."),
        (1, (1, 0, 1), "the 2nd time: the line's only request."),
        (2048, (12, 3, 1024), "the 13th time. 1,024 of the line's 2,048 requests have this shape."),
        (99, (22, 3, 0), "the 23rd time. The line makes 99 requests of many shapes; these are the "
         "first ones and the most expensive one."),
    ],
)  # fmt: skip
def test_whose_request_it_is_in_words(ask, requests, sample, said):
    time, warp, alike = sample
    given = {"time": time, "warp": warp, "block": 5, "requests": alike}
    case = {"line": {"samples": [given], "requests": requests}, "sample": given}
    assert ask([("company", case)]) == [f"Block 5, warp {warp}, {said}"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("shared", 16, 64, 16), "▲ 4 wavefronts, least 1"),
        (("shared", 16, 16, 16), "1 wavefront"),
        (("global", 3, 7, 7), "2.33 sectors"),
    ],
)
def test_what_a_line_costs_in_words(ask, line, said):
    given = dict(zip(("memory", "requests", "cost", "least"), line, strict=True))
    assert ask([("cost", {"line": given})]) == [said]


def test_what_is_pointed_at_in_words(ask):
    trace = sim.trace("sgemm_06_swizzled_a", 128, 128, 32)

    def told(target, *where, **more):
        widget = TraceView(trace, *where, **more)
        return ask([("tell", {"config": widget.config, "state": widget.state, "target": target})])[
            0
        ]

    starts = {place.name: place.start for place in trace.places}
    assert told({"lane": 9, "lanes": [9]}, "sA[a_col + 1]") == (
        f"Lane 9 stores 4 bytes at sA[5][10], byte {starts['sA'] + 4 * (5 * 128 + 10):,} of "
        "shared memory: bank 10, wavefront 1."
    )
    assert told({"lane": 17, "lanes": [17]}, "&rB[4]") == (
        f"Lane 17 loads 16 bytes at sB[0][12], byte {starts['sB'] + 48:,} of shared memory: "
        "banks 12 to 15, wavefront 1 of phase 3."
    )
    assert told({"lane": 5, "lanes": [5]}, "write_c4") == (
        "Lane 5 stores 16 bytes at C[8][8], byte 4,128 of C."
    )
