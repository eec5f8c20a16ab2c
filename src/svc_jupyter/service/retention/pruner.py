"""The loop that deletes what the rules say, in steps that nobody feels.

A transaction marks the files as deleted before any of them goes. After a kill or a power cut, the next step finds the
mark and removes the rest. A rule finds only commands that have ended: not those that wait, run or will be retried. A
reader with an open file reads it to its end.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
import structlog

from svc_jupyter.api.retention import Files, RetentionRule
from svc_jupyter.service.access.accounts import ACCOUNT_ID
from svc_jupyter.service.commands.rows import command_root
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.service_lease import ServiceLease
from svc_jupyter.service.ground.background import run_forever
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.retention import files
from svc_jupyter.service.retention.retention import RULES
from svc_jupyter.service.retention.rules import DELETED_AT, DELETED_BY, limits_of, read_rules
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.retention import command_files

_C = command_files.c
_AT_ONCE: Final = 200
_STEP_SECONDS: Final = 0.2
"""How long a step works on files at most, except for a single large file."""
_REST = 2
"""After a step, the loop rests twice as long as the step took."""
_SHORTEST_REST_SECONDS: Final = 0.05
_IDLE_SECONDS: Final = 600.0
_LEASE_SECONDS: Final = 60.0
log = structlog.get_logger(__name__)


_Folders = Mapping[int, Sequence[Path]]


class Pruner:
    """Deletes files of ended commands by the rules of the account."""

    def __init__(self, settings: Settings, database: Database, bus: Bus) -> None:
        self._settings = settings
        self._database = database
        self._lease = ServiceLease("retention", _LEASE_SECONDS)
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        bus.subscribe(RULES, lambda _: self._wake.set())

    async def start(self) -> None:
        """Begin to look for files to delete."""
        self._loop = asyncio.create_task(run_forever("retention", self._next), name="retention")

    async def stop(self) -> None:
        """Stop; what a step has left is done by the next one."""
        if self._loop is None:
            return
        self._loop.cancel()
        await asyncio.gather(self._loop, return_exceptions=True)
        if not self._database.on_sqlite:
            with suppress(Unavailable):
                await self._database.write(self._lease.leave)

    async def _next(self) -> None:
        self._wake.clear()
        begun = time.monotonic()
        pause = _IDLE_SECONDS
        if not self._database.on_sqlite and not await self._database.write(self._lease.hold):
            pause = self._lease.renew_seconds
        elif await self.step():
            await asyncio.sleep(max(_SHORTEST_REST_SECONDS, _REST * (time.monotonic() - begun)))
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._wake.wait()

    async def step(self) -> bool:
        """Do one step; return whether there may be more to do."""
        if await self._sweep():
            return True
        rules = await self._database.look_up(partial(read_rules, account_id=ACCOUNT_ID))
        if not rules:
            return False
        return await self._measure() or await self._mark(rules)

    async def _mark(self, rules: Sequence[RetentionRule]) -> bool:
        """Mark the oldest files beyond a limit as deleted."""
        for limit in limits_of(rules, ACCOUNT_ID, time.time()):
            beyond = limit.beyond.c
            oldest = sa.select(beyond.command_id).order_by(beyond.ended_at, beyond.command_id).limit(_AT_ONCE)
            ids = await self._database.read(partial(_ids, query=oldest))
            if ids:
                marked = await self._database.write(partial(_mark, ids, limit.what, limit.text, rules))
                log.info("files_deleted", what=limit.what.value, commands=marked, rule=limit.text)
                return True
        return False

    async def _sweep(self) -> bool:
        """Remove marked files."""
        marked = await self._database.look_up(_marked)
        if marked:
            folders = await self._database.read(partial(self._folders, ids=[row.command_id for row in marked]))
            swept = await asyncio.to_thread(_remove, marked, folders, time.monotonic() + _STEP_SECONDS)
            if swept:
                await self._database.write(partial(_store_swept, swept))
        return bool(marked)

    async def _measure(self) -> bool:
        """Measure the files of commands that have ended."""
        unmeasured = sa.select(_C.command_id).where(_C.result_bytes.is_(None), _C.ended_at.is_not(None)).limit(_AT_ONCE)
        ids = await self._database.read(partial(_ids, query=unmeasured))
        if ids:
            folders = await self._database.read(partial(self._folders, ids=ids))
            measured = await asyncio.to_thread(_sizes, ids, folders, time.monotonic() + _STEP_SECONDS)
            await self._database.write(partial(_store_sizes, measured), durable=False)
        return bool(ids)

    def _folders(self, connection: sa.Connection, ids: Sequence[int]) -> _Folders:
        """Return the folders of commands and of their children, by the id of the command."""
        own = sa.or_(commands.c.id.in_(ids), commands.c.parent_id.in_(ids))
        found: dict[int, list[Path]] = defaultdict(list)
        for row in connection.execute(sa.select(commands.c.id, commands.c.parent_id, commands.c.folder_key).where(own)):
            root = command_root(self._settings.commands_dir, row.id, row.folder_key)
            found[row.parent_id or row.id].append(root)
        return found


def _ids(connection: sa.Connection, query: sa.Select[Any]) -> list[int]:
    return [command_id for (command_id,) in connection.execute(query)]


def _mark(ids: Sequence[int], what: Files, text: str, rules: Sequence[RetentionRule], connection: sa.Connection) -> int:
    """Mark files as deleted; return how many. None when the rules have changed, or a user has just pinned them."""
    if read_rules(connection, ACCOUNT_ID) != list(rules):
        return 0
    now = time.time()
    marked = connection.execute(
        sa.update(command_files)
        .where(_C.command_id.in_(ids), sa.not_(_C.is_kept), DELETED_AT[what].is_(None), _C.ended_at.is_not(None))
        .values({DELETED_AT[what]: now, DELETED_BY[what]: text, _C.sweep_since: now})
    )
    return marked.rowcount


def _marked(connection: sa.Connection) -> list[Any]:
    columns = (_C.command_id, _C.results_deleted_at, _C.logs_deleted_at, _C.sweep_since)
    query = sa.select(*columns).where(_C.sweep_since.is_not(None)).order_by(_C.sweep_since).limit(_AT_ONCE)
    return list(connection.execute(query))


def _store_swept(swept: Sequence[dict[str, Any]], connection: sa.Connection) -> None:
    """Note that marked files are gone, unless more of the command were marked meanwhile."""
    done = (_C.command_id == sa.bindparam("command")) & (_C.sweep_since == sa.bindparam("since"))
    connection.execute(sa.update(command_files).where(done).values(sweep_since=None), swept)


def _store_sizes(measured: Sequence[dict[str, int]], connection: sa.Connection) -> None:
    connection.execute(
        sa.update(command_files)
        .where(_C.command_id == sa.bindparam("command"))
        .values(result_bytes=sa.bindparam("results"), log_bytes=sa.bindparam("logs")),
        measured,
    )


def _remove(marked: Sequence[Any], folders: _Folders, until: float) -> list[dict[str, Any]]:
    """Remove marked files until a time; return the commands whose files are gone.

    What cannot be removed is logged and left.
    """
    swept = []
    for row in marked:
        results, logs = row.results_deleted_at is not None, row.logs_deleted_at is not None
        try:
            if not all(files.remove(root, results=results, log=logs, until=until) for root in folders[row.command_id]):
                break
        except OSError as error:
            log.warning("files_not_deleted", command_id=row.command_id, reason=str(error))
        swept.append({"command": row.command_id, "since": row.sweep_since})
        if time.monotonic() > until:
            break
    return swept


def _sizes(ids: Sequence[int], folders: _Folders, until: float) -> list[dict[str, int]]:
    """Return the sizes of the files of the first commands; how many depends on the time."""
    measured: list[dict[str, int]] = []
    for command_id in ids:
        found = [files.sizes(root) for root in folders[command_id]]
        size = {what: sum(one[what] for one in found) for what in Files}
        measured.append({"command": command_id, "results": size[Files.RESULTS], "logs": size[Files.LOGS]})
        if time.monotonic() > until:
            break
    return measured
