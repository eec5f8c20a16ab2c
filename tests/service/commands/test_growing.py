"""Rows that are read while they are written: whole they equal the result, and else nobody can take them for whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.conftest import end_commands_of
from tests.service.commands.conftest import AddCommand
from tests.service.commands.scripted import Scripted
from tests.support.clusters import gate_of
from tests.support.until import until

from svc_jupyter.api.paths import ARROW_STREAM
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.commands import Commands
from svc_jupyter.service.commands.growing import broken_off, growing_rows
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import NotFound
from svc_jupyter.service.ground.settings import Settings

_DEADLINE = 15.0


def arrow_stream(values: list[Any], batches: int | None = None) -> bytes:
    """Return a stream with each value in a batch of its own, or only with the first batches of it."""
    sink = pa.BufferOutputStream()
    table = pa.table({"value": values, "word": [None if value is None else f"{value:>400}" for value in values]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=1)[:batches]:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


WHOLE = arrow_stream([1, 2, None, 4])
HALF = len(arrow_stream([1, 2, None, 4], 2)) - 8
"""Where the second of four batches ends, with nothing that would tell it from the end of all."""


def rows_of(stream: bytes) -> list[Any]:
    return pa.ipc.open_stream(stream).read_all().column("value").to_pylist()


def is_readable(stream: bytes) -> bool:
    """Return whether the most lenient reader takes a stream for a whole one."""
    try:
        rows_of(stream)
    except (pa.ArrowInvalid, OSError):
        return False
    return True


class Growing(Scripted):
    """A command type whose scripts write rows; those of an attempt that succeeds are its result."""

    growing_file = "rows.part"

    async def run(self, task: Task, desk: Desk) -> Outcome:
        outcome = await super().run(task, desk)
        rows = task.folder / "rows"
        if not rows.exists():
            return replace(outcome, result=None)
        stored = StoredResult(ResultForm.ARROW, f"{task.attempt}/rows", rows.stat().st_size, 4)
        return replace(outcome, result=stored)


@pytest.fixture
async def commands(settings: Settings, database: Database, tmp_path: Path) -> AsyncIterator[Commands]:
    """Commands whose scripts find the first and the second half of a stream in `$half1` and `$half2`."""
    for name, content in (("half1", WHOLE[:HALF]), ("half2", WHOLE[HALF:]), ("other", arrow_stream([5, 6, 7, 8]))):
        (tmp_path / name).write_bytes(content)
    begin = f"cd ..; half1={tmp_path}/half1 half2={tmp_path}/half2 other={tmp_path}/other"
    wait = f"go() {{ until [ -e {tmp_path}/go ]; do sleep 0.02; done; }}"
    bus = Bus(database)
    await bus.start()
    kinds = {
        "DbTapQueryCommand": Growing(lambda task: f"{begin}; {wait}; {task.command['inline']}"),
        "ShellCommand": Scripted(lambda task: str(task.command["inline"])),
    }
    gate = gate_of(settings, database, bus)
    changed = settings.model_copy(update={"kill_grace_seconds": 1.0})
    runner = Runner(changed, database, bus, kinds, gate=gate, at_end=())
    await runner.start()
    yield Commands(settings, database, bus, kinds, runner, gate)
    await runner.stop()
    await bus.stop()
    end_commands_of(settings.data_dir)


class Reader:
    """What comes of a command's rows, read up to any point."""

    def __init__(self, parts: AsyncIterator[bytes]) -> None:
        self._parts = parts
        self.read = b""

    async def up_to(self, count: int) -> bytes:
        async with asyncio.timeout(_DEADLINE):
            while len(self.read) < count:
                self.read += await anext(self._parts)
        return self.read

    async def to_end(self) -> bytes:
        async with asyncio.timeout(_DEADLINE):
            async for part in self._parts:
                self.read += part
        return self.read


@pytest.fixture
def submit(commands: Commands, add_command: AddCommand) -> Callable[..., int]:
    """Submits a script of the growing type and returns the command's id."""

    def submit(script: str, **row: Any) -> int:
        command_id = add_command(**{"command_type": "DbTapQueryCommand", "command": {"inline": script}, **row})
        commands._runner._on_waiting("")
        return command_id

    return submit


@pytest.fixture
def follow(commands: Commands, caller: Caller) -> Callable[[int], Any]:
    """Waits for the first rows of a command and returns what reads them."""

    async def follow(command_id: int) -> Reader:
        parts = await growing_rows(commands, command_id, caller, _DEADLINE)
        assert parts is not None
        return Reader(parts)

    return follow


async def status_of(commands: Commands, command_id: int, caller: Caller) -> str:
    return str((await commands.wait(command_id, caller, _DEADLINE)).status)


async def test_rows_come_while_they_are_written_and_add_up_to_the_result(
    submit: Any, follow: Any, commands: Commands, caller: Caller, tmp_path: Path
):
    command_id = submit("cat $half1 >rows.part; go; cat $half2 >>rows.part; mv rows.part rows")
    reader = await follow(command_id)
    assert (await reader.up_to(HALF - 8)) == WHOLE[: HALF - 8]
    assert (await commands.row(command_id, caller)).status == "running"
    (tmp_path / "go").touch()
    assert await reader.to_end() == WHOLE
    assert rows_of(reader.read) == [1, 2, None, 4]
    assert await status_of(commands, command_id, caller) == "done"


async def test_the_end_marker_waits_for_the_end_of_the_command(submit: Any, follow: Any, tmp_path: Path):
    reader = await follow(submit("cat $half1 $half2 >rows.part; go; mv rows.part rows"))
    assert await reader.up_to(len(WHOLE) - 8) == WHOLE[:-8]
    (tmp_path / "go").touch()
    assert await reader.to_end() == WHOLE


@pytest.mark.parametrize(
    ("ends_with", "status"),
    [
        ("exit 99", "error"),
        ("rm rows.part; exit 99", "error"),
        ("cat $half2 >>rows.part; exit 99", "error"),
        ("head -c 100 $half2 >>rows.part; exit 99", "error"),
        ("kill -9 $PPID $$", "error"),
        ("rm rows.part", "done"),
        ("mv rows.part narrow; cat $half2 >>narrow; cat $other >rows.part; rm narrow; mv rows.part rows", "done"),
        ("cat $half2 >>rows.part; rm rows.part; cat $other >rows.part; mv rows.part rows", "done"),
        ("cp rows.part rows", "done"),
        ("[ $(basename $PWD) = 1 ] && exit 1; cat $half2 >>rows.part; mv rows.part rows", "done"),
    ],
)
async def test_rows_that_are_not_the_result_cannot_be_taken_for_whole(
    submit: Any, follow: Any, commands: Commands, caller: Caller, tmp_path: Path, ends_with: str, status: str
):
    command_id = submit(f"cat $half1 >rows.part; go; {ends_with}", retry=1, retry_delay=0)
    reader = await follow(command_id)
    await reader.up_to(HALF - 8)
    (tmp_path / "go").touch()
    assert not is_readable(await reader.to_end())
    assert await status_of(commands, command_id, caller) == status


async def test_a_cancellation_breaks_the_rows_off(submit: Any, follow: Any, commands: Commands, caller: Caller):
    command_id = submit("cat $half1 >rows.part; go")
    reader = await follow(command_id)
    await reader.up_to(HALF - 8)
    assert (await commands.cancel(command_id, caller)).succeeded
    assert not is_readable(await reader.to_end())


async def test_a_service_that_stops_breaks_the_rows_off(submit: Any, follow: Any, commands: Commands):
    reader = await follow(submit("cat $half1 >rows.part; go"))
    await reader.up_to(HALF - 8)
    commands.stop()
    assert not is_readable(await reader.to_end())


async def test_a_reader_that_goes_away_leaves_nothing_behind(submit: Any, follow: Any, commands: Commands):
    reader = await follow(submit("cat $half1 >rows.part; go"))
    await reader.up_to(1)
    await reader._parts.aclose()  # type: ignore[attr-defined]
    await until(lambda: not commands._ends._waiting)


async def test_a_command_without_growing_rows_is_not_followed(
    submit: Any, add_command: AddCommand, commands: Commands, caller: Caller, tmp_path: Path
):
    command_id = submit("go; cat $half1 $half2 >rows")
    assert await growing_rows(commands, command_id, caller, 0) is None
    assert await growing_rows(commands, command_id, caller, 0.05) is None
    (tmp_path / "go").touch()
    assert await growing_rows(commands, command_id, caller, _DEADLINE) is None  # it has ended meanwhile
    lines = add_command(status="running", command={"inline": "sleep 60"})
    assert await growing_rows(commands, lines, caller, _DEADLINE) is None
    with pytest.raises(NotFound):
        await growing_rows(commands, 99, caller, _DEADLINE)
    await until(lambda: not commands._ends._waiting)


def test_wherever_a_stream_is_broken_off_no_reader_takes_it_for_whole():
    assert is_readable(WHOLE)
    assert is_readable(WHOLE[:HALF]), "a reader does not miss the end marker by itself"
    taken = [count for count in range(8, len(WHOLE) - 8) if is_readable(WHOLE[:count] + broken_off(count))]
    assert taken == []


class TestOverHttp:
    def get(self, http: httpx.Client, command_id: int, **params: Any) -> httpx.Response:
        return http.get(f"/commands/{command_id}/results", params=params, headers={"Accept": ARROW_STREAM})

    def test_a_command_that_is_done_is_answered_as_ever(self, http: httpx.Client, done: int):
        whole = self.get(http, done)
        assert self.get(http, done, follow="true", wait=60).content == whole.content

    def test_a_command_without_rows_to_follow_is_not_done(self, http: httpx.Client, running: int):
        response = self.get(http, running, follow="true", wait=60)
        assert response.status_code == 422
        assert response.json()["error"]["error_message"] == f"command {running} is not done (running)"

    def test_a_command_that_failed_has_none(self, http: httpx.Client, failed: int):
        assert self.get(http, failed, follow="true", wait=60).status_code == 422
