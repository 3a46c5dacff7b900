"""Sphinx extension: what a first reading can do without is folded, under words that say what it is.

Exercises, rungs of "Your kernel" and sections with the comment `<!-- fold -->` below their heading
become `<details>` whose summary is the heading. A long listing or table shows its beginning. All of
it works without scripts; book/_static/folds.js opens what a link or the search leads into, and
everything before the page is printed. In JupyterLab nothing is folded.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

from gemmlab.notebook.reading import FOLD, section_minutes

# Pages that consist of what is folded elsewhere, or that show every output on purpose.
LEFT_OUT = ("reference", "workbench", "bug_hunt", "your_kernel")
# Lines of a listing and rows of a table: what shows, and how many more there are at least if some
# are folded.
LINES, ROWS, SPARED = 12, 8, 4
_LISTING = re.compile(r'(<div class="gl-code">.*?<pre[^>]*><code>)(.*?)(</code></pre>)', re.DOTALL)
_LINE = re.compile(r'(?=<span class="l(?: \w+)?">)')
_TABLE = re.compile(r'<div class="gl-table[^>]*>\s*<table>.*?</table>', re.DOTALL)


def fold_page(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Fold the sections, listings and tables of one page that is about to be written as HTML."""
    if app.builder.format != "html" or name.rpartition("/")[2] in LEFT_OUT:
        return
    for section in doctree.findall(nodes.section):
        minutes = fold_minutes(section)
        if minutes is not None:
            _fold(section, minutes)
    for node in list(doctree.findall(nodes.raw)):
        short = node.astext() if _in_folded_cell(node) else shorten(node.astext())
        if short != node.astext():
            node.replace_self(nodes.raw(short, short, format="html"))


def fold_minutes(section: nodes.section) -> int | None:
    """What the heading of a folded section says it takes, or 0; None if it is not folded."""
    minutes = section_minutes(section[0].astext())
    if minutes is None and isinstance(next(iter(section[1:2]), None), nodes.raw):
        return 0 if section[1].astext().strip() == FOLD else None
    return minutes


def _in_folded_cell(node: nodes.Node) -> bool:
    """Whether a click shows this node already; the click is to show it whole."""
    above = node.parent
    while above is not None:
        if "tag_hide-cell" in above.get("classes", ()):
            return True
        above = above.parent
    return False


def _fold(section: nodes.section, minutes: int) -> None:
    takes = f'<span class="gl-fold-time">about {minutes} minutes</span>' if minutes else ""
    section.insert(0, _html('<details class="gl-fold"><summary>'))
    section.insert(2, _html(f"{takes}</summary>"))
    section += _html("</details>")


def _html(text: str) -> nodes.raw:
    return nodes.raw(text, text, format="html")


def shorten(text: str) -> str:
    """The HTML of an output, its long listings and tables with the rest folded."""
    return _LISTING.sub(_short_listing, _TABLE.sub(_short_table, text))


def _short_listing(listing: re.Match) -> str:
    """A listing as two, the second one in `<details>`: the browser's own search opens it."""
    before, code, after = listing.groups()
    _, *lines = _LINE.split(code)
    rest = len(lines) - LINES
    if rest < SPARED:
        return listing[0]
    return (
        f"{before}{''.join(lines[:LINES])}{after}"
        f'<details class="gl-rest"><summary>{rest} more lines</summary>'
        f'<pre tabindex="0"><code>{"".join(lines[LINES:])}{after}</details>'
    )


def _short_table(table: re.Match) -> str:
    """A table whose columns have to stay aligned: its last rows hide while `<details>` is shut."""
    rows = table[0].partition("</thead>")[2].count("<tr")
    if rows < ROWS + SPARED:
        return table[0]
    return f'{table[0]}<details class="gl-rest"><summary>All {rows} rows</summary></details>'


def setup(app: Sphinx) -> dict:
    """Register with Sphinx. Last of all, so that contents and links have been made."""
    app.add_js_file("folds.js", loading_method="defer")
    app.connect("doctree-resolved", fold_page, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
