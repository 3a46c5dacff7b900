"""Node runs the widgets' own modules; tests ask it what they say."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gemmlab.widgets.shared.base import module_text

MODULES = (
    *("formula", "banks", "bank_map", "predict", "ladder"),
    *("trace_view", "trace_pictures", "trace_controls"),
    *("pipeline", "pipeline_words", "pipeline_timeline", "heat_map"),
    *("tiling", "tiling_facts", "tiling_picture", "tiling_explorer"),
    *("tile_order", "block_order"),
    *("fragments", "fragment_map"),
    *("ldmatrix_phases", "swizzle_workshop"),
    *("mbarrier", "mbarrier_run", "mbarrier_words", "mbarrier_timeline"),
)


@pytest.fixture(scope="module")
def ask_of(tmp_path_factory):
    """ask_of(script, modules): an `ask` of that script in this folder, which knows the modules."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: apt install nodejs")
    folder = tmp_path_factory.mktemp("js")

    def of(script, modules):
        paths = {name: str(folder / f"{name}.mjs") for name in modules}
        for name, path in paths.items():
            Path(path).write_text(module_text(f"{name}.js"), encoding="utf-8")

        def run(cases):
            done = subprocess.run(
                [node, str(Path(__file__).with_name(script))],
                input=json.dumps({"modules": paths, "cases": cases}),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        return run

    return of


@pytest.fixture(scope="module")
def ask(ask_of):
    """ask(cases): what the JavaScript says to a list of (kind, input)."""
    return ask_of("answer.mjs", MODULES)
