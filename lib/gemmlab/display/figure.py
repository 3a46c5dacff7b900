"""One picture for every page: SVG in two widths, coloured by the page; PNG and plain text.

A chart is drawn at the width that it is shown at, once for desktops and once for phones, so that
its text is as large as the text around it. The colours are CSS variables with a light and a dark
value. The same input always gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import matplotlib.figure

WIDE, NARROW = 6.0, 3.6  # inches of 96 pixels: a column of text, and a screen of 390 pixels
TEXT, SMALL = 10.0, 9.75  # points: 13.3 and 13 pixels

_FONTS = "'Source Sans 3', 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Theme:
    """Colours of one kind of page. `series` are told apart by colour-blind eyes too."""

    name: str
    text: str
    quiet: str
    rule: str
    paper: str
    accent: str
    strong: str
    series: tuple[str, ...]

    def colours(self) -> list[str]:
        """Every colour, in the same order for each theme."""
        single = [getattr(self, field.name) for field in fields(self)[1:-1]]
        return [*single, *self.series]


LIGHT = Theme(
    "light",
    text="#1d232a",
    quiet="#57606a",
    rule="#dde2e7",
    paper="#ffffff",
    accent="#0072b2",
    strong="#b34700",
    series=("#0072b2", "#b34700", "#00795a", "#8f4a77", "#007f9e", "#57606a"),
)
DARK = Theme(
    "dark",
    text="#dde3e9",
    quiet="#9ca7b3",
    rule="#343c46",
    paper="#14181d",
    accent="#56b4e9",
    strong="#f0a04a",
    series=("#56b4e9", "#f0a04a", "#3fc79f", "#e08fc0", "#8fd3e8", "#9ca7b3"),
)


_LEFT_OUT = r"\s*<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>| font-family: [^;\"]*;"

# A colour of LIGHT -> the CSS variable that has it.
_VARIABLES = {colour: f"--gl-c{i}" for i, colour in reversed(list(enumerate(LIGHT.colours())))}


def _rules(theme: Theme) -> str:
    known = dict(zip(LIGHT.colours(), theme.colours(), strict=True))
    return ";".join(f"{name}:{known[colour]}" for colour, name in _VARIABLES.items())


_STYLE = f"""<style>
.gl-figure{{margin:.5rem 0 1rem;{_rules(LIGHT)}}}
html[data-theme=dark] .gl-figure,[data-jp-theme-light=false] .gl-figure{{{_rules(DARK)}}}
@media print{{.gl-figure.gl-figure{{{_rules(LIGHT)}}}}}
.gl-figure svg{{display:block;max-width:100%;height:auto;font-family:{_FONTS}}}
.gl-figure svg *{{stroke-linejoin:round;stroke-linecap:butt}}
.gl-figure .gl-narrow{{display:none}}
@media (max-width:36rem){{
.gl-figure .gl-narrow{{display:block}}.gl-figure .gl-wide{{display:none}}}}
.gl-figure figcaption{{max-width:{WIDE}in;margin-top:.3rem;font-size:13px;line-height:1.4}}
.gl-figure figcaption details{{display:inline}}
.gl-figure figcaption summary{{display:inline;cursor:pointer;text-decoration:underline dotted}}
</style>"""


class Figure:
    """What `plots` gives back: `draw(theme)` makes the picture, `alt` says it in words.

    origin: where recorded numbers come from; it is shown below the picture as text.
    """

    def __init__(
        self, draw: Callable[[Theme], matplotlib.figure.Figure], alt: str, origin: str = ""
    ):
        self._draw = draw
        self.alt = alt
        self.origin = origin

    def svg(self, theme: Theme = LIGHT, width: float = WIDE) -> str:
        """The picture as SVG, its text as text. width: in inches."""
        text = self._render(theme, "svg", width, metadata={"Date": None, "Creator": None})
        # Laid out with the font that matplotlib brings, shown with the fonts of the page.
        return re.sub(r"'DejaVu Sans'", _FONTS, text.decode())

    @cached_property
    def png(self) -> bytes:
        """The light picture on white, 900 pixels wide, in 64 colours to keep notebooks small."""
        from PIL import Image

        full = self._render(LIGHT, "png", WIDE, dpi=150, facecolor="white")
        buffer = io.BytesIO()
        Image.open(io.BytesIO(full)).convert("RGB").quantize(64).save(buffer, "png", optimize=True)
        return buffer.getvalue()

    def save(self, path: str) -> None:
        """Write the light picture; the ending says which kind, .svg or .png."""
        data = self.svg().encode() if str(path).endswith(".svg") else self.png
        with open(path, "wb") as file:
            file.write(data)

    def _render(self, theme: Theme, kind: str, width: float, **options: Any) -> bytes:
        import matplotlib as mpl

        # Pictures of one page must not share names of clip paths and markers.
        salt = hashlib.sha256(f"{self.alt}{width}".encode()).hexdigest()
        with mpl.rc_context(_rc(theme, width, salt)):
            buffer = io.BytesIO()
            options = {"transparent": kind == "svg", **options}
            self._draw(theme).savefig(buffer, format=kind, **options)
        return buffer.getvalue()

    def _inline(self, width: float, name: str) -> str:
        """The picture as an element of a page, in the page's colours and at its final size."""
        text = self.svg(LIGHT, width)
        text = text[text.index("<svg") :]
        # A style sheet would hold for the whole page: what it says stands in _STYLE.
        text = re.sub(_LEFT_OUT, "", text, flags=re.DOTALL)
        text = re.sub(r'<g id="[^"]*"', "<g", text)  # the same in every picture
        text = re.sub(r"#[0-9a-f]{6}(?=[;\"])", _variable, text)
        head, body = text.split(">", 1)
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
        assert size is not None
        across, down = (f"{float(points) * 4 / 3:.0f}" for points in size.groups())
        alt = html.escape(self.alt, quote=True)
        return (
            f'<svg class="{name}" role="img" aria-label="{alt}" width="{across}" height="{down}" '
            f'viewBox="0 0 {size[1]} {size[2]}" xmlns:xlink="http://www.w3.org/1999/xlink">{body}'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {
            "text/html": self._repr_html_(),
            "image/png": base64.b64encode(self.png).decode(),
            "text/plain": self.alt,
        }

    def _repr_html_(self) -> str:
        pictures = self._inline(WIDE, "gl-wide") + self._inline(NARROW, "gl-narrow")
        caption = f"<figcaption>{_caption(self.origin)}</figcaption>" if self.origin else ""
        return f'{_STYLE}<figure class="gl-figure">{pictures}{caption}</figure>'

    def __repr__(self) -> str:
        return self.alt


def _variable(match: re.Match[str]) -> str:
    name = _VARIABLES.get(match[0])
    return f"var({name},{match[0]})" if name else match[0]


def _caption(origin: str) -> str:
    """`origin` with its commits behind a word that opens."""
    commits = re.findall(r"commit ([0-9a-f]{6,}(?: \([^)]*\))?)", origin)
    text = re.sub(r",? commit [0-9a-f]{6,}(?: \([^)]*\))?", "", origin)
    text = f"{text[:1].upper()}{text[1:]}."
    if not commits:
        return html.escape(text)
    behind = html.escape(", ".join(commits))
    return f"{html.escape(text)} <details><summary>commit</summary> {behind}</details>"


def is_narrow() -> bool:
    """Whether the picture being drawn is the one for phones."""
    import matplotlib as mpl

    return bool(mpl.rcParams["figure.figsize"][0] < WIDE)


def canvas(height: float) -> tuple[matplotlib.figure.Figure, matplotlib.axes.Axes]:
    """An empty figure of the width asked for and `height` inches, with one pair of axes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(mpl.rcParams["figure.figsize"][0], height), layout="constrained")
    return figure, figure.add_subplot()


def spread(places: list[float], gap: float, top: float = float("inf")) -> list[float]:
    """Where labels go that want to stand at `places`: at least `gap` apart, none above `top`."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = list(places)
    for _ in range(200):
        for low, high in pairwise(order):
            overlap = max(0.0, gap - (moved[high] - moved[low]))
            moved[low] -= overlap / 2
            moved[high] += overlap / 2
    for i in reversed(order):
        moved[i] = min(moved[i], top)
        top = moved[i] - gap
    return moved


def _rc(theme: Theme, width: float, salt: str) -> Any:
    return {
        "figure.figsize": (width, width),
        "font.family": ["DejaVu Sans"],
        "font.size": TEXT,
        "axes.labelsize": TEXT,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "text.color": theme.text,
        "axes.labelcolor": theme.text,
        "xtick.color": theme.quiet,
        "ytick.color": theme.quiet,
        "axes.edgecolor": theme.rule,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": theme.rule,
        "grid.linewidth": 0.7,
        "lines.linewidth": 1.8,
        "lines.markersize": 5,
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
    }
