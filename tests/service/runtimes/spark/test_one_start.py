"""A session server that ends at its start: once more where that was Spark's own race, told where it was not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import cast

import pytest
from tests.service.runtimes.hive_server.doubles import LOST_RACE, Machine, Metastore, OneMachine, Spark, instance

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.runtimes.s3.account_store import NoStore
from svc_jupyter.service.runtimes.spark.program import NAME
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers


class Disk(Machine):
    """A machine that keeps the files it is given."""

    async def write(self, files: Mapping[str, bytes]) -> None:
        await asyncio.to_thread(self._write, files)

    def _write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            file = Path(self.folder / name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


class NothingAttached:
    """No cluster has a package environment."""

    async def of_cluster(self, _cluster_id: int, **_: object) -> None:
        await asyncio.sleep(0)


@pytest.fixture
def machine(tmp_path: Path) -> Disk:
    return Disk(PurePosixPath(tmp_path))


@pytest.fixture
def servers(machine: Disk) -> SessionServers:
    metastore = Metastore()
    metastore.may_answer.set()
    providers = {"local": cast("Provider", OneMachine(machine))}
    attached = cast("AttachedEnvironments", NothingAttached())
    return SessionServers(cast("Engines", Spark()), providers, metastore, attached, NoStore())


async def test_one_that_fell_over_its_own_pages_is_started_once_more(
    servers: SessionServers, machine: Disk, tmp_path: Path
):
    machine.last_words = LOST_RACE
    again = asyncio.Event()

    def say(line: str) -> None:
        if line == "starting the session server again: it fell over its own pages":
            machine.has_started.clear()
            again.set()

    command = asyncio.create_task(servers.ensure(instance(tmp_path), say))
    await again.wait()
    await machine.has_started.wait()
    assert machine.started == [NAME] * 2
    command.cancel()
    with pytest.raises(asyncio.CancelledError):
        await command


async def test_one_that_ends_for_another_reason_is_reported_with_its_last_words(
    servers: SessionServers, machine: Disk, tmp_path: Path
):
    machine.last_words = "Exception: no space left"
    with pytest.raises(ClusterFailure, match="ended: Exception: no space left"):
        await servers.ensure(instance(tmp_path), lambda _line: None)
    assert machine.started == [NAME]
