"""A process in which a kernel with a mistake runs: `python -m gemmlab.experiments.faults.process`.

It works as run/sandbox_process.py does, with matrices of integers: every element of C is exact and
can be compared.
"""

from __future__ import annotations

from ...core.errors import LaunchError
from ...run.sandbox_process import handle_of, serve, wait

DEVICE = "cuda"


def main() -> None:
    """Answer requests until there are no more."""
    serve(run)


def run(request: dict) -> tuple[dict, object]:
    """Launch once, unless `launch` is false: the share of C that is wrong, or why there is none.

    Operands are drawn anew for every `seed`: what an earlier launch left in shared memory is of no
    use to this one. A C that is wrong nowhere has share 0.
    """
    import torch

    try:
        A, B, C, right = _operands(request)
        launch = handle_of(request).launcher(A, B, C)
        torch.cuda.synchronize()
        if not request["launch"]:
            return {"share": 0.0}, None
        launch()
        if stopped := wait():
            return {"stopped": stopped}, (A, B, C, launch)
        wrong = right != C  # so is a NaN
        return {"share": float(wrong.sum()) / wrong.numel()}, None
    except LaunchError as error:
        return {"refused": str(error)}, None
    except RuntimeError as error:  # torch's, from a context that is lost
        # The error holds the matrices, which cannot be freed any more.
        return {"stopped": str(error).splitlines()[0]}, error


def _operands(request: dict) -> tuple:
    """A and B of small integers, C of NaN, and what C must become."""
    import torch

    M, N, K = request["shape"]
    given, made = (getattr(torch, name) for name in request["dtypes"])
    generator = torch.Generator(DEVICE).manual_seed(request["seed"])
    A, B = (
        torch.randint(-4, 5, shape, generator=generator, device=DEVICE).to(given)
        for shape in ((M, K), (K, N))
    )
    C = torch.full((M, N), float("nan"), dtype=made, device=DEVICE)
    return A, B, C, (A.float() @ B.float()).to(made)


if __name__ == "__main__":
    main()
