"""Access to hosts that users name: public addresses, trusted authorities, and URLs kept out of the log."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import ssl
from collections.abc import Iterable
from typing import Any

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv6 addresses of IPv4 hosts behind a gateway (RFC 6052)."""


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet; checks the IPv4 address inside an IPv6 one."""
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


def trusted() -> ssl.SSLContext:
    """Return the certificate authorities of httpx's package and of the machine.

    Reading them would block an event loop for too long.
    """
    import httpx

    context = httpx.create_ssl_context()
    context.load_default_certs()
    return context


def keep_urls_out_of_the_log() -> None:
    """Keep httpx from logging whole URLs, which may be secret or contain signatures."""
    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _each_once(found: Iterable[tuple[Any, ...]]) -> list[str]:
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _carried(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (None if ip.teredo is None else ip.teredo[1])
