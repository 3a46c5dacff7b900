"""What of shared scripts and style sheets comes into a widget's page."""

import re
import subprocess
from pathlib import Path

import pytest

from gemmlab import widgets
from gemmlab.widgets.shared import base
from gemmlab.widgets.shared.base import Widget, style_text
from gemmlab.widgets.shared.lean import lean_script
from gemmlab.widgets.shared.used import used_only

SHARED = """const step = 3;
const table = {
  step,
};
function used(x) {
  return [...spread, x.unused];
}
const spread = [4];
const unused = table;
function even(n) {
  return odd(n - 1);
}
function odd(n) {
  return even(n - 1);
}
const [first, second] = [1, 2];
"""


def test_only_what_is_used_comes_along():
    text = used_only([SHARED, "export const face = used(1);\n"])
    kept = re.findall(r"(?:const|function) (\w+)", text)
    assert kept == ["used", "spread", "face"]
    assert "const [first, second] = [1, 2];" in text


def test_what_is_used_brings_what_it_uses():
    text = used_only([SHARED, "export const face = unused;\n"])
    assert re.findall(r"(?:const|function) (\w+)", text) == ["step", "table", "unused", "face"]


SCRIPT = r"""
const address = "http://a // b"; // a comment
const pattern = /[/]\/ \//; // another
const text = `a // b ${[1, 2]
  .map((x) => x * 2) // doubled
  .join("; ")}`;
let count = 1
count
++count
const all = [
  address, pattern.source,
  text, count > 1
    ? "more" : "one",
];
console.log(JSON.stringify(all));
"""


def test_a_lean_script_says_the_same(node):
    def said(text):
        return subprocess.run(["node", "-e", text], capture_output=True, check=True).stdout

    lean = lean_script(SCRIPT)
    assert said(lean) == said(SCRIPT) != b""
    assert "comment" not in lean and "doubled" not in lean
    assert len(lean.splitlines()) < len(SCRIPT.splitlines()) - 4


def test_a_text_is_put_together_when_it_is_asked_for(monkeypatch):
    """traitlets asks a class that is being made for all of its attributes."""
    made = []
    monkeypatch.setattr(base, "module_text", made.append)

    class Late(Widget):
        _script = "bank_map/widget.js"

    assert made == []
    _ = Late._esm
    assert made == ["bank_map/widget.js"]


def test_a_style_sheet_is_its_widgets_alone():
    text = style_text("TmaBox", "shared/play.css", "tma_box/widget.css")
    base, own = text.split('[data-widget="TmaBox"]{')
    assert base.startswith(style_text("TmaBox").removesuffix('[data-widget="TmaBox"]{}'))
    assert "@keyframes gl-flash" in base
    assert "@keyframes" not in own
    assert "&.gl .gl-tma .gl-used{" in own
    assert ".gl-t-two{" in own and "&.gl-t-two" not in own
    assert "&.gl.gl-error .gl-t-right" in own


@pytest.mark.parametrize("name", sorted(widgets.__all__))
def test_only_the_beginning_of_a_selector_is_the_widget_itself(name):
    """`&` inside :is(...) would be another element than the one that is meant."""
    widget = getattr(widgets, name)
    if isinstance(widget, type) and issubclass(widget, Widget):
        assert "{&.gl " in widget._css or "}&.gl " in widget._css
        assert not re.search(r"\([^)]*&\.gl", widget._css)


def test_two_modules_that_define_one_name_are_refused():
    """In one text the second function would silently take the first one's place."""
    with pytest.raises(ValueError, match="defined by two modules of one widget: even"):
        used_only(
            [SHARED, "function even(n) {\n  return n;\n}\n", "export const face = even(1);\n"]
        )


FOLDER = Path(widgets.__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\}\s*from "([^"]+)";', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:const|function) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.js")), ids=lambda file: file.stem)
def test_what_is_imported_is_exported_there(file):
    """A name that nobody defines is found when it is used, by a reader: imports are left out."""
    for names, other in IMPORT.findall(file.read_text(encoding="utf-8")):
        there = (file.parent / other).read_text(encoding="utf-8")
        assert {name.strip() for name in names.split(",") if name.strip()} <= {
            *EXPORT.findall(there)
        }, other
