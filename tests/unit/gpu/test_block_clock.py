"""What the clocks that blocks have read come to."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab.core.errors import MeasurementError
from gemmlab.gpu.block_clock import reading

GHZ = 1.5  # cycles a nanosecond


def line(sm: int, begin_ns: int, end_ns: int, counter: int = 0) -> list[int]:
    """A block's line on an SM whose counter of cycles stood at `counter` when the timer was 0."""
    cycles = [counter + round(GHZ * ns) for ns in (begin_ns, end_ns)]
    return [sm, cycles[0], begin_ns, cycles[1], end_ns]


def test_counters_of_sms_need_not_agree():
    lines = [line(1, 1000, 3000, 10**9), line(0, 1100, 2000), line(0, 2100, 3400)]
    found = reading(np.array(lines), 1000)
    assert found.mhz == pytest.approx(1500)
    assert found.cycles == pytest.approx(2400 * GHZ)  # from the first begin to the last end


def test_a_coarse_timer_does_not_move_the_clock_of_short_blocks():
    rng = np.random.default_rng(0)
    lines = []
    for sm in range(8):
        ends = np.cumsum(rng.uniform(900, 1500, 300))
        for begin, end in zip([0, *ends[:-1]], ends, strict=True):
            row = line(sm, round(begin), round(end))
            lines.append([row[0], row[1], row[2] // 1024 * 1024, row[3], row[4] // 1024 * 1024])
    assert reading(np.array(lines), 0).mhz == pytest.approx(1500, rel=0.005)


def test_an_earlier_launch_whose_lines_were_written_over_counts():
    found = reading(np.array([line(0, 5000, 6000)]), 1000)
    assert found.cycles == pytest.approx(5000 * GHZ)


@pytest.mark.parametrize(
    ("lines", "said"),
    [(np.zeros((0, 5), np.int64), "no block"), (np.array([line(0, 5, 5)]), "one step")],
)
def test_nothing_to_read_is_said(lines, said):
    with pytest.raises(MeasurementError, match=said):
        reading(lines, 0)
