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

from .lean import lean_script, lean_style
from .used import used_only

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Under the picture that a notebook shows which was opened and not run.
_RUN = "Run the cell above to make this live."
_WIDGETS = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r'^import \{[^}]*\}\s*from "(\.{1,2}/[a-z_/.]+\.js)";\n', re.MULTILINE)
_KEYFRAMES = re.compile(r"@keyframes [\w-]+\{(?:[^{}]*\{[^{}]*\})*\}")
_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)


@cache
def module_text(name: str) -> str:
    """An ES module with what it uses of the modules that it imports written in front of it.

    name: its path below widgets/, "bank_map/widget.js". An `import` names what the other file
    exports, without `as`: in one text they are one scope.
    """
    done: list[Path] = []
    modules: list[str] = []

    def add(file: Path) -> None:
        if file in done:
            return
        done.append(file)
        text = file.read_text(encoding="utf-8")
        for other in _IMPORT.findall(text):
            add((file.parent / other).resolve())
        modules.append(_COMMENT.sub("", _IMPORT.sub("", text)))

    add((_WIDGETS / name).resolve())
    for at, text in enumerate(modules[:-1]):
        modules[at] = re.sub(r"^export (?=const|function)", "", text, flags=re.MULTILINE)
    # Indentation would be repeated in every output of every notebook.
    lines = (line.strip() for line in used_only(modules).splitlines())
    return lean_script("\n".join(line for line in lines if line))


@cache
def style_text(widget: str, *names: str) -> str:
    """The style sheet that all widgets have, followed by those of one widget, which are its alone.

    names: paths below widgets/. They are nested in the widget's element, since another widget on
    the page may call something else by the same class. What a widget says of its element itself,
    or of a class that it sets on it, begins with `.gl`: `.gl.gl-error .gl-views`.
    """
    base, own = (_styles(files) for files in (("shared/base.css",), names))
    frames = "".join(_KEYFRAMES.findall(own))
    own = re.sub(r"(^|(?<=[{},]))\.gl(?![\w-])", "&.gl", _KEYFRAMES.sub("", own))
    return f'{base}{frames}[data-widget="{widget}"]{{{own}}}'


def _styles(names: tuple[str, ...]) -> str:
    text = "".join((_WIDGETS / file).read_text(encoding="utf-8") for file in names)
    return lean_style(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


def _data_uri(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


class _Text:
    """A text of a class of widgets, put together when it is first asked for: most are not."""

    def __init__(self, of: Callable[[type[Widget]], str]) -> None:
        self._of = of

    def __get__(self, widget: Widget | None, owner: type[Widget]) -> str:
        """That of the class which names the files; anywidget makes one for every instance."""
        if not owner.__dict__.get("_is_made"):
            return ""
        names: Any = next(one for one in owner.__mro__ if "_script" in one.__dict__)
        return self._of(names) if names._script else ""


class _Late(traitlets.MetaHasTraits):
    """The class of the widgets' classes. When one is made, traitlets asks it for all attributes."""

    def setup_class(self, classdict: dict[str, Any]) -> None:
        """As traitlets' own, which does not look at the values of texts."""
        super().setup_class(classdict)
        self._is_made = True


class Widget(anywidget.AnyWidget, metaclass=_Late):
    """Base of the widgets: a subclass names its files and says what it shows.

    `config` is what never changes, `state` what the reader moves; both are plain data.
    """

    _script = ""  # the subclass' module below widgets/, "bank_map/widget.js"
    _sheets: tuple[str, ...] = ()  # its style sheets, ("bank_map/widget.css",)
    _esm = _Text(lambda widget: module_text(widget._script))
    _css = _Text(lambda widget: style_text(widget.__name__, *widget._sheets))
    _drawn = ("", b"")  # the last picture, after the key of what it shows

    config = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def summary(self) -> str:
        """What the widget shows, in words: the picture's alt text and the text/plain."""
        raise NotImplementedError

    def figure(self) -> Figure:
        """The picture for pages that run no scripts, readable at 390 pixels."""
        raise NotImplementedError

    def fallback(self) -> str:
        """The HTML that the page shows until the module takes over."""
        picture = _data_uri("image/png", self._picture())
        alt = html.escape(self.summary(), quote=True)
        return f'<img alt="{alt}" src="{picture}">'

    def png(self) -> bytes:
        """The picture as PNG, 200 dots per inch."""
        return png_bytes(self.figure())

    def _picture(self) -> bytes:
        """`png()`, drawn once for what the widget shows: a bundle has it in two places."""
        key = self.key()
        if self._drawn[0] != key:
            self._drawn = (key, self.png())
        return self._drawn[1]

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
        data["image/png"] = base64.b64encode(with_note(self._picture(), _RUN)).decode()
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
    figure.savefig(raw, format="rgba", dpi=200)
    width, height = (int(inches * 200) for inches in figure.get_size_inches())
    image = Image.frombuffer("RGBA", (width, height), raw.getvalue(), "raw", "RGBA", 0, 1)
    image = image.convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    small = io.BytesIO()
    image.save(small, format="png", optimize=True)
    return small.getvalue()


def with_note(png: bytes, text: str) -> bytes:
    """A PNG with a line of text below its picture."""
    from matplotlib.font_manager import findfont
    from PIL import Image, ImageDraw, ImageFont

    image = Image.open(io.BytesIO(png)).convert("RGB")
    taller = Image.new("RGB", (image.width, image.height + 44), "white")
    taller.paste(image)
    font = ImageFont.truetype(findfont("DejaVu Sans:bold"), 20)
    ImageDraw.Draw(taller).text((16, image.height + 8), text, fill="#0068a3", font=font)
    small = io.BytesIO()
    few = taller.quantize(64, dither=Image.Dither.NONE)
    few.save(small, format="png", optimize=True)
    return small.getvalue()
