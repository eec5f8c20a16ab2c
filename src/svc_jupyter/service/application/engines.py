"""The engines of the service, with the additions that are made at their installation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.installs.additions import Addition
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.kinds.pig.command_line import RUNNER_JAR, RelocatedJar
from svc_jupyter.service.runtimes.hadoop import fair_scheduler
from svc_jupyter.service.runtimes.hadoop.own_address import OwnAddressJar
from svc_jupyter.service.runtimes.metastore.database import METASTORE_JAR
from svc_jupyter.service.runtimes.presto.plugins import Plugins

MADE_AT_INSTALL: Mapping[Engine, Sequence[Addition]] = {
    Engine.HADOOP: (fair_scheduler.JAR, OwnAddressJar()),
    Engine.PIG: (RelocatedJar(), RUNNER_JAR),
    Engine.HIVE_METASTORE: (METASTORE_JAR,),
    Engine.PRESTO: (OwnAddressJar(), Plugins()),
}
"""In the order of their creation. The containers of YARN find the last jar of Hadoop by a variable."""


def engines_of(settings: Settings) -> Engines:
    """Return the engines of the settings."""
    repository = settings.maven_repository
    repository_url = repository.get_secret_value() if repository else None
    return Engines(settings.engines_dir, repository=repository_url, additions=MADE_AT_INSTALL)
