"""HiveServer2's command line and settings: Spark's Thrift server, which runs its tasks in its own process.

So a statement starts at once and needs no room on the workers. A cluster's `custom_config` may change this
(`spark.master=yarn`: see `hadoop/spark_driver.py`) and the memory (`spark.driver.memory`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from svc_jupyter.service.clusters.providers.provider import Daemon
from svc_jupyter.service.runtimes.hadoop import spark_driver
from svc_jupyter.service.runtimes.hadoop.addresses import Port
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.hadoop.site_files import site_file
from svc_jupyter.service.runtimes.hadoop.yarn_rest import HIVE_SERVER
from svc_jupyter.service.runtimes.s3 import token_file
from svc_jupyter.service.runtimes.s3.access import S3Access

NAME: Final = "hiveserver2"
"""The daemon's name on its machine."""
PORT: Final = 10000
HTTP_PORT: Final = 4040
CONF: Final = PurePosixPath("conf/hive-server")
"""Its settings, below the machine's folder."""
_SECRETS: Final = CONF / "storage-secrets"
"""The keys of the account's storage, which it reads at its start."""
HEAP: Final = "768m"
"""The default heap of the server."""
JAVA_HOME: Final = CONF / "java"
"""Its Java; `bin/java` in it is a script, the only executable among these files."""
_MAIN: Final = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
_LOG: Final = b"""rootLogger.level=warn
rootLogger.appenderRef.file.ref=file
appender.file.type=RollingFile
appender.file.name=file
appender.file.fileName=${sys:svc.logs}/hiveserver2.log
appender.file.filePattern=${sys:svc.logs}/hiveserver2.log.%i
appender.file.policies.type=Policies
appender.file.policies.size.type=SizeBasedTriggeringPolicy
appender.file.policies.size.size=8MB
appender.file.strategy.type=DefaultRolloverStrategy
appender.file.strategy.max=2
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %c{2}: %m%n%xEx{short}
logger.native.name=org.apache.hadoop.util.NativeCodeLoader
logger.native.level=error
"""
_MASTER: Final = "spark.master"
_EXECUTORS: Final = dict.fromkeys(
    ("spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.initialExecutors"), "0"
)
"""Settings with which it releases the workers while no statement runs, so that they can be removed, too."""


def runs_on_yarn(custom: Mapping[str, str]) -> bool:
    """Return whether a cluster's settings place its tasks in containers of YARN."""
    return custom.get(_MASTER, "local") == "yarn"


def wiring(address: str, folder: PurePosixPath, warehouse: str, jars: Sequence[PurePosixPath]) -> dict[str, str]:
    """Return the settings of Spark that a cluster's `custom_config` must not change."""
    return {
        **spark_driver.wiring(address, folder, warehouse, _folders(jars), folder / JAVA_HOME),
        # On YARN the engine's pages answer only its proxy: a request from this machine counts as the proxy's.
        "spark.hadoop.yarn.web-proxy.address": f"127.0.0.1:{Port.RESOURCE_MANAGER_HTTP}",
        "spark.app.name": HIVE_SERVER,
        "spark.ui.enabled": "true",
        "spark.ui.port": str(HTTP_PORT),
        "spark.port.maxRetries": "0",
        "spark.ui.killEnabled": "true",
        "spark.metrics.namespace": NAME,
        "spark.metrics.conf.*.source.jvm.class": "org.apache.spark.metrics.source.JvmSource",
        # Types are read from a query's description, which must not be cut.
        "spark.sql.debug.maxToStringFields": "100000",
    }


def tuning(custom: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Spark that `custom_config` may change."""
    return {
        _MASTER: "local[*]",
        **spark_driver.tuning(is_on_yarn=runs_on_yarn(custom)),
        **(_EXECUTORS if runs_on_yarn(custom) else {}),
        "spark.ui.retainedJobs": "200",
        "spark.ui.retainedStages": "200",
        "spark.sql.ui.retainedExecutions": "50",
        "spark.sql.thriftserver.ui.retainedStatements": "50",
        "spark.sql.thriftserver.ui.retainedSessions": "50",
        # Rows are sent as they come: a large result does not have to fit into the server's memory.
        "spark.sql.thriftServer.incrementalCollect": "true",
        # `STORED AS` decides, as in Hive; a table without it is a Hive table.
        "spark.sql.legacy.createHiveTableByDefault": "true",
    }


def forbidden(custom: Mapping[str, str]) -> Sequence[str]:
    """Return the settings that would break the server's wiring."""
    wired = set(wiring("", PurePosixPath("/"), "", ())) | set(_hive_site("", "", PurePosixPath("/")))
    return [key for key in custom if key in wired]


def settings_files(
    address: str,
    folder: PurePosixPath,
    metastore: str,
    custom: Mapping[str, str],
    store: S3Access,
    programs: Programs,
) -> dict[str, bytes]:
    """Return its files by their paths below the machine's folder; `metastore` is `thrift://host:port`."""
    chosen = {key: value for key, value in custom.items() if key.startswith("hive.")}
    hive = {
        "hive.exec.dynamic.partition.mode": "nonstrict",
        **chosen,
        **store.settings,
        **_hive_site(address, metastore, folder),
    }
    return {
        str(CONF / "hive-site.xml"): site_file(hive),
        str(CONF / "log4j2.properties"): _LOG,
        str(CONF / spark_driver.FORMATS): spark_driver.AVRO,
        str(_SECRETS): token_file.token_file(store.secrets),
        str(JAVA_HOME / "bin" / "java"): spark_driver.java_program(programs),
    }


def daemon(
    java: PurePosixPath,
    jars: Sequence[PurePosixPath],
    address: str,
    folder: PurePosixPath,
    warehouse: str,
    custom: Mapping[str, str],
) -> Daemon:
    """Return its command line on the machine with this address and folder."""
    spark = tuning(custom) | {key: value for key, value in custom.items() if key.startswith("spark.")}
    memory, options = spark.pop(spark_driver.MEMORY, HEAP), spark.pop(spark_driver.OPTIONS, "")
    spark |= wiring(address, folder, warehouse, jars)
    class_path = ":".join(map(str, (folder / CONF, folder / "conf", *_folders(jars))))
    argv = [
        *spark_driver.java_command(folder / JAVA_HOME / "bin" / "java", NAME, memory, folder, options),
        "-Xms64m",
        f"-Dsvc.logs={folder / 'logs'}",
        *(f"-D{key}={value}" for key, value in spark.items()),
        *("-cp", class_path, _MAIN),
    ]
    environment = {
        "JAVA_HOME": str(java.parent.parent),
        "HADOOP_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_IP": address,
        "MALLOC_ARENA_MAX": "2",
        token_file.VARIABLE: str(folder / _SECRETS),
    }
    return Daemon(NAME, argv, environment)


def _hive_site(address: str, metastore: str, folder: PurePosixPath) -> dict[str, str]:
    scratch = folder / "tmp"
    return {
        "hive.metastore.uris": metastore,
        "hive.server2.thrift.bind.host": address,
        "hive.server2.thrift.port": str(PORT),
        "hive.server2.authentication": "NOSASL",
        "hive.server2.enable.doAs": "false",
        # Otherwise it looks up the user's YARN queue, with classes that it lacks.
        "hive.server2.map.fair.scheduler.queue": "false",
        # A state request returns after this time, or as soon as the statement is over.
        "hive.server2.long.polling.timeout": "500ms",
        "hive.exec.scratchdir": f"file:{scratch}/hive",
        "hive.exec.local.scratchdir": str(scratch / "hive-local"),
        # Each session makes its folder when it opens, and removes it when it closes.
        "hive.downloaded.resources.dir": str(scratch / "hive-resources" / "${hive.session.id}"),
        "hive.server2.logging.operation.enabled": "false",
    }


def _folders(jars: Sequence[PurePosixPath]) -> list[str]:
    """Return the jars as class path entries: whole folders, since hundreds of names would fill every process list."""
    return [f"{folder}/*" for folder in dict.fromkeys(jar.parent for jar in jars)]
