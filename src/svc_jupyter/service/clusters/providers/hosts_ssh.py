"""SSH connections by asyncssh: a verified host, a key file, and scripts that a POSIX shell runs there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import asyncssh

from svc_jupyter.service.clusters.providers.hosts_inventory import Host

CONNECT_SECONDS: Final = 10.0
_ALIVE_EVERY: Final = 5.0
_ALIVE_MISSED: Final = 3
# The script is sent as input, so that neither it nor its values appear in the process list. `dd` reads exactly the
# script; the rest of the input belongs to the script.
_COMMAND: Final = "exec /bin/sh -c 'eval \"$(dd bs=1 count={bytes} 2>/dev/null)\"'"


asyncssh.set_log_level("WARNING")  # it logs every channel


class NotConnected(Exception):
    """A host could not be reached, or the connection was lost; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A script's exit code and output."""

    code: int
    output: str
    errors: str


class Connection:
    """A connection to a host."""

    def __init__(self, connection: asyncssh.SSHClientConnection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, host: Host, known_hosts: Path) -> Connection:
        """Return a connection to a host whose key is in `known_hosts`. Raises `NotConnected`."""
        try:
            connection = await asyncssh.connect(
                str(host.address),
                host.port,
                username=host.user,
                client_keys=[str(host.key_file)],
                known_hosts=asyncssh.read_known_hosts(str(known_hosts)),
                config=None,
                agent_path=None,
                compression_algs=None,
                preferred_auth="publickey",
                connect_timeout=CONNECT_SECONDS,
                login_timeout=CONNECT_SECONDS,
                keepalive_interval=_ALIVE_EVERY,
                keepalive_count_max=_ALIVE_MISSED,
            )
        except asyncssh.HostKeyNotVerifiable:
            raise NotConnected(
                f"its host key is not the one in {known_hosts}, or none is there: compare it, then add it"
            ) from None
        except asyncssh.PermissionDenied:
            raise NotConnected(f"it does not let {host.user} in with the key {host.key_file}") from None
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise NotConnected(f"the key {host.key_file} cannot be used: {error}") from None
        except FileNotFoundError as error:
            raise NotConnected(f"{error.filename} is not there") from None
        except TimeoutError:
            raise NotConnected(f"no answer within {CONNECT_SECONDS:g} s") from None
        except (OSError, asyncssh.Error, ValueError) as error:
            raise NotConnected(str(error) or type(error).__name__) from None
        return cls(connection)

    @property
    def is_open(self) -> bool:
        """Whether the connection is open, as far as known."""
        return not self._connection.is_closed()

    async def run(self, script: str, more_input: AsyncIterator[bytes] | None = None) -> Answer:
        """Run a POSIX shell script to its end; `more_input` is its input. Raises `NotConnected`."""
        content = script.encode()
        try:
            process = await self._connection.create_process(_COMMAND.format(bytes=len(content)), encoding=None)
        except (asyncssh.Error, OSError) as error:
            raise NotConnected(str(error) or type(error).__name__) from None
        feeding = asyncio.create_task(_feed(process.stdin, content, more_input))
        try:
            output, errors = await process.communicate()
        finally:
            # Not awaited: OpenSSH answers a close only when the script has ended.
            process.close()
            feeding.cancel()
            await asyncio.wait({feeding})  # a cancellation of this one, meanwhile, is not the other's
            if not feeding.cancelled():
                feeding.result()
        if process.exit_status is None or process.exit_status < 0:
            raise NotConnected("the connection was lost")
        return Answer(process.exit_status, _text(output), _text(errors))

    def abort(self) -> None:
        """Close the connection at once."""
        self._connection.abort()

    async def close(self) -> None:
        """Close the connection in order."""
        self._connection.close()
        await self._connection.wait_closed()


async def _feed(stdin: asyncssh.SSHWriter[bytes], script: bytes, more_input: AsyncIterator[bytes] | None) -> None:
    # A script that ends early does not read the rest; its exit code says why.
    with suppress(OSError, asyncssh.Error):
        stdin.write(script)
        if more_input is not None:
            async for chunk in more_input:
                stdin.write(chunk)
                await stdin.drain()
        stdin.write_eof()


def _text(content: object) -> str:
    return content.decode(errors="replace") if isinstance(content, bytes) else str(content or "")
