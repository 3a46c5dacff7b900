"""Where the kernels and recordings are looked for."""

from __future__ import annotations

import pytest

from gemmlab.core import paths
from gemmlab.core.errors import BackendError


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


# ---- the cache, from which libraries are loaded ----


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """The folder of a cache that is not there yet."""
    monkeypatch.setenv("GEMMLAB_CACHE", str(tmp_path / "above" / "cache"))
    return tmp_path / "above" / "cache"


def test_what_is_made_is_this_users_alone(cache):
    made = paths.cache_dir("sim")
    assert made == cache / "sim"
    assert [folder.stat().st_mode & 0o777 for folder in (made, cache)] == [0o700, 0o700]


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o1777])
@pytest.mark.parametrize("folder", [".", "sim"])
def test_a_folder_that_others_may_write_to_is_refused(cache, folder, mode):
    paths.cache_dir("sim")
    (cache / folder).chmod(mode)
    with pytest.raises(BackendError, match=r"GEMMLAB_CACHE: others may write .* chmod go-w '?/"):
        paths.cache_dir("sim")
    (cache / folder).chmod(0o755)  # which others may read is as an earlier version made it
    paths.cache_dir("sim")


def test_another_users_folder_is_refused(cache, monkeypatch):
    paths.cache_dir("sim")
    monkeypatch.setattr(paths.os, "geteuid", lambda: cache.stat().st_uid + 1)
    with pytest.raises(BackendError, match=r"GEMMLAB_CACHE: .* another user .*set GEMMLAB_CACHE"):
        paths.cache_dir("sim")


def test_a_folder_in_which_everybody_may_replace_it_is_refused(cache, tmp_path, monkeypatch):
    paths.cache_dir("sim")
    link = tmp_path / "link"
    link.symlink_to(cache)
    cache.parent.chmod(0o777)
    for path in (cache, link):
        monkeypatch.setenv("GEMMLAB_CACHE", str(path))
        with pytest.raises(BackendError, match=r"everybody may write to .*above and so replace"):
            paths.cache_dir("sim")
    cache.parent.chmod(0o1777)  # like /tmp
    paths.cache_dir("sim")
