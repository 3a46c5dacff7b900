"""Kernels that are forked from one process behave as kernels of their own do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import forked_kernels
import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager


@pytest.fixture(scope="module")
def server() -> Iterator[forked_kernels.Server]:
    found = forked_kernels.Server(["ipykernel.kernelapp", "wave"])
    yield found
    found.close()


@pytest.fixture
def manager(server, tmp_path) -> Iterator[KernelManager]:
    folder = Path(server.environment["JUPYTER_PATH"], "kernels")
    specs = KernelSpecManager(kernel_dirs=[str(folder)])
    found = KernelManager(kernel_name=forked_kernels.KERNEL, kernel_spec_manager=specs)
    found.start_kernel(env={**os.environ, **server.environment, "OF": "this"}, cwd=str(tmp_path))
    yield found
    if found.has_kernel:
        found.shutdown_kernel(now=True)


@pytest.fixture
def client(manager) -> Iterator[BlockingKernelClient]:
    found = manager.client()
    found.start_channels()
    found.wait_for_ready(timeout=60)
    yield found
    found.stop_channels()


def printed(client: BlockingKernelClient, code: str) -> str:
    texts: list[str] = []

    def hear(message: dict) -> None:
        texts.append(message["content"].get("text", ""))

    reply = client.execute_interactive(code, output_hook=hear, timeout=60)
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(texts).strip()


def ended(pid: int) -> bool:
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.05)
    return False


def test_it_has_its_own_folder_environment_and_imports(client, tmp_path):
    code = (
        "import os, sys; print(os.getcwd(), os.environ['OF'], *map(sys.modules.__contains__, {}))"
    )
    names = ("wave", "gemmlab")
    assert printed(client, code.format(names)) == f"{tmp_path} this True False"


def test_it_starts_processes_and_learns_how_they_end(client):
    code = "import subprocess; print(subprocess.run(['sh', '-c', 'exit 3']).returncode)"
    assert printed(client, code) == "3"


def test_two_share_nothing(client, manager, server):
    printed(client, "import wave; wave.mine = 1")
    other = KernelManager(
        kernel_name=forked_kernels.KERNEL, kernel_spec_manager=manager.kernel_spec_manager
    )
    other.start_kernel(env={**os.environ, **server.environment})
    try:
        asked = other.client()
        asked.start_channels()
        asked.wait_for_ready(timeout=60)
        assert printed(asked, "import wave; print(hasattr(wave, 'mine'))") == "False"
        asked.stop_channels()
    finally:
        other.shutdown_kernel(now=True)


def test_it_can_be_interrupted(client, manager):
    client.execute("import time\ntime.sleep(60)")
    while client.get_iopub_msg(timeout=60)["msg_type"] != "execute_input":
        pass
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=60)
    assert reply["content"]["ename"] == "KeyboardInterrupt"


def test_it_ends_with_the_process_that_jupyter_has_started(client, manager):
    pid = int(printed(client, "import os; print(os.getpid())"))
    assert pid != manager.provisioner.pid
    manager.shutdown_kernel(now=True)
    assert ended(pid)


def test_the_process_that_jupyter_has_started_ends_with_it(client, manager):
    client.execute("import os; os._exit(1)")
    for _ in range(200):
        if not manager.is_alive():
            return
        time.sleep(0.05)
    pytest.fail("the kernel has ended, and its manager does not notice")
