"""Inputs at which a mutant goes wrong, for those that `lab.check` may not come upon.

witness = { shape = [M, N, K], config = "", alpha = 1.25, beta = -2.0, past = { A = 1 } }: all but
the shape may be left out. past: by how many elements a matrix begins behind an aligned address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gemmlab import sim
from gemmlab.core.errors import LaunchError
from gemmlab.core.precision import precision
from gemmlab.run import operands
from gemmlab.run.kernel import kernel, matrices

if TYPE_CHECKING:
    from .mutants import HandMade

FAR = 2.0**-6  # of the largest value: what no rounding to 16 bits explains


def shown_by(mutant: HandMade) -> str:
    """What its witness shows in one traced run: kinds of findings, "values", or "" for nothing."""
    about = mutant.witness
    handle = kernel(mutant.kernel(), about.get("config", ""))
    types = precision(handle.spec.precisions[0])
    M, N, K = about["shape"]
    alpha, beta = about.get("alpha", 1.25), about.get("beta", -2.0)
    A, B = matrices(M, N, K, device="cpu", dtype=types.given)
    C = torch.randn(M, N, generator=torch.Generator().manual_seed(1)).to(getattr(torch, types.made))
    expected = alpha * (A.double() @ B.double()) + beta * C.double()
    past = about.get("past", {})
    placed = [_placed(t, past.get(name, 0)) for name, t in zip("ABC", (A, B, C), strict=True)]
    a, b, c = (operands.array(t) for t in placed)
    module = sim.compile_step(handle, types.name)
    config = handle.spec.config_index(handle.config)
    try:
        trace = module.trace(a, b, c, M, N, K, alpha, beta, config=config, allow_slow=True)
    except LaunchError:
        return "refused"
    if trace.findings:
        return ", ".join(sorted({finding.kind for finding in trace.findings}))
    error = (placed[2].double() - expected).abs().nan_to_num(nan=np.inf).max()
    return "values" if error > FAR * expected.abs().max() else ""


def _placed(t: torch.Tensor, past: int) -> Any:
    """A copy that begins `past` elements behind an aligned address."""
    whole = torch.empty(t.numel() + past, dtype=t.dtype)
    return whole[past:].view(t.shape).copy_(t)
