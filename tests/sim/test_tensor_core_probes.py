"""The probes of the tensor cores multiply what they say; their ldmatrix has no bank conflicts."""

from __future__ import annotations

import numpy as np
import pytest
from wgmma_tiles import bits_of

BLOCKS, BK, REPEATS = 2, 64, 3
FED = [(64, 64, 8), (64, 32, 8), (64, 32, 16), (32, 32, 8), (32, 32, 16)]


def numbers(count: int) -> np.ndarray:
    """Small integers: sums of their products are exact."""
    return np.random.default_rng(5).integers(-3, 4, count)


def run(kernel_file, launch: str, threads: int, values: np.ndarray, bfloat: bool = True):
    """The sums of the threads of each block, and the trace."""
    out = np.zeros(8 * BLOCKS + 4 * BLOCKS * threads, np.uint8)
    unused = np.zeros(1, np.float32)
    module = kernel_file("tensor_core_probes").module(launch)
    trace = module.trace(bits_of(values, bfloat), unused, out, REPEATS, 1, 1)
    assert trace.findings == ()
    return out[8 * BLOCKS :].view(np.float32).reshape(BLOCKS, threads), trace


def by_lane(product: np.ndarray) -> np.ndarray:
    """What each lane holds of a product: rows g, g + 8, ... and columns 2q, 2q + 1 of every 8."""
    rows, columns = product.shape
    return product.reshape(rows // 8, 8, columns // 8, 4, 2).sum((0, 2, 4)).ravel()


def swizzled(values: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """A matrix whose 16-byte piece c of row r stands at c ^ (r % 8)."""
    row, column = np.indices((rows, columns))
    return values[row * columns + ((column // 8 ^ row % 8) * 8) + column % 8]


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_registers(kernel_file, dtype):
    threads, tile = 256, 64
    values = numbers(2 * 32 * threads)
    sums, _ = run(kernel_file, f"{dtype}_registers", threads, values, dtype == "bf16")
    words = values.reshape(32, threads, 2)
    expected = []
    for warp in range(threads // 32):
        a, b = np.zeros((tile, 16), int), np.zeros((16, tile), int)
        for lane in range(32):
            g, q = lane // 4, lane % 4
            mine = words[:, 32 * warp + lane]
            for i, r in np.ndindex(tile // 16, 4):
                row, k = 16 * i + g + 8 * (r % 2), 2 * q + 8 * (r // 2)
                a[row, k : k + 2] = mine[4 * i + r]
            for j, r in np.ndindex(tile // 8, 2):
                k = 2 * q + 8 * r
                b[k : k + 2, 8 * j + g] = mine[16 + 2 * j + r]
        expected.append(by_lane(a @ b) * REPEATS * BK // 16)
    np.testing.assert_array_equal(sums, [np.concatenate(expected)] * BLOCKS)


@pytest.mark.parametrize(("wm", "wn", "warps"), FED)
def test_fed_by_ldmatrix(kernel_file, wm, wn, warps):
    values = numbers(48 * 512)
    sums, trace = run(kernel_file, f"fed_{wm}x{wn}_{warps}", 32 * warps, values)
    bm, bn = wm * warps // 4, 4 * wn
    a = swizzled(values, bm, BK)
    b = swizzled(values[bm * BK :], BK, bn)
    expected = []
    for warp in range(warps):
        product = np.zeros((wm, wn), int)
        for repeat in range(REPEATS):
            m, n = (warp // 4 + repeat) * wm % bm, (warp + repeat) * wn % bn
            product += a[m : m + wm] @ b[:, n : n + wn]
        expected.append(by_lane(product))
    np.testing.assert_array_equal(sums, [np.concatenate(expected)] * BLOCKS)
    steps = BLOCKS * warps * (REPEATS * BK // 16 + 1)  # and the load before the loop
    counted = trace.totals()["ldmatrix"]
    assert counted["requests"] == steps * (wm + wn) // 16
    assert counted["wavefronts"] == 4 * counted["requests"]


@pytest.mark.parametrize("copies", ["from_l2", "zeros"])
def test_fed_by_ldmatrix_while_a_tile_is_copied(kernel_file, copies):
    """The sums are those of the loop that copies nothing; a copy takes 4 wavefronts."""
    tile, threads = 48 * 512, 256
    values = numbers((REPEATS + BLOCKS - 1) * tile)  # a block begins one place after the other
    expected, alone = run(kernel_file, "fed_64x64_8", threads, values)
    sums, trace = run(kernel_file, f"fed_64x64_8_{copies}", threads, values)
    np.testing.assert_array_equal(sums, expected)
    totals = trace.totals()
    assert totals["ldmatrix"] == alone.totals()["ldmatrix"]
    assert "cp.async.shared" not in alone.totals()
    copied = totals["cp.async.shared"]
    assert copied["requests"] == BLOCKS * REPEATS * 12 * threads // 32
    assert copied["wavefronts"] == 4 * copied["requests"]
    sectors = 2 * tile // 32 * BLOCKS * REPEATS
    read = totals.get("cp.async.global", {"sectors": 0})["sectors"]
    assert read == (sectors if copies == "from_l2" else 0)


def test_wgmma(kernel_file):
    values = numbers(48 * 512)
    sums, _ = run(kernel_file, "wgmma", 256, values)
    b = swizzled(values[2 * 64 * BK :], 256, BK).T
    expected = []
    for group in range(2):
        product = swizzled(values[group * 64 * BK :], 64, BK) @ b * REPEATS
        expected += [by_lane(product[16 * w : 16 * w + 16]) for w in range(4)]
    np.testing.assert_array_equal(sums, [np.concatenate(expected)] * BLOCKS)
