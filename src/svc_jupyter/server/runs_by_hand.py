"""Runs of schedules by hand: commands with tags, by which every front end of the service finds them again."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.client.errors import Forbidden, NotFound
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.connection import ServiceConnection

RUNS_BY_HAND = "svc_jupyter_runs_by_hand"
"""Their key in the settings of the Jupyter server."""
_TAG = "by-hand"
_SCHEDULE = re.compile(rf"\b{_TAG}-([0-9]{{1,18}})\b")
_EVER = "2000-01-01"
_DAYS = 7
_MOST = 100
_AT_ONCE = 8
_KNOWN = 1000


def tags_of(schedule_id: int) -> str:
    """Return the tags of a run of a schedule by hand."""
    return f"[{_TAG},{_TAG}-{schedule_id}]"


class RunsByHand:
    """Finds the runs by hand. Every method raises `SvcError`."""

    def __init__(self, connection: ServiceConnection) -> None:
        self._connection = connection
        self._schedules: OrderedDict[tuple[int, str], int | None] = OrderedDict()
        """The schedule of a command, by the command's id and time: tags never change."""

    async def of(self, schedule_id: int) -> list[dict[str, Any]]:
        """Return the records of a schedule's newest runs by hand, newest first."""
        return await self._tagged(f"{_TAG}-{schedule_id}", _EVER)

    async def newest(self) -> list[dict[str, Any]]:
        """Return the newest run by hand of each schedule in the last seven days: `schedule_id` and `command`."""
        found: dict[int, dict[str, Any]] = {}
        for schedule_id, command in await self.recent():
            found.setdefault(schedule_id, command)
        return [{"schedule_id": schedule_id, "command": command} for schedule_id, command in found.items()]

    async def recent(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the runs by hand of the last seven days, newest first: the schedule's id and the command's record."""
        since = datetime.now(UTC) - timedelta(days=_DAYS)
        commands = await self._tagged(_TAG, f"{since:%Y-%m-%d}")
        slots = asyncio.Semaphore(_AT_ONCE)
        schedules = await asyncio.gather(*(self._schedule_of(command, slots) for command in commands))
        return [(one, command) for one, command in zip(schedules, commands, strict=True) if one is not None]

    async def _tagged(self, tag: str, since: str) -> list[dict[str, Any]]:
        """Return commands with a tag: those of all users if the user may see them."""
        wanted = {"tags": tag, "start_date": since, "per_page": _MOST}
        try:
            answer = await self._connection.answer(Call("GET", paths.api("commands"), {**wanted, "all_users": True}))
        except Forbidden:
            answer = await self._connection.answer(Call("GET", paths.api("commands"), wanted))
        return [dict(command) for command in answer.json()["commands"]]

    async def _schedule_of(self, command: Mapping[str, Any], slots: asyncio.Semaphore) -> int | None:
        key = (command["id"], str(command.get("created_at")))
        if key not in self._schedules:
            call = Call("GET", paths.command(command["id"]), {"include_query_properties": True})
            async with slots:
                try:
                    tags = (await self._connection.answer(call)).json().get("tags")
                except NotFound:
                    tags = None
            match = _SCHEDULE.search(str(tags))
            self._schedules[key] = int(match[1]) if match else None
            if len(self._schedules) > _KNOWN:
                self._schedules.popitem(last=False)
        return self._schedules[key]
