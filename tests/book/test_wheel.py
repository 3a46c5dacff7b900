"""The wheel alone: outside of a checkout the commands answer, and a chapter runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import needs
import pytest

pytestmark = [
    pytest.mark.slow,
    needs.gxx,
]
CHAPTERS = ("sgemm_bank_conflicts", "simulator")
LARGEST = 2_000_000
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient

NotebookClient(nbformat.read(sys.argv[1], 4), timeout=300, kernel_name="python3").execute()
"""


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(root)], check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory):
    """A function that runs a Python with the wheel and what it needs without an extra, no more."""
    site = tmp_path_factory.mktemp("bare")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(wheel)], check=True)
    for package in ("click", "elftools", "numpy", "numpy.libs", "platformdirs"):
        found = Path(sysconfig.get_paths()["purelib"]) / package
        if found.exists():
            (site / package).symlink_to(found)
    environment = {**os.environ, "PYTHONPATH": str(site), "GEMMLAB_PROGRESS": "0"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        # -S: without this environment's packages.
        command = [sys.executable, "-S", "-m", "gemmlab", *words]
        return subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True)

    return run


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory):
    """A function that runs a Python in an empty folder, where gemmlab comes from the wheel.

    The other packages are this environment's. Its path is added without the .pth files in it: one
    of those names the checkout. `checkout` is GEMMLAB_ROOT; the function returns what was printed,
    or, if `status` is not 0, what was said of the error.
    """
    folder = tmp_path_factory.mktemp("leerer Ordner für Bücher")
    venv.create(folder / "venv")
    program = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(program), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "GEMMLAB_ROOT")}

    def python_(*words: str, checkout: Path | None = None, status: int = 0) -> str:
        place = {"GEMMLAB_ROOT": str(checkout)} if checkout else {}
        done = subprocess.run(
            [str(program), *words],
            cwd=folder,
            env={**environment, **place, "GEMMLAB_BACKEND": "sim", "GEMMLAB_PROGRESS": "0"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == status, f"{done.stdout}{done.stderr}"
        return done.stderr if status else done.stdout

    return python_


def test_it_is_small(wheel):
    assert wheel.stat().st_size < LARGEST


def test_all_of_it_comes_from_the_wheel(python, root):
    code = "import gemmlab, gemmlab.core.paths as p; print(gemmlab.__file__, p.repository_root())"
    found = python("-c", code)
    assert "venv" in found and str(root) not in found
    assert found.strip().endswith("_data")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["doctor"], "recorded figures  ok"),
        (["check", "sgemm_02_coalesced"], "right in all"),
        (["trace", "sgemm_06_swizzled_a"], "Nothing found"),
        (["bench"], "Recorded on NVIDIA"),
    ],
)
def test_a_command_answers(python, words, answer):
    assert answer in python("-m", "gemmlab", *words)


def test_gemmlab_root_names_a_checkout(python, root):
    code = "import gemmlab.core.paths as p; print(p.kernels_folder(), p.measurements_folder())"
    found = python("-c", code, checkout=root).split()
    assert found == [str(root / "kernels"), str(root / "book" / "measurements")]


@pytest.mark.parametrize("command", ["check", "trace", "bench"])
def test_a_wrong_root_is_named_with_the_remedy(python, tmp_path, command):
    said = python("-m", "gemmlab", command, "sgemm_02_coalesced", checkout=tmp_path, status=1)
    lacks = f"there is no folder kernels in {tmp_path}; set GEMMLAB_ROOT to a checkout"
    assert lacks in said and "unset it" in said and "Traceback" not in said


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_runs_alone(python, root, tmp_path, name):
    copy = shutil.copy(root / "book" / f"{name}.ipynb", tmp_path)
    python("-c", EXECUTE, str(copy))


def test_the_simulator_needs_neither_torch_nor_jupyter(bare, root):
    program = root / "tests" / "sim" / "programs" / "broken.cu"
    done = bare("sim", str(program), "--", "race")
    assert done.returncode == 1 and "race: " in done.stdout, done.stderr
    assert bare("sim", "nothing.cu").returncode == 2


def test_a_command_names_the_package_that_it_lacks(bare):
    done = bare("doctor")
    assert done.returncode == 1 and "gemmlab[course]" in done.stderr
    assert "Traceback" not in done.stderr
