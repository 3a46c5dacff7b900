"""One picture, drawn twice: for light and for dark pages, as text/html, PNG and plain text.

A figure is 4.2 inches wide, so that its smallest text (7 points) is still read on a screen of 390
pixels. The same input always gives the same bytes.
"""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import matplotlib.figure

WIDTH = 4.2  # inches

_FONTS = "'Source Sans 3', 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"

_STYLE = """<style>
.gl-figure{margin:.5rem 0}
.gl-figure img{width:100%;max-width:36rem;height:auto;background:none}
.gl-figure .only-dark{display:none}
html[data-theme=dark] .gl-figure .only-dark,
[data-jp-theme-light=false] .gl-figure .only-dark{display:inline}
html[data-theme=dark] .gl-figure .only-light,
[data-jp-theme-light=false] .gl-figure .only-light{display:none}
</style>"""


@dataclass(frozen=True)
class Theme:
    """Colours of one kind of page. `series` are told apart by colour-blind eyes too."""

    name: str
    text: str
    quiet: str
    rule: str
    accent: str
    strong: str
    series: tuple[str, ...]


LIGHT = Theme(
    "light",
    text="#1d232a",
    quiet="#57606a",
    rule="#dde2e7",
    accent="#0072b2",
    strong="#b34700",
    series=("#0072b2", "#b34700", "#00795a", "#8f4a77", "#57606a", "#007f9e"),
)
DARK = Theme(
    "dark",
    text="#dde3e9",
    quiet="#9ca7b3",
    rule="#343c46",
    accent="#56b4e9",
    strong="#f0a04a",
    series=("#56b4e9", "#f0a04a", "#3fc79f", "#e08fc0", "#9ca7b3", "#8fd3e8"),
)


class Figure:
    """What `plots` gives back: `draw(theme)` makes the picture, `alt` says it in words."""

    def __init__(self, draw: Callable[[Theme], matplotlib.figure.Figure], alt: str):
        self._draw = draw
        self.alt = alt

    def svg(self, theme: Theme = LIGHT) -> str:
        """The picture as SVG, its text as text."""
        text = self._render(theme, "svg", metadata={"Date": None, "Creator": None})
        # Laid out with the font that matplotlib brings, shown with the fonts of the page.
        return re.sub(r"'DejaVu Sans'", _FONTS, text.decode())

    @cached_property
    def png(self) -> bytes:
        """The light picture on white, 756 pixels wide, in 64 colours to keep notebooks small."""
        from PIL import Image

        full = self._render(LIGHT, "png", dpi=180, facecolor="white")
        buffer = io.BytesIO()
        Image.open(io.BytesIO(full)).convert("RGB").quantize(64).save(buffer, "png", optimize=True)
        return buffer.getvalue()

    def save(self, path: str) -> None:
        """Write the light picture; the ending says which kind, .svg or .png."""
        data = self.svg().encode() if str(path).endswith(".svg") else self.png
        with open(path, "wb") as file:
            file.write(data)

    def _render(self, theme: Theme, kind: str, **options: Any) -> bytes:
        import matplotlib as mpl

        with mpl.rc_context(_rc(theme)):
            buffer = io.BytesIO()
            options = {"transparent": kind == "svg", **options}
            self._draw(theme).savefig(buffer, format=kind, **options)
        return buffer.getvalue()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {
            "text/html": self._repr_html_(),
            "image/png": base64.b64encode(self.png).decode(),
            "text/plain": self.alt,
        }

    def _repr_html_(self) -> str:
        alt = html.escape(self.alt, quote=True)
        pictures = "".join(
            f'<img class="only-{theme.name}" alt="{alt}" src="data:image/svg+xml;base64,'
            f'{base64.b64encode(self.svg(theme).encode()).decode()}">'
            for theme in (LIGHT, DARK)
        )
        return f'{_STYLE}<div class="gl-figure">{pictures}</div>'

    def __repr__(self) -> str:
        return self.alt


def canvas(height: float) -> tuple[matplotlib.figure.Figure, matplotlib.axes.Axes]:
    """An empty figure of the usual width and `height` inches, with one pair of axes."""
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(WIDTH, height), layout="constrained")
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


def _rc(theme: Theme) -> Any:
    return {
        "font.family": ["DejaVu Sans"],
        "font.size": 8.5,
        "axes.labelsize": 8.5,
        "xtick.labelsize": 8,
        "ytick.labelsize": 8,
        "text.color": theme.text,
        "axes.labelcolor": theme.text,
        "xtick.color": theme.quiet,
        "ytick.color": theme.quiet,
        "axes.edgecolor": theme.rule,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": theme.rule,
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.6,
        "lines.markersize": 4.5,
        "svg.fonttype": "none",
        "svg.hashsalt": f"gemmlab-{theme.name}",
    }
