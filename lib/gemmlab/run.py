"""Call a step: check the tensors, then launch it on the GPU or on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from . import needs, operands, refusal, registry, sandbox, variants
from .errors import ArgumentError, LaunchError, RefusedError
from .registry import KernelSpec

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Kernel:
    """A step that can be called like a function; it is built at its first call.

    config: one of the step's compiled configurations. Without one, a launch on a GPU runs what
    `lab.tune` found best for this GPU and shape; where nothing was found, the step chooses.
    """

    spec: KernelSpec
    config: str = ""

    def __post_init__(self) -> None:
        self.spec.config_index(self.config)  # refuses one that is not there

    @property
    def name(self) -> str:
        """The step's name."""
        return self.spec.name

    @property
    def title(self) -> str:
        """The name to show: a variant says that it is one, and a configuration which."""
        name = self.spec.label or self.name + " (variant)" * bool(self.spec.written_to)
        return f"{name} [{self.config}]" if self.config else name

    @sandbox.context_watch()
    def __call__(
        self,
        A: torch.Tensor,
        B: torch.Tensor,
        alpha: float = 1.0,
        beta: float = 0.0,
        out: torch.Tensor | None = None,
        *,
        allow_slow: bool = False,
    ) -> torch.Tensor:
        """alpha * A @ B + beta * out, written to `out` (made if not given) and returned.

        A is (M, K), B is (K, N), out is (M, N): contiguous, on one device, of types that the step
        takes: all of one, or, for a step of 16-bit types, `out` in float32. CUDA tensors run on the
        GPU, CPU tensors on the simulator; GEMMLAB_BACKEND=gpu|sim forces one.
        allow_slow: let a run on the simulator take longer than a minute.
        Raises ArgumentError for tensors the step cannot take, BackendError where the backend is
        missing, SlowRunError where a simulated run would take longer, BuildError and LaunchError.
        """
        from .device import backend_for

        out = operands.prepare(self.spec, A, B, alpha, beta, out)
        if out.numel() == 0:
            return out
        backend = backend_for(A)
        target = "cuda" if backend == "gpu" else "cpu"
        # Only a forced backend moves data: otherwise these are the tensors themselves.
        moved = [t if t.device.type == target else t.to(target) for t in (A, B, out)]
        if backend == "gpu":
            self._on_gpu(*moved, alpha, beta)
        else:
            self._on_simulator(*moved, alpha, beta, allow_slow)
        return out if moved[2] is out else out.copy_(moved[2])

    def launcher(
        self,
        A: torch.Tensor,
        B: torch.Tensor,
        C: torch.Tensor,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> Callable[[], None]:
        """A function without arguments that launches the step on the current stream.

        The tensors are checked here, once: for timing, where Python between launches would show.
        The function keeps the step's scratch memory, not the tensors.
        """
        import torch

        operands.prepare(self.spec, A, B, alpha, beta, C)
        if A.device.type != "cuda":
            raise ArgumentError(f"A: is on {A.device}; only CUDA tensors can be launched on a GPU")
        module = _gpu_module(self.spec, operands.precision(A, C))
        if self.spec.untrusted:
            sandbox.try_first(self, (A, B, C), (alpha, beta))
        M, K, N = *A.shape, B.shape[1]
        addresses = (A.data_ptr(), B.data_ptr(), C.data_ptr())
        problem = (*addresses, M, N, K, float(alpha), float(beta))
        stream = torch.cuda.current_stream(A.device).cuda_stream
        config = self.spec.config_index(self.config_for(M, N, K))
        size = module.workspace_bytes(*problem, config) if self.spec.workspace else 0
        workspace = torch.empty(size, dtype=torch.uint8, device=A.device) if size else None
        args = (*problem, stream, workspace.data_ptr() if size else 0, config)

        def launch(keep: torch.Tensor | None = workspace) -> None:
            if code := module.launch(*args):
                kind = RefusedError if code in RefusedError.CODES else LaunchError
                words = refusal.take(getattr(module, "__file__", None))
                why = f"{module.error_string(code)}{f': {words}' * bool(words)}"
                raise kind(f"{self.title}: launch failed, {why}")

        return launch

    def config_for(self, M: int, N: int, K: int) -> str:
        """The configuration that a launch on the GPU runs at these sizes; "": the step chooses."""
        from . import tuning

        return self.config or tuning.chosen(self.title, self.spec, (M, N, K))

    def _on_gpu(self, A, B, C, alpha: float, beta: float) -> None:
        import torch

        with torch.cuda.device(A.device):
            self.launcher(A, B, C, alpha, beta)()
            if self.spec.untrusted:  # what goes wrong is to show here, not at a later call
                torch.cuda.synchronize()

    def _on_simulator(self, A, B, C, alpha: float, beta: float, allow_slow: bool) -> None:
        from . import sim

        M, K, N = *A.shape, B.shape[1]
        arrays = [operands.array(t) for t in (A, B, C)]
        module, factors = sim.load(self.spec, operands.precision(A, C)), (float(alpha), float(beta))
        config = self.spec.config_index(self.config)
        module.launch(*arrays, M, N, K, *factors, config=config, allow_slow=allow_slow)

    def __repr__(self) -> str:
        s, config = self.spec, f" [{self.config}]" if self.config else ""
        if s.untrusted:
            return f"{self.title}, written in this notebook" + f", like {s.parent}" * bool(s.parent)
        if s.written_to:
            return f"{s.label or 'a variant'} of {s.name}{config} (kernels/{s.file})"
        return f"{s.name}{config}: {s.idea} (kernels/{s.file})"


def kernel(name: str | Kernel | KernelSpec, config: str = "") -> Kernel:
    """The step called `name`, in one of its compiled configurations if `config` names one.

    Raises UnknownKernelError with the closest names, ArgumentError for a `config` that the step
    does not have, naming those that it has.
    """
    known = name if isinstance(name, Kernel) else Kernel(registry.get(name))
    return replace(known, config=config) if config else known


def variant(name: str | Kernel | KernelSpec, changes: dict[str, str], label: str = "") -> Kernel:
    """A step with some of its text replaced, for "what if": {"BK = 16": "BK = 8"}.

    Each key must stand in the kernel file. The step's own file is left alone. `label` names the
    variant in benchmarks.
    Raises ArgumentError for a key that does not stand there.
    """
    parent = kernel(name)
    spec = parent.spec
    text = spec.path.read_text()
    for old, new in changes.items():
        if old not in text:
            raise ArgumentError(
                f"changes: {old!r} does not stand in kernels/{spec.file}; "
                f"see lab.source({spec.name!r})"
            )
        text = text.replace(old, new)
    path = variants.write(text, f"{Path(spec.file).parent}/{spec.path.name}")
    own = spec.parent if spec.untrusted else spec.name
    return replace(parent, spec=replace(spec, written_to=str(path), label=label, parent=own))


def matrices(
    M: int, N: int, K: int, device: str | None = None, seed: int = 0, dtype: str = "float32"
) -> tuple[torch.Tensor, torch.Tensor]:
    """A (M, K) and B (K, N), normal random, on the GPU if there is one.

    dtype: "float32", "float16" or "bfloat16".
    """
    import torch

    from .device import default_backend

    device = device or ("cuda" if default_backend() == "gpu" else "cpu")
    generator = torch.Generator().manual_seed(seed)
    pair = (torch.randn(M, K, generator=generator), torch.randn(K, N, generator=generator))
    return tuple(t.to(device, getattr(torch, dtype)) for t in pair)


def _gpu_module(spec: KernelSpec, precision: str):
    import torch

    capability = torch.cuda.get_device_capability() if torch.cuda.is_available() else None
    return _built(spec, precision, capability)


@cache
def _built(spec: KernelSpec, precision: str, capability: tuple[int, int] | None):
    """`capability` is there for the cache: torch's current GPU may be another one next time."""
    from . import build

    needs.require(spec)
    return build.load(spec, precision)
