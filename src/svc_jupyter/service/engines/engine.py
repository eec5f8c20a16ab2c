"""Which engines there are, and what an installed one is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Engine(StrEnum):
    """An engine that commands run on, by the name of its lock."""

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
    """An engine on this machine. `jars` is in the order of its class path, which a class archive is bound to.

    `home` is a folder whose name holds the version and the lock's digest: a newer lock is another folder, so what runs
    from this one is not disturbed. Start Java with `-cp class_path(jars, settings_folder)` and, where there is a class
    archive, `archive_options(class_archive)`: it halves the time to start, and is only used when the jars come first,
    in this order.
    """

    name: Engine
    version: str
    home: Path
    jars: tuple[Path, ...]
    class_archive: Path | None = None


def class_path(jars: tuple[Path, ...], *then: Path) -> str:
    """Return the class path of explicit jars, then folders: a class archive is only used with its own jars first."""
    return ":".join(map(str, (*jars, *then)))
