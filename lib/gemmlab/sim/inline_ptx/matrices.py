"""ldmatrix, stmatrix, mma.sync, wgmma."""

from __future__ import annotations

import re

from .operands import Operands
from .rules import HALVES, Rule, call, tie

_FORMS = {
    ("16", "f16"): "SIM_MMA_F16_K16",
    ("8", "f16"): "SIM_MMA_F16_K8",
    ("16", "bf16"): "SIM_MMA_BF16_K16",
    ("8", "bf16"): "SIM_MMA_BF16_K8",
    ("8", "tf32"): "SIM_MMA_TF32_K8",
}
_SHAPE = r"(?:\.m8n8)?\.x([124])(?:\.m8n8)?(\.trans)?(?:\.m8n8)?(?:\.shared(?:::cta)?)?\.b16"


def _matrix_template(found: re.Match[str]) -> str:
    return f"<{found[1]}, {'true' if found[2] else 'false'}>"


def _ldmatrix(found: re.Match[str], operands: Operands) -> str:
    operands.need(2)
    address = operands.address(1).base
    return call(f"ldmatrix{_matrix_template(found)}", address, *operands.vector(0), line=True)


def _stmatrix(found: re.Match[str], operands: Operands) -> str:
    operands.need(2)
    address = operands.address(0).base
    return call(f"stmatrix{_matrix_template(found)}", address, *operands.vector(1), line=True)


def _movmatrix(found: re.Match[str], operands: Operands) -> str:
    return call("movmatrix", operands.value(0), operands.value(1), line=True)


def _mma(found: re.Match[str], operands: Operands) -> str:
    operands.need(4)
    sums = "f16" if found["sum"] == "f16" else "f32"
    registers = [tie(operands.vector(number)) for number in range(4)]
    form = _FORMS[found["k"], found["type"]]
    return call(f"mma_{sums}<{form}>", *registers, line=True)


def _wgmma(found: re.Match[str], operands: Operands) -> str:
    template = f"<{found['n']}, {HALVES[found['type']]}>"
    d, *rest = [tie(operands.vector(0)), *(operands.one(text) for text in operands.texts[2:])]
    a = operands.vector(1)
    if len(a) == 4:
        operands.need(7)
        return call(f"wgmma_rs{template}", d, tie(a), *rest, line=True)
    operands.need(8)
    return call(f"wgmma{template}", d, operands.value(1), *rest, line=True)


def _wgmma_wait(found: re.Match[str], operands: Operands) -> str:
    return f"sim_wgmma_wait({operands.value(0)}, __LINE__)"


RULES: dict[str, Rule] = {
    r"ldmatrix\.sync\.aligned" + _SHAPE: _ldmatrix,
    r"stmatrix\.sync\.aligned" + _SHAPE: _stmatrix,
    r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16": _movmatrix,
    r"mma\.sync\.aligned\.m16n8k(?P<k>8|16)\.row\.col\.(?P<sum>f32)\.(?P<type>f16|bf16)"
    r"\.(?P=type)\.f32": _mma,
    r"mma\.sync\.aligned\.m16n8k(?P<k>8)\.row\.col\.(?P<sum>f32)\.(?P<type>tf32)\.tf32\.f32": _mma,
    r"mma\.sync\.aligned\.m16n8k(?P<k>8|16)\.row\.col\.(?P<sum>f16)\.(?P<type>f16)\.f16\.f16": _mma,
    r"wgmma\.mma_async\.sync\.aligned\.m64n(?P<n>\d+)k16\.f32\.(?P<type>f16|bf16)\.(?P=type)": (
        _wgmma
    ),
    r"wgmma\.fence\.sync\.aligned": lambda found, _: call("wgmma_fence", line=True),
    r"wgmma\.commit_group\.sync\.aligned": lambda found, _: call("wgmma_commit", line=True),
    r"wgmma\.wait_group\.sync\.aligned": _wgmma_wait,
}
