"""HiveServer2's keeper among doubles."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import cast

import pytest
from tests.service.runtimes.hive_server.doubles import Machine, Metastore, OneMachine, Spark

from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.runtimes.hive_server.server import HiveServers
from svc_jupyter.service.runtimes.s3.account_store import NoStore


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(PurePosixPath(tmp_path))


@pytest.fixture
def metastore() -> Metastore:
    return Metastore()


@pytest.fixture
def servers(machine: Machine, metastore: Metastore) -> HiveServers:
    providers = dict.fromkeys(("local", "hosts"), cast("Provider", OneMachine(machine)))
    return HiveServers(cast("Engines", Spark()), providers, metastore, NoStore())
