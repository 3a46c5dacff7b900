"""Building for a GPU, as far as it goes without one: what is missing, old, or does not compile."""

import re
import shlex
import subprocess
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import SimpleNamespace

import needs
import pytest
import torch
from sampling import sampled
from torch.utils import cpp_extension

import gemmlab as lab
from gemmlab.core.errors import BackendError, BuildError
from gemmlab.core.paths import kernels_folder
from gemmlab.gpu import build
from gemmlab.gpu.ptxas import Resources, parse, resources
from gemmlab.gpu.toolchain import FLAGS, compiler_lines, gencode, nvcc
from gemmlab.run import kernel as run
from gemmlab.steps import registry
from gemmlab.steps.program import Program
from gemmlab.steps.spec import KernelSpec
from gemmlab.steps.text import included_files

NINJA_LOG = """[1/3] nvcc --generate-dependencies ... cuda.cu
FAILED: cuda.cuda.o
/checkout/kernels/sgemm/01_naive.cuh(26): error: identifier "flaot" is undefined
    flaot acc = 0.0f;
    ^

1 error detected in the compilation of "cuda.cu".
ninja: build stopped: subcommand failed.
"""


def test_missing_nvcc_says_what_still_works(monkeypatch):
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr(build.shutil, "which", lambda *args, **kwargs: None)
    with pytest.raises(BackendError, match=r"nvcc: not found.*CPU tensors still run"):
        nvcc()


def test_no_gpu_points_to_the_simulator(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(build, "_toolchain", lambda: "")
    with pytest.raises(BackendError, match=r"no CUDA GPU is visible .* simulator"):
        build.load(Program(registry.KERNELS[0]))


def test_gpu_too_old(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (5, 2))
    needs = (
        "sgemm_01_naive needs a GPU of compute capability 7.0 or newer; this one has 5.2. Pass CPU"
    )
    with pytest.raises(BackendError, match=needs) as caught:
        run._gpu_module(Program(registry.KERNELS[0]), "fp32")
    assert "GEMMLAB_BACKEND=sim" in str(caught.value) and "recorded" in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda good, new: lab.bench([good, new]),
        lambda good, new: lab.check(new, device="cuda"),
        lambda good, new: lab.tune(replace(new, configs=("a",))),
    ],
    ids=["bench", "check", "tune"],
)
def test_a_gpu_that_is_too_old_is_said_before_anything_is_built(monkeypatch, ask):
    small_gpu(monkeypatch, 232448)
    built = []
    monkeypatch.setattr(build, "load", lambda program, *how: built.append(program.name))
    for module in ("gemmlab.bench.bench", "gemmlab.run.backend", "gemmlab.bench.tune"):
        monkeypatch.setattr(import_module(module), "default_backend", lambda: "gpu")
    monkeypatch.setattr(import_module("gemmlab.run.backend"), "why_no_gpu", lambda: "")
    new = replace(LARGE, name="tma_01_load", min_arch=90)
    with pytest.raises(BackendError, match=r"tma_01_load needs a GPU of .* 9\.0 or newer; .* 8\.6"):
        ask(LARGE, new)
    assert built == []


def test_torch_in_a_folder_with_spaces_is_found_by_the_linker(monkeypatch):
    monkeypatch.setattr(cpp_extension, "TORCH_LIB_PATH", "/Mäßig gut/torch/lib")
    for _ in range(2):
        build._quote_torchs_folder()
    flags = cpp_extension._prepare_ldflags([], False, False, False, False)
    assert "-L/Mäßig gut/torch/lib" in shlex.split(" ".join(flags))


def test_the_compilers_message_keeps_the_kernels_own_line():
    text = compiler_lines(NINJA_LOG)
    assert '01_naive.cuh(26): error: identifier "flaot" is undefined' in text
    assert "flaot acc" in text
    assert "ninja" not in text


def test_headers_are_part_of_the_key():
    files = [path.name for path in included_files(registry.get("sgemm_06_swizzled_a").path)]
    assert files == ["06_swizzled_a.cuh", "epilogue.cuh", "vec.cuh", "host.cuh"]


SGEMM = [spec for spec in registry.KERNELS if spec.family == "sgemm"]
# Bytes of spill stores and loads. In narrow.cuh, the way for up to 16 columns, three shapes have a
# few more values than the 128 or 80 registers that their launch bounds leave.
SPILLS = {"sgemm_20_any_shape": (24, 36)}
HALVES = [spec for spec in registry.KERNELS if spec.family != "sgemm"]  # steps for 16-bit types


@needs.slow_nvcc
@pytest.mark.parametrize("spec", SGEMM, ids=lambda spec: spec.name)
def test_every_step_compiles_for_hopper_without_spills(spec):
    used = resources(Program(spec))
    assert used.shared_bytes == spec.shared_bytes
    spilled = used.spill_stores_bytes, used.spill_loads_bytes
    assert spilled == SPILLS.get(spec.name, (0, 0))
    assert used.registers * spec.threads <= 65536


# Of each, the shared memory that a block can have, in KB.
TARGETS = {"80": 163, "86": 99, "89": 99, "90a": 227, "120a": 99}
# fp16 differs in the instructions' types alone. Both on Hopper, by turns elsewhere: each is
# a minute of nvcc.
BOTH = ("bf16", "bf16_fp32")
TYPES = {"80": BOTH[1:], "86": BOTH[:1], "89": BOTH[1:], "90a": BOTH, "120a": BOTH[:1]}


def runs_on(spec: KernelSpec, target: str) -> bool:
    return not spec.too_old(divmod(int(target.removesuffix("a")), 10))


def room_for(spec: KernelSpec, target: str, entry: str) -> bool:
    """Whether a block can have what it asks; of a step with several tiles, one of this tile."""
    if spec.family != "tma":
        return True  # as many stages as there is room for
    tile = re.search(r"4TileILi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)ELi(\d+)E", entry)
    needed = spec.shared_bytes
    if tile:
        BM, BN, WM, WN, stages = map(int, tile.groups())
        needed = stages * (128 * (BM + BN) + 16) + BM // WM * (BN // WN) * (WM * 128 + 8)
    return needed <= TARGETS[target] * 1024


def compiled(family: str, target: str, folder) -> dict[str, list[tuple[str, Resources]]]:
    """What ptxas says of the kernels of every step of a family, in its TYPES: one call of nvcc.

    Families apart: static shared memory would be aligned like the dynamic one of others.
    """
    steps = steps_of(family, target)
    text = "".join(f'#include "{spec.path}"\n' for spec in steps)
    for launch in (Program(s).launch(types) for s in steps for types in TYPES[target]):
        text += f"template cudaError_t {launch}(const GemmArgs&, cudaStream_t);\n"
    source = folder / f"{family}_{target}.cu"
    source.write_text(text)
    command = [nvcc(), *FLAGS, f"-I{kernels_folder()}", gencode(target)]
    done = subprocess.run(
        [*command, "-Xptxas=-v", "-cubin", str(source), "-o", str(source.with_suffix(".cubin"))],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, compiler_lines(done.stderr)
    found: dict[str, list[tuple[str, Resources]]] = {}
    for part in done.stderr.split("Compiling entry function ")[1:]:
        namespace = re.match(r"'_ZN(\d+)(\w+)", part)  # the length of the name, then the name
        # What several steps use, such as the kernel that adds slices up, is in none.
        name = namespace[2][: int(namespace[1])] if namespace else f"common of {family}"
        found.setdefault(name, []).append((part.split("'")[1], parse(part)))
    return found


def steps_of(family: str, target: str) -> list[KernelSpec]:
    return [spec for spec in HALVES if spec.family == family and runs_on(spec, target)]


FAMILIES = dict.fromkeys(spec.family for spec in HALVES)
BUILDS = [(family, target) for family in FAMILIES for target in TARGETS if steps_of(family, target)]
# The oldest target and the one that is recorded; the others are for the campaign.
EACH_RUN = ("80", "90a")
# Bytes of spill stores and loads, by C's type or by configuration.
WGMMA_SPILLS = {
    "wgmma_11_large_tile": {(16, 24), (36, 44)},
}
# What a block of a GPU with 99 KB has no room for.
REFUSED = {
    ("tma", "120a"): {
        "tma_05_wide_tile",
        "tma_06_persistent",
        "tma_07_stream_k",
        "tma_08_any_shape",
    }
}


def test_every_16_bit_step_is_compiled_for_a_target():
    assert {spec.name for family, target in BUILDS for spec in steps_of(family, target)} == {
        spec.name for spec in HALVES
    }


@needs.slow_nvcc
@pytest.mark.parametrize("built", sampled(BUILDS, of=8, always=lambda built: built[1] in EACH_RUN))
def test_every_16_bit_step_compiles_for_every_target(built, tmp_path):
    family, target = built
    found, refused = compiled(family, target, tmp_path), set()
    for spec in steps_of(family, target):
        dynamic = "extern __shared__" in spec.path.read_text()
        kernels = found[spec.name]
        assert len(kernels) == len(TYPES[target]) or spec.configs, spec.name
        # A static array is padded as the dynamic ones of the steps beside it ask: to 1024 bytes.
        static = () if dynamic else (spec.shared_bytes, -(-spec.shared_bytes // 1024) * 1024)
        assert {used.shared_bytes for _, used in kernels} <= {*(static or (0,))}, spec.name
        spilled = set()
        for entry, used in kernels + (found[f"common of {family}"] if spec.configs else []):
            assert used.registers * spec.threads <= 65536, entry
            if room_for(spec, target, entry):
                spilled.add((used.spill_stores_bytes, used.spill_loads_bytes))
            else:
                refused.add(spec.name)
        assert spilled <= WGMMA_SPILLS.get(spec.name, {(0, 0)}), spec.name
    assert refused == REFUSED.get((family, target), set())


# ---- shared memory that a GPU does not have ----

LARGE = registry.get("hgemm_17_stages")


def small_gpu(monkeypatch, most: int | None) -> None:
    """A GPU whose blocks have `most` bytes of shared memory; None: torch does not tell."""
    properties = SimpleNamespace(name="NVIDIA Small")
    if most is not None:
        properties.shared_memory_per_block_optin = most
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 6))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(build, "load", lambda program, precision, layout: (program.name, precision))
    monkeypatch.setattr(run, "_built", cache(run._built.__wrapped__))


def test_a_step_that_needs_too_much_shared_memory_is_refused_with_both_numbers(monkeypatch):
    small_gpu(monkeypatch, LARGE.shared_bytes - 1)
    needs, has = f"{LARGE.shared_bytes:,}", f"{LARGE.shared_bytes - 1:,}"
    with pytest.raises(BackendError, match=f"needs {needs} bytes .* NVIDIA Small gives .* {has}"):
        run._gpu_module(Program(LARGE), "bf16")


def test_a_step_that_this_gpu_cannot_run_is_not_compiled_for_it(monkeypatch):
    small_gpu(monkeypatch, 232448)
    monkeypatch.setattr(build, "load", lambda *_: pytest.fail("built"))
    with pytest.raises(BackendError, match=r"needs a GPU of compute capability 9\.0"):
        run._gpu_module(Program(replace(LARGE, min_arch=90)), "bf16")


def test_a_step_that_falls_back_to_fewer_stages_needs_those(monkeypatch):
    small_gpu(monkeypatch, 32768)
    assert (
        run._gpu_module(Program(replace(LARGE, least_shared_bytes=32768)), "bf16")[0] == LARGE.name
    )
    with pytest.raises(BackendError, match="needs 32,769 bytes of shared memory"):
        run._gpu_module(Program(replace(LARGE, least_shared_bytes=32769)), "bf16")


@pytest.mark.parametrize("most", [LARGE.shared_bytes, 232448, None])
def test_one_that_fits_is_built(monkeypatch, most):
    small_gpu(monkeypatch, most)
    assert run._gpu_module(Program(LARGE), "fp16_fp32") == (LARGE.name, "fp16_fp32")


def test_what_a_variant_needs_its_launcher_asks_for(monkeypatch):
    small_gpu(monkeypatch, LARGE.shared_bytes - 1)
    fewer = lab.variant(LARGE, {"STAGES = 3": "STAGES = 2"})
    assert run._gpu_module(fewer, "bf16") == (LARGE.name, "bf16")


@needs.slow_nvcc
def test_a_broken_step_shows_its_line():
    broken = lab.variant("sgemm_01_naive", {"float acc = 0.0f;": "flaot acc = 0.0f;"})
    lines = broken.source.path.read_text().splitlines()
    number = next(i for i, text in enumerate(lines, 1) if "flaot" in text)
    with pytest.raises(BuildError, match=rf"01_naive.cuh\({number}\): error"):
        resources(broken)
