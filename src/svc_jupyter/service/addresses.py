"""Which addresses of a network are the public internet's: pure, and the look-up of a host."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable
from typing import Any

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""Addresses of IPv4 hosts as a gateway makes them (RFC 6052)."""


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the public internet, also where IPv6 only carries an IPv4 address."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        carried = _carried(ip)
        if carried is not None:
            return is_public(str(carried))
    return ip.is_global and not ip.is_multicast


async def look_up(host: str, port: int) -> list[str]:
    """Return the host's IP addresses, each once, in the system's order. Raises `OSError` when there are none."""
    return _each_once(await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM))


def look_up_here(host: str, port: int) -> list[str]:
    """Return the same, looked up in the calling thread."""
    return _each_once(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))


def _each_once(found: Iterable[tuple[Any, ...]]) -> list[str]:
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _carried(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (None if ip.teredo is None else ip.teredo[1])
