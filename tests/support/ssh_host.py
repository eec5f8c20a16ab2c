"""Hosts reached by SSH, for tests: real SSH servers on loopback addresses, each a process with a folder of its own.

Run as a program it is one of these servers. What it starts runs as the test's own user, with a bare environment.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh
import psutil
from tests.support.service_process import wait_until

from svc_jupyter.service.clusters.providers.local import can_listen, choose_block, is_unused
from svc_jupyter.service.clusters.providers.provider import NODE_MARK
from svc_jupyter.service.processes.marks import environment_mark

PORT = 2222
_IN_A_MOUNT_NAMESPACE = (
    *("unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])),
    *("sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"'),
)
_ENVIRONMENT = ("HOME", "LANG", "PATH", "TMPDIR", "USER")


@dataclass
class SshHost:
    """One host; `down` and `up` cut it off and bring it back, `freeze` keeps it from answering."""

    name: str
    address: str
    folder: Path
    keys: Path
    names: Path | None = None
    """What its processes find as `/etc/hosts`; None for the machine's own."""
    _server: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def up(self) -> None:
        """Start its server and wait until it listens."""
        argv = [sys.executable, "-m", "tests.support.ssh_host", self.address, str(self.keys)]
        if self.names is not None:
            argv = [*_IN_A_MOUNT_NAMESPACE, str(self.names), *argv]
        root = Path(__file__).parents[2]
        environment = {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
        environment |= {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        self._server = subprocess.Popen(argv, cwd=root, env=environment, stdout=subprocess.PIPE)
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == b"ready\n"

    def down(self) -> None:
        """End the server, as a host that is cut off; what runs there goes on."""
        assert self._server is not None
        self._server.kill()
        self._server.wait()
        assert self._server.stdout is not None
        self._server.stdout.close()
        self._server = None

    def freeze(self) -> None:
        """Let the server answer nothing any more."""
        assert self._server is not None
        self._server.send_signal(signal.SIGSTOP)

    def processes(self) -> list[psutil.Process]:
        """Return what runs there for clusters."""
        return [
            p for p in psutil.process_iter() if (environment_mark(p, NODE_MARK) or "").startswith(f"{self.folder}/")
        ]

    def end(self) -> None:
        """End the server and everything that runs there, and delete its folder."""
        if self._server is not None:
            self.down()
        while left := self.processes():
            for process in left:
                process.kill()
            psutil.wait_procs(left, 5)
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class SshHosts:
    """Some hosts and the inventory that lists them."""

    hosts: Mapping[str, SshHost]
    inventory: Path

    def __getitem__(self, name: str) -> SshHost:
        return self.hosts[name]

    def write_inventory(self, **more: Mapping[str, Any]) -> None:
        """Write the inventory; `more` has further keys of hosts, by name with `_` for `-`."""
        lines = [
            'known_hosts = "known_hosts"',
            "[defaults]",
            'user = "tester"',
            f"port = {PORT}",
            'key_file = "id_ed25519"',
            "memory_mb = 1536",
        ]
        for host in self.hosts.values():
            lines += [f"[hosts.{host.name}]", f'address = "{host.address}"', f'folder = "{host.folder}"']
            lines += [f"{key} = {value!r}" for key, value in more.get(host.name.replace("-", "_"), {}).items()]
        self.inventory.write_text("\n".join(lines) + "\n")


@contextmanager
def ssh_hosts(folder: Path, *names: str, resolved: Mapping[str, str] | None = None) -> Iterator[SshHosts]:
    """Give running hosts of these names, with their keys and an inventory in `folder`; all of it is gone afterwards.

    `resolved` has the names that the hosts themselves find for their addresses; by default they find none. This machine
    does not know these names.
    """
    keys = folder / "ssh"
    keys.mkdir(parents=True)
    for name in ("host_key", "id_ed25519"):
        asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(keys / name))
    block = choose_block(lambda address: can_listen(address) and is_unused(address), random.SystemRandom())
    file = folder / "etc-hosts" if resolved else None
    hosts = {
        name: SshHost(name, f"{block}.{number}", folder / "hosts" / name, keys, file)
        for number, name in enumerate(names, start=1)
    }
    if file is not None:
        known_names = [f"{hosts[name].address} {host_name}\n" for name, host_name in (resolved or {}).items()]
        own = f"127.0.0.1 localhost\n127.0.1.1 {socket.gethostname()}\n"
        file.write_text(own + "".join(known_names))
    public = asyncssh.read_private_key(str(keys / "host_key")).export_public_key().decode().strip()
    known = [f"[{host.address}]:{PORT} {public}\n" for host in hosts.values()]
    (keys / "known_hosts").write_text("".join(known))
    made = SshHosts(hosts, keys / "inventory.toml")
    made.write_inventory()
    try:
        for host in hosts.values():
            host.up()
        yield made
    finally:
        for host in hosts.values():
            host.end()
        wait_until(lambda: not any(host.processes() for host in hosts.values()), "the end of the hosts' processes")


async def serve(address: str, keys: Path) -> None:
    """Run a server until it is killed: commands by `/bin/sh`, only for the key that was made for the test."""
    public = asyncssh.read_private_key(str(keys / "id_ed25519")).export_public_key().decode()
    server = await asyncssh.listen(
        address,
        PORT,
        server_host_keys=[str(keys / "host_key")],
        authorized_client_keys=asyncssh.import_authorized_keys(public),
        process_factory=_run,
        encoding=None,
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await server.wait_closed()


async def _run(session: asyncssh.SSHServerProcess[bytes]) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", session.command or "", stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    asked = asyncio.create_task(_pass_on(session.stdin, process.stdin, is_all=True))
    try:
        await asyncio.gather(_pass_on(process.stdout, session.stdout), _pass_on(process.stderr, session.stderr))
        code = await process.wait()
    finally:
        asked.cancel()
    with suppress(OSError):  # who asked has gone meanwhile
        session.exit(code % 256)


async def _pass_on(reader: Any, writer: Any, *, is_all: bool = False) -> None:
    with suppress(OSError):
        while content := await reader.read(2**16):
            writer.write(content)
            await writer.drain()
        if is_all:
            writer.write_eof()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2])))
