"""Layouts of tensor-core fragments and their widget, without a browser."""

import base64
import json
import re
from dataclasses import FrozenInstanceError
from itertools import product

import pytest

from gemmlab.core.errors import ArgumentError
from gemmlab.evidence import wmma_fragments as fragments
from gemmlab.layouts import FRAGMENTS, Fragment, Holder, fragment
from gemmlab.widgets import FragmentMap

EVERY = pytest.mark.parametrize("f", FRAGMENTS.values(), ids=FRAGMENTS)


@EVERY
def test_both_ways_are_inverse(f):
    places = [(row, column) for row in range(f.rows) for column in range(f.columns)]
    held = [f.holder(*at) for at in places]
    assert [f.element(h.lane, h.register, h.half) for h in held] == places
    halves = (None,) if f.bits == 32 else (0, 1)
    every = {(t, r, h) for t in range(32) for r in range(f.registers) for h in halves}
    assert {(h.lane, h.register, h.half) for h in held} == every
    assert len(held) == len(every)


def ptx_a(k, lane, i):
    """PTX ISA: (row, column) of a_i of A for m16n8k16 and m16n8k8."""
    group, inside = lane >> 2, lane % 4
    if k == 8:
        return (group if i < 2 else group + 8), inside * 2 + (i & 1)
    row = group if 0 <= i < 2 or 4 <= i < 6 else group + 8
    return row, inside * 2 + (i & 1) + (8 if i >= 4 else 0)


def ptx_b(lane, i):
    """PTX ISA: (row, column) of b_i of B."""
    return lane % 4 * 2 + (i & 1) + (8 if i >= 2 else 0), lane >> 2


def ptx_c(lane, i):
    """PTX ISA: (row, column) of c_i of C and D."""
    return (lane >> 2) + (8 if i >= 2 else 0), lane % 4 * 2 + (i & 1)


@pytest.mark.parametrize("k", [8, 16])
def test_operands_are_those_of_the_ptx_isa(k):
    a, b, c = (FRAGMENTS[f"mma.m16n8k{k} {one}"] for one in ("A", "B", "C/D"))
    assert [(f.rows, f.columns, f.registers) for f in (a, b, c)] == [
        (16, k, k // 4), (k, 8, k // 8), (16, 8, 4)
    ]  # fmt: skip
    for lane in range(32):
        assert [a.element(lane, i // 2, i % 2) for i in range(k // 2)] == [
            ptx_a(k, lane, i) for i in range(k // 2)
        ]
        assert [b.element(lane, i // 2, i % 2) for i in range(k // 4)] == [
            ptx_b(lane, i) for i in range(k // 4)
        ]
        assert [c.element(lane, i) for i in range(4)] == [ptx_c(lane, i) for i in range(4)]


def test_known_places():
    a = fragment("mma.m16n8k16 A")
    assert [a.element(5, 0, half) for half in (0, 1)] == [(1, 2), (1, 3)]
    assert a.holder(9, 10) == Holder(5, 3, 0)
    assert fragment("mma.m16n8k16 B").holder(9, 3) == Holder(12, 1, 1)
    assert fragment("mma.m16n8k8 C/D").holder(12, 7) == Holder(19, 3, None)
    assert fragment("ldmatrix.x4").holder(18, 5) == Holder(10, 2, 1)
    assert fragment("ldmatrix.x4.trans").holder(18, 5) == Holder(21, 2, 0)
    assert [Holder(5, 1, half).short() for half in (0, 1, None)] == ["T5 r1.l", "T5 r1.h", "T5 r1"]


def test_ldmatrix_makes_operands():
    """Four matrices, plain, are A; two, of B as columns of k, are B."""
    for count, operand in ((4, "mma.m16n8k16 A"), (2, "mma.m16n8k8 A")):
        load, a = fragment(f"ldmatrix.x{count}"), fragment(operand)
        for i, (top, left) in enumerate(a.origins):
            for at in range(64):
                r, c = divmod(at, 8)
                assert load.holder(8 * i + r, c) == a.holder(top + r, left + c)
    load, b = fragment("ldmatrix.x2.trans"), fragment("mma.m16n8k16 B")
    assert all(load.holder(r, c) == b.holder(r, c) for r in range(16) for c in range(8))


WMMA = [f for f in FRAGMENTS.values() if f.wmma]


@pytest.mark.parametrize("f", WMMA, ids=lambda f: f.name)
def test_elements_of_wmma(f):
    """Two of a register are neighbours in x[]; those of __half repeat until there are 16."""
    for row in range(f.rows):
        for column in range(f.columns):
            at = f.holder(row, column)
            assert at.x == (at.register if f.bits == 32 else 2 * at.register + at.half)
            assert f.x(at.lane, at.x) == (row, column)
            assert f.x(at.lane, at.x + (f.repeats - 1) * f.elements) == (row, column)
    assert f.elements * f.repeats == (8 if "C/D" in f.name else 16)
    assert 32 * f.elements == f.rows * f.columns


@pytest.mark.parametrize(("shape", "down", "right"), [("m16n16k16", 0, 8), ("m32n8k16", 16, 0)])
def test_wmma_is_two_mma(shape, down, right):
    """Side by side, with one A, or one above the other, with one B."""
    a, b, c = (fragment(f"mma.m16n8k16 {part}") for part in ("A", "B", "C/D"))
    A, B, C = (fragment(f"wmma.{shape} {part}") for part in ("A", "B", "C/D fp32"))
    for n, lane in product((0, 1), range(32)):
        for i in range(8):
            row, column = a.element(lane, i // 2, i % 2)
            assert A.x(lane, i + 8 * n * (down > 0)) == (row + n * down, column)
        for i in range(4):
            row, column = b.element(lane, i // 2, i % 2)
            assert B.x(lane, i + 4 * n * (right > 0)) == (row, column + n * right)
            row, column = c.element(lane, i)
            assert C.x(lane, i + 4 * n) == (row + n * down, column + n * right)


def test_wmma_of_8_rows_is_that_of_8_columns_transposed():
    for mine, other in (("A", "B"), ("B", "A"), ("C/D fp32", "C/D fp32"), ("C/D fp16", "C/D fp16")):
        f, turned = fragment(f"wmma.m8n32k16 {mine}"), fragment(f"wmma.m32n8k16 {other}")
        for lane in range(32):
            for i in range(f.elements):
                assert f.x(lane, i) == turned.x(lane, i)[::-1]


RECORDINGS = sorted(fragments.recording().parent.glob("wmma_*.json"))


@pytest.mark.skipif(
    not RECORDINGS, reason="no GPU's wmma fragments are recorded: run tools/evidence/record_wmma.py"
)
def test_wmma_is_what_gpus_have():
    for path in RECORDINGS:
        found = fragments.recorded_fragments(path)
        kinds = [{"name": one.name, "dtype": one.dtype, "order": one.order} for one in found]
        assert kinds == fragments.kinds()
        assert [one for one in found if not one.agrees] == []


def test_addresses():
    load = fragment("stmatrix.x2")
    assert [load.address_lane(row) for row in range(16)] == list(range(16))
    assert [load.addressed_row(lane) for lane in (0, 15, 16, 31)] == [0, 15, None, None]
    assert fragment("mma.m16n8k16 A").address_lane(3) is None
    assert fragment("mma.m16n8k16 A").addressed_row(3) is None


def test_words():
    a, load = fragment("mma.m16n8k16 A"), fragment("ldmatrix.x2.trans")
    assert a.describe(1, 3) == "Row 1 of A, column 3: lane 5, register 0, high half."
    assert a.describe_lane(5).startswith("Lane 5 holds r0 row 1, columns 2 and 3; r1 row 9,")
    assert load.describe(9, 3) == (
        "Row 1 of matrix 1, column 3: lane 12, register 1, high half. The row's address comes from "
        "lane 9."
    )
    assert load.describe_lane(9).endswith("It gives the address of row 1 of matrix 1.")
    assert load.describe_lane(16).endswith("Its address is not used.")
    c, sums = fragment("mma.m16n8k8 C/D"), fragment("wmma.m8n32k16 C/D fp16")
    assert c.describe(1, 3) == "Row 1 of C/D, column 3: lane 5, register 1."
    assert sums.describe(1, 11) == "Row 1 of C/D, column 11: lane 12, x[3]."
    assert fragment("wmma.m32n8k16 B").describe_lane(5) == (
        "Lane 5 holds x[0], x[1] rows 2 and 3, column 1; x[2], x[3] rows 10 and 11, column 1. "
        "In a fragment of __half, x[4] to x[15] repeat them."
    )
    assert Fragment("X", ((0, 0),), "").describe(0, 1).startswith("Row 0 of X, column 1: lane 0,")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: fragment("mma.m16n8k32 A"), "name"),
        (lambda: fragment(3), "name"),
        (lambda: fragment("ldmatrix.x4").holder(32, 0), "row"),
        (lambda: fragment("ldmatrix.x4").holder(0, -1), "column"),
        (lambda: fragment("ldmatrix.x4").holder(True, 0), "row"),
        (lambda: fragment("ldmatrix.x4").element(32, 0, 0), "lane"),
        (lambda: fragment("ldmatrix.x2").element(0, 2, 0), "register"),
        (lambda: fragment("ldmatrix.x2").element(0, 1), "half"),
        (lambda: fragment("mma.m16n8k8 C/D").element(0, 1, 0), "half"),
        (lambda: fragment("wmma.m16n16k16 A").x(32, 0), "lane"),
        (lambda: fragment("wmma.m16n16k16 A").x(0, 16), "i"),
        (lambda: fragment("wmma.m16n16k16 C/D fp32").x(0, 8), "i"),
        (lambda: fragment("ldmatrix.x1").address_lane(8), "row"),
        (lambda: fragment("ldmatrix.x1").addressed_row(32), "lane"),
        (lambda: Fragment("X", ((0, 0), (0, 16)), ""), "origins"),
        (lambda: Fragment("X", (), ""), "origins"),
        (lambda: Fragment("X", ((0, 0),), "", bits=8), "bits"),
    ],
)
def test_what_there_is_not_is_refused(call, name):
    with pytest.raises(ArgumentError, match=f"^{name}: got .*(allow|expected)"):
        call()


def test_layouts_do_not_change():
    with pytest.raises(FrozenInstanceError):
        fragment("ldmatrix.x1").bits = 32


@pytest.mark.slow
def test_a_bundle_has_four_faces_and_little_weight():
    widget = FragmentMap(list(FRAGMENTS), lane=5, caption="Who holds `A[1][2]`?")
    bundle = widget._repr_mimebundle_()
    assert set(bundle) == {
        "application/vnd.jupyter.widget-view+json", "text/html", "image/png", "text/plain"
    }  # fmt: skip
    html = bundle["text/html"]
    assert len(html) < 84_000
    assert len(FragmentMap("ldmatrix.x4.trans", colour="register", lane=31).to_html()) < 70_000
    data = json.loads(base64.b64decode(re.search(r'atob\("([^"]+)"\)', html)[1]))
    assert data == [widget.key(), widget.config, widget.state]
    module = base64.b64decode(re.search(r"text/javascript;base64,([^\"]+)", html)[1]).decode()
    assert not re.findall(r"https?://|^import |fetch\(", module, re.MULTILINE)
    again = FragmentMap(list(FRAGMENTS), lane=5, caption="Who holds `A[1][2]`?")
    assert again.to_html() == html


@pytest.mark.slow
def test_the_page_without_scripts_says_who_holds_what():
    html = FragmentMap().fallback()
    assert "16 x 16 elements of 16 bits, 4 registers a lane. Row 1 of A, column 2: lane 5," in html
    assert (
        "Lane 5 holds r0 row 1, column 2; r1 row 1, column 3"
        in FragmentMap("mma.m16n8k8 C/D", lane=5).fallback()
    )


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"which": []}, "which"), ({"which": "A"}, "which"), ({"which": ["ldmatrix.x3"]}, "which"),
        ({"which": ["ldmatrix.x1"] * 2}, "which"), ({"colour": "bank"}, "colour"),
        ({"lane": 32}, "lane"), ({"lane": True}, "lane"), ({"caption": 3}, "caption"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        FragmentMap(**arguments)
