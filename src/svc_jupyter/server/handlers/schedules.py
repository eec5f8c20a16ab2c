"""`schedules` and `actions`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tornado.web import HTTPError

from svc_jupyter.api import paths
from svc_jupyter.client.errors import StatusError
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.server.handlers.service_handler import (
    CopiesHandler,
    ServiceHandler,
    StreamHandler,
    asks_the_service,
    without,
)
from svc_jupyter.server.recent_runs import RECENT_RUNS, RecentRuns
from svc_jupyter.server.runs_by_hand import RUNS_BY_HAND, RunsByHand, tags_of

_MOST_TIMETABLES = 100
_TIMES = 200
"""An hourly schedule's next week, and some more; a service that does not know `times` answers with five."""
_AT_ONCE = 8
_INVALID = 422
_OF_A_COMMAND = ("label", "macros", "pool", "name")


class ScheduleHandler(CopiesHandler):
    """One schedule."""

    @asks_the_service
    async def get(self, schedule_id: str) -> None:
        """Answer with the record."""
        await self.pass_on(Call("GET", paths.schedule(int(schedule_id))))

    @asks_the_service
    async def put(self, schedule_id: str) -> None:
        """Edit it, or `{"status": "suspend"|"resume"|"kill"}`."""
        await self.pass_on(Call("PUT", paths.schedule(int(schedule_id)), body=self.body))
        if self.body.get("status") == "kill" or "command" in self.body:
            await self.remove_unused_copies()


class ScheduleRunHandler(CopiesHandler):
    """Run a schedule's command once, now."""

    @asks_the_service
    async def post(self, schedule_id: str) -> None:
        """Submit the schedule's command; answer with the command's record."""
        client = await self.connection.client()
        async with self.copies.staying():
            record = (await client.answer(Call("GET", paths.schedule(int(schedule_id))))).json()
            submission = submission_of(record) | {"tags": tags_of(int(schedule_id))}
            await self.pass_on(Call("POST", paths.api("commands"), body=submission))


class ScheduleRunsHandler(ServiceHandler):
    """The runs of one schedule by hand."""

    @asks_the_service
    async def get(self, schedule_id: str) -> None:
        """Answer with the records of their commands, newest first; at most a page of them."""
        runs: RunsByHand = self.settings[RUNS_BY_HAND]
        self.finish({"commands": await runs.of(int(schedule_id))})


class NextTimesHandler(ServiceHandler):
    """The next times of several timetables, in one request of a page."""

    @asks_the_service
    async def post(self) -> None:
        """Answer with `next_times`: for each of `timetables` its next nominal times; null for one that is refused."""
        timetables = self.body.get("timetables")
        if not isinstance(timetables, list) or len(timetables) > _MOST_TIMETABLES:
            raise HTTPError(422, f"timetables must be a list of at most {_MOST_TIMETABLES}")
        slots = asyncio.Semaphore(_AT_ONCE)
        self.finish({"next_times": await asyncio.gather(*(self._next_times(one, slots) for one in timetables))})

    async def _next_times(self, timetable: Any, slots: asyncio.Semaphore) -> list[str] | None:
        async with slots:
            try:
                answer = await self.connection.answer(
                    Call("POST", paths.api("scheduler/preview_macro"), body={**_object(timetable), "times": _TIMES})
                )
            except StatusError as error:
                if error.status != _INVALID:
                    raise
                return None
        times: list[str] | None = answer.json().get("next_times")
        return times


class RecentRunsHandler(ServiceHandler):
    """The runs of all schedules in the last eight days."""

    @asks_the_service
    async def get(self) -> None:
        """Answer with `runs`, newest first, and `is_complete`: whether there are no more of these days."""
        recent: RecentRuns = self.settings[RECENT_RUNS]
        self.finish(await recent.read())


class ActionLogsHandler(StreamHandler):
    """The log of an action's command."""

    @asks_the_service
    async def get(self, action_id: str) -> None:
        """Answer with the log so far."""
        command_id = await command_of(self, action_id)
        call = Call("GET", paths.command(command_id, "logs"), self.query, accept="text/plain", stream=True)
        await self.pass_on_stream(call, "text/plain")


def submission_of(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """Return the submission of a schedule's command; without retries, which are for unattended runs.

    A record says `default` for no label, which is not the cluster of a note, nor the only one for Spark or Presto.
    """
    common = {name: schedule[name] for name in _OF_A_COMMAND if schedule.get(name) is not None}
    if schedule.get("has_label") is False:
        common.pop("label", None)
    command = {name: value for name, value in schedule["command"].items() if value is not None}
    timeout = schedule.get("command_timeout")
    limit = {"timeout": int(timeout) if str(timeout).isdecimal() else timeout} if timeout else {}
    return {**common, **limit, **without(command, "retry", "retry_delay"), "command_type": schedule["command_type"]}


async def command_of(handler: ServiceHandler, action_id: str) -> int:
    """Return the id of an action's command. Raises `HTTPError` 404 when it has none yet."""
    answer = await handler.connection.answer(Call("GET", paths.api(f"actions/{int(action_id)}")))
    action = answer.json()
    command_id = action.get("query_hist_id")
    if command_id is None:
        raise HTTPError(404, f"action {action_id} has not begun a command ({action.get('status')})")
    return int(command_id)


def _object(timetable: Any) -> dict[str, Any]:
    if not isinstance(timetable, dict):
        raise HTTPError(422, "a timetable must be an object")
    return timetable


_SCHEDULE, _ACTION = r"schedules/([0-9]{1,18})", r"actions/([0-9]{1,18})"
SCHEDULE_HANDLERS = (
    (r"schedules/next_times", NextTimesHandler),
    (r"runs/recent", RecentRunsHandler),
    (_SCHEDULE, ScheduleHandler),
    (rf"{_SCHEDULE}/run", ScheduleRunHandler),
    (rf"{_SCHEDULE}/runs", ScheduleRunsHandler),
    (rf"{_ACTION}/logs", ActionLogsHandler),
)
