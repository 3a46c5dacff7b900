"""Which backend runs here, what the machine has, and how to get what it lacks."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import asdict, dataclass

from .. import measurements
from ..core import machine
from ..core.cuda_tools import find_nvcc
from ..core.errors import BackendError, MeasurementError
from ..core.paths import cache_dir, repository_root
from ..display.table import table, text_table
from ..gpu import requirements
from ..gpu.telemetry import Gpu
from ..gpu.toolchain import find_ncu, find_ninja
from ..steps import registry
from .backend import default_backend, forced_backend, why_no_gpu

_NO_GPU = (
    "Everything but live timing works: CPU tensors run on the simulator, and benchmarks show the "
    "recorded run. For a GPU: install NVIDIA's driver (Debian: apt-get install nvidia-driver); on "
    "Colab choose Runtime > Change runtime type > GPU"
)
_CPU_TORCH = (
    "This torch was built without CUDA, so it sees no GPU. Install a CUDA build of torch (its "
    "installation page gives the command), or use the machine's own: make TORCH=system book"
)
_NO_NVCC = (
    "No kernel can be built for a GPU; the simulator and recorded figures still work. Debian: "
    "apt-get install nvidia-cuda-toolkit (or NVIDIA's cuda-toolkit package of torch's CUDA "
    "version); conda: conda install -c nvidia cuda-nvcc; Colab has it"
)
_NO_GXX = (
    "The simulator cannot compile kernels, and nvcc needs it too; stored and recorded results "
    "still show. Debian: apt-get install g++; conda: conda install -c conda-forge gxx; Colab has it"
)
_NO_NCU = (
    "Only `record` uses it, for hardware counters, which are then left out; the recorded ones "
    "still show. It is part of the CUDA toolkit (Nsight Compute); conda: conda install -c nvidia "
    "nsight-compute"
)
_NO_NINJA = "Kernels cannot be built for a GPU without it: pip install ninja"
_NO_RECORD = "On a machine with a GPU, `make record` writes it; until then no recorded figure shows"


@dataclass(frozen=True)
class Item:
    """One thing looked for; if it is missing, `hint` says what still works and how to get it."""

    name: str
    ok: bool
    found: str
    hint: str = ""


@dataclass(frozen=True)
class DeviceReport:
    """What this machine can do with gemmlab: `backend` is "gpu", "sim" or "none"."""

    backend: str
    reason: str
    items: tuple[Item, ...]

    def to_dict(self) -> dict:
        """Plain data, for `doctor --json`."""
        return asdict(self)

    def __repr__(self) -> str:
        rows = [(item.name, "ok" if item.ok else "--", item.found) for item in self.items]
        found = text_table(("what", "", "found"), rows, "ttt")
        hints = [f"{item.name}: {item.hint}." for item in self.items if item.hint]
        return "\n".join([self._headline(), "", found, *([""] if hints else []), *hints])

    def _repr_html_(self) -> str:
        rows = [
            (
                item.name,
                "yes" if item.ok else "no",
                ". ".join(filter(None, (item.found, item.hint))),
            )
            for item in self.items
        ]
        missing = [i for i, item in enumerate(self.items) if not item.ok]
        return table(("", "", "found"), rows, "ttw", [self._headline()], missing)

    def _headline(self) -> str:
        heads = {"gpu": "Kernels run on the GPU", "sim": "Kernels run on the simulator"}
        return f"{heads.get(self.backend, 'No kernel can run here')}: {self.reason}."


def device() -> DeviceReport:
    """What this machine has: backend, GPU, driver, CUDA, compilers, profiler, recorded figures."""
    compiler = _tool("g++", shutil.which("g++"), "-dumpfullversion", r"([\d.]+)", _NO_GXX)
    items = (
        _gpu(),
        _torch(),
        _tool("nvcc", find_nvcc(), "--version", r"release ([\d.]+)", _NO_NVCC),
        compiler,
        _tool("ninja", find_ninja(), "--version", r"(\d+(?:\.\d+)*)", _NO_NINJA),
        _tool("ncu", find_ncu(), "--version", r"Version ([\d.]+)", _NO_NCU),
        _simulator(compiler),
        *_recorded(),
    )
    backend, reason = _choose(compiler)
    return DeviceReport(backend, reason, items)


def _choose(compiler: Item) -> tuple[str, str]:
    try:
        backend = default_backend()
    except BackendError as error:
        return "none", str(error).partition(";")[0]
    lacks = why_no_gpu()
    forced = f"GEMMLAB_BACKEND={backend} forces it" if forced_backend() else ""
    if why := _lacking(backend, compiler):
        return "none", f"{forced or lacks}, and {why}" if forced or lacks else why
    return backend, forced or lacks or "there is a GPU and nvcc"


def _lacking(backend: str, compiler: Item) -> str:
    """What a backend needs besides its device and is not there; "" if nothing."""
    if backend == "sim" and machine.elsewhere():
        return "the simulator runs on Linux with glibc"
    kernels = repository_root() / "kernels"
    if not (kernels / registry.KERNELS[0].file).is_file():
        return f"there are no kernels in {kernels}"
    try:
        cache_dir(backend)
    except BackendError:
        return "built kernels cannot be kept"
    return "" if compiler.ok else f"there is no g++ that runs ({compiler.found})"


def _gpu() -> Item:
    import torch

    if not torch.cuda.is_available():
        built_without = torch.version.cuda is None and shutil.which("nvidia-smi")
        return Item("GPU", False, "none", _CPU_TORCH if built_without else _NO_GPU)
    p = torch.cuda.get_device_properties(0)
    arch = p.major * 10 + p.minor
    found = (
        f"{p.name}, sm_{arch}, {p.multi_processor_count} SMs, {p.total_memory / 2**30:.0f} GiB, "
        f"driver {Gpu().driver() or 'unknown'}"
    )
    old = [spec.name for spec in registry.KERNELS if spec.min_arch > arch]
    new = [spec.name for spec in registry.KERNELS if 0 < spec.max_arch < arch]
    most = requirements.most_shared_bytes(p)
    large = [spec.name for spec in registry.KERNELS if spec.needed_shared_bytes > most]
    large = [name for name in large if name not in old + new]
    lacks = [f"Too old for {', '.join(old)}"] * bool(old)
    lacks += [f"Too new, without wgmma, for {', '.join(new)}"] * bool(new)
    lacks += [f"Too little shared memory for {', '.join(large)}"] * bool(large)
    hint = f"{'. '.join(lacks)}: these run on the simulator (pass CPU tensors)"
    return Item("GPU", True, found, hint if lacks else "")


def _torch() -> Item:
    import torch

    return Item("torch", True, f"{torch.__version__}, CUDA {torch.version.cuda or 'none'}")


def _tool(name: str, path: str | None, flag: str, pattern: str, hint: str) -> Item:
    if path is None:
        return Item(name, False, "not found", hint)
    try:
        done = subprocess.run([path, flag], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Item(name, False, f"{path} does not run ({error})", hint)
    if done.returncode:
        return Item(name, False, f"{path} does not run (exit status {done.returncode})", hint)
    version = re.search(pattern, done.stdout)
    place = "" if shutil.which(name) == path else f" ({path})"  # worth naming only off PATH
    return Item(name, True, f"{version[1] if version else 'version unknown'}{place}")


def _simulator(compiler: Item) -> Item:
    if elsewhere := machine.elsewhere():
        return Item("simulator", False, "needs Linux", elsewhere.removesuffix("."))
    if not compiler.ok:
        return Item("simulator", False, "needs g++")
    try:
        cache_dir("sim")
    except BackendError as error:
        return Item("simulator", False, "no folder for built kernels", str(error))
    return Item("simulator", True, "ready; it compiles a kernel at its first run")


def _recorded() -> list[Item]:
    paths = measurements.paths()
    if not paths:
        return [Item("recorded figures", False, "none in book/measurements", _NO_RECORD)]
    items = []
    for path in paths:
        try:
            env = measurements.load(path).environment
            items.append(Item("recorded figures", True, f"{path.name}: {measurements.origin(env)}"))
        except MeasurementError as error:
            items.append(Item("recorded figures", False, path.name, str(error)))
    return items
