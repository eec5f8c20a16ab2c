"""What is made of which engine at its installation, in this order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svc_jupyter.service.engines.additions import Addition
from svc_jupyter.service.engines.engine import Engine
from svc_jupyter.service.engines.hadoop.own_address import OwnAddressJar
from svc_jupyter.service.engines.pig.relocated_jar import RelocatedJar
from svc_jupyter.service.engines.pig.runner_jar import RUNNER_JAR
from svc_jupyter.service.engines.presto.plugins import Plugins
from svc_jupyter.service.hive.metastore_jar import METASTORE_JAR

MADE_AT_INSTALL: Mapping[Engine, Sequence[Addition]] = {
    Engine.HADOOP: (OwnAddressJar(),),
    Engine.PIG: (RelocatedJar(), RUNNER_JAR),
    Engine.HIVE_METASTORE: (METASTORE_JAR,),
    Engine.PRESTO: (OwnAddressJar(), Plugins()),
}
