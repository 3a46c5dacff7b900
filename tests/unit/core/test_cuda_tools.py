"""Where the programs of the CUDA toolkit are looked for."""

from __future__ import annotations

import pytest

from gemmlab.core import cuda_tools


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A function: a name below $CUDA_HOME, $PATH or the usual place, and programs that it has."""
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(cuda_tools, "_USUAL", str(tmp_path / "usual"))

    def make(name, *programs):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        for program in programs:
            (tmp_path / name / program).touch(mode=0o755)
        return tmp_path / name

    return make


def test_cuda_home_comes_before_the_path_and_this_before_the_usual_place(folder):
    assert cuda_tools.find_nvcc() is None and cuda_tools.find_beside_nvcc("nvdisasm") is None
    for place in ("usual", "path", "home/bin"):
        own = folder(place, "nvcc", "nvdisasm")
        assert cuda_tools.find_nvcc() == str(own / "nvcc")
        assert cuda_tools.find_beside_nvcc("nvdisasm") == str(own / "nvdisasm")


def test_beside_nvcc_is_where_its_link_leads(folder):
    """A distribution puts a link to nvcc on $PATH, and none to the others."""
    own = folder("toolkit/bin", "nvcc", "cuobjdump")
    (folder("path") / "nvcc").symlink_to(own / "nvcc")
    assert cuda_tools.find_beside_nvcc("cuobjdump") == str(own / "cuobjdump")


def test_one_that_is_not_beside_nvcc_may_be_elsewhere(folder):
    folder("home/bin", "nvcc")
    assert cuda_tools.find_beside_nvcc("nvdisasm") is None
    folder("usual", "nvdisasm")
    assert cuda_tools.find_beside_nvcc("nvdisasm") == str(folder("usual") / "nvdisasm")
