"""What is damaged or planted in the cache is compiled again, not loaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import needs
import pytest
import victim

from gemmlab.core.errors import BackendError
from gemmlab.core.paths import cache_dir
from gemmlab.sim import build
from gemmlab.sim.library import Runtime

pytestmark = needs.gxx

PLANTED = """
#include <cstdio>
#include <cstdlib>
static struct AtLoad { AtLoad() { fclose(fopen(getenv("LOADED"), "w")); } } at_load;
"""


def emptied(path: Path, planted: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path, planted: Path) -> None:
    """Whoever maps it gets SIGBUS behind the half."""
    os.truncate(path, path.stat().st_size // 2)


def zeroed(path: Path, planted: Path) -> None:
    """What is loaded of it jumps to nothing."""
    content = bytearray(path.read_bytes())
    content[0x200 : len(content) - 0x200] = bytes(len(content) - 0x400)
    path.write_bytes(content)


def replaced(path: Path, planted: Path) -> None:
    """Somebody else's library, which tells when it is loaded."""
    shutil.copy(planted, path)


def damages():
    """(file, damage): three for every run; each takes a process and a compiler."""
    for file in ("kernel*.so", "kernel*.lines.json", "libgemmlab_sim*.so", "prelude*.gch"):
        for damage in (emptied, cut, zeroed, replaced):
            now = (file, damage) in (
                ("kernel*.so", zeroed),
                ("kernel*.so", replaced),
                ("kernel*.lines.json", cut),
            )
            marks = () if now else pytest.mark.campaign
            yield pytest.param(file, damage, id=f"{file} {damage.__name__}", marks=marks)


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Path:
    """A library that makes the file $LOADED when it is loaded."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "planted.cpp").write_text(PLANTED)
    command = ["g++", "-shared", "-fPIC", "-o", "planted.so", "planted.cpp"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "planted.so"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A cache with one kernel, its folder beside it; the simulator is taken from the usual one."""
    simulator = [build.runtime(), build.prelude()]
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEMMLAB_CACHE", str(folder / "cache"))
        for path in simulator:
            for file in path.parent.glob(f"{path.stem}.*"):
                shutil.copy(file, cache_dir("sim"))
        victim.build(folder, 0)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("file", "damage"), list(damages()))
def test_it_is_not_loaded(built, planted, root, tmp_path, file, damage):
    (tmp_path / "cache").mkdir(mode=0o700)
    shutil.copytree(built / "cache", tmp_path / "cache", dirs_exist_ok=True)
    (path,) = (tmp_path / "cache" / "sim").glob(file)
    whole = path.read_bytes()
    damage(path, planted)
    if file.startswith("prelude"):  # which is asked for only when something is compiled
        (kernel,) = path.parent.glob("kernel*.so")
        kernel.unlink()
    done = subprocess.run(
        [sys.executable, victim.__file__, "kernel", str(built), "0", "once"],
        env={
            **os.environ,
            "GEMMLAB_CACHE": str(tmp_path / "cache"),
            "PYTHONPATH": str(root / "lib"),
            "LOADED": str(tmp_path / "loaded"),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "loaded").exists()
    name = path.name.split(".")[0]
    note = f"gemmlab: {name} was damaged in {path.parent}; it is made anew"
    assert note in done.stderr.splitlines()
    # What g++ keeps of the prelude is longer or shorter by some hundred of 26 million bytes, each
    # time that it is made.
    assert len(path.read_bytes()) == pytest.approx(len(whole), rel=1e-3, abs=1000)


def test_the_planted_library_would_tell(planted, tmp_path, monkeypatch):
    monkeypatch.setenv("LOADED", str(tmp_path / "loaded"))
    command = [sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(planted)!r})"]
    subprocess.run(command, check=True)
    assert (tmp_path / "loaded").exists()


def test_a_cache_from_which_nothing_can_be_loaded_is_said(tmp_path):
    (tmp_path / "runtime.so").touch()  # the linker's refusal is the same, whatever it is for
    with pytest.raises(BackendError, match=r"GEMMLAB_CACHE: .* cannot be loaded .*file too short"):
        Runtime(str(tmp_path / "runtime.so"))
