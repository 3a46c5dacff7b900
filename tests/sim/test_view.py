"""What a trace looks like."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from gemmlab import registry, sim


@pytest.fixture(scope="module")
def trace():
    return sim.trace("sgemm_05_transposed_a", 128, 128, 16)


def test_html_is_the_same_every_time_and_names_no_place_of_this_machine(trace):
    text = trace._repr_html_()
    assert text == sim.trace("sgemm_05_transposed_a", 128, 128, 16)._repr_html_()
    assert str(registry.repository_root()) not in text
    assert not re.search(r"\bid=|0x[0-9a-f]{6}", text)
    assert len(text) < 40_000


def test_html_is_well_formed(trace):
    open_tags = []

    class Checker(HTMLParser):
        def handle_starttag(self, tag, attrs):
            open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Checker().feed(trace._repr_html_())
    assert open_tags == []


def test_conflicts_are_marked_in_words(trace):
    text = trace._repr_html_()
    assert text.count("bank conflicts</span>") == 4
    assert text.count("extra sectors</span>") == 2
    assert "Nothing found" in text


def test_findings_are_listed(kernel_file):
    A, C = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    fixture = kernel_file("race_loop_barrier")
    found = fixture.module("broken").trace(A, A, C, 8, 8, 8)
    for text in (found._repr_html_(), repr(found)):
        assert f"race_loop_barrier.cu:{fixture.lines['here']}" in text
        assert "no barrier orders the two" in text
        assert "Nothing found" not in text


def test_text_has_a_line_for_each_count(trace):
    lines = repr(trace).splitlines()
    assert lines[0] == "sgemm_05_transposed_a, M=128 N=128 K=16, counted by the simulator"
    assert len(lines) == 2 + len(trace.lines) + 1
    assert any("st.shared 4 B" in line and "4 wavefronts" in line for line in lines)


def test_dict_is_plain_data(trace):
    data = json.loads(json.dumps(trace.to_dict()))
    assert data["kernel"] == "sgemm_05_transposed_a"
    assert data["totals"]["st.shared"]["conflicts"] == sum(r["conflicts"] for r in data["lines"])
