"""A condition on a function of a kernel that puts four floats into another order: what it gives."""

from __future__ import annotations

import numpy as np

from .. import sim
from ..core.errors import BuildError
from ..steps import patch
from .flow import Seen
from .properties import NotYetError, Property

_PROBE = """
__global__ void probe_order(float* C) {{
  using namespace {namespace};
  const float r[4] = {{0, 1, 2, 3}};
  *reinterpret_cast<float4*>(C) = {function}(r);
}}
inline cudaError_t launch_probe_order(const GemmArgs& g, cudaStream_t stream) {{
  return launch(probe_order, dim3(1), dim3(1), 0, stream, static_cast<float*>(g.C));
}}
"""


def other_parity(function: str = "reversed") -> Property:
    """A condition: `function`(r) moves each of four floats to the other parity, not reversed.

    It is executed, in the simulator, beside the kernel that it belongs to.
    """

    def look(seen: Seen) -> str:
        order = _order(seen, function)
        said = f"{function} gives elements {', '.join(map(str, order))}"
        if sorted(order) != [0, 1, 2, 3]:
            raise NotYetError(f"{said}; each of the four is to be there once")
        if order in ([0, 1, 2, 3], [3, 2, 1, 0]):
            raise NotYetError(f"{said}; an order is asked for that is neither plain nor reversed")
        if any(place % 2 == element % 2 for place, element in enumerate(order)):
            raise NotYetError(
                f"{said}: element {order[0]} is in place 0. A sum is then in a register of the "
                "same parity as the value of B that it is multiplied with, as in the plain order"
            )
        return said

    return Property(f"{function} changes the parity of each place", look)


def _order(seen: Seen, function: str) -> list[int]:
    assert seen.kernel is not None
    source = seen.kernel.source
    probe = _PROBE.format(namespace=source.entry, function=function)
    path = patch.keep(source.path.read_text() + probe, f"kernels/{seen.kernel.spec.file}")
    try:
        module = sim.compile_source(path, "launch_probe_order", apart=True)
    except BuildError:
        raise NotYetError(f"there is no function {function}(const float*) any more") from None
    one, out = np.zeros((1, 4), np.float32), np.zeros((1, 4), np.float32)
    module.launch(one, one.reshape(4, 1).copy(), out, 1, 4, 1)
    return [int(value) for value in out[0]]
