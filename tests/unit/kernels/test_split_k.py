"""The launch that adds slices of C up, on the host: sizes whose product no int holds."""

from __future__ import annotations

import subprocess

import needs
import pytest

from gemmlab.core.paths import kernels_folder
from gemmlab.sim.build import INCLUDE

# In place of the simulator's runtime, a launch that says what it was asked for.
CHECK = """
#include <common/shape/split_k.cuh>

#include <cstdio>
#include <cstdlib>

int sim_launch(const SimLaunch* launch, void (*)(void*), void* arguments) {
  using Call = gemmlab_sim::Call<const float*, float*, size_t, int, int, int, float, float>;
  const Call& call = *static_cast<const Call*>(arguments);
  std::printf("%u %zu\\n", launch->grid.x, std::get<2>(call.arguments));
  return 0;
}
int sim_device_attribute(int* value, int, int) { return *value = 9, 0; }
SimIndex sim_thread_index() { std::abort(); }  // no kernel runs
SimIndex sim_block_index() { std::abort(); }
void sim_grid_dependency_wait() { std::abort(); }

int main(int, char** arguments) {
  GemmArgs g = {};
  g.M = std::atoi(arguments[1]), g.N = std::atoi(arguments[2]);
  std::printf("%zu\\n", slices_bytes(g, 3));
  return launch_add_slices<float>(nullptr, g, 3, nullptr);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("split_k")
    (folder / "check.cpp").write_text(CHECK)
    command = ["g++", "-std=c++17", "-O1", f"-I{INCLUDE}", f"-I{kernels_folder()}"]
    files = [folder / "check.cpp", "-o", folder / "check"]
    done = subprocess.run([*command, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "check"


@needs.gxx
@pytest.mark.parametrize("sizes", [(1, 1), (33, 129), (16, 1 << 27), (16, (1 << 28) + 4)])
def test_every_element_has_a_thread(program, sizes):
    M, N = sizes
    done = subprocess.run([program, str(M), str(N)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(map(int, done.stdout.split())) == [12 * M * N, -(-M * N // 128), M * N]
