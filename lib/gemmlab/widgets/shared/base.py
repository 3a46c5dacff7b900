"""What every widget shares: one ES module, one style sheet, and four ways of being shown.

A widget is an anywidget in JupyterLab. Its mime bundle also carries a self-contained text/html (a
picture that the same module, inlined, replaces), an image/png and a fixed text/plain, so that a
page without a kernel still responds and a page without scripts still shows the reading.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDGETS = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r'^import \{[^}]*\}\s*from "(\.{1,2}/[a-z_/.]+\.js)";\n', re.MULTILINE)


@cache
def module_text(name: str) -> str:
    """An ES module with the modules that it imports written in front of it.

    name: its path below widgets/, "bank_map/widget.js". An `import` names what the other file
    exports, without `as`: in one text they are one scope.
    """
    done: list[Path] = []
    whole = (_WIDGETS / name).resolve()

    def add(file: Path) -> str:
        if file in done:
            return ""
        done.append(file)
        text = file.read_text(encoding="utf-8")
        before = "".join(add((file.parent / other).resolve()) for other in _IMPORT.findall(text))
        text = _IMPORT.sub("", text)
        if file != whole:
            text = re.sub(r"^export (?=const|function)", "", text, flags=re.MULTILINE)
        return before + text

    # Comments and indentation would be repeated in every output of every notebook.
    lines = (line.strip() for line in add(whole).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@cache
def style_text(*names: str) -> str:
    """The shared style sheet followed by others, by their paths below widgets/."""
    sheets = [_WIDGETS / file for file in ("shared/base.css", *names)]
    text = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _data_uri(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


class Widget(anywidget.AnyWidget):
    """Base of the widgets: a subclass names its files and says what it shows.

    `config` is what never changes, `state` what the reader moves; both are plain data.
    """

    _script = ""  # the subclass' module below widgets/, "bank_map/widget.js"
    _sheets: tuple[str, ...] = ()  # its style sheets, ("bank_map/widget.css",)

    config = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # anywidget makes a subclass of its own for every instance; that one has its _esm already.
        if "_script" in cls.__dict__:
            cls._esm = module_text(cls._script)
            cls._css = style_text(*cls._sheets)
        super().__init_subclass__(**kwargs)

    def summary(self) -> str:
        """What the widget shows, in words: the picture's alt text and the text/plain."""
        raise NotImplementedError

    def figure(self) -> Figure:
        """The picture for pages that run no scripts, readable at 390 pixels."""
        raise NotImplementedError

    def fallback(self) -> str:
        """The HTML that stands in the page until the module takes over."""
        picture = _data_uri("image/png", self.png())
        alt = html.escape(self.summary(), quote=True)
        return f'<img alt="{alt}" src="{picture}">'

    def png(self) -> bytes:
        """The picture as PNG, 200 dots per inch."""
        return png_bytes(self.figure())

    def key(self) -> str:
        """A name for this widget in a page; the same content gives the same name."""
        content = json.dumps([self._esm, self._css, self.config, self.state], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    def to_html(self) -> str:
        """A self-contained piece of a page: it needs no kernel, no network and no other file."""
        module = _data_uri("text/javascript", self._esm.encode())
        # Encoded, so that what a widget will reveal is not lying in the page to be read.
        data = json.dumps([self.key(), self.config, self.state], sort_keys=True).encode()
        given = f'JSON.parse(atob("{base64.b64encode(data).decode()}"))'
        return (
            f"<style>{self._css}</style>\n"
            f'<div class="gl" data-widget="{type(self).__name__}" data-gemmlab="{self.key()}">'
            f"{self.fallback()}</div>\n"
            f'<script type="module">import("{module}").then((m) => m.boot(...{given}));</script>'
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    # anywidget's gives a pair; IPython takes the bundle alone just as well.
    def _repr_mimebundle_(self, **kwargs: Any) -> dict:  # type: ignore[override]
        bundle = super()._repr_mimebundle_(**kwargs)
        data = dict(bundle[0] if isinstance(bundle, tuple) else bundle or {})
        data["text/plain"] = repr(self)
        data["text/html"] = self.to_html()
        data["image/png"] = base64.b64encode(self.png()).decode()
        return data


def new_figure(width: float, height: float) -> Figure:
    """An empty white matplotlib figure in inches; 100 CSS pixels an inch is how it is shown."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def small_png(draw: Callable[[], Figure]) -> bytes:
    """The figure that `draw` makes as a PNG of half the size: no shades between colours."""
    import matplotlib as mpl

    with mpl.rc_context({"text.antialiased": False, "patch.antialiased": False}):
        return png_bytes(draw(), colours=24)


def png_bytes(figure: Figure, colours: int = 128) -> bytes:
    """A figure as a PNG of few colours, which is a third of the size."""
    from PIL import Image

    raw = io.BytesIO()
    figure.savefig(raw, format="png", dpi=200, metadata={"Software": None})
    image = Image.open(raw).convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    small = io.BytesIO()
    image.save(small, format="png", optimize=True)
    return small.getvalue()
