"""Sphinx extension of the book: no request leaves the machine, no page carries dead weight.

Each chapter says below its title whether it is core, how long it takes and what it needs, and links
of outputs lead to pages.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path

from docutils import nodes
from ipython_pygments_lexers import IPython3Lexer
from pygments.lexer import bygroups, using
from pygments.lexers import CppLexer
from pygments.token import Keyword, Operator, Text
from sphinx.application import Sphinx
from sphinx.config import Config

from gemmlab.notebook.course import CHAPTERS, chapter
from gemmlab.notebook.reading import reading

# Starts kernels on a remote server; jupyter-book has no switch that leaves its script out.
UNWANTED = ("sphinx-thebe", "thebe")
# Font Awesome's script draws every icon a second time (1.5 MB a page). Its three fonts are fetched
# ahead, two of them for icons that no page has; from a file:// address browsers refuse to.
DEAD_WEIGHT = re.compile(
    r"<script [^>]*fontawesome/[^>]*></script>\n?"
    r"|<link rel=\"preload\"[^>]*webfonts/fa-[^>]*>\n?"
)
# It is left before an icon has come, and without this one the browser asks for favicon.ico.
INDEX = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    '<link rel="icon" href="data:,"><meta http-equiv="Refresh" content="0; url={first}"></head>'
    '<body><a href="{first}">{title}</a></body></html>\n'
)
# Each output of a notebook stands alone, so a page with five widgets has their module five times.
STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
MODULE = re.compile(r'import\("data:text/javascript;base64,[^"]+"\)')


# What an output links to is a notebook for JupyterLab, and the page of the same name here.
LINK = re.compile(r'href="(\w+)\.ipynb"')
# A column without a name has no header: assistive technology would announce one that says nothing.
NAMELESS = re.compile(r'<th((?: (?:class|scope)="[^"]*")*)>(?:<p></p>)?</th>')
# Regions of one page have names of their own: the second trace of a kernel is numbered.
REGION = re.compile(r'(role="region"[^>]* aria-label="[^"]+)"')
# The theme's sidebar is a bare element, which leaves the book's name outside of every landmark.
SIDEBAR = '<div class="bd-sidebar-primary bd-sidebar'
LANDMARK = '<div role="complementary" aria-label="Book" class="bd-sidebar-primary bd-sidebar'
# No chapters: their length says nothing about how long a reader stays.
UNTIMED = ("intro", "reference", "map", "departures")


class CellLexer(IPython3Lexer):
    """Code cells, of which those with %%kernel are C++ below their first line."""

    tokens = IPython3Lexer.tokens | {
        "root": [
            (
                r"(?s)\A(\s*)(%%)(kernel\b)([^\n]*\n)(.*)",
                bygroups(Text, Operator, Keyword, Text, using(CppLexer)),
            ),
            *IPython3Lexer.tokens["root"],
        ]
    }


def _name(asset: object) -> str:
    return str(
        getattr(asset, "filename", asset) or getattr(asset, "attributes", {}).get("body", "")
    )


def drop_scripts(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Take the scripts and styles that the book does not use out of one page."""
    for key in ("script_files", "css_files"):
        kept = [f for f in context.get(key, ()) if not any(u in _name(f).lower() for u in UNWANTED)]
        context[key] = kept


def share_repeats(text: str) -> str:
    """One page with each style sheet and each module of its widgets written once."""
    seen: set[str] = set()

    def first_style(match: re.Match) -> str:
        new = match[0] not in seen
        seen.add(match[0])
        return match[0] if new else ""

    def first_module(match: re.Match) -> str:
        # Scripts of type module run in the order of the page, so the first one has set the name.
        if counts[match[0]] == 1:
            return match[0]
        name = f"globalThis.gemmlabModule{list(counts).index(match[0])}"
        new = match[0] not in seen
        seen.add(match[0])
        return f"({name} = {match[0]})" if new else name

    counts = Counter(MODULE.findall(text))
    return MODULE.sub(first_module, STYLE.sub(first_style, text))


def number_repeats(text: str) -> str:
    """One page whose regions of equal names are numbered from the second on."""
    seen: Counter[str] = Counter()

    def numbered(match: re.Match) -> str:
        name = match[1].rpartition('"')[2]
        seen[name] += 1
        return f'{match[1]} ({seen[name]})"' if seen[name] > 1 else match[0]

    return REGION.sub(numbered, text)


def to_pages(text: str, folder: Path) -> str:
    """Links to notebooks as links to the pages beside this one, where there is such a page."""

    def page(match: re.Match) -> str:
        return f'href="{match[1]}.html"' if (folder / f"{match[1]}.html").exists() else match[0]

    return LINK.sub(page, text)


def say_path(app: Sphinx, doctree: nodes.document) -> None:
    """Below a chapter's title, whether it is core, how long it takes, and what to read before."""
    source = Path(app.env.doc2path(app.env.docname))
    title = next(iter(doctree.findall(nodes.title)), None)
    if source.suffix != ".ipynb" or source.stem in UNTIMED or title is None:
        return
    said = nodes.paragraph(text=f"{reading(source)}.", classes=["book-minutes"])
    if source.stem in CHAPTERS:
        said = _place(source.stem)
    title.parent.insert(title.parent.index(title) + 1, said)


def _place(name: str) -> nodes.paragraph:
    """A chapter's kind and minutes, and links to those that it needs."""
    place = chapter(name)
    kind, _, takes = place.words.partition(".")
    said = nodes.paragraph(classes=["book-minutes"])
    said += [nodes.strong(text=kind), nodes.Text(f".{takes}")]
    for number, needed in enumerate(place.needs):
        said += nodes.Text(", " if number else " Read before: ")
        said += nodes.reference("", chapter(needed).short, refuri=f"{needed}.html", internal=True)
    said += nodes.Text("." if place.needs else "")
    return said


def lighten(app: Sphinx, error: Exception | None) -> None:
    """Rewrite the written pages without what they do not need and what they have twice."""
    if error is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        lean = to_pages(share_repeats(DEAD_WEIGHT.sub("", text)), page.parent)
        lean = number_repeats(NAMELESS.sub(r"<td\1></td>", lean)).replace(SIDEBAR, LANDMARK)
        if lean != text:
            page.write_text(lean, encoding="utf-8")


def write_index(app: Sphinx, error: Exception | None) -> None:
    """The page that only leads to the first one, with a title and no icon to ask for."""
    if error is not None or app.builder.format != "html":
        return
    first, title = app.config.root_doc, html.escape(app.config.html_title)
    if first != "index":
        text = INDEX.format(title=title, first=f"{first}.html")
        (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")


def drop_launch_buttons(app: Sphinx, config: Config) -> None:
    """No buttons for Colab and Binder while _config.yml names no repository to open there."""
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options.pop("launch_buttons", None)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("config-inited", drop_launch_buttons)
    app.add_lexer("ipython3", CellLexer)
    app.connect("doctree-read", say_path)
    app.connect("html-page-context", drop_scripts, priority=990)
    app.connect("build-finished", lighten)
    app.connect("build-finished", write_index, priority=900)  # after another has written it
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
