"""Loopback addresses for the nodes of a cluster: a block 127.A.B.0/24 of its own, the coordinator at .1."""

from __future__ import annotations

import ipaddress
import random
import socket
from collections.abc import Callable, Iterable

COORDINATOR = 1
FIRST_WORKER = 11
LAST_WORKER = 254
MOST_WORKERS = LAST_WORKER - FIRST_WORKER + 1
_TRIES = 50


class NoBlock(Exception):
    """No block of loopback addresses is available."""


def choose_block(is_free: Callable[[str], bool], chance: random.Random) -> str:
    """Return the first three numbers of a free block, such as `127.41.7`; raises `NoBlock`.

    127.0.x is excluded: many systems use 127.0.0.1, 127.0.1.1 and 127.0.0.53.
    """
    for _ in range(_TRIES):
        block = f"127.{chance.randint(1, 254)}.{chance.randint(0, 254)}"
        if is_free(f"{block}.{COORDINATOR}"):
            return block
    raise NoBlock


def block_of(address: str) -> str:
    """Return the block of a node's address."""
    return address.rpartition(".")[0]


def worker_addresses(block: str, used: Iterable[str], count: int) -> list[str]:
    """Return addresses for new workers: first above all used ones, then free ones again; raises `NoBlock`.

    A new worker should not get the address of one that has just left, which others may still remember.
    """
    numbers = {int(ipaddress.ip_address(address)) & 0xFF for address in used}
    start = max((number for number in numbers if number >= FIRST_WORKER), default=FIRST_WORKER - 1) + 1
    order = [*range(start, LAST_WORKER + 1), *range(FIRST_WORKER, start)]
    free = [number for number in order if number not in numbers][:count]
    if len(free) < count:
        raise NoBlock
    return [f"{block}.{number}" for number in free]


def host_name(address: str) -> str:
    """Return the name of the node at an address: `ip-127-41-7-11`."""
    return "ip-" + address.replace(".", "-")


def address_of(host: str) -> str:
    """Return the address in a node's name."""
    return host.removeprefix("ip-").replace("-", ".")


def can_listen(address: str, port: int = 0) -> bool:
    """Whether a program can listen at an address of this machine; False where loopback has 127.0.0.1 only."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address, port))
        except OSError:
            return False
    return True


def is_unused(address: str) -> bool:
    """Whether no other program of this machine listens at an address, as far as its sockets show."""
    try:
        with open("/proc/net/tcp", encoding="ascii") as table:
            listening = [line.split()[1].partition(":")[0] for line in table.readlines()[1:]]
    except OSError:
        return True
    block = socket.inet_aton(address)[:3]
    return not any(bytes.fromhex(number)[::-1][:3] == block for number in listening)
