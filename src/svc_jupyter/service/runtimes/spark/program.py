"""The session server of a Spark cluster: its command line and files; see `driver/`.

It runs in Spark's own Python on the coordinator and starts Spark's driver, a Java process. On a cluster with
`spark.master=local[…]` the tasks run in that process, otherwise in containers of YARN.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final

from svc_jupyter.service.clusters.providers.provider import Daemon
from svc_jupyter.service.runtimes.hadoop import spark_driver
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.hadoop.site_files import site_file
from svc_jupyter.service.runtimes.s3 import token_file
from svc_jupyter.service.runtimes.s3.access import S3Access

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
"""The service's setting in a cluster's `custom_config`: idle minutes after which a kept session ends."""
JAVA: Final = FOLDER / "java" / "bin" / "java"
"""A script, the only executable among these files."""
_PATHS: Final = "import sys\n\nsys.path.append({!r})\n"
_IDLE_MINUTES: Final = 60.0
_PACKAGE: Final = "svc_spark"
_MASTER: Final = "spark.master"
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
_VERSION: Final = re.compile(r"-\d")
_CLASS_PATH: Final = "spark.driver.extraClassPath"


@dataclass(frozen=True, slots=True)
class SparkLayout:
    """The place of a cluster's Spark: its coordinator's address and folder, and its installed programs."""

    address: str
    folder: PurePosixPath
    programs: Programs
    home: Path
    """Spark's own virtual environment."""
    metastore: str
    """`thrift://host:port`"""
    warehouse: str
    python: Path
    """The Python that runs programs."""
    store: S3Access = field(default_factory=S3Access)
    """The access to the account's S3 store."""
    store_jars: Sequence[PurePosixPath] = ()
    """The jars of Spark's client of the store."""

    @property
    def conf(self) -> PurePosixPath:
        """The folder of Spark's settings."""
        return self.folder / FOLDER / "conf"

    @property
    def spark(self) -> Path:
        """The package `pyspark`, which Spark's own programs use as Spark's home."""
        return Path(self.programs.library).parent


def runs_on_yarn(custom: Mapping[str, str]) -> bool:
    """Return whether a cluster's Spark runs on YARN: it does unless `spark.master` is `local[…]`."""
    return not custom.get(_MASTER, "yarn").startswith("local")


def wiring(place: SparkLayout) -> dict[str, str]:
    """Return the settings of Spark that a cluster's `custom_config` must not change."""
    return {
        "spark.repl.class.outputDir": str(place.folder / FOLDER / "classes"),
        "spark.ui.killEnabled": "false",
        **spark_driver.wiring(
            place.address,
            place.folder,
            place.warehouse,
            [f"{place.spark}/jars/*", *place.store_jars],
            java_home(place),
        ),
        "spark.yarn.appMasterEnv.PYTHONPATH": _python_path(place),
        "spark.executorEnv.PYTHONPATH": _python_path(place),
        "spark.pyspark.python": str(place.python),
    }


def tuning(custom: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Spark that `custom_config` may change."""
    return {
        **spark_driver.tuning(is_on_yarn=runs_on_yarn(custom)),
        _MASTER: "yarn",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
        # Rows pass through the driver to disk as they come: together they may be larger than its memory.
        "spark.driver.maxResultSize": "0",
    }


def settings(place: SparkLayout, custom: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings on a cluster, for the session server and for standalone programs."""
    chosen = {key: value for key, value in custom.items() if key.startswith("spark.") and key != IDLE_SETTING}
    return tuning(custom) | chosen | store_settings(place.store, place.store_jars, chosen) | wiring(place)


def forbidden(custom: Mapping[str, str]) -> Sequence[str]:
    """Return the settings that would break the cluster's wiring."""
    nowhere = PurePosixPath("/a/b/c")
    place = SparkLayout("", nowhere, Programs(nowhere, [nowhere]), Path(nowhere), "", "", Path(nowhere))
    return [key for key in custom if key in wiring(place)]


def properties(values: Mapping[str, str]) -> bytes:
    """Return the text of a settings file, which preserves backslashes and line ends."""
    escaped = {key: value.replace("\\", "\\\\").replace("\n", "\\n") for key, value in values.items()}
    return "".join(f"{key}={value}\n" for key, value in sorted(escaped.items())).encode()


def server_files(place: SparkLayout, custom: Mapping[str, str], secret: str) -> dict[str, bytes]:
    """Return the files of the session server, by their paths below the machine's folder."""
    own = settings(place, custom) | {
        "spark.app.name": "sessions",
        "spark.ui.port": str(UI_PORT),
    }
    of_server = {
        "java": java_command(place, own.get(spark_driver.MEMORY, HEAP), own.get(spark_driver.OPTIONS, "")),
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
        str(FOLDER / "sessions.json"): json.dumps(of_server).encode(),
        str(FOLDER / "classes" / ".folder"): b"",
        str(SECRET): f"{secret}\n".encode(),
        str(STORE_SECRETS): token_file.token_file(place.store.secrets),
    }


def program_files(place: SparkLayout) -> dict[str, bytes]:
    """Return the programs that run in Spark's own Python."""
    sources = {
        str(FOLDER / _PACKAGE / source.name): source.read_bytes()
        for source in files("svc_jupyter.service.runtimes.spark.driver").iterdir()
        if source.name.endswith(".py")
    }
    times = files("svc_jupyter.service.db_taps") / "times.py"
    return {
        **sources,
        str(FOLDER / _PACKAGE / times.name): times.read_bytes(),
        str(FOLDER / "alone.py"): b"from svc_spark.alone import main\n\nmain()\n",
        str(JAVA): spark_driver.java_program(place.programs),
        str(FOLDER / "python" / "sitecustomize.py"): _PATHS.format(str(place.spark.parent)).encode(),
    }


def conf_files(place: SparkLayout, custom: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files on the class path."""
    conf = FOLDER / "conf"
    hive = {key: value for key, value in custom.items() if key.startswith("hive.")}
    hive |= {"hive.metastore.uris": place.metastore, "hive.exec.dynamic.partition.mode": "nonstrict"}
    return {
        str(conf / "hive-site.xml"): site_file(hive),
        str(conf / "log4j2.properties"): _LOG,
        str(conf / spark_driver.FORMATS): spark_driver.AVRO,
    }


def java_command(place: SparkLayout, memory: str, options: str = "") -> list[str]:
    """Return Java with its options and class path, but without a program."""
    entries = (place.conf, place.folder / "conf", place.programs.library / "*", *place.store_jars)
    java = java_home(place) / "bin" / "java"
    command = spark_driver.java_command(java, NAME, memory, place.folder, options)
    return [*command, "-cp", ":".join(map(str, entries))]


def environment(place: SparkLayout) -> dict[str, str]:
    """Return the variables of every process that runs Spark on the coordinator."""
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


def daemon(place: SparkLayout) -> Daemon:
    """Return the session server's command line: in Spark's own Python, whatever its sessions use."""
    argv = [
        str(place.home / "bin" / "python"),
        "-m",
        f"{_PACKAGE}.server",
        str(place.folder / FOLDER / "sessions.json"),
    ]
    return Daemon(NAME, argv, environment(place))


def java_home(place: SparkLayout) -> PurePosixPath:
    """Return the Java of everything that runs Spark; see `spark_driver.java_program`."""
    return place.folder / FOLDER / "java"


def _python_path(place: SparkLayout) -> str:
    """Return the folder that adds pyspark to any Python, after its own packages."""
    return str(place.folder / FOLDER / "python")


def missing_from_spark(jars: Sequence[PurePosixPath], own: Sequence[PurePosixPath]) -> list[PurePosixPath]:
    """Return the jars that Spark does not already include: two versions of a library would break it."""
    known = {_library(jar) for jar in own}
    return [jar for jar in jars if _library(jar) not in known]


def store_settings(access: S3Access, jars: Sequence[PurePosixPath], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with which a driver opens the store; `chosen` are the cluster's own. Empty without a store.

    No setting contains a secret: the driver reads secrets from a file at its start, and Spark passes them to its
    containers as it does with every secret of Hadoop.
    """
    if not access.is_needed:
        return {}
    hadoop = {f"spark.hadoop.{name}": value for name, value in access.settings.items()}
    return hadoop | {_CLASS_PATH: ":".join(filter(None, [chosen.get(_CLASS_PATH), *map(str, jars)]))}


def _library(jar: PurePosixPath) -> str:
    return _VERSION.split(jar.name, maxsplit=1)[0]
