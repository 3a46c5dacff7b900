"""Sphinx extension of the book: no request leaves the machine, and no page carries dead weight."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from ipython_pygments_lexers import IPython3Lexer
from pygments.lexer import bygroups, using
from pygments.lexers import CppLexer
from pygments.token import Keyword, Operator, Text
from sphinx.application import Sphinx
from sphinx.config import Config

# Starts kernels on a remote server; jupyter-book has no switch that leaves its script out.
UNWANTED = ("sphinx-thebe", "thebe")
# Font Awesome's script draws every icon a second time (1.5 MB a page). Its three fonts are fetched
# ahead, two of them for icons that no page has; from a file:// address browsers refuse to.
DEAD_WEIGHT = re.compile(
    r"<script [^>]*fontawesome/[^>]*></script>\n?"
    r"|<link rel=\"preload\"[^>]*webfonts/fa-[^>]*>\n?"
)
# Each output of a notebook stands alone, so a page with five widgets has their module five times.
STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)
MODULE = re.compile(r'import\("data:text/javascript;base64,[^"]+"\)')


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


def lighten(app: Sphinx, error: Exception | None) -> None:
    """Rewrite the written pages without what they do not need and what they have twice."""
    if error is not None or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        lean = share_repeats(DEAD_WEIGHT.sub("", text))
        if lean != text:
            page.write_text(lean, encoding="utf-8")


def drop_launch_buttons(app: Sphinx, config: Config) -> None:
    """No buttons for Colab and Binder while _config.yml names no repository to open there."""
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options.pop("launch_buttons", None)


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("config-inited", drop_launch_buttons)
    app.add_lexer("ipython3", CellLexer)
    app.connect("html-page-context", drop_scripts, priority=990)
    app.connect("build-finished", lighten)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
