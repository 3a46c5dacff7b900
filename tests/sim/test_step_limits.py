"""What a step's facts say of stages, persistent blocks and cut tiles is what its kernel does."""

from __future__ import annotations

import re

import pytest

import gemmlab as lab
from gemmlab.check.coverage import Done
from gemmlab.check.plan import Run
from gemmlab.run.kernel import matrices
from gemmlab.steps import registry
from gemmlab.steps.text import inlined

SPECS = pytest.mark.parametrize("spec", registry.KERNELS, ids=lambda spec: spec.name)


def blocks(spec, shape: tuple[int, int, int], config: str, sms: int) -> int:
    """How many blocks multiply, on a GPU with so many SMs."""
    A, B = matrices(*shape, device="cpu", dtype=spec.dtypes[0])
    C = A.new_empty(shape[0], shape[1])
    trace = lab.kernel(spec, config=config).traced((A, B, C), (1.0, 0.0), sms=sms)
    assert not trace.findings
    return Done.of(Run(shape, (1.0, 0.0), spec.precisions[0], config), trace.launches).blocks


@SPECS
def test_stages_are_those_of_the_file(spec):
    text = spec.path.read_text()
    named = re.findall(r"\bSTAGES = (\d+)", text)
    named += re.findall(r"return f\(Tile<(?:\d+, )+(\d+)>", text) if "int STAGES_" in text else []
    named += re.findall(r"\b(?:WgmmaShape|Plan)<\d+, \d+, (\d+), ", text)
    assert spec.stages == max(map(int, named), default=1)


@SPECS
def test_tiles_of_configurations_are_those_of_the_file(spec):
    named = {spec.tile_of(config)[:2] for config in spec.configs if re.match(r"\d+x", config)}
    tiles = re.findall(r"\b(?:Tile|Plan)<(\d+), (\d+), (\d[^>]*)", spec.path.read_text())
    # The last argument of a plan says whether its tile is one of C's transpose: the ninth.
    turned = [arguments.count(",") == 6 and arguments.endswith("true") for *_, arguments in tiles]
    found = {
        (int(columns), int(rows)) if is_turned else (int(rows), int(columns))
        for (rows, columns, _), is_turned in zip(tiles, turned, strict=True)
    }
    assert named == found


@pytest.mark.slow
@SPECS
def test_a_block_takes_tile_after_tile_where_the_step_is_persistent(spec):
    config = next(iter(spec.configs), "")
    BM, BN, BK = spec.tile_of(config)
    many = blocks(spec, (9 * BM, BN, BK), config, sms=2)
    assert many == (2 * spec.blocks_per_sm if spec.persistent else 9)


@pytest.mark.slow
@SPECS
def test_tiles_are_cut_where_the_step_says_so(spec):
    text = inlined(spec.path)
    assert bool(spec.cuts) == (bool(re.search(r"struct (Schedule|LastWave)\b|add_slices", text)))
    config = next((one for one in spec.configs if "split" in one), "")
    config = config or next(iter(spec.configs), "")
    BM, BN, BK = spec.tile_of(config)
    for tiles, k_tiles, sms in spec.cuts:
        if tiles < sms * spec.blocks_per_sm:  # else blocks are as many, cut or not
            assert blocks(spec, (BM, tiles * BN, k_tiles * BK), config, sms=sms) > tiles
