"""Ask a GPU where wgmma reads its operands, and whether its products are right.

    python -m tools.evidence.record_wgmma FILE

writes the addresses to FILE (tests/sim/recorded/wgmma_addresses.json, which the simulator's tests
replay), and prints what differs from the layouts in tests/sim/wgmma_tiles.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sim"))  # where the probes and products are listed

from wgmma_probes import RISKY, addresses_read, entry, probes
from wgmma_products import products

from gemmlab.core.errors import LaunchError
from gemmlab.core.files import write_whole
from gemmlab.gpu import build, telemetry

from .. import command

FIXTURE = ROOT / "tests" / "sim" / "fixtures" / "wgmma_layouts.cu"


class Gpu:
    """fixtures/wgmma_layouts.cu on the GPU."""

    def __init__(self) -> None:
        self._modules = {
            name: build.load_source(FIXTURE, f"launch_{name}", f"wgmma_{name}")
            for name in ("forms", "widths")
        }

    def launch(
        self, call, memory, D, form: int, n: int, bfloat: bool = False, name="forms"
    ) -> None:
        """Runs one wgmma; D is read and written."""
        tensors = [torch.from_numpy(x.view(np.int16)).cuda() for x in (call, memory)]
        out = torch.from_numpy(D).cuda()
        pointers = (*(t.data_ptr() for t in tensors), out.data_ptr())
        code = self._modules[name].launch(*pointers, form, n, int(bfloat), 1.0, 0.0, 0)
        if code:
            raise LaunchError(f"form {form}, N={n}: cudaError {code}")
        torch.cuda.synchronize()
        D[:] = out.cpu().numpy()


def check_products(gpu: Gpu) -> None:
    """The products that the simulator's tests compute."""
    wrong = 0
    for case in products():
        D, expected = case.run(gpu.launch)
        if not np.array_equal(D, expected):
            wrong += 1
            print(f"wrong product: {case}: {np.count_nonzero(expected != D)} of {D.size} elements")
    print(f"{sum(1 for _ in products())} products, {wrong} wrong")


def record(gpu: Gpu, file: Path) -> None:
    """The probes, and which of them the layouts do not foresee."""
    entries, different = [], 0
    for operand, tile in probes():
        addresses = addresses_read(gpu.launch, operand, tile)
        entries.append(entry(operand, tile, addresses))
        if np.array_equal(addresses, tile.addresses()):
            continue
        different += 1
        row, k = np.argwhere(addresses != tile.addresses())[0]
        print(
            f"other addresses: {operand} {tile}: {np.count_nonzero(addresses != tile.addresses())} "
            f"of {addresses.size}, the first at row {row}, k {k}: {addresses[row, k]} instead of "
            f"{tile.addresses()[row, k]}"
        )
        print("  row 0 to 15 at k 0:", addresses[:16, 0].tolist())
        print("  row 0 at every k: ", addresses[0].tolist())
    print(f"{len(entries)} probes, {different} differ from the layouts")
    lines = ",\n".join(json.dumps(e) for e in entries)
    environment = json.dumps(telemetry.environment(), default=str)
    write_whole(file, f'{{"environment": {environment},\n"probes": [\n{lines}\n]}}\n')


def try_risky(gpu: Gpu, number: int) -> None:
    """One probe that may end this process."""
    operand, tile = RISKY[number]
    addresses = addresses_read(gpu.launch, operand, tile)
    print(f"risky: {tile}: rows 0 to 15 at k 0:", addresses[:, 0].tolist())


def main() -> None:
    """The command line."""
    parser = command.parser("evidence.record_wgmma", __doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--risky", type=int, metavar="N", help="a probe that may end this process")
    given = parser.parse_args()
    if given.file is None and given.risky is None:
        parser.error("give a FILE, or --risky N")
    command.require_gpu()
    gpu = Gpu()
    if given.risky is not None:
        try_risky(gpu, given.risky)
    else:
        check_products(gpu)
        record(gpu, given.file)


if __name__ == "__main__":
    command.run(main)
