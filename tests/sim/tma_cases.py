"""Steps of Part III with a producer: traced, and on few SMs."""

from __future__ import annotations

from step_cases import StepCase

from gemmlab import sim
from gemmlab.core.precision import PRECISIONS
from gemmlab.steps import registry

PERSISTENT, STREAM_K, ANY_SHAPE = "tma_06_persistent", "tma_07_stream_k", "tma_08_any_shape"
CONFIGS = range(len(registry.get(ANY_SHAPE).configs))
TILES = ((256, 128), (128, 128), (128, 64), (128, 64), (64, 64), (16, 128))
SMALL = (64, 64), (16, 128)  # tiles whose pieces a second kernel adds up
# A cut costs little: small sizes are cut.
CHEAP = {
    PERSISTENT: {},
    STREAM_K: {"PRICE = 6;": "PRICE = 1;"},
    ANY_SHAPE: {
        "PRICE = 6, LIGHT_PRICE = 3;": "PRICE = 1, LIGHT_PRICE = 1;",
        "ADDING = 8;": "ADDING = 1;",
    },
}
# A GPU of 4 SMs, too.
FOUR_SMS = {
    name: {"device_attribute(cudaDevAttrMultiProcessorCount)": "4", **cheap}
    for name, cheap in CHEAP.items()
}


def case_of(name: str, precision: str = "bf16") -> StepCase:
    """A step by its name, in a precision."""
    return StepCase(registry.program(name), PRECISIONS[precision])


def right_without_findings(case: StepCase, *given, **options) -> sim.Trace:
    """The trace of a launch that is right, and in which the simulator has found nothing."""
    trace, right = case.traced(*given, **options)
    unblamed(trace)
    assert right
    return trace


def unblamed(trace: sim.Trace) -> sim.Trace:
    """The same trace, without a finding or a bank conflict."""
    assert trace.findings == ()
    assert [line for line in trace.lines if line.conflicts] == []
    return trace


def assert_cut(trace: sim.Trace, tile: tuple[int, int]) -> None:
    """Tiles were in pieces: blocks have counted them, or a second kernel has read them."""
    second = [one.line for one in trace.lines if one.file.endswith("add_cut.cuh")]
    counted = "atom.global" in trace.totals()
    assert (counted, bool(second)) == (tile not in SMALL, tile in SMALL)
