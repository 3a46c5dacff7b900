"""Calling a step: what is refused, in words that help, and what IEEE arithmetic must give."""

import math
import shutil
import subprocess
import types
import weakref
from dataclasses import replace

import needs
import numpy as np
import pytest
import torch

import gemmlab as lab
from gemmlab.core.errors import ArgumentError, BackendError, LaunchError, RefusedError
from gemmlab.core.paths import repository_root
from gemmlab.run import kernel as run
from gemmlab.steps import registry

REGISTER = "sgemm_04_register_tiling"
COALESCED = "sgemm_02_coalesced"


def pair(M=128, N=128, K=16):
    return lab.matrices(M, N, K, device="cpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda A, B: (A.numpy(), B), "A: got ndarray, expected a torch.Tensor"),
        (lambda A, B: (A.double(), B), "A: is float64, .* takes float32"),
        (lambda A, B: (A, B.half()), "B: is float16"),
        (lambda A, B: (A[None], B), "A: has 3 dimensions"),
        (lambda A, B: (A.T.contiguous().T, B), "A: is not contiguous .* use A.contiguous"),
        (lambda A, B: (A, B[:8].contiguous()), "B: has 8 rows, but A has 16 columns"),
        (lambda A, B: (A[:100], B), "M: is 100, .* multiple of 128; pad to 128"),
        (lambda A, B: (A, B[:, :64].contiguous()), "N: is 64"),
        (lambda A, B: (A[:, :8].contiguous(), B[:8]), "K: is 8, .* multiple of 16"),
        (lambda A, B: (A.to("meta"), B), "A: is on meta; allowed are cuda .* and cpu"),
    ],
)
def test_refuses(change, message):
    with pytest.raises(ArgumentError, match=message):
        lab.kernel(REGISTER)(*change(*pair()))


def test_refuses_misaligned():
    A, B = pair()
    shifted = torch.empty(A.numel() + 1)[1:].view(A.shape).copy_(A)
    with pytest.raises(ArgumentError, match=r"A: its address is 4 bytes past .* use A.clone"):
        lab.kernel(REGISTER)(shifted, B)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beta": 2.0}, "out: beta=2.0 adds beta"),
        ({"alpha": "1"}, "alpha: got '1', expected a number"),
        ({"out": torch.empty(4, 4)}, r"out: has shape \(4, 4\), expected \(128, 128\)"),
        ({"out": torch.empty(128, 128, dtype=torch.float64)}, "out: is float64"),
        ({"out": torch.empty(128, 128).T}, "out: is not contiguous"),
    ],
)
def test_refuses_options(options, message):
    with pytest.raises(ArgumentError, match=message):
        lab.kernel(REGISTER)(*pair(), **options)


def test_refuses_an_output_that_overlaps():
    A, B = lab.matrices(128, 128, 128, device="cpu")
    with pytest.raises(ArgumentError, match="out: shares memory with B"):
        lab.kernel(REGISTER)(A, B, out=B)


@pytest.mark.parametrize(("M", "N", "K"), [(0, 64, 32), (64, 0, 32), (0, 0, 0)])
def test_empty_result(M, N, K):
    C = lab.kernel("sgemm_03_block_tiling")(torch.empty(M, K), torch.empty(K, N))
    assert C.shape == (M, N)


def test_no_inner_dimension_leaves_beta_c():
    C = torch.ones(64, 32)
    lab.kernel("sgemm_03_block_tiling")(torch.empty(64, 0), torch.empty(0, 32), beta=3.0, out=C)
    assert torch.equal(C, torch.full((64, 32), 3.0))


def test_nan_in_c_is_ignored_when_beta_is_zero():
    A, B = pair(33, 20, 5)
    C = torch.full((33, 20), math.nan)
    assert lab.kernel(COALESCED)(A, B, out=C) is C
    torch.testing.assert_close(C, A @ B)


def test_factors_that_are_not_finite_follow_ieee():
    A, B = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    inf = math.inf
    C = lab.kernel(COALESCED)(A, B, alpha=inf)
    assert C[0, 0] == inf and C[0, 1] == -inf and C[0, 2].isnan()
    C = lab.kernel(COALESCED)(A, B, alpha=0.0, beta=inf, out=torch.tensor([[2.0, 0.0, -1.0]]))
    assert C[0, 0] == inf and C[0, 1].isnan() and C[0, 2] == -inf


@pytest.mark.parametrize("alpha", [np.float32(2), np.float64(2), 2, True * 2])
def test_factors_may_be_any_real_number(alpha):
    A, B = pair(8, 32, 4)
    torch.testing.assert_close(lab.kernel(COALESCED)(A, B, alpha=alpha), 2 * (A @ B))


def test_cpu_tensors_are_never_launched_on_a_gpu():
    A, B = pair(8, 32, 4)
    with pytest.raises(ArgumentError, match="A: is on cpu; only CUDA tensors"):
        lab.kernel(COALESCED).launcher(A, B, torch.empty(8, 32))


class OnGpu(torch.Tensor):
    """A CPU tensor that says it is on a GPU."""

    device = torch.device("cuda")


class FakeModule:
    """A compiled step that needs 100 bytes a configuration; it keeps what it was called with."""

    def __init__(self):
        self.launched, self.asked, self.code = [], [], 0

    def workspace_bytes(self, *args):
        self.asked.append(args)
        return 100 * (args[-2] + 1)

    def launch(self, *args):
        self.launched.append(args)
        return self.code

    def error_string(self, code):
        return f"code {code}"


@pytest.fixture
def scratch_step(monkeypatch):
    """A step with scratch memory on a GPU that is not there: (spec, module, memory given out)."""
    module, given, empty = FakeModule(), [], torch.empty
    spec = replace(registry.get(COALESCED), workspace=True, configs=("small", "large"))
    monkeypatch.setattr(run, "_gpu_module", lambda program, *how: module)
    stream = types.SimpleNamespace(cuda_stream=7)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: stream)

    def fake_empty(*size, device=None, **more):
        memory = empty(*size, **more)
        given.append(weakref.ref(memory))
        return memory

    monkeypatch.setattr(torch, "empty", fake_empty)
    return spec, module, given


def test_a_launcher_has_its_workspace_as_long_as_it_lives(scratch_step):
    spec, module, given = scratch_step
    A, B = (t.as_subclass(OnGpu) for t in pair(8, 32, 4))
    C = torch.zeros(8, 32).as_subclass(OnGpu)
    launch = lab.kernel(spec, config="large").launcher(A, B, C, alpha=2.0)
    assert module.launched == [] and len(given) == 1
    launch()
    launch()
    problem = (A.data_ptr(), B.data_ptr(), C.data_ptr(), 8, 32, 4, 2.0, 0.0)
    assert module.asked == [(*problem, 1, 0)]
    memory = given[0]()
    assert memory.nbytes == 200 and memory.dtype == torch.uint8
    assert module.launched == [(*problem, 7, memory.data_ptr(), 1, 0)] * 2
    del memory, launch
    assert given[0]() is None


def test_no_workspace_where_none_is_needed(scratch_step):
    spec, module, given = scratch_step
    A, B, C = (t.as_subclass(OnGpu) for t in (*pair(8, 32, 4), torch.zeros(8, 32)))
    lab.kernel(spec).launcher(A, B, C)()  # 0 bytes
    lab.kernel(COALESCED).launcher(A, B, C)()
    assert [call[-3:] for call in module.launched] == [(0, -1, 0), (0, -1, 0)]
    assert len(module.asked) == 1 and given == []


def test_a_refused_launch_names_the_configuration(scratch_step):
    spec, module, _ = scratch_step
    module.code = 1
    A, B, C = (t.as_subclass(OnGpu) for t in (*pair(8, 32, 4), torch.zeros(8, 32)))
    launch = lab.kernel(spec, config="small").launcher(A, B, C)
    with pytest.raises(RefusedError, match=r"sgemm_02_coalesced \[small\]: launch failed, code 1"):
        launch()
    module.code = 700  # an illegal address, perhaps of an earlier launch
    with pytest.raises(LaunchError, match="code 700") as caught:
        launch()
    assert not isinstance(caught.value, RefusedError)


def test_a_cache_that_cannot_be_written_is_said_in_one_line(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(BackendError, match=r"cannot be kept in .*; set GEMMLAB_CACHE to a folder"):
        lab.kernel(COALESCED)(*pair(8, 32, 4))


REFUSING = """
char refusal_text[256] = "tensor map of a 64x63 matrix: its rows are 126 bytes apart";
"""


@needs.gxx
def test_a_refused_launch_tells_the_launcher_s_words_once(scratch_step, tmp_path):
    spec, module, _ = scratch_step
    (tmp_path / "step.cpp").write_text(REFUSING)
    library = tmp_path / "step.so"
    command = ["g++", "-shared", "-fPIC", str(tmp_path / "step.cpp"), "-o", str(library)]
    subprocess.run(command, check=True)
    module.code, module.__file__ = 1, str(library)
    A, B, C = (t.as_subclass(OnGpu) for t in (*pair(8, 32, 4), torch.zeros(8, 32)))
    launch = lab.kernel(spec).launcher(A, B, C)
    words = "launch failed, code 1: tensor map of a 64x63 matrix: its rows are 126 bytes apart$"
    with pytest.raises(RefusedError, match=words):
        launch()
    with pytest.raises(RefusedError, match=r"launch failed, code 1$"):
        launch()


def test_checkouts_that_share_a_cache_do_not_share_variants(monkeypatch, tmp_path):
    changes = {"float acc = 0.0f;": "float acc = 2.0f;"}
    ours = lab.variant(COALESCED, changes)
    shutil.copytree(repository_root() / "kernels", tmp_path / "kernels")
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    theirs = lab.variant(COALESCED, changes)
    assert ours.source.path.read_text() == theirs.source.path.read_text()
    common = [k.source.path.parents[1] / "common" for k in (ours, theirs)]
    assert common[0].resolve() != common[1].resolve() == tmp_path / "kernels" / "common"


def test_variant_changes_a_copy():
    changed = lab.variant(COALESCED, {"float acc = 0.0f;": "float acc = 1.0f;"})
    A, B = pair(8, 32, 4)
    torch.testing.assert_close(changed(A, B), A @ B + 1)
    assert "acc = 1.0f" not in lab.kernel(COALESCED).spec.path.read_text()
    with pytest.raises(ArgumentError, match="does not stand in"):
        lab.variant(COALESCED, {"no such text": ""})


def test_backend_can_be_forced(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "sim")
    A, B = pair(8, 32, 4)
    torch.testing.assert_close(lab.kernel(COALESCED)(A, B), A @ B)
    monkeypatch.setenv("GEMMLAB_BACKEND", "tpu")
    with pytest.raises(BackendError, match="GEMMLAB_BACKEND"):
        lab.kernel(COALESCED)(A, B)
