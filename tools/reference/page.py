"""The notebook `book/reference.ipynb`, without outputs: index, verbs, rooms, magic, variables."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from IPython.core.magic_arguments import MagicArgumentParser
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import gemmlab as lab
from gemmlab.core import errors
from gemmlab.notebook import magic
from gemmlab.widgets.shared.base import Widget

from .describe import anchor, described, entry_text, link, summary
from .docstrings import markdown, parse
from .examples import EXAMPLES, MEASURED
from .face import LAYOUTS, ROOMS, ROOT, Entry, FaceError, check, everything, layouts_group, results

INTRO = """\
# API reference: every name, with an example

`import gemmlab as lab` gives *verbs*, functions such as `lab.check`, and *rooms*, modules such as
`lab.layouts`. This page has all of them, each with an example that ran when the page was made. It
ran without a GPU: kernels went through the simulator, and times are the recorded ones. A is (M, K),
B is (K, N), C is (M, N); sizes are in elements unless a line says bytes."""

KERNEL_EXAMPLE = """\
%%kernel lower_strips --like sgemm_18_block_order
constexpr int STRIP = 4;"""

CELL_NAME = re.compile(r"[^a-zA-Z0-9]+")


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, what it is, and its names."""

    title: str
    intro: str
    entries: list[Entry]

    @property
    def anchor(self) -> str:
        """The id of its heading."""
        return "section-" + CELL_NAME.sub("-", self.title.replace("`", "")).strip("-").lower()


def sections() -> list[Section]:
    """The verbs and the rooms, layouts by its parts. Raises FaceError as `check` does."""
    entries, again = everything()
    check(entries)
    verbs = [e for e in entries if "." not in e.path]
    found = [Section("Verbs", "Everyday calls. Each is at its best in a notebook's cell.", verbs)]
    for name in ROOMS:
        inside = [e for e in entries if e.path.startswith(f"{name}.")]
        if name == "layouts":
            found += _layouts(inside)
            continue
        doubles = [e for e in again if e.path.startswith(f"{name}.")]
        found.append(Section(f"`lab.{name}`", _about(name, doubles, entries), inside))
    return found


def _layouts(entries: list[Entry]) -> list[Section]:
    by_part: dict[str, list[Entry]] = {part: [] for part in LAYOUTS}
    for entry in entries:
        by_part[layouts_group(entry)].append(entry)
    about = {part: f"gemmlab.layouts.{part}" for part in LAYOUTS}
    return [
        Section(f"`lab.layouts`: {LAYOUTS[part]}", _first(sys.modules[about[part]].__doc__), inside)
        for part, inside in by_part.items()
        if inside
    ]


def _about(name: str, doubles: list[Entry], entries: list[Entry]) -> str:
    text = _first(getattr(lab, name).__doc__)
    for double in doubles:
        first = next(e for e in entries if e.thing is double.thing)
        text += f" `{double.name}` is {link(first.path)}."
    if name == "widgets":
        text += (
            " In a notebook and in the book a widget draws itself; here its text is shown "
            "instead; the chapters named show the widget. Every widget has:\n\n" + _common_members()
        )
    return text


def _common_members() -> str:
    names = ("summary", "figure", "png", "fallback", "to_html")
    return "\n".join(f"- `{name}()`: {_first(getattr(Widget, name).__doc__)}" for name in names)


def _first(text: str | None) -> str:
    return markdown(parse(inspect.cleandoc(text or ""), ()).summary)


def notebook() -> NotebookNode:
    """The page without outputs. Raises FaceError where names and examples do not fit together."""
    parts = sections()
    cells = [text("title", INTRO), code("import", "import gemmlab as lab", compare=False)]
    cells.append(text("index", index(parts)))
    for part in parts:
        head = f'<a id="{part.anchor}"></a>\n\n## {part.title}\n\n{part.intro}'
        cells.append(text(part.anchor, head))
        for entry in part.entries:
            cells += entry_cells(entry)
    cells += [text("results", results_text(parts)), text("magic", magic_text())]
    cells.append(code("magic-example", KERNEL_EXAMPLE, compare=False))
    cells += [text("errors", errors_text()), text("environment", environment_text())]
    return new_notebook(cells=cells)


def text(name: str, source: str) -> NotebookNode:
    """A Markdown cell."""
    return new_markdown_cell(source, id=name[:64])


def code(name: str, source: str, compare: bool) -> NotebookNode:
    """A code cell. compare: the tests compare its output with that of another run."""
    metadata = {"tags": ["nbval-check-output"]} if compare else {}
    return new_code_cell(source, id=name[:64], metadata=metadata)


def entry_cells(entry: Entry) -> list[NotebookNode]:
    """What is said of a name, and its example."""
    name = anchor(entry.path)
    cells = [text(name, entry_text(entry, 3))]
    if entry.path in EXAMPLES:
        compare = entry.path not in MEASURED
        cells.append(code(f"{name}-example", EXAMPLES[entry.path], compare))
    return cells


def index(parts: list[Section]) -> str:
    """All names, by section, with the first sentence of each."""
    blocks = ["## All names"]
    for part in parts:
        rows = (f"| {link(e.path, e.short)} | {summary(e)} |" for e in part.entries)
        title = f'**<a href="#{part.anchor}">{part.title.replace("`", "")}</a>**'
        blocks.append("\n".join((title, "", "| name | what it is |", "|---|---|", *rows)))
    others = {"results": "What calls return", "magic": "Cells that are kernels: %%kernel"}
    others |= {"errors": "Errors", "environment": "Environment variables"}
    links = (f'<a href="#section-{key}">{title}</a>' for key, title in others.items())
    blocks.append("**Also:** " + ", ".join(links))
    return "\n\n".join(blocks)


def results_text(parts: list[Section]) -> str:
    """The classes that calls return and that no room names."""
    about = (
        "Calls return these; readers do not make them. One with a table or a figure shows it as a "
        "cell's value."
    )
    blocks = [_head("results", "What calls return"), about]
    for thing in results([entry for part in parts for entry in part.entries]):
        blocks += [f"### `{thing.__name__}`", *described(thing, typed=True)]
        blocks.append(f"Defined in `{thing.__module__}`.")
    return "\n\n".join(blocks)


def magic_text() -> str:
    """The cell magic, with the options of its own table of arguments."""
    method = magic.KernelMagics.kernel
    parser: MagicArgumentParser = method.parser
    rows = []
    for action in parser._actions:
        shown = action.option_strings[0] if action.option_strings else action.dest
        metavar = f" {action.metavar}" if action.metavar else ""
        rows.append(f"- `{shown}{metavar}`: {markdown(action.help or '')}.")
    tree = ast.parse(inspect.getsource(magic))
    function = next(
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == method.__name__
    )
    paragraphs = (ast.get_docstring(function) or "").split("\n\n")
    said = [markdown(" ".join(paragraph.split())) for paragraph in paragraphs]
    head = _head("magic", "Cells that are kernels: `%%kernel`")
    note = "Defined in `gemmlab.notebook.magic`. `import gemmlab` in a notebook registers it."
    return "\n\n".join((head, *said, "\n".join(rows), note))


def errors_text() -> str:
    """The errors that gemmlab raises on purpose."""
    classes = [c for c in vars(errors).values() if inspect.isclass(c)]
    rows = []
    for error in classes:
        bases = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
        rows.append(f"- `{error.__name__}` ({bases}): {_first(error.__doc__)}")
    said = (
        "`lab.GemmlabError` is the base of all. A message names the argument, what was given and "
    )
    said += "what to do. The classes are in `gemmlab.core.errors`."
    return "\n\n".join((_head("errors", "Errors"), said, "\n".join(rows)))


def environment_text() -> str:
    """The table in CONTRIBUTING.md. Raises FaceError for a variable that it does not have."""
    lines = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `GEMMLAB_")]
    listed = {re.search(r"GEMMLAB_\w+", row)[0] for row in rows}
    if missing := sorted(set(_variables_read()) - listed):
        raise FaceError(f"{missing[0]} is not in CONTRIBUTING.md's table of environment variables")
    cells = (row.strip("| ").split(" | ", 1) for row in rows)
    items = (f"- {name}: {meaning}." for name, meaning in cells)
    return "\n\n".join((_head("environment", "Environment variables"), "\n".join(items)))


def _variables_read() -> Iterable[str]:
    for path in sorted((ROOT / "lib" / "gemmlab").rglob("*.py")):
        yield from re.findall(r"environ\S*\"(GEMMLAB_\w+)\"", path.read_text(encoding="utf-8"))


def _head(name: str, title: str) -> str:
    return f'<a id="section-{name}"></a>\n\n## {title}'
