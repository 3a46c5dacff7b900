"""Other systems: the first thing that is run says in one sentence what works there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gemmlab.core import machine

# What `sys.platform` says is all that is not real here: the rest runs as on that system.
AS_IF = "import sys, runpy\nimport torch\nsys.platform = {!r}\n"
NO_FCNTL = "sys.modules['fcntl'] = None\n"  # Windows has none
COMMAND = "sys.argv = ['gemmlab', {!r}]\nrunpy.run_module('gemmlab', run_name='__main__')\n"


def run(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)


def test_linux_has_it_all():
    assert machine.elsewhere() == ""


@pytest.mark.parametrize(
    ("system", "says"),
    [("darwin", "this is macOS"), ("win32", "use WSL"), ("freebsd14", "this is freebsd14")],
)
def test_other_systems_hear_what_works_and_how_to_run_the_rest(monkeypatch, system, says):
    monkeypatch.setattr(sys, "platform", system)
    sentence = machine.elsewhere()
    assert says in sentence and ".devcontainer" in sentence and "read" in sentence
    assert sentence.count(". ") == 0 and sentence.endswith(".")


@pytest.mark.parametrize("error", [ValueError, OSError, None])
def test_linux_with_another_c_library_is_not_enough(monkeypatch, error):
    def confstr(name: str) -> str | None:
        if error:
            raise error(name)
        return None

    monkeypatch.setattr("os.confstr", confstr)
    assert "Linux without glibc" in machine.elsewhere()


@pytest.mark.slow
def test_macos_imports_and_refuses_the_simulator():
    used = "import gemmlab as lab\nlab.trace('sgemm_01_naive', M=8, N=8, K=8)\n"
    done = run(AS_IF.format("darwin") + used)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("gemmlab.core.errors.BackendError: gemmlab's simulator runs on Linux")


@pytest.mark.slow
def test_a_command_on_macos_says_it_first_and_doctor_that_nothing_runs():
    done = run(AS_IF.format("darwin") + COMMAND.format("doctor"))
    assert done.stderr.startswith("Note: gemmlab's simulator runs on Linux with glibc, and this is")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "No kernel can run here" in done.stdout and "needs Linux" in done.stdout


@pytest.mark.parametrize("use", ["import gemmlab\n", COMMAND.format("list")])
def test_windows_hears_it_at_once_and_without_a_traceback(use):
    done = run("import sys, runpy\nsys.platform = 'win32'\n" + NO_FCNTL + use)
    assert done.returncode == 1
    assert done.stderr.startswith("gemmlab runs on Linux, and this is Windows")
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_notebook_on_windows_gets_an_error_that_shows_as_the_sentence():
    text = (
        "import sys, IPython\nsys.platform = 'win32'\n" + NO_FCNTL + "try:\n    import gemmlab\n"
        "except Exception as error:\n    print(*error._render_traceback_())\n"
    )
    assert run(text).stdout.startswith("BackendError: gemmlab runs on Linux, and this is Windows")
