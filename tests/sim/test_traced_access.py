"""BankMap of what a traced kernel did: the same lanes, the same banks, the same cost."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import Access, Layout, Tile, locate
from gemmlab.layouts.shared.access import OPS
from gemmlab.widgets import BankMap
from gemmlab.widgets.shared.traced_access import _formula

HALVES = {"row_length": 32, "element": 2}


@pytest.fixture
def half_trace(kernel_file):
    """Traces of fixtures/gemm_ldmatrix_mma.cu by the name of the launcher."""
    A, B = (np.ones((64, 64), np.float16) for _ in "AB")
    C = np.zeros((64, 64), np.float32)
    fixture = kernel_file("gemm_ldmatrix_mma")
    return {name: fixture.module(name).trace(A, B, C, 64, 64, 64) for name in ("plain", "f16")}


def all_of(trace, **more):
    """Each sample in shared memory that BankMap can show, with the widget."""
    shown = {}
    for sample in trace.samples:
        if sample.memory != "shared":
            continue
        key = (sample.file, sample.line, sample.op)
        shown[key] = shown.get(key, -1) + 1
        length = more.get("row_length")
        widget = BankMap.of(trace, sample.line, op=sample.op, request=shown[key],
                            **{**more, "row_length": length and length(sample)})  # fmt: skip
        yield sample, widget


def where(widget):
    """Byte address of each lane in the tile."""
    (access,) = widget.state["accesses"]
    access = Access(**access)
    tile = Tile(widget.config["rows"], widget.state["row_length"], widget.state["element"])
    return locate(access, tile, Layout())[: OPS.get(access.op, 32)]


@pytest.mark.parametrize("launcher", ["plain", "f16"])
def test_matrices_of_a_kernel(half_trace, launcher):
    trace = half_trace[launcher]

    def length(sample):
        return 64 if sample.elements[0].startswith("sB") else 32

    seen = set()
    for sample, widget in all_of(trace, row_length=length, element=2):
        steps = np.diff([a for a in sample.addresses if a is not None])
        assert np.array_equal(np.diff(where(widget)), steps)
        assert (sample.addresses[0] - where(widget)[0]) % 128 == 0
        (request,) = widget.requests
        assert (request.wavefronts, request.minimum) == (sample.cost, sample.cost_min)
        seen.add(widget.state["accesses"][0].get("op", ""))
    assert seen == {"", "ldmatrix.x4"}


def test_matrices_in_words(half_trace):
    plain = BankMap.of(half_trace["plain"], "ldmatrix_x4(a[m]", **HALVES)
    assert "row = lane%16; col = lane/16*8" in plain.summary()
    assert "ldmatrix.x4, 16 bytes a row" in plain.summary()
    assert "16 wavefronts, the minimum is 4: 12 too many. In phase 1 lanes 0, 2, 4, 6" in repr(
        plain
    )
    swizzled = BankMap.of(half_trace["f16"], "ldmatrix_x4(a[m]", request=1, **HALVES)
    assert "col = 16 ^ lane/2%4*8 ^ lane/16*8" in swizzled.summary()
    assert "4 wavefronts, the minimum is 4: no conflict." in swizzled.summary()


def test_a_layout_mends_what_the_kernel_did(half_trace):
    """The plain kernel's reads in the layout that the other one has."""
    trace = half_trace["plain"]
    for layout in ("Swizzle<2,3,3>", "col ^ (row/2%4*8)"):
        widget = BankMap.of(
            trace, "ldmatrix_x4(a[m]", layout=layout, goal={"conflicts": 0}, **HALVES
        )
        assert widget.solved
    wide = BankMap.of(trace, "ldmatrix_x4_trans", layout="Swizzle<3,3,3>", row_length=64)
    assert wide.requests[0].conflicts == 0


def test_copies_of_a_kernel(kernel_file):
    A, B, C = sim.integer_matrices(64, 64, 64)
    trace = kernel_file("gemm_cp_async").module("gemm_cp_async").trace(A, B, C, 64, 64, 64)
    widget = BankMap.of(trace, "// [copy B]")
    assert widget.state["accesses"][0]["op"] == "cp.async"
    assert "sB: cp.async, 16 bytes a lane" in widget.summary()
    assert "row = lane/16; col = lane%16*4" in widget.summary()
    assert "depend on its sources, too" in widget.summary()
    assert [len(phase.lanes) for phase in widget.requests[0].phases] == [8] * 4
    # A stage further in the array is the same tile.
    assert widget.config["rows"] == 16


@pytest.mark.parametrize("name", ["sgemm_05_transposed_a", "sgemm_06_swizzled_a",
                                  "sgemm_14_async_double_buffer"])  # fmt: skip
def test_every_shared_request_of_a_step(name):
    trace = sim.trace(name, 128, 128, 32)
    count = 0
    for sample, widget in all_of(trace):
        assert (sample.addresses[0] - where(widget)[0]) % 128 == 0
        assert np.array_equal(np.diff(where(widget)), np.diff(sample.addresses))
        if not sample.op.startswith("cp.async"):
            assert widget.requests[0].wavefronts == sample.cost
        count += 1
    assert count >= 4


def test_rows_far_behind_are_counted_from_a_later_one():
    """A tile has at most 128 rows; eight rows less are the same banks and the same swizzle."""
    from gemmlab.widgets.shared.traced_access import _skipped

    lanes = [300 * 64 + 64 * row for row in range(8)]
    assert _skipped(lanes, 0, 64) == 296 * 64
    assert _skipped(lanes, 0, 40) % (8 * 40) == _skipped(lanes, 0, 40) % 128 == 0
    assert _skipped(lanes[:1], lanes[0] - 64, 64) == 0


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0] * 32, "0"),
        ([5] * 32, "5"),
        (list(range(32)), "lane"),
        ([lane % 16 for lane in range(32)], "lane%16"),
        ([7 + lane // 4 % 4 * 8 for lane in range(32)], "7 + lane/4%4*8"),
        ([lane // 2 % 4 * 8 ^ lane // 16 * 8 for lane in range(32)], "lane/2%4*8 ^ lane/16*8"),
        ([3 * lane for lane in range(32)], "lane%2*3 + lane/2%2*6 + lane/4%2*12 + lane/8%2*24 + "
         "lane/16*48"),
        ([31 ^ lane for lane in range(32)], "31 ^ lane"),
        (list(range(8)), "lane"),
    ],
)  # fmt: skip
def test_formulas_of_lanes(values, text):
    assert _formula(values) == text


def test_a_formula_is_what_it_stands_for():
    rng = np.random.default_rng(1)
    for _ in range(200):
        first, steps = int(rng.integers(64)), rng.integers(0, 64, 5)
        values = [first] * 32
        for bit, step in enumerate(steps):
            values = [v ^ int(step) if n >> bit & 1 else v for n, v in enumerate(values)]
        text = _formula(values)
        if len(text) < 140:
            found = Access(f"row = 0; col = {text}").elements(128, 4)
            assert [col for _, col in found] == values, text


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"line": "ldmatrix_x4(a[m]"}, "row_length"),
        ({"line": "ldmatrix_x4(a[m]", "row_length": 0}, "row_length"),
        ({"line": "ldmatrix_x4(a[m]", "row_length": 32, "element": 3}, "element"),
        ({"line": "ldmatrix_x4(a[m]", "request": 1, **HALVES}, "request"),
        ({"line": "no such text", **HALVES}, "line"),
        ({"line": "float2*)&C", **HALVES}, "line"),  # global memory
        ({"line": "ldmatrix_x4(a[m]", "layout": "twisted", **HALVES}, "layout"),
    ],
)
def test_what_cannot_be_shown_is_refused(half_trace, arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        BankMap.of(half_trace["plain"], **arguments)


def test_a_trace_is_asked_for():
    with pytest.raises(ArgumentError, match="trace: got str"):
        BankMap.of("hgemm_10_mma")


def test_lanes_in_no_order_are_refused():
    with pytest.raises(ArgumentError, match="no simple relation"):
        _formula([n * n for n in range(32)])
