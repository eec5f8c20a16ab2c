"""A kind is told of a command before its row is written, and that it was told in vain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest
from tests.service.commands.scripted import Scripted
from tests.support.clusters import gate_of, make_default_cluster

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.intake import Intake
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.idempotency import IdempotentCall

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
BODY = {"command_type": "ShellCommand", "inline": "true"}


class Foreseeing(Scripted):
    """A shell command that notes what it is told of."""

    def __init__(self) -> None:
        super().__init__(lambda _task: "true")
        self.foreseen: list[int] = []
        self.called_off: list[int] = []

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        return {"inline": body["inline"]}

    def foresee(self, values: Mapping[str, Any], command_id: int) -> Callable[[], None]:
        assert values["command"]["inline"] == "true"
        self.foreseen.append(command_id)
        return partial(self.called_off.append, command_id)


class World:
    """The rules of commands over a runner that begins nothing."""

    def __init__(self, settings: Settings, database: Database, caller: Caller) -> None:
        make_default_cluster(database)
        bus = Bus(database)
        gate = gate_of(settings, database, bus)
        self.kind = Foreseeing()
        self.runner = Runner(settings, database, bus, {"ShellCommand": self.kind}, gate=gate, at_end=())
        self.intake = Intake(settings, database, bus, {"ShellCommand": self.kind}, self.runner, gate)
        self._caller = caller

    async def submit(self, call: IdempotentCall | None = None) -> int:
        return int((await self.intake.submit(BODY, self._caller, call))["id"])


@pytest.fixture
def world(settings: Settings, database: Database, caller: Caller) -> World:
    return World(settings, database, caller)


@on_sqlite
async def test_a_command_is_foreseen_by_the_id_that_it_gets(world: World):
    assert await world.submit() == 1
    assert world.kind.foreseen == []  # which id comes is not known yet
    assert await world.submit() == 2
    assert (world.kind.foreseen, world.kind.called_off) == ([2], [])


@on_sqlite
async def test_a_command_that_was_there_already_calls_it_off(world: World, caller: Caller):
    call = IdempotentCall(caller.user_id, "key", "digest")
    assert await world.submit(call) == 1
    assert await world.submit(call) == 1
    assert (world.kind.foreseen, world.kind.called_off) == ([2], [2])


@on_sqlite
async def test_a_command_that_cannot_be_written_calls_it_off(world: World, database: Database, monkeypatch):
    await world.submit()
    monkeypatch.setattr(database, "write", Mock(side_effect=OSError))
    with pytest.raises(OSError):  # noqa: PT011  the test's own
        await world.submit()
    assert world.kind.called_off == [2]


@on_sqlite
async def test_nothing_is_foreseen_while_something_runs(world: World):
    await world.submit()
    world.runner._jobs[1] = Mock()
    await world.submit()
    assert world.kind.foreseen == []


@pytest.mark.parametrize("database_kind", ["postgresql"])
async def test_nothing_is_foreseen_where_another_replica_may_run_it(world: World):
    await world.submit()
    await world.submit()
    assert world.kind.foreseen == []
