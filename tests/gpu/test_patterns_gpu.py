"""A sample of the recorded single requests, measured again: the GPU still counts the same."""

from __future__ import annotations

from types import ModuleType

import pytest

from gemmlab.core.errors import MeasurementError
from gemmlab.evidence import patterns as agreement
from gemmlab.gpu.toolchain import find_ncu
from tools.evidence import record_patterns

pytestmark = pytest.mark.gpu

EVERY = 12  # of the recorded patterns of a kind


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    """What measures them; it needs ncu."""
    if find_ncu() is None:
        pytest.skip("no ncu")
    return record_patterns


def measured(recorder: ModuleType, entries: list[dict]) -> list[dict]:
    try:
        return recorder.measure(recorder.without_counts(entries))
    except MeasurementError as error:
        if "ERR_NVGPUCTRPERM" in str(error):
            pytest.skip("the driver lets only administrators read counters")
        raise


def test_a_sample_of_patterns(recorder):
    kinds: dict[tuple, list[dict]] = {}
    for part in agreement.load(recorder.FOLDER / "patterns_h200.json")["sets"]:
        for entry in part["patterns"]:
            kinds.setdefault((entry["op"], entry["size"]), []).append(entry)
    sample = [entry for kind in kinds.values() for entry in kind[::EVERY]]
    assert len(sample) > 100
    found = measured(recorder, sample)
    different = []
    for before, now in zip(sample, found, strict=True):
        # An older recording may lack a count, and other GPUs serve loops of atomics otherwise.
        same = all(before[name] == now[name] for name in agreement.COUNTS if name in before)
        if not same and agreement.Pattern.from_dict(before).computed:
            different.append((before, now))
    assert not different


def test_a_sample_of_wgmma(recorder):
    import torch

    if torch.cuda.get_device_capability()[0] != 9:
        pytest.skip("wgmma is Hopper's")
    sample = agreement.wgmma()[::EVERY]
    found = measured(recorder, sample)
    assert [e["wavefronts"] for e in found] == [e["wavefronts"] for e in sample]


def test_freshly_drawn_patterns_follow_the_rules(recorder):
    drawn = [entry for entries in recorder.draw_all(99).values() for entry in entries[::9]]
    found = [agreement.Pattern.from_dict(entry) for entry in measured(recorder, drawn)]
    assert not [pattern for pattern in found if pattern.agrees is False]
