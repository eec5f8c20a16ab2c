"""A metastore that all tests of the folder share, each with tables of its own."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from pymetastore.hive_metastore import ttypes
from pymetastore.hive_metastore.ThriftHiveMetastore import Client
from tests.support.engines import ENGINES, engine_at_once
from tests.support.hive import end_metastore_of, metastore_client

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress


@dataclass
class SharedMetastore:
    """A metastore that goes on when a test's `Hive` is stopped, since somebody else uses it, too."""

    settings: Settings
    address: MetastoreAddress


def hive_of(settings: Settings) -> Hive:
    """Return the parts of a service, over the engines that all tests share."""
    return Hive.of(settings, ENGINES, os.environ)


@pytest.fixture(scope="session")
def shared_metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedMetastore]:
    engine_at_once(Engine.HIVE_METASTORE)
    settings = Settings(data_dir=tmp_path_factory.mktemp("hive"))
    folder = settings.data_dir / "hive" / "metastore"
    folder.mkdir(parents=True)
    with (folder / "users.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        try:
            yield SharedMetastore(settings, asyncio.run(_started(settings)))
        finally:
            end_metastore_of(settings.data_dir)


async def _started(settings: Settings) -> MetastoreAddress:
    hive = hive_of(settings)
    address = await hive.metastore.ensure(lambda _line: None)
    await hive.stop()
    return address


@pytest.fixture
async def hive(shared_metastore: SharedMetastore) -> AsyncIterator[Hive]:
    """A service's way to the shared metastore."""
    hive = hive_of(shared_metastore.settings)
    await hive.start()
    yield hive
    await hive.stop()


@pytest.fixture
def client(shared_metastore: SharedMetastore) -> Iterator[Client]:
    """Hive's own client of the shared metastore."""
    address = shared_metastore.address
    with metastore_client(address.host, address.port) as client:
        yield client


@pytest.fixture
def schema(client: Client, shared_metastore: SharedMetastore) -> str:
    """A schema of the test's own."""
    name = f"s{uuid4().hex[:12]}"
    location = (shared_metastore.settings.data_dir / "storage" / "hive" / "warehouse" / f"{name}.db").as_uri()
    client.create_database(ttypes.Database(name=name, locationUri=location))
    return name


@pytest.fixture
def own_settings(tmp_path: Path) -> Iterator[Settings]:
    """Settings of a service whose metastore may be killed."""
    engine_at_once_in_thread()
    settings = Settings(data_dir=tmp_path / "data")
    settings.data_dir.mkdir()
    yield settings
    end_metastore_of(settings.data_dir)


def engine_at_once_in_thread() -> None:
    """Install the metastore where it is missing, also below a running event loop."""
    if ENGINES.installed(Engine.HIVE_METASTORE) is None:
        engine_at_once(Engine.HIVE_METASTORE)
