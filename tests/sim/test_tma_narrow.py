"""Boxes whose rows are shorter than the span of their swizzle: what lies between rows is free."""

from __future__ import annotations

import numpy as np
import pytest

# Four spans, and of the last row's the chunks up to the second one, which the swizzle puts at 5.
BYTES = 4 * 128 + 6 * 16


def matrices() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(40, dtype=np.float32), np.full(40, np.nan, np.float32)


def test_threads_may_write_between_the_rows(kernel_file):
    A, C = matrices()
    trace = kernel_file("tma_narrow").module("fixed").trace(A, A, C, 5, 8, BYTES)
    assert trace.findings == ()
    np.testing.assert_array_equal(C, A)


def test_threads_may_not_write_in_the_rows(kernel_file):
    fixture = kernel_file("tma_narrow")
    A, C = matrices()
    findings = fixture.module("broken").trace(A, A, C, 5, 8, BYTES).findings
    found = ("write-before-wait", fixture.lines["write"], fixture.lines["load"])
    assert found in {(f.kind, f.line, f.other_line) for f in findings}


@pytest.mark.parametrize("threads", [1, 2])
def test_the_last_row_must_fit(kernel_file, threads):
    A, C = matrices()
    fixture = kernel_file("tma_narrow")
    findings = fixture.module("fixed").trace(A, A, C, 5, 8, BYTES - 16, threads=threads).findings
    assert [(f.kind, f.line) for f in findings] == [("out-of-bounds", fixture.lines["load"])]
    assert f"writes {BYTES} bytes of shared memory" in findings[0].message
