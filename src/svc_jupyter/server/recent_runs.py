"""The runs of all schedules of the last week, in the few words that a timeline needs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.client.errors import NotFound
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.connection import ServiceConnection
from svc_jupyter.server.runs_by_hand import RunsByHand

RECENT_RUNS = "svc_jupyter_recent_runs"
"""Their key in the settings of the Jupyter server."""
_DAYS = 8
"""Seven whole days of every time zone."""
_PER_PAGE = 100
_MOST_PAGES = 20
"""2,000 actions: more are neither read nor shown."""
_MOST_OPEN = 50
_AT_ONCE = 8
_ENDS = frozenset({"done", "error", "cancelled"})


class RecentRuns:
    """Reads actions once: at the next read only new ones, and those that had not ended. Raises `SvcError`."""

    def __init__(self, connection: ServiceConnection, by_hand: RunsByHand) -> None:
        self._connection = connection
        self._by_hand = by_hand
        self._reading = asyncio.Lock()
        self._of: object = None
        """The client whose service the actions are of."""
        self._actions: dict[int, dict[str, Any]] = {}
        self._has_all = False

    async def read(self) -> dict[str, Any]:
        """Return `runs`, newest first, and whether they are all of these days: `is_complete`."""
        since = f"{datetime.now(UTC) - timedelta(days=_DAYS):%Y-%m-%dT%H:%M:%SZ}"
        async with self._reading:
            client = await self._connection.client()
            if client is not self._of:
                self._of, self._actions = client, {}
            read = await self._read_new(since)
            await self._read_open(read)
            recent = {key: run for key, run in self._actions.items() if run["created_at"] >= since or not run["done"]}
            self._has_all |= len(recent) < len(self._actions)
            self._actions = recent
            by_hand = [_of_command(schedule_id, command) for schedule_id, command in await self._by_hand.recent()]
            runs = [*recent.values(), *by_hand]
        runs.sort(key=lambda run: str(run["created_at"]), reverse=True)
        return {"runs": runs, "is_complete": self._has_all}

    async def _read_new(self, since: str) -> set[int]:
        """Read pages up to a known action, or to the first one before `since`; return the ids of the read ones."""
        read: dict[int, dict[str, Any]] = {}
        for page in range(1, _MOST_PAGES + 1):
            query = {"page": page, "per_page": _PER_PAGE}
            answer = (await self._connection.answer(Call("GET", paths.api("actions"), query))).json()
            read.update((record["id"], _of_action(record)) for record in answer["actions"])
            oldest = min((run["created_at"] for run in read.values()), default=since)
            if answer["paging_info"]["next_page"] is None or oldest < since:
                self._has_all = True
                break
            if not self._actions.keys().isdisjoint(read):
                break
        else:
            self._actions, self._has_all = {}, False
        self._actions.update(read)
        return set(read)

    async def _read_open(self, read: Iterable[int]) -> None:
        """Read the older actions again that had not ended."""
        slots = asyncio.Semaphore(_AT_ONCE)
        before = [key for key in self._actions.keys() - set(read) if not self._actions[key]["done"]]
        await asyncio.gather(*(self._read_again(key, slots) for key in sorted(before, reverse=True)[:_MOST_OPEN]))

    async def _read_again(self, action_id: int, slots: asyncio.Semaphore) -> None:
        async with slots:
            try:
                answer = await self._connection.answer(Call("GET", paths.api(f"actions/{action_id}")))
            except NotFound:
                del self._actions[action_id]
            else:
                self._actions[action_id] = _of_action(answer.json())


def _of_action(action: Mapping[str, Any]) -> dict[str, Any]:
    command = action.get("command") or {}
    return {
        "schedule_id": action["periodic_job_id"],
        "action_id": action["id"],
        "nominal_time": action["nominal_time"],
        "rerun_number": action["rerun_number"],
        "done": action["done"],
        "message": action.get("message"),
        "created_at": action["created_at"],
        "command_id": action.get("query_hist_id"),
        **_of_both(command),
        "status": action["status"],
    }


def _of_command(schedule_id: int, command: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run by hand."""
    return {
        "schedule_id": schedule_id,
        "action_id": None,
        "nominal_time": None,
        "rerun_number": 0,
        "done": command["status"] in _ENDS,
        "message": command.get("message"),
        "created_at": command["created_at"],
        "command_id": command["id"],
        **_of_both(command),
        "status": command["status"],
    }


def _of_both(command: Mapping[str, Any]) -> dict[str, Any]:
    return {key: command.get(key) for key in ("name", "start_time", "end_time", "started_at", "ended_at")}
