"""Ports of 127.0.0.1, for servers that cannot choose their own and for tests of a server that is down."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_OURS = range(11_000, 32_000)
"""Below the ports that a system gives to whoever asks for any, so a free one stays free until its server listens."""
_chance = random.SystemRandom()


def free_port() -> int:
    """Return a port on which nothing listens, and which no other program gets by asking for any port."""
    while True:
        port = _chance.choice(_OURS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


@contextmanager
def refusing_port() -> Iterator[int]:
    """Yield a port on which nothing listens, and which no other program gets meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
