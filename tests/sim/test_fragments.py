"""The layouts of fragments are what the simulator moves, register by register."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gemmlab.core.errors import ArgumentError, MeasurementError
from gemmlab.evidence import wmma_fragments as fragments
from gemmlab.evidence.wmma_fragments import Measured, measured_fragment
from gemmlab.layouts import FRAGMENTS, Fragment

FORMS = [(dtype, k) for dtype in ("f16", "bf16") for k in (16, 8)]
MOVES = [(count, trans) for count in (1, 2, 4) for trans in (0, 1)]
PLACES = np.random.default_rng(6).permutation(40)[:32].astype(np.int32)


def bits(values: np.ndarray, dtype: str) -> np.ndarray:
    """Small integers as 16 bits."""
    if dtype == "f16":
        return values.astype(np.float16).view(np.uint16)
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def spread(f: Fragment, matrix: np.ndarray, registers: int) -> np.ndarray:
    """The elements of a matrix in the registers of 32 lanes, as `f` says."""
    if f.bits == 32:
        out = np.zeros((32, registers), matrix.dtype)
    else:
        out = np.zeros((32, registers, 2), np.uint16)
    for (row, column), value in np.ndenumerate(matrix):
        at = f.holder(row, column)
        out[(at.lane, at.register) if at.half is None else (at.lane, at.register, at.half)] = value
    return out.reshape(32, -1)


def multiplied(kernel_file, dtype: str, k: int, a, b, c) -> np.ndarray:
    """D of one mma whose operands were spread by the layouts."""
    A, B, D = (FRAGMENTS[f"mma.m16n8k{k} {one}"] for one in ("A", "B", "C/D"))
    out = spread(D, c.astype(np.float32), 4)
    given = spread(A, bits(a, dtype), 4), spread(B, bits(b, dtype), 2)
    trace = kernel_file("fragments").module(f"{dtype}_k{k}").trace(*given, out, 1, 1, 1)
    assert trace.findings == ()
    rows, columns = np.indices((16, 8))
    held = [D.holder(int(r), int(n)) for r, n in zip(rows.flat, columns.flat, strict=True)]
    return np.array([out[h.lane, h.register] for h in held]).reshape(16, 8)


@pytest.mark.parametrize(("dtype", "k"), FORMS)
def test_operands_of_mma(kernel_file, dtype, k):
    random = np.random.default_rng(7)
    a, b, c = (random.integers(-9, 10, size) for size in ((16, k), (k, 8), (16, 8)))
    np.testing.assert_array_equal(multiplied(kernel_file, dtype, k, a, b, c), a @ b + c)


def lane_and_register(f: Fragment) -> np.ndarray:
    """For each element 8 * lane + 2 * register + half; at most 255, exact in every type."""
    at = [[f.holder(r, c) for c in range(f.columns)] for r in range(f.rows)]
    return np.array([[8 * h.lane + 2 * h.register + (h.half or 0) for h in row] for row in at])


@pytest.mark.parametrize(("dtype", "k"), FORMS)
@pytest.mark.parametrize("operand", ["A", "B"])
def test_lanes_and_registers_through_mma(kernel_file, dtype, k, operand):
    """Ids of lane, register and half, multiplied by parts of the unit matrix."""
    ids, zero = lane_and_register(FRAGMENTS[f"mma.m16n8k{k} {operand}"]), np.zeros((16, 8), int)
    if operand == "A":
        parts = [np.eye(k, 8, -n, dtype=int) for n in range(0, k, 8)]
        found = [multiplied(kernel_file, dtype, k, ids, part, zero) for part in parts]
        np.testing.assert_array_equal(np.hstack(found), ids)
    else:
        found = multiplied(kernel_file, dtype, k, np.eye(16, k, dtype=int), ids, zero)
        np.testing.assert_array_equal(found[:k], ids)


@pytest.mark.parametrize(("count", "trans"), MOVES)
def test_ldmatrix(kernel_file, count, trans):
    f = FRAGMENTS[f"ldmatrix.x{count}{'.trans' * trans}"]
    rows = np.arange(256, dtype=np.uint16).reshape(32, 8)  # of lane n: 8 n + column
    out = np.full((32, 4), 0xABCDABCD, np.uint32)
    module = kernel_file("fragments").module(f"load{'_trans' * trans}")
    trace = module.trace(rows, PLACES, out, count, 1, 1)
    assert trace.findings == ()
    got = out.view(np.uint16).reshape(32, 4, 2)
    assert (out[:, count:] == 0xABCDABCD).all()
    for lane, register, half in np.ndindex(32, count, 2):
        row, column = f.element(lane, register, half)
        assert got[lane, register, half] == 8 * f.address_lane(row) + column


@pytest.mark.parametrize(("count", "trans"), MOVES)
def test_stmatrix(kernel_file, count, trans):
    f = FRAGMENTS[f"stmatrix.x{count}{'.trans' * trans}"]
    ids = 1 + np.arange(256, dtype=np.uint16).reshape(32, 4, 2)  # 1 + 8 lane + 2 register + half
    out = np.full((40, 8), 9999, np.uint16)
    registers = ids.view(np.uint32).reshape(32, 4)
    module = kernel_file("fragments").module(f"store{'_trans' * trans}")
    trace = module.trace(registers, PLACES, out, count, 1, 1)
    assert trace.findings == ()
    expected = np.zeros((40, 8), np.uint16)
    for row, column in np.ndindex(f.rows, 8):
        at = f.holder(row, column)
        expected[PLACES[f.address_lane(row)], column] = ids[at.lane, at.register, at.half]
    np.testing.assert_array_equal(out, expected)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")


@pytest.mark.parametrize("kind", fragments.kinds(), ids=lambda kind: " ".join(kind.values()))
def test_wmma_as_the_probe_measures_it(no_gpu, kind):
    found = measured_fragment(**kind)
    assert found.agrees
    assert found.origin == ""
    assert Measured.from_dict(json.loads(json.dumps(found.to_dict())), "") == found


def test_all_of_wmma_is_asked_for():
    """A and B in two types, C/D in a type each, all by rows and by columns."""
    assert len(fragments.kinds()) == 3 * (2 * 2 + 2) * 2
    assert {kind["name"] for kind in fragments.kinds()} == {
        f.name for f in FRAGMENTS.values() if f.wmma
    }


def test_what_was_measured_is_shown(no_gpu, monkeypatch, tmp_path):
    path = tmp_path / "wmma.json"
    monkeypatch.setattr(fragments, "recording", lambda: path)
    found = measured_fragment("wmma.m32n8k16 B")
    assert "No GPU's is recorded." in repr(found)
    assert repr(found).splitlines()[6].split() == ["5", "2,1", "3,1", "10,1", "11,1"]
    assert "x[4] to x[15] hold x[0] to x[3] again." in repr(found)
    assert repr(measured_fragment("wmma.m32n8k16 B", dtype="bfloat16")).count("again") == 0
    data = {"environment": {"gpu": "NVIDIA H200"}, "fragments": [found.to_dict()]}
    path.write_text(json.dumps(data))
    assert "Recorded on NVIDIA H200: the same." in found._repr_html_()
    assert fragments.recorded_fragments()[0].elements == found.elements
    other = Measured(found.name, found.dtype, found.order, found.elements[::-1])
    assert "The recorded one is another." in repr(other)
    assert "FragmentMap shows another layout." in repr(other)


def test_a_recording_that_is_not_to_be_read(tmp_path):
    path = tmp_path / "wmma.json"
    for text in (None, "{", "[]", '{"environment": {}}'):
        if text is not None:
            path.write_text(text)
        with pytest.raises(MeasurementError, match=r"wmma\.json: .*record_wmma"):
            fragments.recorded_fragments(path)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"name": "mma.m16n8k16 A"}, "name"),
        ({"dtype": "float32"}, "dtype"),
        ({"name": "wmma.m16n16k16 C/D fp32", "dtype": "float16"}, "dtype"),
        ({"order": "rows"}, "order"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}: got .*, allowed are"):
        measured_fragment(**arguments)
