"""The engines, and the description of an installed one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Engine(StrEnum):
    """An engine of commands, by the name of its lock."""

    HADOOP = "hadoop"
    PIG = "pig"
    HIVE_METASTORE = "hive-metastore"
    SPARK = "spark"
    PRESTO = "presto"

    @property
    def purpose(self) -> str:
        """What commands need it for, in a few words."""
        return _PURPOSES[self]


_PURPOSES = {
    Engine.HADOOP: "HDFS, YARN and MapReduce: Hadoop clusters and their nodes",
    Engine.PIG: "Pig commands",
    Engine.HIVE_METASTORE: "Hive tables, partitions and partition sensors",
    Engine.SPARK: "Hive commands, Spark on YARN",
    Engine.PRESTO: "Presto clusters and their commands",
}


@dataclass(frozen=True)
class Installed:
    """An engine on this machine. `jars` is in the order of its class path, on which a class archive depends.

    The name of the folder `home` holds the version and the lock's digest: a newer lock gets another folder, so
    processes that run from this one are not disturbed. Start Java with `-cp class_path(jars, settings_folder)` and, if
    there is a class archive, `archive_options(class_archive)`: it halves the start time, and is used only when the jars
    come first, in this order.
    """

    name: Engine
    version: str
    home: Path
    jars: tuple[Path, ...]
    class_archive: Path | None = None


def class_path(jars: tuple[Path, ...], *then: Path) -> str:
    """Return the class path of explicit jars, then folders: a class archive requires its own jars first."""
    return ":".join(map(str, (*jars, *then)))
