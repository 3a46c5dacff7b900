"""The Makefile: what README promises is there, and a missing tool is named in one line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest


def targets(root: Path) -> set[str]:
    text = (root / "Makefile").read_text()
    return set(re.findall(r"^([a-z][a-z-]*):", text, flags=re.MULTILINE))


def run_make(folder: Path, tools: Path, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=folder,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A copy of what `make` looks at first."""
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(root / name, tmp_path)
    return tmp_path


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with a shell and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("bash", "make", "grep", "find"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def python_that(tools: Path, body: str) -> None:
    script = tools / "python3"
    script.write_text(f"#!{shutil.which('bash')}\n{body}\n")
    script.chmod(0o755)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_documents_name_commands_that_exist(root, document):
    named = set(re.findall(r"`make ([a-z][a-z-]*)", (root / document).read_text()))
    assert named <= targets(root)


def test_help_names_commands_that_exist(root):
    listed = re.findall(r"echo ' *make ([a-z-]+)", (root / "Makefile").read_text())
    internal = {"html", "book-env", "test-env", "lab-env", "help", "distclean", "system", "linux"}
    internal |= {"test-code", "test-notebooks", "test-browser"}
    assert set(listed) == targets(root) - internal


def test_no_python_is_said_in_one_line(checkout, tools):
    result = run_make(checkout, tools, "book")
    assert result.returncode != 0
    first, *rest = result.stderr.strip().splitlines()
    assert "needs Python 3.11 or newer" in first
    assert "apt-get install python3" in first
    assert [line for line in rest if not line.startswith("make:")] == []


def test_an_old_python_is_named(checkout, tools):
    python_that(tools, '[ "$1" = --version ] && { echo Python 3.9.2; exit 0; }; exit 1')
    result = run_make(checkout, tools, "book")
    assert "found Python 3.9.2" in result.stderr


def test_a_missing_venv_module_is_said(checkout, tools):
    python_that(tools, 'case "$2" in *venv*) exit 1;; esac; exit 0')
    result = run_make(checkout, tools, "book")
    assert "apt-get install python3-venv" in result.stderr


@pytest.mark.slow
def test_the_book_is_built_in_a_folder_with_spaces_and_umlauts(root, tmp_path):
    """All of `make book` but the installation; of the book one page, with a formula."""
    folder = tmp_path / "Mäßig gut" / "gemm lab"
    (folder / "book").mkdir(parents=True)
    for name in ("Makefile", "requirements.txt", "pyproject.toml", "_config.yml"):
        shutil.copy(root / name, folder)
    for name in ("_ext", "_static"):
        shutil.copytree(root / "book" / name, folder / "book" / name)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    (folder / "book" / "page.md").write_text("# A page\n\nWith a formula, $x^2$.\n")
    (folder / ".venv").symlink_to(sys.prefix)
    done = subprocess.run(
        ["make", "--no-print-directory", "--old-file=.venv/.book", "book"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root / "lib")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert (folder / "vendor" / "mathjax" / "startup.js").exists()
    (address,) = re.findall(r"Open  (file://\S+)", done.stdout)
    page = Path(unquote(urlsplit(address).path))
    assert page == folder / "_build" / "html" / "index.html" and page.exists()
    assert "math" in (page.parent / "book" / "page.html").read_text()


@pytest.mark.parametrize("command", ["book", "test"])
def test_macos_is_told_in_one_sentence_what_works(checkout, tools, command):
    """The book can be built there, so it goes on to look for Python; tests cannot be run."""
    result = run_make(checkout, tools, command, "SYSTEM=Darwin")
    first, second, *_ = result.stderr.strip().splitlines()
    assert first.startswith("gemmlab runs on Linux, and this is macOS") and "make book" in first
    assert ".devcontainer" in first
    assert ("needs Python" in second) == (command == "book")
    assert result.returncode != 0


@pytest.mark.parametrize("command", ["book", "test"])
def test_windows_is_told_in_one_sentence_what_works(checkout, tools, command):
    result = run_make(checkout, tools, command, "SYSTEM=MINGW64_NT-10.0")
    assert result.returncode != 0
    first, *rest = result.stderr.strip().splitlines()
    assert "this is MINGW64_NT-10.0" in first and "WSL" in first and "rendered pages" in first
    assert [line for line in rest if not line.startswith("make:")] == []
