"""Reductions, elect.sync, shuffles of half types, setmaxnreg, and atomic operations."""

from __future__ import annotations

import numpy as np


def test_operations_of_a_warp(kernel_file):
    v = np.random.default_rng(6).integers(-1000, 1000, 32).astype(np.int32)
    u = v.view(np.uint32)
    out = np.zeros((14, 32), np.int32)
    trace = kernel_file("warp_ops").module("warp_ops").trace(v, v, out, 1, 1, 1)
    assert trace.findings == ()
    lane = np.arange(32)
    reduced = [v.sum(), v.min(), v.max(), u.min(), u.max()]
    reduced += [op.reduce(u) for op in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
    for row, value in enumerate(reduced):
        np.testing.assert_array_equal(out[row].view(np.uint32), np.uint32(int(value) % 2**32))
    np.testing.assert_array_equal(out[8], np.where(lane < 16, v[:16].sum(), 0))
    np.testing.assert_array_equal(out[9], lane == 0)
    assert (out[10].view(np.uint32) == 0xFFFFFFFF).all()
    np.testing.assert_array_equal(out[11], lane ^ 5)
    below = np.minimum(lane + 1, 31)
    np.testing.assert_array_equal(out[12], below - 100 * below)
    np.testing.assert_array_equal(out[13], lane // 8)


def test_a_warpgroup_may_trade_registers(kernel_file):
    out = np.zeros(256, np.int32)
    trace = kernel_file("warp_ops").module("trade").trace(out, out, out, 1, 1, 1)
    assert trace.findings == ()
    assert out.sum() == 128 * 3


def expected_cells(v: np.ndarray) -> list[tuple[type, list]]:
    """By cell, the type of its elements and what they are after 32 lanes."""
    u = v.view(np.uint32)
    ones = np.where(v > 0, 1, -1).sum()
    pair = [v.sum(), -v.sum()]
    return [
        (np.int32, [v.sum()]),
        (np.uint32, [u.astype(np.uint64).sum() % 2**32]),
        (np.int64, [v.sum()]),
        (np.float32, [v.sum()]),
        (np.float64, [v.sum()]),
        (np.float32, pair),
        (np.float16, [v.sum()]),
        (np.float16, pair),
        ("bf16", [ones]),
        ("bf16", [ones, 64]),
        (np.int32, [-v.sum()]),
        (np.int32, [min(v.min(), 0)]),
        (np.uint32, [0]),
        (np.int64, [min(v.min(), 0)]),
        (np.int32, [max(v.max(), 0)]),
        (np.uint32, [u.max()]),
        (np.uint64, [v.astype(np.int64).view(np.uint64).max()]),
        (np.uint32, [np.bitwise_and.reduce(u)]),
        (np.uint32, [np.bitwise_or.reduce(u)]),
        (np.uint32, [np.bitwise_xor.reduce(u)]),
        (np.int32, [9, 0]),
        (np.int32, [5, 5]),
        (np.int32, [7, 9]),
        (np.float32, [2.5, 1.5]),
    ]


def test_atomic_operations(kernel_file):
    fixture = kernel_file("atomic_ops")
    v = np.random.default_rng(7).integers(-40, 40, 32).astype(np.int32)
    out = np.zeros(48, np.uint64)
    trace = fixture.module("atomics").trace(v, v, out, 1, 1, 1)
    assert trace.findings == ()
    for memory, cells in (("global", out[:24]), ("shared", out[24:])):
        for number, (dtype, values) in enumerate(expected_cells(v)):
            if memory == "shared" and number == 5:
                continue  # pairs of floats: global memory only
            cell = cells[number : number + 1]
            if dtype == "bf16":
                found = (cell.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
            else:
                found = cell.view(dtype)
            assert found[: len(values)].tolist() == values, (memory, number)
    added = {x.op: x for x in trace.lines if x.line == fixture.lines["add"]}
    assert {op: (x.width_bytes, x.requests, x.lanes) for op, x in added.items()} == {
        "atom.shared": (4, 1, 32),
        "atom.global": (4, 1, 32),
    }
