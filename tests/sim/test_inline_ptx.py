"""Inline PTX and launches as text: what they become, line by line, and what is named."""

from __future__ import annotations

import pytest

from gemmlab.sim.inline_ptx import translated
from gemmlab.sim.program.edits import apply, edits_of


def code_of(body: str) -> str:
    result = translated(body)
    assert result.unknown == ""
    return result.code


def rewritten(text: str) -> str:
    edits, _ = edits_of(text)
    return apply(text, edits)


def test_operands_stand_for_variables():
    code = code_of('"add.s32 %0, %1, %2;" : "=r"(x[i]) : "r"(a + b), "n"(4)')
    assert "auto&& ptx0 = (x[i]);" in code and "const auto ptx2 = (4);" in code
    assert "gemmlab_ptx::add<int32_t>(ptx0, ptx1, ptx2);" in code


def test_an_input_that_is_an_output_too_is_read_first():
    code = code_of('"mov.u32 %0, 1; add.u32 %0, %0, %1;" : "=r"(x) : "r"(x)')
    assert "const auto ptx1 = (x);" in code


def test_groups_have_registers_of_their_own():
    code = code_of(
        '"{ .reg .b32 r; mov.b32 r, 1; { .reg .b32 r; mov.b32 r, 2; } mov.b32 %0, r; }" : "=r"(x)'
    )
    first, second = "ptx_r_0", "ptx_r_1"
    assert f"mov<uint32_t>({first}, 1)" in code and f"mov<uint32_t>({second}, 2)" in code
    assert f"mov<uint32_t>(ptx0, {first})" in code


def test_predicates_and_labels_become_if_and_goto():
    code = code_of('"{ .reg .pred p; L1: setp.ne.b32 p, %0, 0; @!p bra L1; }" :: "r"(x)')
    assert code.startswith("({ __label__ L1;") and "L1:;" in code
    assert "if (!ptx_p_0) { goto L1; }" in code


def test_named_operands_and_comments():
    code = code_of('"// copy\\n mov.b32 %[to], %[from]; /* done */" : [to] "=r"(y) : [from] "r"(x)')
    assert "mov<uint32_t>(ptx0, ptx1)" in code


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ('"foo.bar.b32 %0;" :: "r"(x)', "foo.bar.b32"),
        (
            '"cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%1,%2,%3}], [%4];" :: '
            '"l"(m), "r"(x), "r"(y), "r"(z), "r"(s)',
            "of rank 4 with 3 coordinates",
        ),
        (
            '"cp.async.bulk.tensor.3d.im2col.global.shared::cta.bulk_group [%0, {%1,%2,%3}], '
            '[%4];" :: "l"(m), "r"(x), "r"(y), "r"(z), "r"(s)',
            "tiled boxes only, not im2col",
        ),
        ('"ld.global.b32 %0, %1;" : "=r"(x) : "l"(p)', "the operand %1 where an address stands"),
        ('"mov.u32 %0, %nosuch;" : "=r"(x)', "the operand %nosuch"),
        ('"ld.const.b32 %0, [%1];" : "=r"(x) : "l"(p)', "ld.const.b32"),
        ('"mov" SUFFIX " %0, 1;" : "=r"(x)', "a template that a macro makes (SUFFIX)"),
        ('"add.u32 %0, %1;" : "=r"(x) : "r"(y)', None),
        ('".shared .b32 words; mov.u32 %0, 1;" : "=r"(x)', "the directive .shared"),
        ('"mov.u32 %0, %9;" : "=r"(x)', "the operand %9"),
    ],
)
def test_what_is_not_known_is_named_and_stops_the_thread(body, named):
    result = translated(body)
    if named is None:  # g++ says that the function has other parameters
        assert "add<uint32_t>(ptx0, ptx1)" in result.code
        return
    assert named in result.unknown and "sim_not_simulated(" in result.code


def test_launches_keep_every_line_where_it_is():
    text = "a();\nns::copy<float, (N > 2)>\n    <<<dim3(g, 1),\n       b, s * 2>>>(x,\n y);\nz();\n"
    changed = rewritten(text)
    assert changed.count("\n") == text.count("\n")
    assert "gemmlab_sim::configured(GEMMLAB_KERNEL(ns::copy<float, (N > 2)>" in changed
    assert changed.splitlines()[-1] == "z();"


def test_a_launch_through_a_variable_and_in_a_macro():
    assert "GEMMLAB_KERNEL((*kernels[i])), 1, 2)(x)" in rewritten("(*kernels[i])<<<1, 2>>>(x);")
    macro = "#define RUN(k) \\\n  k<<<1, 2>>>(x)\n"
    assert rewritten(macro).count("\\\n") == 1 and "GEMMLAB_KERNEL(k)" in rewritten(macro)


@pytest.mark.parametrize(
    "text", ['s = "<<<1, 2>>>";', "// k<<<1, 2>>>();", "x = a <<<;", "<<<1>>>"]
)
def test_what_is_no_launch_stays(text):
    assert rewritten(text) == text


def test_an_asm_statement_in_a_macro_keeps_its_lines():
    text = '#define LOAD(r, a) \\\n asm volatile("mov.b32 %0, %1;" \\\n : "=r"(r) : "r"(a))\nnext\n'
    changed = rewritten(text)
    assert changed.count("\\\n") == 2 and changed.endswith("\nnext\n")


def test_alignas_after_shared_and_cluster_dims():
    text = (
        "__global__ void __cluster_dims__(2, 1, 1) k(int x) {\n  __shared__ alignas(128) int s;\n}"
    )
    changed = rewritten(text)
    assert "__shared__ __align__(128) int s;" in changed
    assert "k(int x) { GEMMLAB_CLUSTER_DIMS(2, 1, 1);\n" in changed
