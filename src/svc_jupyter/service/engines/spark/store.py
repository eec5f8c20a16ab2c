"""The account's S3 store as settings of Spark: its driver and its executors open it by Hadoop's client.

No setting has a secret: the driver reads those from a file at its start, and Spark hands them to its containers as it
does with every secret of Hadoop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from svc_jupyter.service.engines.s3.access import S3Access

_VERSION: Final = re.compile(r"-\d")
_CLASS_PATH: Final = "spark.driver.extraClassPath"


def beside(jars: Sequence[PurePosixPath], own: Sequence[PurePosixPath]) -> list[PurePosixPath]:
    """Return the jars of which Spark has none among its own: two versions of a library would break it."""
    known = {_library(jar) for jar in own}
    return [jar for jar in jars if _library(jar) not in known]


def settings(access: S3Access, jars: Sequence[PurePosixPath], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return what lets a driver open the store; `chosen` are a cluster's own settings. Nothing without a store."""
    if not access.is_needed:
        return {}
    hadoop = {f"spark.hadoop.{name}": value for name, value in access.settings.items()}
    return hadoop | {_CLASS_PATH: ":".join(filter(None, [chosen.get(_CLASS_PATH), *map(str, jars)]))}


def _library(jar: PurePosixPath) -> str:
    return _VERSION.split(jar.name, maxsplit=1)[0]
