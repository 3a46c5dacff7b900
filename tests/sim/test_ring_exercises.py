"""The judges of exercises about a ring: right answers pass, each wrong one gets its own hint."""

import pytest

from gemmlab import exercises
from gemmlab.core.errors import ArgumentError


def right(c, k, tiles, stages):
    t = c * tiles + k
    return t % stages, t // stages % 2, 1 - t // stages % 2


def test_a_count_that_goes_on_is_right():
    assert exercises.parities(right).solved


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        (lambda c, k, tiles, stages: right(0, k, tiles, stages), "it stands in stage 1, not 0"),
        (lambda c, k, tiles, stages: (right(c, k, tiles, stages)[0], 0, 1), "end of phase 1"),
        (
            lambda c, k, tiles, stages: (*right(c, k, tiles, stages)[:2], 0),
            "nobody has filled stage 0 yet, and wait(0)",
        ),
        (lambda c, k, tiles, stages: (*right(c, k, tiles, stages)[:2], 1), "empty[0] is for the"),
        (lambda c, k, tiles, stages: (*right(c, k, tiles, stages)[:2], 2), "2 at empty[0] is no"),
        (lambda c, k, tiles, stages: (right(c, k, tiles, stages)[0], k % 2, 1), "wait(1) returns"),
        (lambda c, k, tiles, stages: 3, "must return"),
        (lambda c, k, tiles, stages: (0, 1), "must return"),
    ],
)
def test_wrong_parities_get_a_hint(rule, hint):
    verdict = exercises.parities(rule)
    assert not verdict.solved
    assert hint in verdict.message


EVERY_LANE = {
    "__syncwarp();  // all lanes have read": "",
    "if (lane_id == 0) mbarrier_arrive": "mbarrier_arrive",
}
INIT = "smem_addr(&empty[s]), consumers)"


def initialised(count):
    return {**EVERY_LANE, INIT: INIT.replace("consumers", count)}


@pytest.mark.parametrize("changes", [{}, initialised("32 * consumers")])
def test_a_ring_that_works_is_right(changes):
    assert exercises.ring(changes).solved


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        (EVERY_LANE, "for phase 32 of the mbarrier"),
        (initialised("32"), "Nobody can go on"),
        (initialised("64"), "4 warps that read"),  # right for two
        ({"__syncwarp();  // all lanes have read": ""}, "nothing orders the two"),
        ({"sum += dot": "sum -= dot"}, "the sums are wrong, and nothing is found"),
        ({"const int warp_id = threadIdx.x / 32": "const int warp = 0"}, "not declared"),
    ],
)
def test_a_ring_that_does_not_gets_a_hint(changes, hint):
    verdict = exercises.ring(changes)
    assert not verdict.solved
    assert hint in repr(verdict)


@pytest.mark.parametrize("changes", [{"no such text": ""}, None, "text"])
def test_what_is_no_change_of_the_file_is_refused(changes):
    with pytest.raises(ArgumentError):
        exercises.ring(changes)
