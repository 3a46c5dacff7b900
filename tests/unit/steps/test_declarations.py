"""Declarations of a kernel file, and which of them a kernel reaches."""

import pytest

from gemmlab.core.paths import kernels_folder
from gemmlab.steps.declarations import declarations, flattened
from gemmlab.steps.reach import named, reached

FILES = sorted(kernels_folder().rglob("*.cuh"))

HEADER = """// Not this one.
inline int unused(int x) { return used(x); }

// A constant, and one that nobody wants.
constexpr int WANTED = 1;
constexpr int OTHER = WANTED + 1;

template <class T>
struct Box {
  static constexpr int SIDE = 4, AREA = SIDE * SIDE;
  static constexpr int SPARE = 8;
  static_assert(BOUND > 0, "{");
  int field = 0;
  int padding;
  Box() : field(SIDE) {}
  void put() { field = WANTED; }
  void take() { field = OTHER; }
};

#define MACRO(x) \\
  deep(x)

int deep(int x) {
  return x;
}
constexpr int BOUND = 3;
"""
KERNEL = """namespace step {

constexpr int mine = 1;
// [body]
__global__ void __launch_bounds__(limit(mine), 1)
    kernel(int n) {
  Box<int> box;
  box.put();  // not box.take()
  MACRO(n);
}
// [/body]

}  // namespace step

inline void launch(int n) { unused(n); }
"""


def whole(found):
    return "".join(one.text + whole(one.parts) + one.end for one in found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_declarations_are_the_file(path):
    text = path.read_text()
    assert whole(declarations(text)) == text
    names = {name for one in flattened(declarations(text)) for name in one.names}
    assert not names & {"if", "for", "return", "static", "const", "int", "template"}


def test_what_a_declaration_is_called():
    names = [sorted(one.names) for one in declarations(HEADER)]
    wanted = [["unused"], ["WANTED"], ["OTHER"], ["Box"], ["MACRO"], ["deep"], ["BOUND"]]
    assert names == wanted
    assert named(HEADER) == {name for one in wanted for name in one}
    assert named("enum : int { LEFT = 1, RIGHT = 2 };\n") == {"LEFT", "RIGHT"}
    assert named("template <int N, class T>\nusing Pair = Two<T, N>;\n") == {"Pair"}
    assert named("template <class T>\nconstexpr bool is = same<T, int> || half;\n") == {"is"}
    assert named("namespace a {\nint f(int x);\n}\n") == {"f"}


def test_what_the_kernel_does_not_reach_goes():
    _, (header, kernel) = reached((HEADER, KERNEL))
    for gone in ("unused", "OTHER", "take", "SPARE", "Not this one"):
        assert gone not in header
    for kept in (
        "WANTED = 1",
        "AREA",
        "static_assert",
        "int field",
        "int padding",
        "put()",
        "deep(int",
        "BOUND",
    ):
        assert kept in header
    assert "mine = 1" in kernel and "launch(" not in kernel and "[body]" not in kernel
    assert kernel.startswith("namespace step {") and "}  // namespace step" in kernel


def test_a_comment_reaches_nothing():
    _, (header, _) = reached((HEADER, KERNEL.replace("box.put();", "")))
    assert "put" not in header and "WANTED" not in header


def test_without_a_kernel_nothing_remains():
    assert reached((HEADER,)) == (frozenset(), ("",))
