"""`streamlin` for a shell: the command with the streams, folder and environment of this process, and its exit code.

`python shell.py ADDRESS ARGUMENTS` imports nothing but the standard library, so that it starts at once.
"""

import json
import os
import signal
import socket
import sys


def main() -> int:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(sys.argv[1])
        request = [os.getcwd(), dict(os.environ), sys.argv[2:], True]
        socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2])
        pid = int(server.recv(100))
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: os.kill(pid, number))
        return int(server.recv(100))


if __name__ == "__main__":
    sys.exit(main())
