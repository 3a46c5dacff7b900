"""`make widgets`: stored widgets get the current code and keep what they show."""

from __future__ import annotations

import base64

from gemmlab.widgets import BankMap
from tools.refresh import refreshed


def test_a_current_widget_stays_as_it_is():
    html = BankMap().to_html()
    assert refreshed(html) == html


def test_old_code_and_style_are_replaced():
    html = BankMap().to_html()
    module = base64.b64encode(BankMap._esm.encode()).decode()
    old = html.replace(module, "b2xk").replace(BankMap._css, ".gl { color: red }")
    assert old != html
    assert refreshed(old) == html


def test_other_html_stays_as_it_is():
    html = "<style>p { color: red }</style><p>data-widget</p>"
    assert refreshed(html) == html
