"""A process that has imported the package and loaded its kernels, and forks into commands.

`python -m tests.warm_server DESCRIPTOR` reads requests from a socket, see `tests.warm`.
"""

import gc
import json
import os
import signal
import socket
import sys
import tempfile
from importlib import import_module

from streamlin import cli
from tests.command_line import command_line

MODULES = (
    "connectors.kafka.python_client",
    "streamlin.monitoring.dashboard.server",
    "streamlin.monitoring.html_report",
    "streamlin.service.service",
)
"""What commands import only when they need it."""


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then closes the socket
    warm_up()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        while request := received(connection):
            middle = os.fork()
            if not middle:
                if command := os.fork():
                    connection.send(str(command).encode())
                    os._exit(0)
                connection.close()
                become(*request)
            os.waitpid(middle, 0)
            connection.send(b"is a child of pytest")
            for descriptor in request[0]:
                os.close(descriptor)


def received(connection: socket.socket) -> tuple[list[int], str, dict[str, str], list[str]] | None:
    """Standard streams, folder, environment and arguments of the next command; None once pytest has ended."""
    message, descriptors, _, _ = socket.recv_fds(connection, 2**20, 3)
    return (descriptors, *json.loads(message)) if message else None


def warm_up() -> None:
    """Run what most commands run, so that modules and kernels are in memory."""
    for name in MODULES:
        import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        run = ("run", "synthetic://?events=300", "--checkpoint", f"{folder}/state", "--report", f"{folder}/report.json")
        command_line(*run, "--predictions", f"{folder}/predictions.jsonl")
        command_line("predict", f"{folder}/state", stdin=b'{"text": "a b"}\n')
        command_line("inspect", f"{folder}/state")
    gc.freeze()


def become(descriptors: list[int], cwd: str, env: dict[str, str], arguments: list[str]) -> None:
    """Be the command's process from here on, as a fresh interpreter would be."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[0], sys.argv = cwd, ["streamlin", *arguments]
    cli.main()


if __name__ == "__main__":
    main()
