"""The metastore's process: started once on this machine, found again after the service was killed."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.service.clusters.providers.daemon_process import DaemonProcess
from svc_jupyter.service.engines.engine import Installed
from svc_jupyter.service.engines.hadoop.causes import last_words
from svc_jupyter.service.engines.s3 import token_file
from svc_jupyter.service.engines.s3.access import S3Access
from svc_jupyter.service.engines.s3.account_store import StoreClient
from svc_jupyter.service.engines.s3.opened import note_opened, opens
from svc_jupyter.service.hive import metastore_program
from svc_jupyter.service.hive.failures import MetastoreFailure
from svc_jupyter.service.hive.metastore_database import MetastoreDatabase
from svc_jupyter.service.hive.metastore_program import Start
from svc_jupyter.service.process_identity import number_in
from svc_jupyter.service.settings import Settings

START_SECONDS: Final = 60.0
_INHERITED: Final = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TZ", "USER")
"""All that the program gets of the service's environment, so that no secret of it reaches it."""
_NAME: Final = "hive-metastore"
_LOOK_EVERY = 0.05
_BEGIN_SECONDS = 5.0
"""How long a process may take to write its number, which is the first that it does."""
_BEGIN_LOOK_SECONDS = 0.005
_GONE_SECONDS = 0.5
"""For how long it must not be seen: a process that is just becoming another program shows no mark."""
_DYING_SECONDS = 5.0
_TAIL_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class MetastoreAddress:
    """Where the metastore answers."""

    host: str
    port: int

    @property
    def uri(self) -> str:
        """The address as Hive's settings have it (`hive.metastore.uris`)."""
        return f"thrift://{self.host}:{self.port}"


class MetastoreProcess:
    """The one process of a data folder; of replicas on several machines each has its own, over one PostgreSQL."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        """`environment` is the service's own."""
        self.host = str(settings.hive_metastore_host)
        self.folder = settings.data_dir.absolute() / "hive" / "metastore"
        if not settings.on_sqlite:
            self.folder /= socket.gethostname()
        self.warehouse = (settings.storage_dir.absolute() / "hive" / "warehouse").as_uri()
        self._warehouse_folder = settings.storage_dir / "hive" / "warehouse"
        self._environment = {name: environment[name] for name in _INHERITED if name in environment}
        self._daemon = DaemonProcess(self.folder / "daemons" / _NAME, self.folder / "logs")

    @property
    def log_file(self) -> Path:
        """Where the program writes what goes wrong."""
        return self._daemon.output("err")

    def is_running(self) -> bool:
        """Look whether the process is there."""
        return self._daemon.state().is_running

    def address(self) -> MetastoreAddress | None:
        """Return where it answers; None when it does not run, or not yet answer."""
        port = number_in(self._daemon.folder / "port")
        return MetastoreAddress(self.host, port) if port is not None and self.is_running() else None

    def keep(self) -> None:
        """Take back an order to end."""
        (self._daemon.folder / "retire").unlink(missing_ok=True)

    def opens(self, access: S3Access) -> bool:
        """Return whether the process was started with this access to the account's storage."""
        return opens(self._opened, access)

    def spawn(self, installed: Installed, java: Path, database: MetastoreDatabase, store: StoreClient) -> None:
        """Start the program; `ready` waits for it. Raises `MetastoreFailure` when it cannot be.

        Returns once its number is known, so that it can be ended; where it cannot write that, it runs nothing.
        """
        try:
            self._spawn(installed, java, database, store)
            deadline = time.monotonic() + _BEGIN_SECONDS
            while not self._has_begun and time.monotonic() < deadline:
                time.sleep(_BEGIN_LOOK_SECONDS)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise MetastoreFailure(
                    f"the Hive metastore cannot be started: the disk of {self.folder} is full; make room there"
                ) from error
            raise MetastoreFailure(f"the Hive metastore cannot be started: {error}") from error

    async def ready(self) -> MetastoreAddress:
        """Wait until it answers; return where. Raises `MetastoreFailure` with the cause when it ends instead."""
        began = last_seen = time.monotonic()
        while (address := self.address()) is None:
            now = time.monotonic()
            if self.is_running():
                last_seen = now
            elif now - last_seen > (_GONE_SECONDS if self._has_begun else _BEGIN_SECONDS):
                raise MetastoreFailure(self._cause())
            if now - began > START_SECONDS:
                await self.end()
                raise MetastoreFailure(
                    f"the Hive metastore did not answer within {START_SECONDS:.0f} s and was ended: see {self.log_file}"
                )
            await asyncio.sleep(_LOOK_EVERY)
        _write(self.folder / "port", f"{address.port}\n".encode())
        return address

    async def end(self) -> None:
        """End it, whoever is connected."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._daemon.signal(number)
            if await self.ended(_DYING_SECONDS):
                return

    async def retire(self, seconds: float) -> bool:
        """Let it end as soon as nobody is connected; return whether that was within `seconds`."""
        with suppress(FileNotFoundError):
            (self._daemon.folder / "retire").touch(mode=0o600)
        return await self.ended(seconds)

    async def ended(self, seconds: float) -> bool:
        """Wait for its end; return whether it came."""
        deadline = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(_LOOK_EVERY)
        return True

    def bound_outputs(self) -> None:
        """Keep what it wrote within bounds."""
        self._daemon.bound_outputs()

    @property
    def _opened(self) -> Path:
        """The file that says which access to the storage the process has, as a digest."""
        return self.folder / "storage"

    def _spawn(self, installed: Installed, java: Path, database: MetastoreDatabase, store: StoreClient) -> None:
        settings_folder = self.folder / "conf"
        for folder in (self.folder, settings_folder, self.folder / "logs", self.folder / "tmp", self._warehouse_folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in metastore_program.settings_files(database, self.warehouse, store.access.settings).items():
            _write(settings_folder / name, content)
        self.log_file.unlink(missing_ok=True)
        secret = self.folder / "secret"
        secret.unlink(missing_ok=True)
        if database.password is not None:
            _write(secret, database.password.encode())
        tokens = self.folder / "storage-secrets"
        _write(tokens, token_file.token_file(store.access.secrets))
        note_opened(self._opened, store.access)
        argv = metastore_program.arguments(
            installed,
            store.jars,
            java,
            settings_folder,
            self.folder,
            Start(self.host, number_in(self.folder / "port") or 0, self._daemon.folder, secret),
        )
        self._daemon.spawn(argv, self.folder, {**self._environment, token_file.VARIABLE: str(tokens)})

    @property
    def _has_begun(self) -> bool:
        return self._daemon.has_begun

    def _cause(self) -> str:
        output = self._daemon.tail(_TAIL_BYTES)
        if "Another instance of Derby may have already booted" in output:
            why = f"another program uses {self.folder / 'derby'}"
        else:
            why = last_words(output) or "it ended and wrote nothing"
        return f"the Hive metastore cannot be started: {why} (see {self.log_file})"


def _write(file: Path, content: bytes) -> None:
    """Write a file that only the service's user can read, whole or not at all."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as opened:
        opened.write(content)
    draft.replace(file)
