"""The built pages: complete, light, and without anything to load from elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import yaml

HEAVIEST_PAGE = 2_500_000
URL_IN_CSS = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")
# Attributes that make a browser load something; an <a href> does not.
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}
LOADED_LINKS = {"stylesheet", "preload", "modulepreload", "icon", "preconnect", "dns-prefetch"}


@dataclass
class Page(HTMLParser):
    """What one page loads, and its headings."""

    path: Path
    loads: list[str] = field(default_factory=list)
    titles: int = 0
    in_article: bool = False

    def __post_init__(self):
        super().__init__()
        self.text = self.path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]):
        values = dict(attrs)
        # The theme repeats the title, for paper, before the article.
        self.in_article |= tag == "article"
        self.titles += tag == "h1" and self.in_article
        if tag in LOADS and values.get(LOADS[tag]):
            self.loads.append(values[LOADS[tag]])
        if tag == "link" and LOADED_LINKS & set((values.get("rel") or "").split()):
            self.loads.append(values["href"])

    def files(self) -> set[Path]:
        """The files of the book that the page loads."""
        local = (u.split("?")[0].split("#")[0] for u in self.loads if not is_external(u))
        return {(self.path.parent / u).resolve() for u in local if u and not u.startswith("data:")}


def is_external(url: str) -> bool:
    return url.startswith(("http:", "https:", "//"))


@lru_cache(maxsize=1)
def chapters(book: Path) -> list[Page]:
    """Parsed once for all tests: that takes seconds."""
    return [Page(path) for path in sorted((book / "book").glob("*.html"))]


def test_every_chapter_is_built(root, book):
    toc = yaml.safe_load((root / "_toc.yml").read_text())
    parts = toc.get("parts", [{"chapters": toc.get("chapters", [])}])
    files = [toc["root"], *(entry["file"] for part in parts for entry in part["chapters"])]
    missing = [name for name in files if not (book / f"{name}.html").exists()]
    assert not missing
    sources = {
        f"book/{p.stem}" for p in (root / "book").glob("*.*") if p.suffix in (".md", ".ipynb")
    }
    assert sources == set(files), "every chapter is in _toc.yml"


def test_pages_have_one_title(book):
    assert {page.path.name: page.titles for page in chapters(book) if page.titles != 1} == {}


def test_pages_load_nothing_from_elsewhere(book):
    others = [Page(path) for path in book.rglob("*.html") if path.parent != book / "book"]
    for page in [*chapters(book), *others]:
        assert [url for url in page.loads if is_external(url)] == [], page.path.name
        assert URL_IN_CSS.findall(page.text) == [], page.path.name


def test_styles_load_nothing_from_elsewhere(book):
    for path in (book / "_static").rglob("*.css"):
        assert URL_IN_CSS.findall(path.read_text(encoding="utf-8")) == [], path.name


def test_pages_load_only_what_is_there(book):
    missing = {str(f) for page in chapters(book) for f in page.files() if not f.exists()}
    assert not missing


def test_pages_are_light(book):
    """HTML, scripts, styles and pictures; the browser tests count what is really transferred."""
    for page in chapters(book):
        weight = page.path.stat().st_size + sum(f.stat().st_size for f in page.files())
        assert weight <= HEAVIEST_PAGE, page.path.name


def test_pages_leave_out_scripts_that_they_do_not_need(book):
    needless = re.compile(r"thebe|require\.js|embed-amd|fontawesome/")
    for page in chapters(book):
        assert not [u for u in page.loads if ".js" in u and needless.search(u)], page.path.name


def test_search_index_is_there(book):
    assert (book / "searchindex.js").stat().st_size > 0
