"""Rules for keeping files: what they find, what goes, what stays, and what readers and a kill in the middle see."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError
from tests.service.conftest import ON_POSTGRESQL
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.api.retention import Files, RetentionRule
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands import kept_files
from svc_jupyter.service.commands.rows import CommandRow, command_root
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.service_lease import ServiceLease
from svc_jupyter.service.ground.errors import Invalid, StateConflict
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.retention import files
from svc_jupyter.service.retention.pruner import Pruner
from svc_jupyter.service.retention.retention import Retention
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.retention import command_files

on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])
DAY = 86_400


class Store:
    """Ended commands with files, and the parts that look after them."""

    def __init__(self, settings: Settings, database: Database, caller: Caller) -> None:
        self.settings = settings
        self.database = database
        self.caller = caller
        bus = Bus(database)
        self.retention = Retention(database, bus, {"ShellCommand": None, "PigCommand": None})  # type: ignore[dict-item]
        self.pruner = Pruner(settings, database, bus)

    def command(self, *, days: float = 0, status: str = "done", size: int = 1000, **values: Any) -> CommandRow:
        """Add a command that ended so many days ago, with a result and a log of these bytes."""
        now = time.time()
        row = {
            "account_id": self.caller.account_id,
            "user_id": self.caller.user_id,
            "command_type": "ShellCommand",
            "command_source": "API",
            "status": status,
            "command": {},
            "created_at": now - days * DAY,
            "end_time": None if status in ("running", "waiting") else now - days * DAY,
            "can_notify": False,
            "folder_key": "key",
            **values,
        }
        with self.database.begin() as connection:
            inserted = connection.execute(sa.insert(commands).values(row).returning(commands)).one()
            found = CommandRow.from_row(inserted)
            if found.is_final:
                kept_files.on_command_end(connection, found)
        root = self.root(found)
        (root / "1" / "work").mkdir(parents=True)
        (root / "1" / "out").write_bytes(b"x" * size)
        (root / "log").write_bytes(b"l" * (size // 10))
        return found

    def root(self, row: CommandRow) -> Path:
        return command_root(self.settings.commands_dir, row.id, row.folder_key)

    async def rules(self, *rules: dict[str, Any]) -> None:
        parsed = [RetentionRule.model_validate(rule) for rule in rules]
        await self.retention.set_rules(type(await self.retention.rules(self.caller))(rules=parsed), self.caller)

    async def prune(self) -> None:
        while await self.pruner.step():
            pass

    def there(self, *rows: CommandRow) -> list[str]:
        """Return which files are there: r for the result, l for the log."""
        return ["r" * (self.root(row) / "1" / "out").exists() + "l" * (self.root(row) / "log").exists() for row in rows]


@pytest.fixture
def store(settings: Settings, database: Database, caller: Caller) -> Iterator[Store]:
    return Store(settings, database, caller)


async def test_without_a_rule_nothing_is_deleted_or_measured(store: Store):
    old = store.command(days=5000)
    await store.prune()
    assert store.there(old) == ["rl"]
    assert (await kept_files.command_files_of(store.database, old)).result_bytes is None


async def test_files_beyond_the_days_go_and_the_record_says_why(store: Store):
    old, new = store.command(days=31), store.command(days=29)
    running, waiting = store.command(days=90, status="running"), store.command(days=90, status="waiting")
    await store.rules({"what": "results", "command_type": "ShellCommand", "keep_days": 30})
    await store.prune()
    assert store.there(old, new, running, waiting) == ["l", "rl", "rl", "rl"]
    today = time.strftime("%Y-%m-%d", time.gmtime())
    rule = "results of ShellCommand, at most 30 days"
    told = await kept_files.deletion_of(store.database, old, Files.RESULTS)
    assert told == f"the result of command {old.id} was deleted on {today} by the rule: {rule}"
    assert await kept_files.deletion_of(store.database, old, Files.LOGS) is None
    with store.database.connect() as connection:
        assert connection.execute(sa.select(commands.c.status).where(commands.c.id == old.id)).scalar() == "done"
    await store.rules({"what": "logs", "keep_days": 30})
    await store.prune()
    assert store.there(old, new, running, waiting) == ["", "rl", "rl", "rl"]
    assert not store.root(old).exists()


async def test_the_oldest_go_beyond_the_bytes(store: Store):
    rows = [store.command(days=days, size=1000) for days in (5, 4, 3, 2, 1)]
    await store.rules({"what": "results", "keep_bytes": 2500})
    await store.prune()
    assert store.there(*rows) == ["l", "l", "l", "rl", "rl"]


async def test_the_most_specific_rule_counts(store: Store):
    of_schedule, of_type, other = (store.command(days=10, command_type=kind) for kind in ("PigCommand",) * 2 + ("X",))
    with store.database.begin() as connection:
        this = command_files.c.command_id == of_schedule.id
        connection.execute(sa.update(command_files).where(this).values(schedule_id=7))
    await store.rules(
        {"what": "results", "keep_days": 5},
        {"what": "results", "command_type": "PigCommand", "keep_days": 20},
        {"what": "results", "schedule_id": 7, "keep_days": 9},
    )
    await store.prune()
    assert store.there(of_schedule, of_type, other) == ["l", "rl", "l"]


async def test_a_kept_result_stays_until_it_is_released(store: Store):
    row, running = store.command(days=99), store.command(days=99, status="running")
    for one in (row, running):
        assert (await kept_files.keep_files(store.database, one, store.caller, keep=True)).keep
    with store.database.begin() as connection:
        kept_files.on_command_end(connection, running.updated({"end_time": time.time() - 99 * DAY}))
    await store.rules({"what": "results", "keep_days": 1, "keep_bytes": 0})
    await store.prune()
    assert store.there(row, running) == ["rl", "rl"]
    assert not (await kept_files.keep_files(store.database, row, store.caller, keep=False)).keep
    await store.prune()
    assert store.there(row, running) == ["l", "rl"]
    with pytest.raises(StateConflict, match=r"cannot be kept: its result was deleted on .*, at most 1 day$"):
        await kept_files.keep_files(store.database, row, store.caller, keep=True)


async def test_the_files_of_children_go_and_stay_with_their_composite(store: Store):
    composite = store.command(days=0)
    child = store.command(days=50, parent_id=composite.id, child_number=1)
    of_running = store.command(days=50, status="running")
    its_child = store.command(days=50, parent_id=of_running.id, child_number=1)
    await store.rules({"what": "results", "keep_days": 30})
    await store.prune()
    assert store.there(composite, child, its_child) == ["rl", "rl", "rl"]
    assert (await kept_files.command_files_of(store.database, child)).result_bytes == 2000
    await store.rules({"what": "results", "keep_bytes": 0})
    await store.prune()
    assert store.there(composite, child, its_child) == ["l", "l", "rl"]
    told = await kept_files.deletion_of(store.database, child, Files.RESULTS)
    assert told is not None
    assert f"the result of command {child.id} was deleted" in told


async def test_a_plan_tells_what_would_go(store: Store):
    for days in (1, 10, 20):
        store.command(days=days)
    rules = [RetentionRule.model_validate({"what": "results", "keep_days": 15, "keep_bytes": 1500})]
    assert (await store.retention.plan(rules, store.caller)).unmeasured == 3
    await store.rules({"what": "logs", "keep_days": 9999})
    await store.prune()  # measures
    plan = await store.retention.plan(rules, store.caller)
    assert [(one.commands, one.bytes) for one in plan.prunable] == [(1, 1000), (1, 1000)]
    assert (plan.bytes, plan.unmeasured) == (2000, 0)
    assert plan.prunable[1].rule == "results of all commands, at most 1,500 bytes"
    assert (await store.retention.plan(None, store.caller)).bytes == 0


@on_sqlite
async def test_a_kill_between_the_mark_and_the_files_is_made_good(store: Store):
    old = store.command(days=31)
    await store.rules({"what": "results", "keep_days": 30})
    while (await kept_files.command_files_of(store.database, old)).results_deleted is None:
        await store.pruner.step()
    assert store.there(old) == ["rl"]  # marked, and the service is killed here
    again = Pruner(store.settings, store.database, Bus(store.database))
    while await again.step():
        pass
    assert store.there(old) == ["l"]


@on_sqlite
async def test_a_command_pinned_or_a_rule_changed_in_between_deletes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    row = store.command(days=31)
    await store.rules({"what": "results", "keep_days": 30})
    read = store.database.read

    async def read_and_pin(work: Callable[[sa.Connection], Any]) -> Any:
        found = await read(work)
        if found == [row.id]:
            await kept_files.keep_files(store.database, row, store.caller, keep=True)
        return found

    await store.pruner.step()  # measures
    monkeypatch.setattr(store.database, "read", read_and_pin)
    await store.pruner.step()
    assert store.there(row) == ["rl"]
    monkeypatch.undo()
    await kept_files.keep_files(store.database, row, store.caller, keep=False)

    async def read_and_change(work: Callable[[sa.Connection], Any]) -> Any:
        found = await read(work)
        await store.rules()
        return found

    monkeypatch.setattr(store.database, "read", read_and_change)
    await store.pruner.step()
    assert store.there(row) == ["rl"]


@on_sqlite
async def test_rules_must_be_clear(store: Store):
    with pytest.raises(Invalid, match=r"rules\.0\.command_type: 'Nonsense' is unknown"):
        await store.rules({"what": "results", "command_type": "Nonsense", "keep_days": 1})
    for rule in ({}, {"keep_days": 0}, {"keep_days": 1, "command_type": "ShellCommand", "schedule_id": 1}):
        with pytest.raises(ValidationError):
            RetentionRule.model_validate({"what": "logs", **rule})


def test_removing_follows_no_link_and_opens_closed_folders(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    root = tmp_path / "1-key"
    work = root / "1" / "work"
    (work / "closed").mkdir(parents=True)
    (work / "closed" / "file").write_text("x")
    (work / "closed").chmod(0o500)
    (work / "link").symlink_to(outside)
    (root / "1" / "also").symlink_to(outside / "file")
    (root / "log").write_text("log")
    assert files.sizes(root)[Files.LOGS] == 3
    assert files.remove(root, results=True, log=False, until=time.monotonic() + 60)
    assert [entry.name for entry in os.scandir(root)] == ["log"]
    assert (outside / "file").read_text() == "stays"


def test_a_large_folder_goes_in_steps(tmp_path: Path):
    folder = tmp_path / "1-key" / "1"
    folder.mkdir(parents=True)
    for number in range(350):
        (folder / str(number)).touch()
    steps = 1
    while not files.remove(tmp_path / "1-key", results=True, log=True, until=0):
        steps += 1
    assert steps >= 4
    assert not (tmp_path / "1-key").exists()


def test_folders_in_folders_go_however_deep(tmp_path: Path):
    top = tmp_path / "1-key" / "1"
    top.mkdir(parents=True)
    descriptors = [os.open(top, os.O_RDONLY)]
    for _ in range(500):
        os.mkdir("folder-in-folder", dir_fd=descriptors[-1])
        descriptors.append(os.open("folder-in-folder", os.O_RDONLY, dir_fd=descriptors[-1]))
    for descriptor in descriptors:
        os.close(descriptor)
    calls = 0
    while not files.remove(tmp_path / "1-key", results=True, log=True, until=time.monotonic() + 60):
        calls += 1
        assert calls < 50
    assert not (tmp_path / "1-key").exists()


@ON_POSTGRESQL
async def test_one_replica_prunes_at_a_time(store: Store):
    first, second = ServiceLease("retention", 60), ServiceLease("retention", 60)
    assert await store.database.write(first.hold)
    assert not await store.database.write(second.hold)
    await store.database.write(first.leave)
    assert await store.database.write(second.hold)


@pytest.mark.all
def test_a_running_service_answers_with_the_rule(new_service: Callable[..., ServiceProcess]):
    service = new_service().start()
    pinned, gone = (service.ended(service.submit("seq 300000; echo log >&2")["id"]) for _ in range(2))
    assert service.http.put(f"/commands/{pinned['id']}/files", json={"keep": True}).json()["keep"]
    with service.http.stream("GET", f"/commands/{gone['id']}/results", headers={"Accept": "text/csv"}) as stream:
        parts = stream.iter_bytes(1000)
        first = next(parts)
        rules = [{"what": what, "keep_bytes": 0} for what in ("results", "logs")]
        plan = service.http.post("/account/retention/preview", json={"rules": rules}).json()
        assert plan["unmeasured"] == 2
        for method, path in (("PUT", ""), ("POST", "/preview")):
            for wrong, text in (
                ([*rules, rules[0]], "two rules about results"),
                ([{"what": "logs"}], "needs keep_days"),
            ):
                answer = service.http.request(method, f"/account/retention{path}", json={"rules": wrong})
                assert answer.status_code == 422
                assert text in answer.json()["error"]["error_message"]
        assert service.http.put("/account/retention", json={"rules": rules}).status_code == 200
        folder = service.folder(gone["id"])
        wait_until(lambda: not folder.exists(), "the files are gone")
        assert len(first + b"".join(parts).replace(b"\r", b"")) > 1_500_000  # read to its end all the same
    for path, accept in (("results", "text/csv"), ("results", "*/*"), ("logs", "*/*"), ("rows", "*/*")):
        answer = service.http.get(f"/commands/{gone['id']}/{path}", headers={"Accept": accept})
        assert answer.status_code == 404, path
        assert "by the rule: " in answer.json()["error"]["error_message"]
    assert service.record(gone["id"])["status"] == "done"
    assert service.text(pinned["id"]).startswith("1\r\n2\r\n")
    files_of_gone = service.http.get(f"/commands/{gone['id']}/files").json()
    assert files_of_gone["results_deleted"].startswith("deleted on ")
    assert files_of_gone["result_bytes"] > 1_500_000
    assert service.stop() == 0
