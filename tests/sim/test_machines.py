"""Smaller machines, and other orders in which blocks are dispatched."""

from __future__ import annotations

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.errors import ArgumentError
from gemmlab.core.paths import repository_root
from gemmlab.sim.trace import Launched

# Each block notes how many came before it; as many blocks are launched as there are SMs.
TEXT = """#include "{host}"
__global__ void note(float* C, int* come) {{
  C[blockIdx.x] = atomicAdd(come, 1);
}}
inline size_t workspace_note(const GemmArgs&) {{ return sizeof(int); }}
inline cudaError_t launch_note(const GemmArgs& g, cudaStream_t stream) {{
  int sms = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  int* come = static_cast<int*>(g.workspace);
  cudaMemsetAsync(come, 0, sizeof(int), stream);
  return launch(note, dim3(sms), dim3(1), 64, stream, static_cast<float*>(g.C), come);
}}
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    file = tmp_path_factory.mktemp("note") / "note.cuh"
    host = repository_root() / "kernels" / "common" / "launch" / "host.cuh"
    file.write_text(TEXT.format(host=host))
    return sim.compile_source(file, "launch_note", workspace=True)


def came(module, **how) -> tuple[list[int], sim.Trace]:
    C = np.full((1, 160), -1, np.float32)
    one = np.zeros((1, 1), np.float32)
    trace = module.trace(one, np.zeros((1, 160), np.float32), C, 1, 160, 1, threads=1, **how)
    return [int(x) for x in C[0] if x >= 0], trace


def test_a_launcher_is_told_of_an_h200_unless_given_another_machine(module):
    assert len(came(module)[0]) == 132
    for sms in (1, 2, 5):
        order, trace = came(module, sms=sms)
        assert order == list(range(sms))
        assert trace.launches == (Launched(sms, 64),)


def test_blocks_come_by_number_or_in_an_order_of_their_own(module):
    orders = [came(module, sms=6, order=order)[0] for order in (0, 1, 2, 2, 3)]
    assert orders[0] == [0, 1, 2, 3, 4, 5]
    assert orders[2] == orders[3]  # a seed
    assert len({tuple(order) for order in orders}) == 4
    assert all(sorted(order) == orders[0] for order in orders)


@pytest.mark.parametrize(("how", "says"), [({"sms": 0}, "sms: got 0"), ({"order": -1}, "order: g")])
def test_there_is_no_such_machine(module, how, says):
    with pytest.raises(ArgumentError, match=says):
        came(module, **how)
