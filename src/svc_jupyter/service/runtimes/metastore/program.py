"""The metastore's settings and command line, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.installs.engine import Installed, class_path
from svc_jupyter.service.runtimes.hadoop.site_files import site_file
from svc_jupyter.service.runtimes.metastore.database import MAIN_CLASS, MetastoreDatabase

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
