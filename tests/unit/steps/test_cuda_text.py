"""CUDA C++ as text: comments, strings, brackets and lines."""

import pytest

from gemmlab.steps.cuda_text import (
    closing,
    has_main,
    kernel_names,
    line_at,
    masked,
    split,
    without_comments,
)


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


@pytest.mark.parametrize(
    "declared",
    [
        "__global__ void k(int (*f)(int)) { g(1); }",
        "template <int N> __global__ void __launch_bounds__(N * (2 + 1)) k(int) {}",
        'extern "C" __global__ __launch_bounds__(64, f(g(1)))\nvoid k();',
        "static __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32)k(int) {}",
        "__global__ void k(int) __launch_bounds__(32);",
        "__global__ BOUNDS(64) void k(int) noexcept {}",
        "__global__ std::enable_if_t<(N > 2), void> k(int) {}",
    ],
)
def test_the_name_of_a_kernel(declared):
    after = "// __global__ void b()\n__device__ int c() { return d(); } __global__ void last();"
    assert kernel_names(masked(f"{declared}\n{after}")) == ["k", "last"]


def test_a_program_has_a_main_of_its_own():
    assert has_main(masked("int\nmain() {}")) and not has_main(masked("// int main()"))
    assert not has_main("int domain(int x) { return main(x); }")
