"""The first use of a term leads to the glossary; numbers of the prose say where they come from."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from docutils import nodes
from docutils.utils import new_document

ROOT = Path(__file__).resolve().parents[2]


def extension(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"book/_ext/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


glossary, numbers = extension("gemmlab_glossary"), extension("gemmlab_numbers")
TERMS = glossary.terms(ROOT / "book/glossary.md")


def linked(*content: nodes.Node) -> list[str]:
    """The texts that become links on a page with this content."""
    page = new_document("page")
    page += [one if isinstance(one, nodes.Element) else nodes.paragraph("", one) for one in content]
    glossary.link_terms(page, TERMS)
    return [link.astext() for link in page.findall(nodes.reference) if "gl-term" in link["classes"]]


def test_there_are_some_eighty_terms_of_one_to_three_sentences():
    assert 80 <= len(TERMS) <= 130
    for term in TERMS:
        assert 1 <= len(re.findall(r"[.](?= |$)", term.meaning)) <= 3, term.names
        assert 20 <= len(term.meaning) <= 330, term.names


def test_no_name_means_two_things():
    names = [name for term in TERMS for name in term.names]
    assert len(names) == len({name.lower() for name in names})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A warp and another warp", ["warp"]),
        ("Warps of 32 threads, each a warp", ["Warps"]),
        ("a bank conflict in bank 3, another conflict", ["bank conflict", "bank"]),
        ("an SM, two SMs, a streaming multiprocessor", ["SM"]),
        ("a warp-wide load, warped, sgemm_warp_tiling, wgmma.mma_async", []),
        ("sectors. Then wavefronts", ["sectors", "wavefronts"]),
        ("core matrices", ["core matrices"]),
    ],
)
def test_the_first_use_of_a_term_is_linked(text, words):
    assert linked(nodes.Text(text)) == words


def test_headings_links_code_and_folded_text_are_left_alone():
    title = nodes.section("", nodes.title("", "A warp"))
    link = nodes.paragraph("", "", nodes.reference("", "a warp", refuri="x.html"))
    block = nodes.literal_block("", "warp")
    fold, end = (nodes.raw("", text, format="html") for text in ("<details>", "</details>"))
    folded = [fold, nodes.paragraph("", "a warp"), end]
    assert linked(title, link, block, *folded) == []
    assert linked(title, link, *folded, nodes.paragraph("", "the warp at last")) == ["warp"]
    # A link inside a link would tear the outer one apart.
    start, stop = (nodes.raw("", text, format="html") for text in ('<a href="#x">', "</a>"))
    phrase = nodes.paragraph("", "", start, nodes.emphasis("", "one warp"), stop)
    assert linked(phrase, nodes.paragraph("", "the warp at last")) == ["warp"]
    assert linked(phrase) == []


def test_a_term_in_letters_of_code_is_linked_as_a_whole():
    code = nodes.paragraph("", "", nodes.literal("", "cp.async"), nodes.Text(" and cp.async"))
    assert linked(code) == ["cp.async"]
    assert linked(nodes.paragraph("", "", nodes.literal("", "warp_id"))) == []


def test_every_link_of_the_book_has_its_place_and_its_meaning(book):
    anchors = set(
        re.findall(r'id="(term-[^"]+)"', (book / "book/glossary.html").read_text("utf-8"))
    )
    assert {term.anchor for term in TERMS} <= anchors
    meanings = {term.anchor: term.meaning for term in TERMS}
    found = 0
    for page in (book / "book").glob("*.html"):
        for tag in re.findall(r'<a class="gl-term[^>]*>', page.read_text("utf-8")):
            assert re.search(r'href="glossary\.html#([^"]+)"', tag)[1] in meanings
            assert 'title="' in tag
            found += 1
    assert found > 500


def test_a_number_has_its_origin_as_a_title():
    text = '<span data-figure="sgemm_06 4096 tflops">'
    title = r'title="measured on NVIDIA H200, .*, commit \w+"'
    assert re.fullmatch(f"{text[:-1]} {title}>", numbers.titled(text))
    assert 'title="quoted from article 003"' in numbers.titled('<span data-cited="article 003">')
    assert numbers.titled("<span>") == "<span>"


def test_the_numbers_of_the_book_have_titles(book):
    for page in (book / "book").glob("*.html"):
        for tag in re.findall(
            r"<span data-(?:figure|once|cited|computed)=[^>]*>", page.read_text("utf-8")
        ):
            assert ' title="' in tag, (page.name, tag)
