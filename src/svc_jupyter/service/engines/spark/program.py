"""The session server of a Spark cluster as a command line with its files; see `service/spark/driver`.

It runs in Spark's own Python on the coordinator and starts Spark's driver, a Java process. On a cluster whose settings
have `spark.master=local[…]` the tasks run in that process, else in containers of YARN.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final

from svc_jupyter.service.clusters.providers.provider import Daemon
from svc_jupyter.service.engines.hadoop.site_files import site_file
from svc_jupyter.service.engines.s3 import token_file
from svc_jupyter.service.engines.s3.access import S3Access
from svc_jupyter.service.engines.spark import on_yarn, store

NAME: Final = "spark-sessions"
"""The daemon's name on its machine."""
PORT: Final = 10002
UI_PORT: Final = 4040
FOLDER: Final = PurePosixPath("spark")
"""Its files, below the machine's folder."""
SECRET: Final = FOLDER / "secret"
STORE_SECRETS: Final = FOLDER / "storage-secrets"
"""The keys of the account's S3 store, which the driver reads at its start."""
HEAP: Final = "1g"
IDLE_SETTING: Final = "spark.session_server.idle_minutes"
"""Of the service, in a cluster's `custom_config`: after how long a kept session ends that nobody uses."""
JAVA: Final = FOLDER / "java" / "bin" / "java"
"""A program, the only file of ours that is one."""
_PATHS: Final = "import sys\n\nsys.path.append({!r})\n"
_IDLE_MINUTES: Final = 60.0
_PACKAGE: Final = "svc_spark"
_MASTER: Final = "spark.master"
_OPENED: Final = (
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util"),
    *("java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs"),
    *("sun.security.action", "sun.util.calendar"),
)
_LOG: Final = b"""rootLogger.level=warn
rootLogger.appenderRef.stderr.ref=stderr
appender.stderr.type=Console
appender.stderr.name=stderr
appender.stderr.target=SYSTEM_ERR
appender.stderr.layout.type=PatternLayout
appender.stderr.layout.pattern=%d %p %c{2}: %m%n%xEx{short}
logger.native.name=org.apache.hadoop.util.NativeCodeLoader
logger.native.level=error
"""
_FORMATS: Final = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
_AVRO: Final = b"org.apache.spark.sql.avro.AvroFileFormat\n"
"""Spark has the format, but does not know of it by its name (`USING avro`)."""


@dataclass(frozen=True, slots=True)
class SparkPlace:
    """Where a cluster's Spark runs: its coordinator's address and folder, and what is installed there."""

    address: str
    folder: PurePosixPath
    java: PurePosixPath
    home: Path
    """Spark's own virtual environment."""
    jars: Sequence[PurePosixPath]
    metastore: str
    """`thrift://host:port`"""
    warehouse: str
    python: Path
    """The Python that programs run in."""
    store: S3Access = field(default_factory=S3Access)
    """What opens the account's S3 store."""
    store_jars: Sequence[PurePosixPath] = ()
    """The jars of the client by which Spark opens it."""

    @property
    def conf(self) -> PurePosixPath:
        """The folder of Spark's settings."""
        return self.folder / FOLDER / "conf"

    @property
    def spark(self) -> Path:
        """The package `pyspark`, which is Spark's home as its own programs know it."""
        return Path(self.jars[0]).parent.parent


def runs_on_yarn(custom: Mapping[str, str]) -> bool:
    """Return whether a cluster's Spark runs on YARN: `spark.master` says otherwise only by `local[…]`."""
    return not custom.get(_MASTER, "yarn").startswith("local")


def wiring(place: SparkPlace) -> dict[str, str]:
    """Return the settings of Spark that a cluster's `custom_config` must not change."""
    return {
        "spark.driver.host": place.address,
        "spark.driver.bindAddress": place.address,
        "spark.local.dir": str(place.folder / "tmp" / "spark"),
        "spark.sql.warehouse.dir": place.warehouse,
        "spark.sql.catalogImplementation": "hive",
        "spark.repl.class.outputDir": str(place.folder / FOLDER / "classes"),
        "spark.ui.killEnabled": "false",
        **on_yarn.wiring([f"{place.spark}/jars/*", *place.store_jars], java_home(place)),
        "spark.yarn.appMasterEnv.PYTHONPATH": _python_path(place),
        "spark.executorEnv.PYTHONPATH": _python_path(place),
        "spark.pyspark.python": str(place.python),
    }


def tuning(custom: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Spark that it may."""
    settings = {
        _MASTER: "yarn",
        "spark.scheduler.mode": "FAIR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
        # Rows go through the driver to disk as they come: together they may be larger than its memory.
        "spark.driver.maxResultSize": "0",
    }
    if runs_on_yarn(custom):
        settings |= on_yarn.tuning()
    return settings


def settings(place: SparkPlace, custom: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings on a cluster, for the session server and for programs that run alone."""
    chosen = {key: value for key, value in custom.items() if key.startswith("spark.") and key != IDLE_SETTING}
    return tuning(custom) | chosen | store.settings(place.store, place.store_jars, chosen) | wiring(place)


def forbidden(custom: Mapping[str, str]) -> Sequence[str]:
    """Return the settings that would break the cluster's wiring."""
    nowhere = PurePosixPath("/a/b/c")
    place = SparkPlace("", nowhere, nowhere, Path(nowhere), [nowhere], "", "", Path(nowhere))
    return [key for key in custom if key in wiring(place)]


def properties(values: Mapping[str, str]) -> bytes:
    """Return the text of a file of settings; backslashes and line ends stay what they are."""
    escaped = {key: value.replace("\\", "\\\\").replace("\n", "\\n") for key, value in values.items()}
    return "".join(f"{key}={value}\n" for key, value in sorted(escaped.items())).encode()


def server_files(place: SparkPlace, custom: Mapping[str, str], secret: str) -> dict[str, bytes]:
    """Return the files of the session server, by their paths below the machine's folder."""
    own = settings(place, custom) | {
        "spark.app.name": "sessions",
        "spark.ui.port": str(UI_PORT),
    }
    told = {
        "java": java_command(place, own.get("spark.driver.memory", HEAP)),
        "properties": str(place.folder / FOLDER / "sessions.conf"),
        "folder": str(place.folder / FOLDER),
        "classes": str(place.folder / FOLDER / "classes"),
        "idle_seconds": 60 * float(custom.get(IDLE_SETTING, _IDLE_MINUTES)),
        "secret_file": str(place.folder / SECRET),
        "host": place.address,
        "port": PORT,
    }
    return {
        **program_files(place),
        **conf_files(place, custom),
        str(FOLDER / "sessions.conf"): properties(own),
        str(FOLDER / "sessions.json"): json.dumps(told).encode(),
        str(FOLDER / "classes" / ".folder"): b"",
        str(SECRET): f"{secret}\n".encode(),
        str(STORE_SECRETS): token_file.token_file(place.store.secrets),
    }


def program_files(place: SparkPlace) -> dict[str, bytes]:
    """Return the programs that run in Spark's own Python."""
    sources = {
        str(FOLDER / _PACKAGE / source.name): source.read_bytes()
        for source in files("svc_jupyter.service.spark").joinpath("driver").iterdir()
        if source.name.endswith(".py")
    }
    return {
        **sources,
        str(FOLDER / "alone.py"): b"from svc_spark.alone import main\n\nmain()\n",
        str(JAVA): on_yarn.java_program(place.java),
        str(FOLDER / "python" / "sitecustomize.py"): _PATHS.format(str(place.spark.parent)).encode(),
    }


def conf_files(place: SparkPlace, custom: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files that lie on the class path."""
    conf = FOLDER / "conf"
    hive = {key: value for key, value in custom.items() if key.startswith("hive.")}
    hive |= {"hive.metastore.uris": place.metastore, "hive.exec.dynamic.partition.mode": "nonstrict"}
    return {
        str(conf / "hive-site.xml"): site_file(hive),
        str(conf / "log4j2.properties"): _LOG,
        str(conf / _FORMATS): _AVRO,
    }


def java_command(place: SparkPlace, memory: str) -> list[str]:
    """Return Java with its options and class path, but without a program."""
    class_path = [str(place.conf), str(place.folder / "conf"), f"{place.jars[0].parent}/*", *map(str, place.store_jars)]
    return [
        str(place.java),
        f"-Dproc_{NAME}",
        f"-Xmx{memory}",
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",
        "-XX:+ExitOnOutOfMemoryError",
        "-Xss4m",  # the parser goes deep in long queries
        "-Djava.net.preferIPv4Stack=true",
        "-Djdk.reflect.useDirectMethodHandle=false",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        f"-Djava.io.tmpdir={place.folder / 'tmp'}",
        f"-Dderby.system.home={place.folder / 'tmp'}",
        *("-cp", ":".join(class_path)),
    ]


def environment(place: SparkPlace) -> dict[str, str]:
    """Return the variables of everything that runs Spark on the coordinator."""
    return {
        "JAVA_HOME": str(java_home(place)),
        "SPARK_HOME": str(place.spark),
        "SPARK_CONF_DIR": str(place.conf),
        "HADOOP_CONF_DIR": str(place.folder / "conf"),
        "SPARK_LOCAL_IP": place.address,
        "SPARK_CONNECT_MODE": "0",
        "PYSPARK_PYTHON": str(place.python),
        "PYSPARK_DRIVER_PYTHON": str(place.python),
        "PYTHONPATH": f"{place.folder / FOLDER}:{_python_path(place)}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MALLOC_ARENA_MAX": "2",
        token_file.VARIABLE: str(place.folder / STORE_SECRETS),
    }


def daemon(place: SparkPlace) -> Daemon:
    """Return how the session server is started: in Spark's own Python, whatever its sessions have."""
    argv = [
        str(place.home / "bin" / "python"),
        "-m",
        f"{_PACKAGE}.server",
        str(place.folder / FOLDER / "sessions.json"),
    ]
    return Daemon(NAME, argv, environment(place))


def java_home(place: SparkPlace) -> PurePosixPath:
    """Return the Java that Spark's own scripts run: it passes over an option of theirs that not every Java has."""
    return place.folder / FOLDER / "java"


def _python_path(place: SparkPlace) -> str:
    """Return the folder by which any Python finds pyspark behind its own packages."""
    return str(place.folder / FOLDER / "python")
