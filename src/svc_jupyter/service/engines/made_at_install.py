"""What is made of which engine at its installation, in this order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svc_jupyter.service.engines.additions import Addition
from svc_jupyter.service.engines.engine import Engine
from svc_jupyter.service.engines.hadoop.own_address import OwnAddressJar
from svc_jupyter.service.engines.pig.relocated_jar import RelocatedJar
from svc_jupyter.service.engines.pig.runner_jar import RunnerJar
from svc_jupyter.service.engines.presto.plugins import Plugins
from svc_jupyter.service.hive.metastore_jar import MetastoreJar

MADE_AT_INSTALL: Mapping[Engine, Sequence[Addition]] = {
    Engine.HADOOP: (OwnAddressJar(),),
    Engine.PIG: (RelocatedJar(), RunnerJar()),
    Engine.HIVE_METASTORE: (MetastoreJar(),),
    Engine.PRESTO: (OwnAddressJar(), Plugins()),
}
