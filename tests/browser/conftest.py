"""Real Chromium, with every request that would leave the machine refused and written down."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, Response, sync_playwright

LOCAL = ("http://127.0.0.1:", "file:", "data:", "blob:")
# Console messages that say something about the machine, not about the page.
NOT_OURS = ("GPU stall", "WebGL")
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
GIVEN_UP = "net::ERR_ABORTED"
FORGET = """() => {
  localStorage.clear();
  sessionStorage.clear();
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@dataclass
class Visit:
    """One open page, and what went wrong in it."""

    page: Page
    console: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self):
        self._heard = {
            "console": self._message,
            "pageerror": lambda error: self.console.append(str(error)),
            "requestfailed": self._fail,
            "response": self._answer,
            "request": self._look,
        }
        for event, hear in self._heard.items():
            self.page.on(event, hear)

    def _answer(self, response: Response):
        if response.status >= 400:
            self.failed.append(f"{response.status} {response.url}")

    def _message(self, message):
        if message.type in ("error", "warning") and not any(w in message.text for w in NOT_OURS):
            self.console.append(f"{message.type}: {message.text}")

    def _fail(self, request: Request):
        # What a page still loads when one leaves it is given up by the browser, not refused to it
        # (the search page asks for every page it found, for the lines around the word).
        if request.failure != GIVEN_UP:
            self.failed.append(f"{request.failure}: {request.url}")

    def _look(self, request: Request):
        if not request.url.startswith(LOCAL):
            self.outside.append(request.url)

    def problems(self) -> list[str]:
        return [*self.console, *self.outside, *self.failed]

    def leave(self) -> None:
        """Leave an empty page behind that has heard of nothing, for the next visit."""
        for event, hear in self._heard.items():
            self.page.remove_listener(event, hear)
        self.page.evaluate(FORGET)
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def server_for(folder: Path) -> ThreadingHTTPServer:
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser; without one the tests are skipped, loudly, but fail in CI."""
    path = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if path is None:
        why = "no Chromium, so no page was tried in a browser: apt-get install chromium"
        pytest.fail(why) if os.environ.get("CI") else pytest.skip(why)
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root, which is what CI runs as.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=[NOWHERE, *sandbox])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def address(book: Path) -> Iterator[str]:
    """Where the built book is served."""
    server = server_for(book)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[Path], str]]:
    """serve(folder): the address at which a folder is served while the module's tests run."""
    servers = []

    def address_of(folder: Path) -> str:
        servers.append(server_for(folder))
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield address_of
    for server in servers:
        server.shutdown()


@pytest.fixture(scope="session")
def rendered() -> Callable[..., str]:
    """rendered(TmaBox, width=64): a widget's static HTML, made once for all tests."""
    known: dict[str, str] = {}

    def html(make: Callable, *arguments, **more) -> str:
        key = repr((make, arguments, more))
        if key not in known:
            known[key] = make(*arguments, **more).to_html()
        return known[key]

    return html


# A widget's own script marks the place where it lives.
ALIVE = """() => !document.querySelector("[data-gemmlab]:not([data-live])")"""


class Windows:
    """Opens addresses; a window that nobody looks at any more serves again for the same options.

    A new browser profile takes a second of computing, as much as all else in a small test. What a
    visit has set is undone: size, theme, motion, storage. Without scripts nothing can be undone.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = {}
        self._options: dict[Page, dict] = {}

    def open(self, url: str, width: int = 1280, **options) -> Visit:
        """Opens an address, its widgets alive; the caller ends the visit by `close`."""
        opened = Visit(self._page(width, options))
        opened.page.goto(url)
        if options.get("java_script_enabled", True):
            opened.page.wait_for_function(ALIVE)
        return opened

    def _page(self, width: int, options: dict) -> Page:
        size = {"width": width, "height": 900}
        if free := self._free.get(repr(options)):
            page = free.pop()
            page.set_viewport_size(size)
            motion = options.get("reduced_motion", "no-preference")
            page.emulate_media(media="null", color_scheme="light", reduced_motion=motion)
            return page
        context = self._browser.new_context(viewport=size, **options)
        context.set_default_timeout(30_000)  # chapters are executed beside it
        page = context.new_page()
        self._options[page] = options
        return page

    def close(self, opened: Visit) -> None:
        """The visit's window is free for another."""
        options = self._options[opened.page]
        if not options.get("java_script_enabled", True) or opened.page.is_closed():
            opened.page.context.close()
            return
        opened.leave()
        self._free.setdefault(repr(options), []).append(opened.page)


@pytest.fixture(scope="session")
def windows(chromium: Browser) -> Windows:
    """Windows of the browser, of which each is used again and again."""
    return Windows(chromium)


@pytest.fixture
def visit(windows: Windows) -> Iterator[Callable[..., Visit]]:
    """Opens an address in a window as of a fresh browser profile: visit(url, width=1280)."""
    visits = []

    def open_(url: str, width: int = 1280, **options) -> Visit:
        visits.append(windows.open(url, width, **options))
        return visits[-1]

    yield open_
    for opened in visits:
        windows.close(opened)
