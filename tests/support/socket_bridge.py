"""A TCP port of this machine in front of a Unix socket, for programs that cannot open the socket themselves."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def bridge_to(path: str) -> Iterator[int]:
    """Yield a port of 127.0.0.1 whose connections lead to the socket at a path; all end with the block."""
    ends: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = threading.Thread(target=_accept, args=(server, path, ends), daemon=True)
        accepting.start()
        try:
            yield server.getsockname()[1]
        finally:
            for end in (server, *ends):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
            accepting.join()


def _accept(server: socket.socket, path: str, ends: list[socket.socket]) -> None:
    with suppress(OSError):  # the listening socket is closed
        while True:
            near, _ = server.accept()
            far = socket.socket(socket.AF_UNIX)
            far.connect(path)
            ends += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        try:
            while data := source.recv(65_536):
                target.sendall(data)
        finally:  # also when the source's program was killed
            target.shutdown(socket.SHUT_WR)
