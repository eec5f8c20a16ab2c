"""Schedules: made, changed, and what they ran."""
# Made from asynchronous/schedules.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any, Unpack

from svc_jupyter.api.commands import CommandRecord, Results
from svc_jupyter.api.schedules import ActionList, ActionRecord, Preview, Rescheduled, ScheduleList, ScheduleRecord
from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.schedules import PreviewFields, ScheduleFields, ScheduleFlows, latest
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


class Schedules:
    """Schedules, as `client.schedules`. `sequence_id` counts a schedule's nominal times from 1."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = ScheduleFlows(performer.link)

    def create(
        self,
        command_type: str,
        command: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        **fields: Unpack[ScheduleFields],
    ) -> ScheduleRecord:
        """Make a schedule that runs a command, as in `create("ShellCommand", {"inline": "date"}, frequency=1)`.

        The same `idempotency_key` within 24 hours returns the same schedule. Raises Invalid when a field, a macro or
        the command is wrong.
        """
        return self._performer.run(self._flows.create(command_type, command, fields, idempotency_key))

    def edit(
        self, schedule_id: int, *, command: Mapping[str, Any] | None = None, **fields: Unpack[ScheduleFields]
    ) -> ScheduleRecord:
        """Change the given attributes; the others stay. What has begun already goes on as it was."""
        return self._performer.run(self._flows.edit(schedule_id, {"command": command, **fields}))

    def list(
        self, *, page: int = 1, per_page: int = 10, name: str | None = None, status: str | None = None
    ) -> ScheduleList:
        """Return one page of schedules, newest first; `name` is a part of the name, of three characters or more."""
        return self._performer.run(self._flows.page(page, per_page, name, status))

    def iter(self, *, name: str | None = None, status: str | None = None) -> Iterator[ScheduleRecord]:
        """Yield all schedules, newest first."""
        yield from self._performer.run(self._flows.all(name, status))

    def get(self, schedule_id: int) -> ScheduleRecord:
        """Return a schedule; NotFound when there is none with this id."""
        return self._performer.run(self._flows.get(schedule_id))

    def find(self, name_or_id: str | int) -> ScheduleRecord:
        """Return the schedule with a name or an id; NotFound names the nearest ones, NotUnique the ids of several.

        Of several with one name the only one that is neither done nor killed is meant, or else the newest.
        """
        return self._performer.run(self._flows.find(name_or_id))

    def suspend(self, schedule_id: int) -> ScheduleStatus:
        """Let no further action begin until `resume`; return the new status. What runs goes on."""
        return (self._performer.run(self._flows.change_state(schedule_id, "suspend"))).status

    def resume(self, schedule_id: int, *, no_catch_up: bool | None = None) -> ScheduleStatus:
        """Go on; with `no_catch_up` the nominal times missed meanwhile are dropped. Returns the new status."""
        return (self._performer.run(self._flows.change_state(schedule_id, "resume", no_catch_up))).status

    def kill(self, schedule_id: int) -> ScheduleStatus:
        """End a schedule for good; return the new status."""
        return (self._performer.run(self._flows.change_state(schedule_id, "kill"))).status

    def preview(self, **fields: Unpack[PreviewFields]) -> Preview:
        """Return a command with its macros put in, and their values; nothing is made.

        With a timetable in `fields` a service with the extension also tells the next nominal times.
        """
        return self._performer.run(self._flows.preview(fields))

    def actions(self, schedule_id: int | None = None, *, page: int = 1, per_page: int = 10) -> ActionList:
        """Return one page of actions, newest first, of a schedule or of all that the caller may see."""
        return self._performer.run(self._flows.action_page(schedule_id, page, per_page))

    def iter_actions(self, schedule_id: int | None = None) -> Iterator[ActionRecord]:
        """Yield all actions, newest first, a page at a time."""
        pages: Pages[ActionRecord] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.actions(schedule_id, page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.actions, listing.paging_info)

    def action(self, schedule_id: int, sequence_id: int) -> ActionRecord:
        """Return the action of a sequence number, the newest of its reruns where there are some."""
        return latest(self._performer.run(self._flows.action(schedule_id, sequence_id)))

    def action_with_id(self, action_id: int) -> ActionRecord:
        """Return the action with an id of its own."""
        return self._performer.run(self._flows.action_by_id(action_id))

    def kill_action(self, action_id: int) -> bool:
        """End an action and its command; return whether that took effect."""
        return self._performer.run(self._flows.kill_action(action_id))

    def rerun(self, action_id: int) -> Rescheduled:
        """Run an action again for the same nominal time; `action` of the answer is the new one, where it is told."""
        return self._performer.run(self._flows.rerun(action_id))

    def instances(self, schedule_id: int) -> builtins.list[CommandRecord]:
        """Return all commands that a schedule ran, newest first."""
        return self._performer.run(self._flows.all_instances(schedule_id))

    def instance_logs(self, schedule_id: int, instance: int) -> str:
        """Return the log of a run; `instance` is its sequence number, of reruns the newest counts."""
        return self._performer.run(self._flows.instance_logs(schedule_id, instance))

    def instance_results(self, schedule_id: int, instance: int) -> Results:
        """Return the results of a run as text; `client.commands.get` of its command reads typed ones."""
        return self._performer.run(self._flows.instance_results(schedule_id, instance))
