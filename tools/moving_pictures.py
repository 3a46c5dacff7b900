"""The moving pictures of README.md: widgets of the book, recorded in Chromium.

`python -m tools.moving_pictures` writes book/images/*.webp. It needs Chromium and playwright, as
the browser tests do, and Pillow.
"""

from __future__ import annotations

import base64
import io
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from gemmlab.core.paths import repository_root
from gemmlab.widgets import BankMap, Machine
from gemmlab.widgets.shared.base import Widget

WIDTH = 760
COLOURS = 64
MOST_BYTES = 2_000_000  # of all pictures together
Frames = Iterator[tuple[bytes, int]]  # a PNG, and how long it stays, in milliseconds


def bank_map() -> Widget:
    """Every fourth element of four rows, first in eight banks, then in all."""
    return BankMap(
        width=4,
        row_length=32,
        pattern="row = lane/8; col = lane%8*4",
        caption="A warp reads every fourth element of four rows. How many banks take part?",
    )


def play_banks(page: Page) -> Frames:
    """The layouts one after the other."""
    for layout in ("as is", "padded", "swizzled"):
        page.locator(".gl-seg-text", has_text=layout).first.click()
        page.wait_for_timeout(450)  # words glide to their banks
        yield page.locator(".gl").screenshot(), 2200


def pipeline() -> Widget:
    """Tiles on their way through the machine, three stages ahead."""
    return Machine("tma_04_producer_warp")


def play_pipeline(page: Page) -> Frames:
    """The model time from its beginning to its end."""
    slider = page.locator("input[type=range]")
    total = float(slider.get_attribute("max") or 1)
    steps = 36
    for step in range(steps + 1):
        slider.evaluate(
            "(el, value) => { el.value = value; el.dispatchEvent(new Event('input')) }",
            total * step / steps,
        )
        yield page.locator(".gl").screenshot(), 1500 if step == steps else 200


SCENES: dict[str, tuple[Callable[[], Widget], Callable[[Page], Frames]]] = {
    "bank_map": (bank_map, play_banks),
    "pipeline": (pipeline, play_pipeline),
}


def _font() -> str:
    """The book's font, as a rule of CSS that brings it along."""
    file = (
        repository_root() / "book" / "_static" / "fonts" / "source-sans-3-latin-wght-normal.woff2"
    )
    data = base64.b64encode(file.read_bytes()).decode()
    return (
        f"@font-face{{font-family:Book;font-weight:200 900;src:url(data:font/woff2;base64,{data})}}"
    )


def _enlarged(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture at the upper left of a white one of that size."""
    whole = Image.new("RGB", size, "white")
    whole.paste(picture)
    return whole


def save(frames: Frames, path: Path) -> int:
    """The frames as one animated WebP; its size in bytes."""
    pictures, stays, palette = [], [], None
    for png, stay in frames:
        picture = Image.open(io.BytesIO(png)).convert("RGB")
        # Few shades, the same ones in all frames: a quarter of the size.
        palette = palette or picture.quantize(COLOURS)
        pictures.append(picture.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB"))
        stays.append(stay)
    # A widget may grow by a line of words; all frames are as large as the largest.
    size = (max(one.width for one in pictures), max(one.height for one in pictures))
    first, *others = [_enlarged(one, size) for one in pictures]
    first.save(
        path, save_all=True, append_images=others, duration=stays, loop=0, lossless=True, quality=80
    )
    return path.stat().st_size


def main() -> None:
    """Record every scene."""
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    folder, size = repository_root() / "book" / "images", 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=sandbox)
        for name, (make, play) in SCENES.items():
            page = browser.new_page(viewport={"width": WIDTH, "height": 900})
            page.emulate_media(reduced_motion="reduce")
            page.set_content(
                '<!doctype html><html data-theme="light"><meta charset="utf-8">'
                f'<style>{_font()}</style><body style="margin:0;font-family:Book">'
                f"{make().to_html()}"
            )
            page.wait_for_selector("[data-live]")
            page.evaluate("document.fonts.ready")
            size += save(play(page), folder / f"{name}.webp")
        browser.close()
    if size > MOST_BYTES:
        raise SystemExit(f"{size:,} bytes are more than {MOST_BYTES:,}: fewer frames, or quality")
    print(f"{len(SCENES)} pictures, {size:,} bytes")


if __name__ == "__main__":
    main()
