"""What a trace looks like."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from gemmlab import sim
from gemmlab.core.paths import repository_root
from gemmlab.steps import registry


@pytest.fixture(scope="module")
def trace():
    return sim.trace("sgemm_05_transposed_a", 128, 128, 16)


def test_html_is_the_same_every_time_and_names_no_place_of_this_machine(trace):
    text = trace._repr_html_()
    assert text == sim.trace("sgemm_05_transposed_a", 128, 128, 16)._repr_html_()
    assert str(repository_root()) not in text
    assert not re.search(r"0x[0-9a-f]{6}", text)
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


def rows_of(html):
    """Line numbers to the text of their rows, and what the folded rows say."""
    plain = {}
    body = re.search(r"<tbody>(.*)</tbody>", html, re.DOTALL)[1]
    for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL):
        number, rest = re.match(r"<tr[^>]*><td>([^<]*)</td>(.*)", row, re.DOTALL).groups()
        text = unescape(re.sub(r"<[^>]+>", "|", rest))
        plain[number] = re.sub(r"\|+", "|", text).strip("|")
    return plain


def test_the_source_stands_beside_the_counts(trace):
    rows = rows_of(trace._repr_html_())
    source = registry.get("sgemm_05_transposed_a").path.read_text().splitlines()
    numbers = [int(number) for number in rows]
    assert numbers == sorted(numbers)
    for number, row in rows.items():
        assert row.replace("|", "").strip().startswith(source[int(number) - 1].strip())
    # From the loop around the first counted line to the brace after the last.
    assert source[numbers[0] - 1].strip().startswith("for (int k_tile")
    assert source[numbers[-1] - 1] == "  }"
    shown = {int(number): row for number, row in rows.items()}
    for line in trace.lines:
        assert f"{line.op} {line.width_bytes} B|{line.requests}|" in shown[line.line]
    assert not any("pragma" in row or "[load]" in row for row in rows.values())


def test_conflicts_are_marked_in_words(trace):
    rows = rows_of(trace._repr_html_()).values()
    text = trace._repr_html_()
    assert sum("4 wavefronts|1|▲ 48 bank conflicts" in row for row in rows) == 4
    assert sum("32 sectors|16|△ 1,024 extra sectors" in row for row in rows) == 2
    assert "Nothing found" in text
    assert " id=" not in text


def test_what_counts_for_nothing_is_folded():
    rows = rows_of(sim.trace("sgemm_04_register_tiling", 128, 128, 16)._repr_html_())
    assert rows["⋯"] == "4 lines"


def found_in(kernel_file, name):
    A, C = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    fixture = kernel_file(name)
    return fixture, fixture.module("broken").trace(A, A, C, 8, 8, 8)


def test_findings_are_listed(kernel_file):
    fixture, found = found_in(kernel_file, "race_loop_barrier")
    place = f"race_loop_barrier.cu:{fixture.lines['here']}"
    for text in (found._repr_html_(), repr(found), found.findings._repr_html_()):
        assert place in text
        assert "no barrier orders the two" in text
        assert "Nothing found" not in text


def test_findings_stand_at_both_lines_and_are_linked(kernel_file):
    fixture, found = found_in(kernel_file, "race_loop_barrier")
    here, there = fixture.lines["here"], fixture.lines["there"]
    text = found._repr_html_()
    assert f"✗ race, with line {there}" in rows_of(text)[str(here)]
    assert f"✗ race, with line {here}" in rows_of(text)[str(there)]
    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names)) == 2
    assert {name.rpartition("-")[2] for name in names} == {str(here), str(there)}
    assert set(re.findall(r'href="#([^"]+)"', text)) == set(names)
    assert text == found_in(kernel_file, "race_loop_barrier")[1]._repr_html_()


def test_a_finding_where_nothing_is_counted_has_its_line(kernel_file):
    fixture, found = found_in(kernel_file, "divergent_branch")
    rows = rows_of(found._repr_html_())
    assert (
        f"✗ divergent-barrier, with line {fixture.lines['there']}"
        in (rows[str(fixture.lines["here"])])
    )


def test_a_run_without_any_request_has_a_view(trace):
    empty = replace(trace, lines=(), samples=())
    assert rows_of(empty._repr_html_()) == {}
    assert "counted by the simulator" in repr(empty)


def test_text_has_a_line_for_each_count(trace):
    lines = repr(trace).splitlines()
    assert lines[0] == "sgemm_05_transposed_a, M=128 N=128 K=16, counted by the simulator"
    assert len(lines) == 2 + len(trace.lines) + 1
    assert any("st.shared 4 B" in line and "4 wavefronts" in line for line in lines)


def test_requests_that_lanes_do_not_make_have_no_width(trace):
    box = replace(trace.lines[0], op="tma.load", width_bytes=2, lanes=1)
    shown = replace(trace, lines=(box,))
    assert rows_of(shown._repr_html_())[str(box.line)].endswith("|tma.load|16|16 sectors|16")
    assert "tma.load  " in repr(shown)
    assert "lanes" not in repr(shown)


def test_dict_is_plain_data(trace):
    data = json.loads(json.dumps(trace.to_dict()))
    assert data["kernel"] == "sgemm_05_transposed_a"
    assert data["totals"]["st.shared"]["conflicts"] == sum(r["conflicts"] for r in data["lines"])
