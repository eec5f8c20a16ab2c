"""Schedules, their changes and their actions."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Mapping
from typing import Any, Unpack

from svc_jupyter.api.commands import CommandRecord, Results
from svc_jupyter.api.schedules import ActionList, ActionRecord, Preview, Rescheduled, ScheduleList, ScheduleRecord
from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.schedules import PreviewFields, ScheduleFields, ScheduleFlows, latest
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncSchedules:
    """Schedules, as `client.schedules`. `sequence_id` counts a schedule's nominal times from 1."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = ScheduleFlows(performer.link)

    async def create(
        self,
        command_type: str,
        command: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        **fields: Unpack[ScheduleFields],
    ) -> ScheduleRecord:
        """Create a schedule that runs a command, as in `create("ShellCommand", {"inline": "date"}, frequency=1)`.

        The same `idempotency_key` within 24 hours returns the same schedule. Raises Invalid when a field, a macro or
        the command is wrong.
        """
        return await self._performer.run(self._flows.create(command_type, command, fields, idempotency_key))

    async def edit(
        self, schedule_id: int, *, command: Mapping[str, Any] | None = None, **fields: Unpack[ScheduleFields]
    ) -> ScheduleRecord:
        """Change the given attributes; the others are unchanged. Actions that have begun are not affected."""
        return await self._performer.run(self._flows.edit(schedule_id, {"command": command, **fields}))

    async def list(
        self, *, page: int = 1, per_page: int = 10, name: str | None = None, status: str | None = None
    ) -> ScheduleList:
        """Return one page of schedules, newest first; `name` filters by a substring of three characters or more."""
        return await self._performer.run(self._flows.page(page, per_page, name, status))

    async def iter(self, *, name: str | None = None, status: str | None = None) -> AsyncIterator[ScheduleRecord]:
        """Yield all schedules, newest first."""
        for schedule in await self._performer.run(self._flows.all(name, status)):
            yield schedule

    async def get(self, schedule_id: int) -> ScheduleRecord:
        """Return a schedule; raises NotFound for an unknown id."""
        return await self._performer.run(self._flows.get(schedule_id))

    async def find(self, name_or_id: str | int) -> ScheduleRecord:
        """Return the schedule with a name or id. Raises NotFound with the nearest names, NotUnique with all ids.

        Among several with the same name it returns the only one that is neither done nor killed, or else the newest.
        """
        return await self._performer.run(self._flows.find(name_or_id))

    async def suspend(self, schedule_id: int) -> ScheduleStatus:
        """Suspend a schedule: no action begins until `resume`. Return the new status. Running actions continue."""
        return (await self._performer.run(self._flows.change_state(schedule_id, "suspend"))).status

    async def resume(self, schedule_id: int, *, no_catch_up: bool | None = None) -> ScheduleStatus:
        """Resume a schedule; with `no_catch_up` missed nominal times are dropped. Return the new status."""
        return (await self._performer.run(self._flows.change_state(schedule_id, "resume", no_catch_up))).status

    async def kill(self, schedule_id: int) -> ScheduleStatus:
        """Kill a schedule; return the new status."""
        return (await self._performer.run(self._flows.change_state(schedule_id, "kill"))).status

    async def preview(self, **fields: Unpack[PreviewFields]) -> Preview:
        """Return a command with its macros resolved, and their values; nothing is created.

        With a timetable in `fields`, a service with the extension also returns the next nominal times.
        """
        return await self._performer.run(self._flows.preview(fields))

    async def actions(self, schedule_id: int | None = None, *, page: int = 1, per_page: int = 10) -> ActionList:
        """Return one page of actions, newest first, of a schedule or of all schedules that the caller may see."""
        return await self._performer.run(self._flows.action_page(schedule_id, page, per_page))

    def iter_actions(self, schedule_id: int | None = None) -> AsyncIterator[ActionRecord]:
        """Yield all actions, newest first, a page at a time."""
        return self._performer.every(
            lambda page: self._flows.action_page(schedule_id, page, WHOLE_PAGE),
            lambda found: (found.actions, found.paging_info),
        )

    async def action(self, schedule_id: int, sequence_id: int) -> ActionRecord:
        """Return the action with a sequence number; if it was rerun, the newest rerun."""
        return latest(await self._performer.run(self._flows.action(schedule_id, sequence_id)))

    async def action_with_id(self, action_id: int) -> ActionRecord:
        """Return the action with an id."""
        return await self._performer.run(self._flows.action_by_id(action_id))

    async def kill_action(self, action_id: int) -> bool:
        """Kill an action and its command; return whether it took effect."""
        return await self._performer.run(self._flows.kill_action(action_id))

    async def rerun(self, action_id: int) -> Rescheduled:
        """Run an action again for the same nominal time; the answer's `action` is the new one, if reported."""
        return await self._performer.run(self._flows.rerun(action_id))

    async def instances(self, schedule_id: int) -> builtins.list[CommandRecord]:
        """Return all commands that a schedule ran, newest first."""
        return await self._performer.run(self._flows.all_instances(schedule_id))

    async def instance_logs(self, schedule_id: int, instance: int) -> str:
        """Return the log of a run; `instance` is its sequence number and selects the newest rerun."""
        return await self._performer.run(self._flows.instance_logs(schedule_id, instance))

    async def instance_results(self, schedule_id: int, instance: int) -> Results:
        """Return the results of a run as text; use `client.commands.get` of its command to read typed results."""
        return await self._performer.run(self._flows.instance_results(schedule_id, instance))
