"""A chapter's kernel, forked from a process that has imported what every chapter imports.

A kernel of its own takes 4 CPU seconds before its first cell runs, most of it for torch. So one
process (`serve`, which the plugin forked_kernels starts) imports other people's packages once, and
forks for each chapter. gemmlab is not among them: each kernel imports it anew, as a reader's does.

What Jupyter starts is `main`: it hands its arguments, environment, folder and output to a fork, and
lives as long as the fork does. If one of the two ends, the other one does, too.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

ADDRESS = "GEMMLAB_FORKED_KERNELS"  # where the process listens


def main() -> None:
    """Have a kernel forked with this process's arguments, and end when it ends."""
    request = {"argv": sys.argv, "environment": dict(os.environ), "folder": os.getcwd()}
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ[ADDRESS])
        text = json.dumps(request).encode()
        socket.send_fds(line, [len(text).to_bytes(8)], [0, 1, 2])
        line.sendall(text)
        pid = int.from_bytes(_received(line, 8))
        signal.signal(signal.SIGINT, lambda *_: os.kill(pid, signal.SIGINT))
        line.recv(1)  # until the kernel has ended


def serve(address: str, names: Sequence[str]) -> None:
    """Import `names`, and fork a kernel for each request, until the standard input is closed."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("listening", flush=True)  # who asks now waits for the imports
        for name in names:
            importlib.import_module(name)
        assert threading.active_count() == 1, "a fork would lack these threads"
        gc.freeze()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no kernel that has ended stays in the table
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            line, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _become_kernel(line)
            line.close()


def _become_kernel(line: socket.socket) -> NoReturn:
    start, files, _, _ = socket.recv_fds(line, 8, 3)
    request = json.loads(_received(line, int.from_bytes(start)))
    os.setsid()
    line.sendall(os.getpid().to_bytes(8))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = request["argv"]
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    kernelapp = importlib.import_module("ipykernel.kernelapp")
    try:
        kernelapp.launch_new_instance()
    finally:
        os._exit(0)


def _end_with(line: socket.socket) -> None:
    line.recv(1)
    os._exit(1)


def _received(line: socket.socket, size: int) -> bytes:
    return line.recv(size, socket.MSG_WAITALL)


if __name__ == "__main__":
    serve(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "serve" else main()
