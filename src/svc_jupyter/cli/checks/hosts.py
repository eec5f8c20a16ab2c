"""Check the hosts of an inventory: SSH, Java, the folder and its disk, the clock, the ports of the daemons."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Final

from svc_jupyter.cli.checks.finding import Finding, fine, note, wrong

if TYPE_CHECKING:
    from svc_jupyter.service.clusters.providers.hosts_inventory import Host
    from svc_jupyter.service.clusters.providers.hosts_link import HostLinks

_FULL_PERCENT: Final = 90
"""YARN takes no work onto a disk that is fuller."""
_SHORT_GB: Final = 5.0
_SKEW_SECONDS: Final = 10.0
_WRONG_SECONDS: Final = 60.0
_KB_PER_GB: Final = 1e6
_EVERY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104  what is read, not where anything listens


async def check_host(host: Host, links: HostLinks, ports: Mapping[int, str]) -> AsyncIterator[Finding]:
    """Yield the findings of one host; `ports` are those that its daemons need, with what listens there."""
    from svc_jupyter.service.clusters.providers import hosts_scripts as scripts
    from svc_jupyter.service.clusters.providers.hosts_machine import FileSets, HostMachine
    from svc_jupyter.service.clusters.providers.provider import ProviderFailure

    before = time.time()
    try:
        facts = scripts.parse_facts(await links.to(host.name).check(scripts.examine(host.folder)))
    except ProviderFailure as failure:
        yield wrong("SSH", failure.message, f"ssh -p {host.port} -i {host.key_file} {host.user}@{host.address}")
        return
    after = time.time()
    cores, memory = facts.get("cores", "?"), int(facts.get("memory_kb", 0)) / _KB_PER_GB
    yield fine("SSH", f"{host.user}@{host.address}:{host.port}, {cores} processors, {memory:.1f} GB of memory")
    if lacking := [name.removeprefix("lacks_") for name in facts if name.startswith("lacks_")]:
        yield wrong("tools", f"it lacks {', '.join(lacking)}", "install the packages that have them")
    try:
        java = await HostMachine(lambda: links.to(host.name), host.folder, FileSets()).java()
        yield fine("Java", str(java))
    except ProviderFailure as failure:
        yield wrong("Java", failure.message, "install one, or give `java` in the inventory")
    yield _folder(host, facts)
    yield _disk(facts)
    yield _clock(float(facts.get("clock", 0)), before, after)
    yield _ports(host, facts, ports)


def _folder(host: Host, facts: Mapping[str, str]) -> Finding:
    if "closed" in facts:
        command = f"mkdir -p {host.folder} && chown {host.user} {host.folder}"
        return wrong("folder", f"{host.folder}: {host.user} may not write in {facts['closed']}", command)
    if claim := facts.get("claim"):
        return note("folder", f"{host.folder}: taken by {claim.partition(' ')[2] or claim}")
    return fine("folder", f"{host.folder}, free")


def _disk(facts: Mapping[str, str]) -> Finding:
    used, free = int(facts.get("used_kb", 0)), int(facts.get("free_kb", 0))
    percent, what = 100 * used / max(1, used + free), f"{free / _KB_PER_GB:.1f} GB free"
    if percent > _FULL_PERCENT:
        full = f"{what}, {percent:.0f} % full: YARN runs nothing on a disk that is more than {_FULL_PERCENT} % full"
        return wrong("disk", full, "free some of it, or give another `folder` in the inventory")
    if free < _SHORT_GB * _KB_PER_GB:
        return note("disk", what, "an engine takes up to 1 GB, jobs as much as they write")
    return fine("disk", what)


def _clock(there: float, before: float, after: float) -> Finding:
    """Compare a clock with this machine's; its time was read between `before` and `after`, in whole seconds."""
    ahead = there - after if there > after else min(0.0, there + 1 - before)
    if abs(ahead) <= _SKEW_SECONDS:
        return fine("clock", "as here")
    what = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
    fix = "let both be set by NTP: tokens of YARN and times of logs depend on it"
    return wrong("clock", what, fix) if abs(ahead) > _WRONG_SECONDS else note("clock", what, fix)


def _ports(host: Host, facts: Mapping[str, str], ports: Mapping[int, str]) -> Finding:
    if "claim" in facts:
        return fine("ports", "in use by the cluster that has the host, or free")
    listening = [_address(name.removeprefix("listens_")) for name in facts if name.startswith("listens_")]
    mine = {str(host.address), *_EVERY_ADDRESS}
    taken = sorted({port for address, port in listening if address in mine and port in ports})
    if taken:
        named = ", ".join(f"{port} ({ports[port]})" for port in taken)
        return wrong("ports", f"something else listens at {named}", "end it, or use another host")
    return fine("ports", "free")


def _address(text: str) -> tuple[str, int]:
    """Return the address and port of a line of /proc/net/tcp, such as `0100007F:1F90`."""
    words, _, port = text.partition(":")
    packed = b"".join(struct.pack("<I", int(words[at : at + 8], 16)) for at in range(0, len(words), 8))
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    return socket.inet_ntop(family, packed), int(port, 16)
