"""The metastore's process: started once on this machine, found again after a kill of the service."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.files import write_whole
from svc_jupyter.service.clusters.providers.daemon_process import DaemonProcess
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.installs.engine import Installed, class_path
from svc_jupyter.service.processes.identity import number_in
from svc_jupyter.service.runtimes.hadoop.causes import last_words
from svc_jupyter.service.runtimes.hadoop.site_files import site_file
from svc_jupyter.service.runtimes.metastore.database import MAIN_CLASS, MetastoreDatabase
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure
from svc_jupyter.service.runtimes.s3 import token_file
from svc_jupyter.service.runtimes.s3.access import S3Access, note_opened, opens
from svc_jupyter.service.runtimes.s3.account_store import StoreClient

START_SECONDS: Final = 60.0
_INHERITED: Final = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TZ", "USER")
"""The only variables that the program inherits from the service, so that no secret reaches it."""
_NAME: Final = "hive-metastore"
_LOOK_EVERY = 0.05
_BEGIN_SECONDS = 5.0
"""Limit for a process to write its process number, which is its first step."""
_BEGIN_LOOK_SECONDS = 0.005
_GONE_SECONDS = 0.5
"""How long it must be absent: a process in the middle of `exec` shows no mark."""
_DYING_SECONDS = 5.0
_TAIL_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class MetastoreAddress:
    """The metastore's address."""

    host: str
    port: int

    @property
    def uri(self) -> str:
        """The address as in Hive's settings (`hive.metastore.uris`)."""
        return f"thrift://{self.host}:{self.port}"


class MetastoreProcess:
    """The only process of a data folder; replicas on several machines have one each, over one PostgreSQL."""

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
        """The program's log of problems."""
        return self._daemon.output("err")

    def is_running(self) -> bool:
        """Return whether the process exists."""
        return self._daemon.state().is_running

    def address(self) -> MetastoreAddress | None:
        """Return its address; None when it does not run, or does not answer yet."""
        port = number_in(self._daemon.folder / "port")
        return MetastoreAddress(self.host, port) if port is not None and self.is_running() else None

    def keep(self) -> None:
        """Withdraw an order to end."""
        (self._daemon.folder / "retire").unlink(missing_ok=True)

    def opens(self, access: S3Access) -> bool:
        """Return whether the process was started with this access to the account's storage."""
        return opens(self._opened, access)

    def spawn(self, installed: Installed, java: Path, database: MetastoreDatabase, store: StoreClient) -> None:
        """Start the program; `ready` waits for it. Raises `MetastoreFailure` when it cannot be started.

        Returns once its process number is recorded, so that it can be ended; if it cannot record it, it runs nothing.
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
        """Wait until it answers; return its address. Raises `MetastoreFailure` with the cause when it ends instead."""
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
        write_whole(self.folder / "port", f"{address.port}\n", mode=0o600)
        return address

    async def end(self) -> None:
        """End it, even with clients connected."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._daemon.signal(number)
            if await self.ended(_DYING_SECONDS):
                return

    async def retire(self, seconds: float) -> bool:
        """Let it end as soon as no client is connected; return whether it ended within `seconds`."""
        with suppress(FileNotFoundError):
            (self._daemon.folder / "retire").touch(mode=0o600)
        return await self.ended(seconds)

    async def ended(self, seconds: float) -> bool:
        """Wait for its end; return whether it ended."""
        deadline = time.monotonic() + seconds
        while self.is_running():
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(_LOOK_EVERY)
        return True

    def bound_outputs(self) -> None:
        """Limit the size of its output files."""
        self._daemon.bound_outputs()

    @property
    def _opened(self) -> Path:
        """The file with the digest of the process's access to the storage."""
        return self.folder / "storage"

    def _spawn(self, installed: Installed, java: Path, database: MetastoreDatabase, store: StoreClient) -> None:
        settings_folder = self.folder / "conf"
        for folder in (self.folder, settings_folder, self.folder / "logs", self.folder / "tmp", self._warehouse_folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in settings_files(database, self.warehouse, store.access.settings).items():
            write_whole(settings_folder / name, content, mode=0o600)
        self.log_file.unlink(missing_ok=True)
        secret = self.folder / "secret"
        secret.unlink(missing_ok=True)
        if database.password is not None:
            write_whole(secret, database.password, mode=0o600)
        tokens = self.folder / "storage-secrets"
        write_whole(tokens, token_file.token_file(store.access.secrets), mode=0o600)
        note_opened(self._opened, store.access)
        argv = arguments(
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


HEAP_MEGABYTES: Final = 256
"""Enough for ten thousand partitions in one answer; at rest it takes a fifth of that."""
_OPENED: Final = ("java.lang", "java.net", "java.util", "java.util.concurrent")
_LOGGING: Final = """\
status = error
appenders = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{ISO8601} %p %c{1}: %m%n%throwable{filters(jdk.internal,java.lang.reflect)}
rootLogger.level = warn
rootLogger.appenderRefs = stderr
rootLogger.appenderRef.stderr.ref = stderr
# These warn of what is as it should be here.
logger.store.name = org.apache.hadoop.hive.metastore.ObjectStore
logger.store.level = error
logger.direct.name = org.apache.hadoop.hive.metastore.MetaStoreDirectSql
logger.direct.level = error
logger.names.name = DataNucleus
logger.names.level = error
logger.pool.name = com.zaxxer.hikari
logger.pool.level = error
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
"""


def settings_files(database: MetastoreDatabase, warehouse: str, store: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files of the settings folder, by name; they contain no password or key.

    `store` are the settings by which it opens the account's storage.
    """
    settings = {
        "javax.jdo.option.ConnectionURL": database.url,
        "javax.jdo.option.ConnectionDriverName": database.driver,
        "javax.jdo.option.ConnectionPassword": "",
        "datanucleus.connectionPoolingType": "HikariCP",
        "datanucleus.connectionPool.maxPoolSize": "5",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": warehouse,
        "hive.async.log.enabled": "false",
        # The database also filters partitions by numbers and dates, not only by texts.
        "hive.metastore.integral.jdo.pushdown": "true",
    }
    if database.user is not None:
        settings["javax.jdo.option.ConnectionUserName"] = database.user
    return {"hive-site.xml": site_file({**settings, **store}), "log4j2.properties": _LOGGING.encode()}


@dataclass(frozen=True, slots=True)
class Start:
    """The parameters of one start: the address to listen at, the folder it writes to, and the password file, if any.

    If the port is 0 or taken, it takes another.
    """

    host: str
    port: int
    folder: Path
    secret: Path


def arguments(
    installed: Installed, more_jars: Sequence[Path], java: Path, settings_folder: Path, folder: Path, start: Start
) -> list[str]:
    """Return the command line. `folder` holds its database, logs and temporary files."""
    archive = archive_options(installed.class_archive) if installed.class_archive else []
    return [
        str(java),
        f"-Xmx{HEAP_MEGABYTES}m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:MaxMetaspaceSize=128m",
        "-Xss512k",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.net.preferIPv4Stack=true",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-Dderby.system.home={folder}",
        f"-Dderby.stream.error.file={folder / 'logs' / 'derby.log'}",
        f"-Dlog4j2.configurationFile={settings_folder / 'log4j2.properties'}",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        *archive,
        "-cp",
        class_path(installed.jars, *more_jars, settings_folder),
        MAIN_CLASS,
        start.host,
        str(start.port),
        str(start.folder),
        str(start.secret),
    ]
