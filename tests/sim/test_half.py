"""__half and __nv_bfloat16: every conversion, and arithmetic rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

# Exponent bits, mantissa bits.
FORMATS = {"f16": (5, 10), "bf16": (8, 7)}
ALL = np.arange(1 << 16, dtype=np.uint16)


def to_float(bits: np.ndarray, dtype: str) -> np.ndarray:
    """The floats that 16-bit patterns stand for, by NumPy and torch."""
    if dtype == "f16":
        return bits.view(np.float16).astype(np.float32)
    return torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16).float().numpy()


def from_float(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "f16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).view(np.uint16)
    return torch.from_numpy(values).bfloat16().view(torch.int16).numpy().view(np.uint16)


def assert_equal_bits(bits: np.ndarray, expected: np.ndarray, dtype: str) -> None:
    """Equal patterns, or both not a number."""
    both_nan = np.isnan(to_float(bits, dtype)) & np.isnan(to_float(expected, dtype))
    wrong = np.flatnonzero((bits != expected) & ~both_nan)
    assert not len(wrong), [(int(i), hex(bits[i]), hex(expected[i])) for i in wrong[:5]]


@pytest.mark.parametrize("dtype", FORMATS)
def test_every_value_widens(kernel_file, dtype):
    out = np.zeros(ALL.size, np.float32)
    kernel_file("half_ops").module(f"widen_{dtype}").launch(ALL, ALL, out, ALL.size, 1, 1)
    np.testing.assert_array_equal(out, to_float(ALL, dtype))
    signs = np.isfinite(out)
    np.testing.assert_array_equal(np.signbit(out)[signs], (ALL >= 0x8000)[signs])


@pytest.mark.parametrize("dtype", FORMATS)
def test_an_element_is_one_access_of_two_bytes(kernel_file, dtype):
    A, C = np.ones(256, np.float32), np.zeros(256, np.uint16)
    trace = kernel_file("half_ops").module(f"narrow_{dtype}").trace(A, A, C, 256, 1, 1)
    counted = [(x.op, x.width_bytes, x.requests, x.sectors) for x in trace.lines]
    assert counted == [("ld.global", 4, 8, 32), ("st.global", 2, 8, 16)]


def floats_to_narrow(dtype: str) -> np.ndarray:
    """All values of the format, the points halfway between neighbours, their own neighbours among
    floats, and patterns at random."""
    every = to_float(ALL, dtype)
    finite = np.sort(every[np.isfinite(every)].astype(np.float64))
    halfway = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
    limit = np.float32(finite[-1] + (finite[-1] - finite[-2]) / 2)
    edges = np.array([limit, -limit], np.float32)
    exact = np.concatenate([every, halfway, edges])
    with np.errstate(over="ignore", invalid="ignore"):
        beside = [np.nextafter(exact, np.float32(side)) for side in (-np.inf, np.inf)]
    noise = np.random.default_rng(2).integers(1 << 32, size=500_000, dtype=np.uint32)
    return np.concatenate([exact, *beside, noise.view(np.float32)]).astype(np.float32)


@pytest.mark.parametrize("dtype", FORMATS)
def test_floats_narrow_to_the_nearest(kernel_file, dtype):
    values = floats_to_narrow(dtype)
    out = np.zeros(values.size, np.uint16)
    kernel_file("half_ops").module(f"narrow_{dtype}").launch(values, values, out, values.size, 1, 1)
    assert_equal_bits(out, from_float(values, dtype), dtype)


def round_exactly(value: Fraction, dtype: str) -> float:
    """The nearest value of the format, ties to even, found in exact arithmetic."""
    exponent_bits, mantissa_bits = FORMATS[dtype]
    bias = (1 << (exponent_bits - 1)) - 1
    if value == 0:
        return 0.0
    exponent = 0  # 2**exponent <= |value| < 2**(exponent + 1)
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, 1 - bias) - mantissa_bits)
    rounded = round(value / step) * step  # Python's round takes ties to even
    largest = (2 - Fraction(1, 1 << mantissa_bits)) * Fraction(2) ** bias
    if abs(rounded) > largest:
        return float("inf") if value > 0 else float("-inf")
    return float(rounded)


def numbers(dtype: str, count: int, seed: int) -> np.ndarray:
    """Finite patterns: any, and some with close exponents, so that sums need rounding."""
    random = np.random.default_rng(seed)
    bits = random.integers(1 << 16, size=count).astype(np.uint16)
    near = from_float((random.standard_normal(count) * 4).astype(np.float32), dtype)
    bits = np.where(random.random(count) < 0.5, bits, near).astype(np.uint16)
    bits[~np.isfinite(to_float(bits, dtype))] = 0x1234
    return bits


@pytest.mark.parametrize("dtype", FORMATS)
def test_arithmetic_is_rounded_once(kernel_file, dtype):
    count = 4096
    A, B = numbers(dtype, count, 3), numbers(dtype, count, 4)
    # Sums that fall on a tie, or just beside one by an addend far below.
    A[:4], A[-4:] = 0x3C01 if dtype == "f16" else 0x3F81, [0x0001, 0x8001, 0, 0x0001]
    B[:4] = A[:4]
    C = np.zeros((10, count), np.uint16)
    kernel_file("half_ops").module(f"arithmetic_{dtype}").launch(A, B, C, count, 1, 1)
    a, b, c = ([Fraction(float(v)) for v in to_float(x, dtype)] for x in (A, B, A[::-1].copy()))
    exact = [
        [x + y for x, y in zip(a, b, strict=True)],
        [x - y for x, y in zip(a, b, strict=True)],
        [x * y for x, y in zip(a, b, strict=True)],
        [x / y if y else None for x, y in zip(a, b, strict=True)],
        [x * y + z for x, y, z in zip(a, b, c, strict=True)],
    ]
    for row, results in enumerate(exact):
        defined = [i for i, value in enumerate(results) if value is not None]
        expected = np.array([round_exactly(results[i], dtype) for i in defined], np.float32)
        np.testing.assert_array_equal(to_float(C[row], dtype)[defined], expected)
    fa, fb = to_float(A, dtype), to_float(B, dtype)
    np.testing.assert_array_equal(to_float(C[5], dtype), np.maximum(fa, fb))
    np.testing.assert_array_equal(to_float(C[6], dtype), np.minimum(fa, fb))
    np.testing.assert_array_equal(C[7], A ^ 0x8000)
    np.testing.assert_array_equal(C[8], A & 0x7FFF)
    compared = 1 * (fa < fb) + 2 * (fa == fb) + 4 * (fa >= fb)
    np.testing.assert_array_equal(to_float(C[9], dtype), compared)


@pytest.mark.parametrize("dtype", FORMATS)
def test_special_values(kernel_file, dtype):
    inf, nan, one = (int(x) for x in from_float(np.array([np.inf, np.nan, 1], np.float32), dtype))
    A = np.array([inf, inf, nan, one, one, 0], np.uint16)
    B = np.array([inf, inf | 0x8000, one, nan, 0, 0], np.uint16)
    C = np.zeros((10, A.size), np.uint16)
    kernel_file("half_ops").module(f"arithmetic_{dtype}").launch(A, B, C, A.size, 1, 1)
    with np.errstate(all="ignore"):
        a, b = to_float(A, dtype), to_float(B, dtype)
        expected = [a + b, a - b, a * b, a / b]
    for row, values in enumerate(expected):
        np.testing.assert_array_equal(to_float(C[row], dtype), values)
    # The one number of a pair is the larger and the smaller one.
    assert C[5, 2] == C[6, 2] == C[5, 3] == C[6, 3] == one
    assert to_float(C[9], dtype)[2] == 8


@pytest.mark.parametrize("dtype", FORMATS)
def test_pairs_move_as_one_word(kernel_file, dtype):
    count = 256
    fixture = kernel_file("half_ops")
    random = np.random.default_rng(5)
    a, b = (random.integers(-8, 9, (count, 2)).astype(np.float32) for _ in range(2))
    A, B = (from_float(x, dtype).reshape(-1) for x in (a, b))
    C = np.zeros((7, count, 2), np.uint16)
    trace = fixture.module(f"pairs_{dtype}").trace(A, B, C, count, 1, 1)
    expected = [
        a + b,
        a * b + a * a,
        np.stack([3 * a[:, 0], 3 * b[:, 1]], axis=1),
        a[:, ::-1],
        np.stack([a[:, 1], b[:, 0]], axis=1),
        a[:, [0, 0]],
        np.maximum(a, b),
    ]
    np.testing.assert_array_equal(to_float(C, dtype), np.array(expected))
    for mark, op, requests in (("load", "ld.global", 16), ("store", "st.global", 8)):
        lines = [x for x in trace.lines if x.line == fixture.lines[f"{dtype} {mark}"]]
        assert [(x.op, x.width_bytes, x.requests) for x in lines] == [(op, 4, requests)]
