"""Shared by all tests: the repository, the built book, and what is skipped without a GPU."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from fcntl import LOCK_NB, LOCK_SH, flock
from pathlib import Path

import pytest
import sampling
import skips

from gemmlab.gpu.turns import VARIABLE

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[sampling.LEFT] = sampling.Left()
    config.pluginmanager.register(config.stash[sampling.LEFT])


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if sampling.whole(config.args):
        sampling.mark(items, sampling.table())
    if "not campaign" in config.option.markexpr:
        open_ = [item for item in items if not item.get_closest_marker("gpu")]
        left = [item for item in open_ if item.get_closest_marker("campaign")]
        config.stash[sampling.LEFT].count(len(left), len(open_))
    _skip_gpu(items)


@pytest.fixture
def gpu_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Processes take turns at the GPU in this test; whether this one has the GPU for itself."""
    file = tmp_path / "turns"
    monkeypatch.setenv(VARIABLE, str(file))

    def held() -> bool:
        with file.open("a") as opened:
            try:
                flock(opened, LOCK_SH | LOCK_NB)
            except BlockingIOError:
                return True
        return False

    return held


def _skip_gpu(items: list[pytest.Item]) -> None:
    gpu = [item for item in items if item.get_closest_marker("gpu")]
    if not gpu:
        return
    import torch

    if not torch.cuda.is_available():
        for item in gpu:
            item.add_marker(pytest.mark.skip(reason="no CUDA GPU"))


def pytest_sessionfinish(session: pytest.Session) -> None:
    skips.finish(session)


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[sampling.LEFT].tell(config)
    skips.tell(config)


@pytest.fixture(scope="session", autouse=True)
def no_readers_progress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the file of exercises that whoever runs the tests has solved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GEMMLAB_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's answer to Ctrl-C, also where a shell started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of the built book; it must be there and newer than its sources."""
    index = HTML / "index.html"
    if not index.exists():
        pytest.fail("the book is not built: make book")
    sources = [ROOT / "_config.yml", ROOT / "_toc.yml", *(ROOT / "book").glob("*.*")]
    newest = max(sources, key=lambda path: path.stat().st_mtime)
    built = max(page.stat().st_mtime for page in HTML.rglob("*.*"))
    if newest.stat().st_mtime > built:
        pytest.fail(f"the book is older than {newest.relative_to(ROOT)}: make book")
    return HTML
