"""tma_08 begins while A and B are still copied: what it may rest on, stated in its host file."""

from __future__ import annotations

import numpy as np
import pytest
from step_cases import one_tile
from tma_cases import ANY_SHAPE, FOUR_SMS, case_of

from gemmlab.core.errors import LaunchError
from gemmlab.core.paths import kernels_folder

SIZES = (264, 331, 459)  # A and B are copied, and with 4 SMs tiles are cut
_INCLUDE = '#include "08_any_shape_host.cuh"'
# The host's side compares what the warps that multiply use before and behind the copies: C, and
# what is left of the workspace, with the pieces and the counters, which has to be something.
_WATCHED = """
#include <vector>
template <class T, class TC, int LAYOUT>
inline size_t workspace_tma_08_any_shape(const GemmArgs& g);

template <class T>
struct Watched : RealignedInputs<T> {
  GemmArgs given;
  explicit Watched(const GemmArgs& given) : RealignedInputs<T>(given), given(given) { MISTAKE; }
  std::vector<char> used() const {
    const size_t all = workspace_tma_08_any_shape<T, T, 0>(given);
    const char* C = static_cast<const char*>(given.C);
    const char* rest = static_cast<const char*>(this->g.workspace);
    sim_open_memory(1);  // the test looks at what the device has
    std::vector<char> bytes(C, C + (size_t)given.M * given.N * sizeof(T));
    bytes.insert(bytes.end(), rest, rest + all - this->bytes);
    return bytes;
  }
  cudaError_t copy(cudaStream_t stream) const {
    const std::vector<char> before = used();
    if (before.size() == (size_t)given.M * given.N * sizeof(T)) return cudaErrorInvalidValue;
    const cudaError_t error = RealignedInputs<T>::copy(stream);
    return used() == before ? error : cudaErrorUnknown;
  }
};
#define RealignedInputs Watched  // from here on

"""


def launched(mistake: str) -> bool:
    """Whether C is right. Raises LaunchError if the copies touch what is not theirs."""
    watched = {_INCLUDE: _WATCHED.replace("MISTAKE", mistake) + _INCLUDE}
    case = case_of(ANY_SHAPE)
    module = case.compiled(changes=FOUR_SMS[ANY_SHAPE] | watched | one_tile(ANY_SHAPE, 0))
    A, B, C = case.matrices(*SIZES)
    expected, _ = case.matrices(*SIZES), module.launch(A, B, C, *SIZES, 1.0, 0.0, config=0)
    floats = [(of.astype(np.uint32) << 16).view(np.float32) for of in expected[:2]]
    return np.array_equal(C, case.rounded(floats[0] @ floats[1]))


def test_the_copies_leave_alone_what_is_used_meanwhile():
    assert launched("")


@pytest.mark.parametrize(
    "mistake",
    [
        "this->g.workspace = given.workspace",  # the pieces, where the copies are
        "this->b.to = static_cast<T*>(given.C)",  # a copy over C
    ],
)
def test_a_copy_over_something_else_is_seen(mistake):
    with pytest.raises(LaunchError, match="cudaErrorUnknown"):
        launched(mistake)


def test_what_is_cleared_is_cleared_before_the_copies_begin():
    """They are launched in the usual way, so whatever is in front of them is complete."""
    host = (kernels_folder() / "tma/08_any_shape_host.cuh").read_text()
    clear, copy, product = map(
        host.index, ("cudaMemsetAsync", "p.copy(", "? launch_dependent(product")
    )
    assert clear < copy < product
    copies = (kernels_folder() / "common/shape/realigned.cuh").read_text()
    assert "launch(realign<T>" in copies and "launch_dependent(" not in copies


def test_only_the_producer_asks_for_a_and_b_and_it_waits():
    text = (kernels_folder() / "tma/08_any_shape.cuh").read_text()
    produce, consume = (
        text.split(f"// [{part}]")[1].split(f"// [/{part}]")[0] for part in ("produce", "consume")
    )
    behind = text.split("// [consume]")[1].split("// [configurations]")[0]
    assert produce.index("grid_dependency_wait()") < produce.index("&map_a")
    assert "grid_dependency_wait" not in consume
    assert [name for name in ("map_a", "map_low", "map_b") if name in behind] == []
