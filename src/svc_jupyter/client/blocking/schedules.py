"""Schedules, their changes and their actions."""
# Made from asynchronous/schedules.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from typing import Any, Unpack

from svc_jupyter.api import paths
from svc_jupyter.api.commands import CommandRecord, Results
from svc_jupyter.api.schedules import (
    ActionKilled,
    ActionList,
    ActionRecord,
    InstanceList,
    Preview,
    Rescheduled,
    ScheduleList,
    ScheduleRecord,
    StateChanged,
)
from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.errors import NotFound
from svc_jupyter.client.requests.commands import wire_form
from svc_jupyter.client.requests.schedules import LEAST_NAME, PreviewFields, ScheduleFields, chosen, is_true, latest
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.reading import WHOLE_PAGE, build, json_of, place, read
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("scheduler")


class Schedules:
    """Schedules, as `client.schedules`. `sequence_id` counts a schedule's nominal times from 1."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(
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
        body = {"command_type": str(command_type), "command": dict(command), **wire_form(fields)}
        call = Call("POST", _RESOURCE, body=body, headers=idempotency(idempotency_key))
        return self._sender.fetch(call, ScheduleRecord)

    def edit(
        self, schedule_id: int, *, command: Mapping[str, Any] | None = None, **fields: Unpack[ScheduleFields]
    ) -> ScheduleRecord:
        """Change the given attributes; the others are unchanged. Actions that have begun are not affected."""
        body = wire_form({"command": command, **fields})
        response = self._sender.send(Call("PUT", paths.schedule(schedule_id), body=body))
        answer = json_of(response)
        if isinstance(answer, dict) and "id" in answer:
            return read(ScheduleRecord, response)
        return self.get(schedule_id)  # some services only acknowledge the change

    def list(
        self, *, page: int = 1, per_page: int = 10, name: str | None = None, status: str | None = None
    ) -> ScheduleList:
        """Return one page of schedules, newest first; `name` filters by a substring of three characters or more."""
        params = {"page": page, "per_page": per_page, "name": name, "status": status}
        return self._sender.fetch(Call("GET", _RESOURCE, params), ScheduleList)

    def iter(self, *, name: str | None = None, status: str | None = None) -> Iterator[ScheduleRecord]:
        """Yield all schedules, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE, name=name, status=status),
            lambda found: (found.schedules, found.paging_info),
        )

    def get(self, schedule_id: int) -> ScheduleRecord:
        """Return a schedule; raises NotFound for an unknown id."""
        return self._sender.fetch(Call("GET", paths.schedule(schedule_id)), ScheduleRecord)

    def find(self, name_or_id: str | int) -> ScheduleRecord:
        """Return the schedule with a name or id. Raises NotFound with the nearest names, NotUnique with all ids.

        Among several with the same name it returns the only one that is neither done nor killed, or else the newest.
        """
        if isinstance(name_or_id, int):
            return self.get(name_or_id)
        if len(name_or_id) >= LEAST_NAME:
            some = list(self.iter(name=name_or_id))
            if any(schedule.name == name_or_id for schedule in some):
                return chosen(name_or_id, some)
        if name_or_id.isascii() and name_or_id.isdigit():
            try:
                return self.get(int(name_or_id))
            except NotFound:
                pass  # a short name may still be a number
        # Only now all of them: for the nearest names.
        return chosen(name_or_id, list(self.iter()))

    def suspend(self, schedule_id: int) -> ScheduleStatus:
        """Suspend a schedule: no action begins until `resume`. Return the new status. Running actions continue."""
        return self._change_state(schedule_id, "suspend")

    def resume(self, schedule_id: int, *, no_catch_up: bool | None = None) -> ScheduleStatus:
        """Resume a schedule; with `no_catch_up` missed nominal times are dropped. Return the new status."""
        return self._change_state(schedule_id, "resume", no_catch_up)

    def kill(self, schedule_id: int) -> ScheduleStatus:
        """Kill a schedule; return the new status."""
        return self._change_state(schedule_id, "kill")

    def preview(self, **fields: Unpack[PreviewFields]) -> Preview:
        """Return a command with its macros resolved, and their values; nothing is created.

        With a timetable in `fields`, a service with the extension also returns the next nominal times.
        """
        body = {"command": {}, "macros": [], **wire_form(fields)}
        return self._sender.fetch(Call("POST", f"{_RESOURCE}/preview_macro", body=body), Preview)

    def actions(self, schedule_id: int | None = None, *, page: int = 1, per_page: int = 10) -> ActionList:
        """Return one page of actions, newest first, of a schedule or of all schedules that the caller may see."""
        path = paths.api("actions") if schedule_id is None else paths.schedule(schedule_id, "actions")
        return self._sender.fetch(Call("GET", path, {"page": page, "per_page": per_page}), ActionList)

    def iter_actions(self, schedule_id: int | None = None) -> Iterator[ActionRecord]:
        """Yield all actions, newest first, a page at a time."""
        return self._sender.every(
            lambda page: self.actions(schedule_id, page=page, per_page=WHOLE_PAGE),
            lambda found: (found.actions, found.paging_info),
        )

    def action(self, schedule_id: int, sequence_id: int) -> ActionRecord:
        """Return the action with a sequence number; if it was rerun, the newest rerun."""
        response = self._sender.send(Call("GET", paths.schedule(schedule_id, f"actions/{sequence_id}")))
        answer = json_of(response)
        if isinstance(answer, dict) and "actions" in answer:
            return latest(read(ActionList, response).actions)
        return read(ActionRecord, response)

    def action_with_id(self, action_id: int) -> ActionRecord:
        """Return the action with an id."""
        response = self._sender.send(Call("GET", paths.api(f"actions/{action_id}")))
        answer = json_of(response)
        if isinstance(answer, dict) and isinstance(answer.get("actions"), list) and answer["actions"]:
            return build(ActionRecord, answer["actions"][0], place(response))
        return read(ActionRecord, response)

    def kill_action(self, action_id: int) -> bool:
        """Kill an action and its command; return whether it took effect."""
        answer = self._sender.fetch(Call("PUT", paths.api(f"actions/{action_id}/kill"), body={}), ActionKilled)
        return is_true(answer.kill_succeeded)

    def rerun(self, action_id: int) -> Rescheduled:
        """Run an action again for the same nominal time; the answer's `action` is the new one, if reported."""
        call = Call("POST", paths.api(f"actions/{action_id}/rerun"), body={}, headers=idempotency())
        return self._sender.fetch(call, Rescheduled)

    def instances(self, schedule_id: int) -> builtins.list[CommandRecord]:
        """Return all commands that a schedule ran, newest first."""
        commands = self._sender.every(
            lambda page: self._instances(schedule_id, page), lambda found: (found.commands, found.paging_info)
        )
        return list(commands)

    def instance_logs(self, schedule_id: int, instance: int) -> str:
        """Return the log of a run; `instance` is its sequence number and selects the newest rerun."""
        path = paths.schedule(schedule_id, f"instances/{instance}/logs")
        response = self._sender.send(Call("GET", path, accept="text/plain"))
        return response.text

    def instance_results(self, schedule_id: int, instance: int) -> Results:
        """Return the results of a run as text; use `client.commands.get` of its command to read typed results."""
        path = paths.schedule(schedule_id, f"instances/{instance}/results")
        return self._sender.fetch(Call("GET", path, {"inline": True}), Results)

    def _instances(self, schedule_id: int, page: int) -> InstanceList:
        path = paths.schedule(schedule_id, "instances")
        return self._sender.fetch(Call("GET", path, {"page": page, "per_page": WHOLE_PAGE}), InstanceList)

    def _change_state(self, schedule_id: int, status: str, no_catch_up: bool | None = None) -> ScheduleStatus:
        body = given(status=status, no_catch_up=no_catch_up)
        answer = self._sender.fetch(Call("PUT", paths.schedule(schedule_id), body=body), StateChanged)
        return answer.status
