"""A kernel written in a notebook: from the text of a `%%kernel` cell to a built handle."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from .. import sim
from ..core.cuda_tools import find_nvcc
from ..core.errors import BackendError, BuildError
from ..display.table import Judgement, Shown
from ..gpu import build, ptxas
from ..gpu.ptxas import Resources
from ..gpu.toolchain import arch
from ..run.backend import default_backend
from ..run.kernel import SANDBOX, Kernel
from ..sim.apart import PROCESS
from ..sim.source import source_of
from ..steps import patch
from ..steps.program import Source
from ..steps.spec import KernelSpec
from .compose import Draft, compose
from .diagnostics import translate

_AXES = {"BM": ("tile", 0), "BN": ("tile", 1), "BK": ("tile", 2)}
_AXES |= {"TM": ("thread_tile", 0), "TN": ("thread_tile", 1)}


@dataclass(frozen=True, repr=False)
class Built(Shown):
    """What a `%%kernel` cell made.

    backend: "gpu" or "sim". resources: what ptxas says, None without nvcc; facts: what is known
    without it. architecture: what ptxas compiled for.
    """

    kernel: Kernel
    backend: str
    seconds: float
    resources: Resources | None
    facts: str
    architecture: str = ""

    def shown(self) -> Judgement:
        """How it was compiled, what it uses, and what to do next."""
        return Judgement(True, "Built", self._headline(), self._details())

    def _headline(self) -> str:
        how = {"gpu": "with nvcc for this GPU", "sim": "for the simulator"}[self.backend]
        spec = self.kernel.spec
        like = f", like {spec.parent}" if spec.parent else ""
        return f"{self.kernel.title}{like}: compiled {how} in {self.seconds:.1f} s"

    def _details(self) -> list[str]:
        name = self.kernel.title
        then = [f"lab.check({name})", f"lab.trace({name})"]
        then += [f"lab.diff({name})"] if self.kernel.spec.parent else []
        then += [f"lab.bench([{name}])"] if self.backend == "gpu" else []
        return [self._uses(), f"Next: {', '.join(then)}"]

    def _uses(self) -> str:
        if (r := self.resources) is None:
            return self.facts
        spills = r.spill_stores_bytes + r.spill_loads_bytes
        spilled = f"{spills:,} bytes of spills" if spills else "no spills"
        return (
            f"ptxas, sm_{self.architecture}: {r.registers} registers a thread, {spilled}, "
            f"{r.shared_bytes:,} bytes of static shared memory a block"
        )


def make(name: str, body: str, parent: KernelSpec | None, options: dict[str, Any]) -> Built:
    """The kernel of a cell's text, compiled for what runs kernels here.

    options: fields of KernelSpec that the cell's first line sets, and `block`, the threads of one
    as x, y, of a kernel without a launcher. Raises ArgumentError, BuildError and BackendError,
    naming lines of the cell.
    """
    backend = default_backend()
    if backend == "gpu":
        SANDBOX.warm()  # it starts while the compiler works
    else:
        PROCESS.warm()
    draft = compose(body, name, parent, options)
    spec = _spec(name, draft, parent, options)
    entry = name if draft.whole or parent is None else parent.name
    path = patch.keep(draft.text, f"kernels/{spec.file}")
    handle = Kernel(spec, Source(path, entry, label=name, trusted=False, origins=draft.origins))
    SANDBOX.forget(path)
    start = time.monotonic()
    try:
        resources, facts = _compile(handle, backend)
    except BuildError as error:
        found = translate(str(error), path, draft)
        raise BuildError(f"{name} does not compile:\n{found}") from None
    seconds = time.monotonic() - start
    return Built(handle, backend, seconds, resources, facts, _architecture(backend))


def _spec(
    name: str, draft: Draft, parent: KernelSpec | None, options: dict[str, Any]
) -> KernelSpec:
    """The parent's spec, or a careful one, with what the cell changes."""
    base = parent or KernelSpec(
        name=name,
        file=f"notebook/{name}.cuh",
        idea="written in a notebook",
        tile=(1, 1, 1),
        thread_tile=(1, 1),
        threads=0,
        shared_bytes=0,
    )
    changes: dict[str, Any] = {
        "name": name,
        "file": f"{base.file.rpartition('/')[0]}/{name}.cuh",
        "parent": parent.name if parent else None,
        "seed": (),
        **_sizes(base, draft.constants),
    }
    if draft.whole:
        changes |= {"workspace": f"workspace_{name}" in draft.text, "configs": ()}
    given = {key: value for key, value in options.items() if key != "block"}
    if len(given.get("tile", (0, 0, 0))) == 2:
        given["tile"] = (*given["tile"], draft.facts.get("tile", base.tile)[2])
    return replace(base, **{**changes, **draft.facts, **given})


def _sizes(base: KernelSpec, constants: dict[str, str]) -> dict[str, object]:
    """Tile, thread tile, multiples and threads, where a constant gives them as a number."""
    numbers = {key: int(text) for key, text in constants.items() if text.isdecimal()}
    fields = {name: list(getattr(base, name)) for name in ("tile", "thread_tile", "multiple_of")}
    for constant, (name, axis) in _AXES.items():
        if constant not in numbers:
            continue
        # A step that takes any size tests for the edge itself.
        if name == "tile" and fields["multiple_of"][axis] == base.tile[axis] > 1:
            fields["multiple_of"][axis] = numbers[constant]
        fields[name][axis] = numbers[constant]
    tuples = {name: tuple(values) for name, values in fields.items()}
    return {**tuples, "threads": numbers.get("THREADS", base.threads)}


def _compile(handle: Kernel, backend: str) -> tuple[Resources | None, str]:
    """Build for the backend, and meanwhile ask ptxas, if it is there."""
    with ThreadPoolExecutor(1) as pool:
        asked = None
        if find_nvcc():
            asked = pool.submit(ptxas.resources, handle, _architecture(backend))
        facts = ""
        if backend == "gpu":
            build.load(handle)
        else:
            facts = _simulated(handle)
        return (_answer(asked, handle), facts) if asked else (None, facts)


def _answer(asked: Future[Resources], handle: Kernel) -> Resources | None:
    try:
        return asked.result()
    except BackendError:
        return None
    except BuildError as error:
        # An nvcc that works for no file at all says nothing about this one.
        if handle.source.path.name in str(error) or "ptxas" in str(error):
            raise
        return None


def _simulated(handle: Kernel) -> str:
    """Compile for the simulator; what its library says of the kernel."""
    sim.compile_step(handle)
    known = source_of(handle).kernel().table.kernels
    shared = max((facts.static_bytes for facts in known), default=0)
    threads = max((facts.max_threads for facts in known), default=0)
    bound = f", at most {threads} threads a block" if threads else ""
    return (
        f"{shared:,} bytes of static shared memory a block{bound}, counted by the "
        "simulator; registers and spills are known only with nvcc, which is not installed here"
    )


def _architecture(backend: str) -> str:
    return arch() if backend == "gpu" else "90a"
