"""Node runs the widgets' own modules; tests ask it what they say."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gemmlab.widgets._base import module_text

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
def ask(tmp_path_factory):
    """ask(cases): what the JavaScript says to a list of (kind, input)."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: apt install nodejs")
    folder = tmp_path_factory.mktemp("js")
    modules = {}
    for name in MODULES:
        path = folder / f"{name}.mjs"
        path.write_text(module_text(f"{name}.js"), encoding="utf-8")
        modules[name] = str(path)

    def run(cases):
        script = Path(__file__).with_name("answer.mjs")
        sent = json.dumps({"modules": modules, "cases": cases})
        done = subprocess.run(
            [node, str(script)], input=sent, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
