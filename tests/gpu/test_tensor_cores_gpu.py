"""The probes of the tensor cores on a real GPU: are the sums right and the rates possible?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import gemmlab as lab
from gemmlab import sim
from gemmlab.experiments.tensor_cores.probes import BY_NAME, ON_REGISTERS, burst_rows
from gemmlab.gpu import build
from gemmlab.gpu.toolchain import arch

pytestmark = pytest.mark.gpu

FIXTURE = Path(__file__).parents[1] / "sim" / "fixtures" / "tensor_core_probes.cu"
LAUNCHES = {
    "bf16_registers": 256,
    **{f"fed_{tile}_{warps}": 32 * warps for tile in ("64x32", "32x32") for warps in (8, 16)},
    **{"fed_64x64_8": 256, "fed_64x64_8_from_l2": 256, "fed_64x64_8_zeros": 256, "wgmma": 256},
}
REPEATS = 5


@pytest.fixture(scope="module")
def table():
    if torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("no mma.sync m16n8k16")
    return lab.experiments.tensor_cores()


def test_every_rate_is_possible(table):
    ceiling = table.row(ON_REGISTERS["bf16"].name).flop_per_clk_sm
    assert table.row(ON_REGISTERS["fp16"].name).flop_per_clk_sm == pytest.approx(ceiling, rel=0.02)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    for row in table.rows:
        # NVML's clock is read behind the launches: under this load the clock was lower.
        by_time = row.tflops * 1e6 / (row.clock_mhz * sms)
        assert 0.8 * row.flop_per_clk_sm < by_time < 1.02 * row.flop_per_clk_sm, row
        assert (row.power_w is None) or row.load == "sustained"
        if BY_NAME[row.probe].fed:
            assert 0.4 * ceiling < row.flop_per_clk_sm < 1.01 * min(ceiling, row.allowed), row


def test_hopper_s_own_instruction_is_faster(table):
    if arch() != "90a":
        assert "left out" in table.left_out
        pytest.skip("no wgmma")
    shares = [table.share_of_wgmma(row) for row in table.rows if row.probe.startswith("mma")]
    assert all(0.5 < share < 0.8 for share in shares)


def test_the_ceiling_repeats(table):
    probe = ON_REGISTERS["bf16"]
    (again,), _ = burst_rows([probe])
    assert again.flop_per_clk_sm == pytest.approx(table.row(probe.name).flop_per_clk_sm, rel=0.02)


@pytest.mark.parametrize("launch", LAUNCHES)
def test_the_sums_are_the_simulator_s(launch):
    if arch() != "90a":
        pytest.skip("the fixture has wgmma")
    # A tile for each place that two blocks copy from.
    values = np.random.default_rng(8).integers(-3, 4, (REPEATS + 1) * 48 * 512).astype(np.float32)
    bits = (values.view(np.uint32) >> 16).astype(np.uint16)  # bf16
    out = np.zeros(16 + 8 * LAUNCHES[launch], np.uint8)
    sim.compile_source(FIXTURE, f"launch_{launch}").launch(
        bits, np.zeros(1, np.float32), out, REPEATS, 1, 1
    )
    given, found = torch.from_numpy(bits.view(np.int16)).cuda(), torch.zeros(len(out) // 4).cuda()
    module = build.load_source(FIXTURE, f"launch_{launch}", f"probe_{launch}")
    pointers = (given.data_ptr(), given.data_ptr(), found.data_ptr())
    assert module.launch(*pointers, REPEATS, 1, 1, 1.0, 0.0, 0) == 0
    torch.cuda.synchronize()
    np.testing.assert_array_equal(found.cpu().numpy()[4:], out[16:].view(np.float32))
