"""A process that has imported the package and loaded its kernels, and forks into commands.

`python -m tests.warm.server DESCRIPTOR` accepts connections at a socket until its standard input ends. Each connection
is for one command: standard streams, folder, environment, arguments, and whether to wait for the exit code.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then closes the pipe
    warm_up()
    with socket.socket(fileno=int(sys.argv[1])) as listener:
        while 0 not in select.select([0, listener], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                fork_command(listener, connection)


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


def fork_command(listener: socket.socket, connection: socket.socket) -> None:
    """Fork twice, which leaves an orphan; send its id, and either its exit code or a word that it is adopted."""
    message, descriptors, _, _ = socket.recv_fds(connection, 2**20, 3)
    cwd, env, arguments, wait = json.loads(message)
    if not (middle := os.fork()):
        listener.close()
        if wait and os.fork():
            os._exit(0)
        if command := os.fork():
            connection.send(str(command).encode())
            if wait:
                connection.send(str(exit_code(command, connection)).encode())
            os._exit(0)
        connection.close()
        become(descriptors, cwd, env, arguments)
    os.waitpid(middle, 0)
    if not wait:
        connection.send(b"adopted")
    for descriptor in descriptors:
        os.close(descriptor)


def exit_code(command: int, connection: socket.socket) -> int:
    """The exit code of a command, as shells count; it is killed if the process that waits for it ends."""
    if connection in select.select([connection, os.pidfd_open(command)], [], [])[0]:
        os.kill(command, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    return code if code >= 0 else 128 - code


def become(descriptors: Sequence[int], cwd: str, env: dict[str, str], arguments: Sequence[str]) -> None:
    """Be the command's process from here on, as a fresh interpreter would be."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:1], sys.argv = (
        [cwd, *filter(None, env.get("PYTHONPATH", "").split(os.pathsep))],
        ["streamlin", *arguments],
    )
    cli.main()


if __name__ == "__main__":
    main()
