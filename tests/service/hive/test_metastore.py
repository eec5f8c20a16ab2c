"""The metastore's process: started once, found again, started anew, ended with the last who needs it."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from pydantic import SecretStr
from pymetastore.hive_metastore import ttypes
from tests.service.hive.conftest import hive_of
from tests.support.engines import ENGINES
from tests.support.hive import add_partitions, end_metastore_of, make_table, metastore_client, metastores_of
from tests.support.postgres import PostgresCluster
from tests.support.until import until

from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.installs.engines import Engines
from svc_jupyter.service.installs.java import JavaHome
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.runtimes.metastore.failures import MetastoreFailure
from svc_jupyter.service.runtimes.metastore.metastore import STARTING
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress
from svc_jupyter.service.runtimes.s3.access import S3Access, s3_access
from svc_jupyter.service.runtimes.s3.account_store import StoreClient, s3_jars
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.locations import parse_location

pytestmark = pytest.mark.timeout(600)
FIRST = Page(1, 10)
ANY = None


@asynccontextmanager
async def service(settings: Settings) -> AsyncIterator[Hive]:
    hive = hive_of(settings)
    await hive.start()
    try:
        yield hive
    finally:
        await hive.stop()


def the_metastore(settings: Settings) -> psutil.Process:
    [process] = metastores_of(settings.data_dir)
    return process


async def test_many_who_need_it_get_one(own_settings: Settings):
    async with service(own_settings) as hive:
        assert await hive.probe.look(ANY) is None
        said: list[str] = []
        first, second = await asyncio.gather(hive.metastore.ensure(said.append), hive.metastore.ensure(said.append))
        assert first == second
        assert STARTING in said
        process = the_metastore(own_settings)
        listening = [item.laddr for item in process.net_connections() if item.status == psutil.CONN_LISTEN]
        assert listening == [(first.host, first.port)] == [("127.0.0.1", first.port)]
        assert not [name for name in process.environ() if name.startswith("SVC_") and name != "SVC_CLUSTER_DAEMON"]
        look = await hive.probe.look(ANY)
        assert (look.is_alive, look.is_responsive) == (True, True)
        assert 0 < look.heap_percent < 100
    await until(lambda: not metastores_of(own_settings.data_dir), 60)


async def test_a_metastore_that_died_comes_back_where_it_was(own_settings: Settings):
    async with service(own_settings) as hive:
        assert (await hive.catalogue.schemas(FIRST))["schemas"] == ["default"]
        address, killed = hive.metastore.address, the_metastore(own_settings)
        killed.kill()
        await until(lambda: metastores_of(own_settings.data_dir) not in ([], [killed]), 60)
        assert (await hive.catalogue.schemas(FIRST))["schemas"] == ["default"]
        assert hive.metastore.address == address


async def test_a_killed_service_leaves_it_to_the_next(own_settings: Settings):
    killed = hive_of(own_settings)
    await killed.metastore.ensure(lambda _line: None)
    let_go_of(killed)
    process = the_metastore(own_settings)
    async with service(own_settings) as hive:
        assert (await hive.catalogue.schemas(FIRST))["schemas"] == ["default"]
        assert the_metastore(own_settings) == process


async def test_one_that_is_just_starting_ends_with_the_service(own_settings: Settings):
    """As when a cluster is terminated while it starts, and the service is stopped then."""
    async with service(own_settings) as hive:
        waiting = asyncio.create_task(hive.metastore.ensure(lambda _line: None))
        await until(lambda: metastores_of(own_settings.data_dir), 60)
        waiting.cancel()
    assert hive.metastore.address is None
    assert not metastores_of(own_settings.data_dir)


async def test_one_that_is_spawned_while_the_service_stops_ends_with_it(
    own_settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    """A thread that has begun to start a process cannot be called back."""
    hive = hive_of(own_settings)
    begun, go_on = threading.Event(), threading.Event()
    spawn = hive.metastore.process._daemon.spawn

    def held_up(*arguments: Any) -> None:
        begun.set()
        assert go_on.wait(30)
        spawn(*arguments)

    monkeypatch.setattr(hive.metastore.process._daemon, "spawn", held_up)
    waiting = asyncio.create_task(hive.metastore.ensure(lambda _line: None))
    assert await asyncio.to_thread(begun.wait, 60)
    waiting.cancel()
    stopping = asyncio.create_task(hive.stop())
    await asyncio.sleep(0)
    go_on.set()
    await stopping
    assert not metastores_of(own_settings.data_dir)


async def test_one_that_a_killed_service_was_starting_ends_with_the_next(own_settings: Settings):
    killed = hive_of(own_settings)
    waiting = asyncio.create_task(killed.metastore.ensure(lambda _line: None))
    await until(lambda: metastores_of(own_settings.data_dir), 60)
    waiting.cancel()
    let_go_of(killed)
    async with service(own_settings):
        assert metastores_of(own_settings.data_dir)
    assert not metastores_of(own_settings.data_dir)


async def test_it_outlives_the_service_while_somebody_is_connected(own_settings: Settings):
    async with service(own_settings) as hive:
        address = await hive.metastore.ensure(lambda _line: None)
        connected = metastore_client(address.host, address.port)
        client = connected.__enter__()
        client.get_all_databases()
    assert client.get_all_databases() == ["default"]
    async with service(own_settings) as hive:  # which takes the order to end back
        connected.__exit__(None, None, None)
        assert (await hive.catalogue.schemas(FIRST))["schemas"] == ["default"]
    await until(lambda: not metastores_of(own_settings.data_dir), 60)


async def test_it_stays_for_another_replica(own_settings: Settings):
    async with service(own_settings) as other:
        async with service(own_settings) as hive:
            assert await hive.metastore.ensure(lambda _line: None) == await other.metastore.ensure(lambda _line: None)
        assert (await other.catalogue.schemas(FIRST))["schemas"] == ["default"]


async def test_one_that_hangs_is_reported(own_settings: Settings):
    async with service(own_settings) as hive:
        await hive.metastore.ensure(lambda _line: None)
        process = the_metastore(own_settings)
        process.suspend()
        try:
            async with asyncio.timeout(10):
                look = await hive.probe.look(ANY)
            assert (look.is_alive, look.is_responsive, look.heap_percent) == (True, False, None)
        finally:
            process.resume()


class WrongJava(Engines):
    """Engines on a machine whose Java ends at once: `program` stands for it."""

    program: Path

    async def java(self, say: Callable[[str], None], **_options: object) -> JavaHome:
        return JavaHome(self.program.parent.parent, 17, "17", "none")


async def test_a_start_that_fails_shows_why(own_settings: Settings, tmp_path: Path):
    engines = WrongJava(ENGINES.root, additions={})
    engines.program = tmp_path / "bin" / "java"
    engines.program.parent.mkdir()
    engines.program.write_text("#!/bin/sh\necho 'Error: no room for the heap' >&2\nexit 1\n")
    engines.program.chmod(0o700)
    hive = Hive.of(own_settings, engines, os.environ)
    with pytest.raises(MetastoreFailure, match="cannot be started: Error: no room for the heap"):
        await hive.metastore.ensure(lambda _line: None)
    with pytest.raises(Unavailable, match="no room for the heap") as refused:
        await hive.catalogue.schemas(FIRST)
    assert refused.value.retry_after == 30
    await hive.stop()


async def test_a_request_does_not_wait_for_an_installation(own_settings: Settings, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engines = Engines(tmp_path / "engines", additions={}, repository=f"http://127.0.0.1:{silent.getsockname()[1]}/")
        hive = Hive.of(own_settings, engines, os.environ)
        with pytest.raises(Unavailable, match=r"try again in a moment") as refused:
            await hive.catalogue.schemas(FIRST)
        assert refused.value.retry_after == 5
        await hive.stop()


async def test_schemas_are_dropped_with_their_tables(own_settings: Settings):
    async with service(own_settings) as hive:
        assert made_and_dropped(await hive.metastore.ensure(lambda _line: None)) == {"default"}


async def test_another_access_to_the_storage_starts_it_again_at_its_port(own_settings: Settings):
    store = ChangingStore()
    hive = Hive.of(own_settings, ENGINES, os.environ, store)
    address = await hive.metastore.ensure(lambda _line: None)
    first = the_metastore(own_settings)
    assert await hive.metastore.ensure(lambda _line: None) == address
    assert the_metastore(own_settings) == first

    store.now = s3_access(AccountStorage(parse_location("s3://lake"), "key", "a-secret", None, "http://127.0.0.1:9"))
    said: list[str] = []
    assert await hive.metastore.ensure(said.append) == address

    assert the_metastore(own_settings) != first
    assert "the account's storage has changed: starting the Hive metastore again" in said
    assert "a-secret" not in " ".join(the_metastore(own_settings).cmdline())
    assert b"a-secret" not in (hive.metastore.process.folder / "conf" / "hive-site.xml").read_bytes()
    assert stat.S_IMODE((hive.metastore.process.folder / "storage-secrets").stat().st_mode) == 0o600
    await hive.stop()


async def test_in_postgresql_it_has_a_schema_of_its_own(postgres_cluster: PostgresCluster, own_settings: Settings):
    with postgres_cluster.database() as url:
        settings = Settings(data_dir=own_settings.data_dir, database_url=SecretStr(url))
        async with service(settings) as hive:
            address = await hive.metastore.ensure(lambda _line: None)
            with metastore_client(address.host, address.port) as client:
                make_table(client, "logs", {"x": "int"}, {"day": "string"})
                add_partitions(client, "logs", ["2026-11-21"])
            wanted = [{"day": "2026-11-21"}, {"day": "2026-11-22"}]
            assert await hive.search.found("default", "logs", wanted) == [True, False]
            assert made_and_dropped(address) == {"default"}
        with psycopg.connect(url) as connection:
            schemas = connection.execute("SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'DBS'").fetchall()
        assert schemas == [("hive_metastore",)]
        end_metastore_of(settings.data_dir)


class ChangingStore:
    """The account's store; what opens it can be changed."""

    def __init__(self) -> None:
        self.now = S3Access()

    async def access(self) -> S3Access:
        return self.now

    async def client(self, say: Say) -> StoreClient:
        return StoreClient(self.now, await s3_jars(ENGINES, say))


def made_and_dropped(address: MetastoreAddress) -> set[str]:
    """Make a schema with a partitioned table, drop both; return the schemas that are left."""
    with metastore_client(address.host, address.port) as client:
        client.create_database(ttypes.Database(name="passing"))
        make_table(client, "logs", {"x": "int"}, {"day": "string"}, schema="passing")
        client.drop_table("passing", "logs", True)
        client.drop_database("passing", True, True)
        return set(client.get_all_databases())


def let_go_of(hive: Hive) -> None:
    """Do what a kill does to a service: it is gone, without a word."""
    for task in (hive.metastore._watching, hive.metastore._bringing):
        if task is not None:
            task.cancel()
    os.close(hive.metastore._users)
    hive.metastore._users = None
