"""Call a step: check the tensors, then launch it on the GPU or on the simulator."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import sim
from ..core import arguments
from ..core.errors import ArgumentError, LaunchError, RefusedError
from ..core.layout import LAYOUTS, PLAIN
from ..core.memory import check_memory
from ..core.precision import DTYPES
from ..gpu import build, requirements, sandbox, turns
from ..sim.module import SMS, SimModule
from ..sim.trace import Trace
from ..steps import patch, refusal, registry
from ..steps.program import Program
from ..steps.spec import KernelSpec
from . import operands, tuned
from .backend import backend_for, device_for

if TYPE_CHECKING:
    import torch

    Matrices = Sequence[torch.Tensor]  # A, B and C

# Where kernels that were written in a notebook run first.
SANDBOX = sandbox.Sandbox((sys.executable, "-m", "gemmlab.run.sandbox_process"))


@dataclass(frozen=True)
class LaunchPlan:
    """A launch with everything decided: calling it puts the kernel on the stream.

    title: what an error calls the kernel. config: the configuration that it runs, "" if the step
    chooses. arguments: of the compiled module's `launch`. workspace: the scratch memory, which has
    to live as long as the plan.
    """

    title: str
    config: str
    module: ModuleType
    arguments: tuple[float, ...]
    workspace: torch.Tensor | None = None

    def __call__(self) -> None:
        """Launch once. Raises RefusedError and LaunchError."""
        if code := self.module.launch(*self.arguments):
            kind = RefusedError if code in RefusedError.CODES else LaunchError
            words = refusal.take(getattr(self.module, "__file__", None))
            why = ": ".join(filter(None, (self.module.error_string(code), words)))
            raise kind(f"{self.title}: launch failed, {why}")


@dataclass(frozen=True)
class Kernel(Program):
    """A step that can be called like a function; it is built at its first call.

    config: one of the step's compiled configurations. Without one, a launch on a GPU runs what
    `lab.tune` found best for this GPU and shape; where nothing was found, the step chooses.
    """

    config: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.spec.config_index(self.config)  # refuses one that is not there

    @property
    def title(self) -> str:
        """The name to show: a changed copy says that it is one, and a configuration which."""
        return f"{super().title} [{self.config}]" if self.config else super().title

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

        A is (M, K), B is (K, N), out is (M, N): contiguous (or transposed views, where the step has
        the layout), on one device, of types that the step takes: all of one, or 16 bits and `out`
        in float32. CUDA tensors run on the GPU, CPU tensors on the simulator.
        allow_slow: let a run on the simulator take longer than a minute.
        Raises ArgumentError for what the step cannot take, BackendError where the backend is
        missing, SlowRunError where a simulated run would take longer, BuildError and LaunchError.
        """
        import torch

        arguments.flag("allow_slow", allow_slow)
        out = operands.prepare(self.spec, A, B, alpha, beta, out)
        if out.numel() == 0:
            return out
        backend = backend_for(A)
        target = "cuda" if backend == "gpu" else "cpu"
        # Only a forced backend moves data: otherwise these are the tensors themselves.
        moved = [t if t.device.type == target else t.to(target) for t in (A, B, out)]
        factors = (float(alpha), float(beta))
        if backend == "sim":
            self._on_simulator(moved, factors, allow_slow)
        else:
            with torch.cuda.device(moved[0].device):
                plan = self._plan(moved, factors)
                with turns.together():
                    plan()
                if not self.source.trusted:  # what goes wrong is to show here, not at a later call
                    torch.cuda.synchronize()
        return out if moved[2] is out else out.copy_(moved[2])

    def traced(
        self,
        matrices: Matrices,
        factors: tuple[float, float],
        *,
        module: SimModule | None = None,
        sms: int = SMS,
        order: int = 0,
        allow_slow: bool = False,
    ) -> Trace:
        """Like a call with A, B and `out`, traced in the simulator.

        matrices: A, B and C, which is written. factors: alpha and beta. module: the step as it is
        compiled for the matrices' types, for many runs: without it, each run looks whether a file
        of the step has changed. sms, order: the machine, as in SimModule.trace. Raises what a call
        raises, but a kernel that does not run to its end is a finding.
        """
        A, B, C = matrices
        operands.prepare(self.spec, A, B, *factors, C)
        module = module or sim.compile_step(self, operands.precision(A, C), operands.layout(A, B))
        problem = self._simulated(matrices, factors)
        return module.trace(**problem, sms=sms, order=order, allow_slow=allow_slow)

    def launcher(
        self,
        A: torch.Tensor,
        B: torch.Tensor,
        C: torch.Tensor,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> LaunchPlan:
        """What launches the step on the current stream when it is called, and the configuration.

        The tensors are checked here, once: for timing, where Python between launches would show.
        The plan keeps the step's scratch memory, not the tensors.
        """
        operands.prepare(self.spec, A, B, alpha, beta, C)
        if A.device.type != "cuda":
            raise ArgumentError(f"A: is on {A.device}; only CUDA tensors can be launched on a GPU")
        return self._plan((A, B, C), (float(alpha), float(beta)))

    def build(self, precision: str, layout: str = PLAIN) -> None:
        """Compile the step for this GPU now, if it is not: a first launch would wait for nvcc.

        precision: of its inputs and of C, as in `KernelSpec.precisions`. layout: how A and B lie.
        Raises BuildError, and BackendError where the step cannot run on this GPU.
        """
        _gpu_module(self, precision, layout)

    def config_for(self, M: int, N: int, K: int) -> str:
        """The configuration that a launch on the GPU runs at these sizes; "": the step chooses."""
        return self.config or tuned.chosen(self, (M, N, K))

    def _plan(self, matrices: Matrices, factors: tuple[float, float]) -> LaunchPlan:
        """The launch on these CUDA tensors, which have been checked."""
        import torch

        A, B, C = matrices
        layout = operands.layout(A, B)
        module = _gpu_module(self, operands.precision(A, C), layout)
        M, K, N = *A.shape, B.shape[1]
        chosen = self.config_for(M, N, K)
        if not self.source.trusted:
            self._try_first(matrices, factors, chosen)
        problem = (A.data_ptr(), B.data_ptr(), C.data_ptr(), M, N, K, *factors)
        stream = torch.cuda.current_stream(A.device).cuda_stream
        config = self.spec.config_index(chosen)
        how = (config, LAYOUTS.index(layout))
        size = module.workspace_bytes(*problem, *how) if self.spec.workspace else 0
        scratch = torch.empty(size, dtype=torch.uint8, device=A.device) if size else None
        address = 0 if scratch is None else scratch.data_ptr()
        return LaunchPlan(self.title, chosen, module, (*problem, stream, address, *how), scratch)

    def _on_simulator(
        self, matrices: Matrices, factors: tuple[float, float], allow_slow: bool
    ) -> None:
        A, B, C = matrices
        module = sim.compile_step(self, operands.precision(A, C), operands.layout(A, B))
        try:
            module.launch(**self._simulated(matrices, factors), allow_slow=allow_slow)
        except LaunchError as error:
            raise type(error)(self.source.in_the_cell(str(error))) from None

    def _simulated(self, matrices: Matrices, factors: tuple[float, float]) -> dict[str, Any]:
        """The arguments of SimModule.launch and trace that say what is multiplied."""
        (A, B, _), (alpha, beta) = matrices, map(float, factors)
        problem = dict(zip("ABC", map(operands.array, matrices), strict=True))
        sizes = {"M": A.shape[0], "N": B.shape[1], "K": A.shape[1], "alpha": alpha, "beta": beta}
        layout = LAYOUTS.index(operands.layout(A, B))
        config = self.spec.config_index(self.config)
        return {**problem, **sizes, "config": config, "layout": layout}

    def _try_first(self, matrices: Matrices, factors: tuple[float, float], config: str) -> None:
        """One launch with matrices like these in a process of its own."""
        A, B, _ = matrices
        dtypes = tuple(str(matrix.dtype).removeprefix("torch.") for matrix in matrices)
        device = A.device.index or 0
        attempt = sandbox.Attempt(self, self.title, config, dtypes, factors, device)
        SANDBOX.try_first(attempt, (A.shape[0], B.shape[1], A.shape[1]))

    def __repr__(self) -> str:
        s, config = self.spec, f" [{self.config}]" if self.config else ""
        if not self.source.trusted:
            return f"{self.title}, written in this notebook" + f", like {s.parent}" * bool(s.parent)
        if not self.is_own_file:
            return f"{self.source.label or 'a variant'} of {s.name}{config} (kernels/{s.file})"
        return f"{s.name}{config}: {s.idea} (kernels/{s.file})"


def kernel(name: str | Program | KernelSpec, config: str = "") -> Kernel:
    """The step called `name`, in one of its compiled configurations if `config` names one.

    Called as `kernel(A, B, C, alpha, beta)` it runs on tensors. name: also a spec or a handle.
    config: such as "128x128x16"; "": a launch on a GPU runs what `lab.tune` found, or the step
    chooses. Raises UnknownKernelError with the closest names, ArgumentError for a `config` that the
    step does not have, naming those that it has.
    """
    known = registry.program(name)
    handle = known if isinstance(known, Kernel) else Kernel(known.spec, known.source)
    return handle if config == "" else replace(handle, config=config)


def variant(
    name: str | Program | KernelSpec, changes: Mapping[str, str], label: str = ""
) -> Kernel:
    """A step with some of its text replaced, for "what if": {"BK = 16": "BK = 8"}.

    The step's own file is left alone.

    name: a step, or a variant to change further. changes: text -> the text that replaces it; each
    key must occur in the kernel file. label: the name to show, in benchmarks too.
    Raises ArgumentError for a key that does not occur there or is empty, UnknownKernelError.
    """
    parent, label = kernel(name), arguments.text("label", label)
    spec, path = parent.spec, parent.source.path
    shown_as, remedy = f"kernels/{spec.file}", f"; see lab.source({spec.name!r})"
    text = patch.replace(path.read_text(), changes, shown_as, remedy)
    copy = patch.keep(text, Path("kernels", spec.file).with_name(path.name))
    return replace(parent, source=replace(parent.source, path=copy, label=label, origins=None))


def matrices(
    M: int, N: int, K: int, device: str | None = None, seed: int = 0, dtype: str = "float32"
) -> tuple[torch.Tensor, torch.Tensor]:
    """A (M, K) and B (K, N), normal random, on the GPU if there is one.

    M, N, K: elements. device: "cuda" or "cpu"; None: the GPU if kernels run there. seed: the same
    seed gives the same matrices on every device. dtype: "float32", "float16" or "bfloat16".
    Raises ArgumentError for anything else, and for matrices that do not fit into memory;
    BackendError for a GPU that is not there.
    """
    import torch

    M, N, K = arguments.shape((M, N, K), low=(0, 0, 0))
    device, seed = device_for(device), arguments.seed(seed)
    types = arguments.choice("dtype", dtype, DTYPES, quoted=True)
    wanted = [("A", 4 * M * K), ("B", 4 * K * N)]  # drawn in fp32 and on this machine
    check_memory("M, N, K", wanted)
    generator = torch.Generator().manual_seed(seed)
    pair = (torch.randn(M, K, generator=generator), torch.randn(K, N, generator=generator))
    try:
        A, B = (t.to(device, getattr(torch, types)) for t in pair)
    except torch.OutOfMemoryError:
        raise ArgumentError(
            f"M, N, K: {device} has no memory left for A and B; use smaller M, N and K"
        ) from None
    return A, B


def _gpu_module(program: Program, precision: str, layout: str = PLAIN) -> ModuleType:
    import torch

    capability = torch.cuda.get_device_capability() if torch.cuda.is_available() else None
    return _built(Program(program.spec, program.source), precision, layout, capability)


@cache
def _built(
    program: Program, precision: str, layout: str, capability: tuple[int, int] | None
) -> ModuleType:
    """`capability` is there for the cache: torch's current GPU may be another one next time."""
    requirements.require(program)
    return build.load(program, precision, layout)
