"""CUDA C++ as text: comments, strings, brackets and lines."""

import pytest

from gemmlab.steps.cuda_text import closing, line_at, masked, split, without_comments


def test_brackets_and_what_stands_between_them():
    code = masked("f(\"(\", ')', 1'000) // )\n")
    assert closing(code, 1) == len("f(\"(\", ')', 1'000)") - 1
    assert split('a, f(b, c), "d,e", {f, g}', ",") == ["a", "f(b, c)", '"d,e"', "{f, g}"]
    assert closing("(a", 0) == closing("(a]", 0) == -1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a; // b\nc", "a;\nc"),
        ("a /* b\n * c */ d", "a\n d"),
        ('"// a" /* b */', '"// a"'),
        ("'\"' // a\nb", "'\"'\nb"),
        ('R"(// a)" // b', 'R"(// a)"'),
        ("#define A /* b \\\n c */ d", "#define A \\\n d"),  # d is still the macro's
        ("a // b \\\nc\nd", "a\n\nd"),  # for a compiler, c is a part of the comment
    ],
)
def test_comments_are_blanked_out_in_place(text, code):
    found = without_comments(text)
    assert len(found) == len(text) and found.count("\n") == text.count("\n")
    words, wanted = ([line.split() for line in one.split("\n")] for one in (found, code))
    assert words == wanted


def test_a_mask_hides_strings_too():
    assert masked('f("a", \'b\', R"(c)");') == "f(\" \", ' ',       );"


def test_lines_are_counted_from_1():
    assert [line_at("a\nb\n", at) for at in (0, 1, 2)] == [1, 1, 2]
