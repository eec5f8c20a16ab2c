"""A HiveServer2 that died is started once, whoever sees it first: a second one would end connections to the first."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.service.runtimes.hive_server.doubles import LOST_RACE, Machine, Metastore, instance

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.runtimes.hive_server.server import HiveServers


async def test_two_that_find_it_dead_start_one(
    servers: HiveServers, machine: Machine, metastore: Metastore, tmp_path: Path
) -> None:
    dead = instance(tmp_path)
    assert dead.master is not None
    metastore.may_answer.set()
    await asyncio.gather(*(servers.restart(dead, dead.master, lambda _line: None) for _ in range(2)))
    assert machine.started == ["hiveserver2"]


async def test_the_watch_leaves_it_to_the_command_that_is_starting_it(
    servers: HiveServers, machine: Machine, metastore: Metastore, tmp_path: Path
) -> None:
    dead = instance(tmp_path)
    assert dead.master is not None
    command = asyncio.create_task(servers.ensure(dead, lambda _line: None))
    await metastore.is_asked.wait()
    await servers.restart(dead, dead.master, lambda _line: None)  # it would wait for the metastore, too
    assert machine.started == []

    metastore.may_answer.set()
    await machine.has_started.wait()
    await servers.restart(dead, dead.master, lambda _line: None)
    assert machine.started == ["hiveserver2"]
    command.cancel()
    with pytest.raises(asyncio.CancelledError):
        await command


async def test_one_that_fell_over_its_own_pages_is_started_once_more(
    servers: HiveServers, machine: Machine, metastore: Metastore, tmp_path: Path
) -> None:
    machine.last_words = LOST_RACE
    metastore.may_answer.set()
    again = asyncio.Event()

    def say(line: str) -> None:
        if line == "starting HiveServer2 again: it fell over its own pages":
            machine.has_started.clear()
            again.set()

    command = asyncio.create_task(servers.ensure(instance(tmp_path), say))
    await again.wait()
    await machine.has_started.wait()
    assert machine.started == ["hiveserver2"] * 2
    command.cancel()
    with pytest.raises(asyncio.CancelledError):
        await command


async def test_one_that_ends_for_another_reason_is_reported_with_its_last_words(
    servers: HiveServers, machine: Machine, metastore: Metastore, tmp_path: Path
) -> None:
    machine.last_words = "Exception: no space left"
    metastore.may_answer.set()
    with pytest.raises(ClusterFailure, match="ended while it started: Exception: no space left"):
        await servers.ensure(instance(tmp_path), lambda _line: None)
    assert machine.started == ["hiveserver2"]
