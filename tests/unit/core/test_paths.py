"""Where the kernels and recordings are looked for."""

from __future__ import annotations

import pytest

from gemmlab.core import paths


@pytest.fixture(autouse=True)
def no_choice(monkeypatch):
    monkeypatch.delenv("GEMMLAB_ROOT", raising=False)


def test_a_checkout_has_them_itself(root):
    assert paths.repository_root() == root
    assert paths.kernels_folder() == root / "kernels"
    assert paths.measurements_folder() == root / "book" / "measurements"


def test_gemmlab_root_decides(monkeypatch, tmp_path):
    monkeypatch.setenv("GEMMLAB_ROOT", str(tmp_path))
    assert paths.repository_root() == tmp_path


def test_an_installed_package_has_a_copy(monkeypatch, tmp_path):
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "gemmlab"
    monkeypatch.setattr(paths, "_PACKAGE", package)
    assert paths.repository_root() == package / "_data"


def test_a_folder_called_lib_is_no_checkout(monkeypatch, tmp_path):
    """`pip install --target lib`."""
    (tmp_path / "kernels").mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path / "lib" / "gemmlab")
    assert paths.repository_root() == tmp_path / "lib" / "gemmlab" / "_data"
