"""TilingExplorer without a browser: what it shows, what it weighs and what it refuses."""

import base64
import io
import json
import re

import pytest
from PIL import Image

from gemmlab.core.errors import ArgumentError
from gemmlab.layouts import STEPS, Tiling
from gemmlab.widgets import TilingExplorer

COURSE = tuple(f"sgemm_{name}" for name in (
    "04_register_tiling", "07_coalesced_c", "11_warp_tiling", "12_warp_subtiles"
))  # fmt: skip


def data_of(html):
    return json.loads(base64.b64decode(re.search(r'atob\("([^"]+)"\)', html)[1]))


def test_a_bundle_has_four_faces_and_little_weight():
    widget = TilingExplorer(
        COURSE, copies=True, caption="Who owns `C[9][41]`, and what does it cost?"
    )
    bundle = widget._repr_mimebundle_()
    assert set(bundle) == {
        "application/vnd.jupyter.widget-view+json", "text/html", "image/png", "text/plain"
    }  # fmt: skip
    image = Image.open(io.BytesIO(base64.b64decode(bundle["image/png"])))
    assert (image.format, image.width) == ("PNG", 760)
    assert len(bundle["text/html"]) < 61_000
    assert data_of(bundle["text/html"]) == [widget.key(), widget.config, widget.state]
    assert bundle["text/html"] == widget.to_html()


def test_html_is_self_contained():
    html = TilingExplorer().to_html()
    module = base64.b64decode(re.search(r"text/javascript;base64,([^\"]+)", html)[1]).decode()
    assert not re.findall(r"https?://|^import |fetch\(", module, re.MULTILINE)
    text = re.sub(r"base64,[A-Za-z0-9+/=]+|atob\([^)]*\)", "", html)
    assert not re.findall(r"(?:https?:)?//[a-z]|@import|<link|<iframe", text)


def test_the_page_without_scripts_says_what_it_costs():
    html = TilingExplorer().fallback()
    assert '<img alt="Block 128 x 128 x 16, warp 64 x 32, thread 8 x 8"' in html
    for words in (
        "Threads: 256",
        "FLOP per byte from global memory: 32",
        "Thread 37 (warp 1, lane",
    ):
        assert words in html


def test_presets_are_steps_or_tilings_of_one_s_own():
    assert [label for label, _ in TilingExplorer(COURSE).config["presets"]] == [
        "04 register tiling", "07 coalesced C", "11 warp tiling", "12 warp subtiles"
    ]  # fmt: skip
    own = Tiling(BM=96, WM=96, WN=16, TM=12, TN=4)
    widget = TilingExplorer({"mine": own, "step": COURSE[1]}, start="mine")
    assert widget.tiling == own
    assert 96 in widget.config["choices"]["BM"]
    widget.state = {**widget.state, **widget.config["presets"][1][1]}
    assert widget.tiling == STEPS[COURSE[1]]
    assert TilingExplorer(COURSE, start=COURSE[2]).tiling == STEPS[COURSE[2]]
    assert TilingExplorer(COURSE, start="12 warp subtiles").tiling == STEPS[COURSE[3]]


def test_the_thread_is_one_of_the_block():
    tiny = {"tiny": Tiling(BM=16, BN=32, WM=16, WN=32, TM=4, TN=4)}
    assert TilingExplorer(tiny).state["thread"] == 31
    widget = TilingExplorer(COURSE, thread=255)
    widget.state = {**widget.state, **widget.config["presets"][3][1]}  # 128 threads
    assert "Thread 127 " in widget.summary()


def test_an_impossible_state_is_said_and_not_drawn():
    widget = TilingExplorer()
    widget.state = {**widget.state, "TM": 4}
    assert "takes 64 lanes, and a warp has 32: 2 times too many" in repr(widget)
    assert widget.fallback().startswith("<p>Block 128")
    assert widget.png()[:4] == b"\x89PNG"
    with pytest.raises(ArgumentError, match="2 times too many"):
        _ = widget.tiling


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"presets": ()}, "presets"),
        ({"presets": "sgemm_04_register_tiling"}, "presets"),
        ({"presets": ["sgemm_01_naive"]}, "presets"),
        ({"presets": {"x": 3}}, "presets"),
        ({"presets": [["BM", 3]]}, "presets"),
        ({"presets": 4}, "presets"),
        ({"start": "05"}, "start"),
        ({"thread": 256}, "thread"),
        ({"thread": -1}, "thread"),
        ({"thread": True}, "thread"),
        ({"gpu": "H300"}, "gpu"),
        ({"size": 0}, "size"),
        ({"size": 4096.0}, "size"),
        ({"caption": 3}, "caption"),
    ],
)
def test_bad_arguments_are_refused(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name}:"):
        TilingExplorer(**arguments)
