"""Tables that read well in a notebook, in the book (light and dark, 390 px) and in a terminal."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

# The page's own colours where it names them (the book, JupyterLab), else what the text has.
STYLE = """<style>
.gl-table{--rule:var(--pst-color-border,var(--jp-border-color2,#8b949e66));
--quiet:var(--pst-color-text-muted,var(--jp-content-font-color2,inherit));
overflow-x:auto;margin:.5rem 0;
color:var(--pst-color-text-base,var(--jp-content-font-color1,inherit))}
.gl-table table{border-collapse:collapse;margin:0;width:auto;font-size:.9rem;
font-variant-numeric:tabular-nums;line-height:1.4;background:none}
.gl-table tr{background:none!important}
.gl-table th,.gl-table td{border:0;border-bottom:1px solid var(--rule);
padding:.35rem .9rem .35rem 0;
text-align:right;white-space:nowrap;vertical-align:baseline;background:none;color:inherit}
.gl-table th{font-weight:600;border-bottom-width:2px;vertical-align:bottom}
.gl-table th.t,.gl-table td.t{text-align:left}
.gl-table td.w{white-space:normal;min-width:14rem}
.gl-table tr.quiet td{color:var(--quiet)}
.gl-table p{margin:.4rem 0 0;font-size:.8rem;line-height:1.4;color:var(--quiet)}
</style>"""

_VERDICT = """<style>
.gl-judged{--edge:#1a7f37;border-left:4px solid var(--edge);padding:.1rem .8rem;margin:.5rem 0}
.gl-judged.bad{--edge:#bc4c00}
.gl-judged p{margin:.2rem 0}.gl-judged ul{margin:.2rem 0;padding-left:1.2rem}
</style>"""


@dataclass(frozen=True)
class Table:
    """A table with its origin below; the cells are text.

    head: a title for each column. rows: a cell for each column. align: a letter for each column,
    "t" for text, "w" for text that wraps, "n" for numbers. notes: lines below the table; plain text
    has an empty line before them, unless `close`. quiet: numbers of rows in a softer color.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str
    notes: Sequence[str] = ()
    quiet: Sequence[int] = ()
    close: bool = False

    def __repr__(self) -> str:
        gap = () if self.close else ("",)
        return text_table(self.head, self.rows, self.align, (*gap, *self.notes))

    def _repr_html_(self) -> str:
        return table(self.head, self.rows, self.align, self.notes, self.quiet)


@dataclass(frozen=True)
class Judgement:
    """One line with a coloured edge: `word` says what came out, `text` and `items` say why.

    plain: the first line of the plain text, `text` if it is not given.
    """

    good: bool
    word: str
    text: str
    items: Sequence[str] = ()
    plain: str = ""

    def __repr__(self) -> str:
        return "\n".join((self.plain or self.text, *self.items))

    def _repr_html_(self) -> str:
        return verdict(self.good, self.word, self.text, self.items)


@dataclass(frozen=True, repr=False)
class Shown:
    """A result that shows itself, in a notebook and in a terminal.

    A subclass is a dataclass with repr=False and describes itself once, in `shown`.
    """

    def shown(self) -> Table | Judgement:
        """What a notebook and a terminal show of the result."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        return repr(self.shown())

    def _repr_html_(self) -> str:
        return self.shown()._repr_html_()


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    align: str,
    notes: Sequence[str] = (),
    quiet: Sequence[int] = (),
) -> str:
    """An HTML table.

    `align` has one letter a column: t(ext), w(rapped text) or n(umber). `notes` are lines below it;
    the rows numbered in `quiet` are set in a softer colour.
    """
    classes = {"t": ' class="t"', "w": ' class="t w"', "n": ""}
    kinds = [classes[letter] for letter in align]

    def cells(tag: str, values: Sequence[str]) -> str:
        pairs = zip(values, kinds, strict=True)
        return "".join(f"<{tag}{kind}>{html.escape(str(v))}</{tag}>" for v, kind in pairs)

    body = "".join(
        f"<tr{' class=quiet' if i in quiet else ''}>{cells('td', row)}</tr>"
        for i, row in enumerate(rows)
    )
    lines = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return (
        f'{STYLE}<div class="gl-table" tabindex="0"><table><thead><tr>{cells("th", head)}</tr>'
        f"</thead><tbody>{body}</tbody></table>{lines}</div>"
    )


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], align: str, notes: Sequence[str] = ()
) -> str:
    """The same as plain text, columns padded with spaces."""
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in lines) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = zip(row, widths, align, strict=True)
        return "  ".join(c.rjust(w) if a == "n" else c.ljust(w) for c, w, a in cells).rstrip()

    return "\n".join([*map(line, lines), *notes])


def verdict(good: bool, word: str, text: str, items: Sequence[str] = ()) -> str:
    """A judgement with a coloured edge: `word` says it, `text` and `items` say why."""
    listed = "".join(f"<li>{html.escape(item.strip())}</li>" for item in items)
    return (
        f'{_VERDICT}<div class="gl-judged{"" if good else " bad"}"><p><b>{html.escape(word)}:</b> '
        f"{html.escape(text)}</p>{f'<ul>{listed}</ul>' if listed else ''}</div>"
    )
