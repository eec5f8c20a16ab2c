"""Requests about schedules, for both clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from operator import attrgetter
from typing import Any, TypedDict
from uuid import uuid4

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
from svc_jupyter.client.conversations.commands import Macros, wire_form
from svc_jupyter.client.errors import NotFound, NotUnique
from svc_jupyter.client.transport.calls import Call, Flow, exchange, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import WHOLE_PAGE, Pages, build, json_of, place, read
from svc_jupyter.client.transport.wire import idempotency

_LEAST_NAME = 3
"""Minimum length of a substring in a search by name."""
_NEAR_NAMES = 10


class ScheduleFields(TypedDict, total=False):
    """The fields of a schedule besides its command.

    Exactly one of `frequency` (with `time_unit`) and `cron_expression`. `time_out` and `retry_delay` are minutes,
    `command_timeout` is seconds; times are `YYYY-MM-DD HH:MM` of `time_zone`, or instants with `Z`.
    """

    name: str | None
    label: str | None
    tags: str | Sequence[str] | None
    macros: Macros | None
    frequency: int | None
    time_unit: str | None
    cron_expression: str | None
    start_time: str | None
    end_time: str | None
    time_zone: str | None
    no_catch_up: bool | None
    concurrency: int | None
    time_out: int | None
    command_timeout: int | None
    retry: int | None
    retry_delay: int | None
    pool: str | None
    dependency_info: Mapping[str, Any] | None
    notification: Mapping[str, Any] | None
    can_notify: bool | None


class PreviewFields(TypedDict, total=False):
    """The fields of a preview; with a timetable a service with the extension also returns the next nominal times."""

    command: Mapping[str, Any] | None
    macros: Macros | None
    nominal_time: str | None
    time_zone: str | None
    frequency: int | None
    time_unit: str | None
    cron_expression: str | None
    start_time: str | None
    end_time: str | None
    times: int


class ScheduleFlows:
    """Requests about schedules and their actions."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def create(
        self, command_type: str, command: Mapping[str, Any], fields: ScheduleFields, idempotency_key: str | None
    ) -> Flow[ScheduleRecord]:
        """Create a schedule."""
        body = {"command_type": str(command_type), "command": dict(command), **wire_form(fields)}
        key = idempotency(idempotency_key or str(uuid4()))
        return fetch(self.link, Call("POST", paths.api("scheduler"), body=body, headers=key), ScheduleRecord)

    def edit(self, schedule_id: int, fields: Mapping[str, Any]) -> Flow[ScheduleRecord]:
        """Change attributes and return the changed record."""
        call = Call("PUT", paths.schedule(schedule_id), body=wire_form(fields))
        response = yield from exchange(self.link, call)
        answer = json_of(response)
        if isinstance(answer, dict) and "id" in answer:
            return read(ScheduleRecord, response)
        return (yield from self.get(schedule_id))  # some services only acknowledge the change

    def get(self, schedule_id: int) -> Flow[ScheduleRecord]:
        """Fetch one record."""
        return fetch(self.link, Call("GET", paths.schedule(schedule_id)), ScheduleRecord)

    def page(self, page: int, per_page: int, name: str | None, status: str | None) -> Flow[ScheduleList]:
        """Fetch one page of records, newest first."""
        params = {"page": page, "per_page": per_page, "name": name, "status": status}
        return fetch(self.link, Call("GET", paths.api("scheduler"), params), ScheduleList)

    def all(self, name: str | None, status: str | None) -> Flow[list[ScheduleRecord]]:
        """Fetch all records, newest first."""
        pages: Pages[ScheduleRecord] = Pages(attrgetter("id"))
        schedules: list[ScheduleRecord] = []
        while pages.page is not None:
            listing = yield from self.page(pages.page, WHOLE_PAGE, name, status)
            schedules += pages.take(listing.schedules, listing.paging_info)
        return schedules

    def find(self, name_or_id: str | int) -> Flow[ScheduleRecord]:
        """Search by name, then by id; only if both fail, fetch all schedules to find the nearest names."""
        if isinstance(name_or_id, int):
            return (yield from self.get(name_or_id))
        if len(name_or_id) >= _LEAST_NAME:
            some = yield from self.all(name_or_id, None)
            if any(schedule.name == name_or_id for schedule in some):
                return chosen(name_or_id, some)
        if name_or_id.isascii() and name_or_id.isdigit():
            try:
                return (yield from self.get(int(name_or_id)))
            except NotFound:
                pass  # a short name may still be a number
        return chosen(name_or_id, (yield from self.all(None, None)))

    def change_state(self, schedule_id: int, status: str, no_catch_up: bool | None = None) -> Flow[StateChanged]:
        """Request `suspend`, `resume` or `kill`."""
        body = {"status": status} | ({} if no_catch_up is None else {"no_catch_up": no_catch_up})
        return fetch(self.link, Call("PUT", paths.schedule(schedule_id), body=body), StateChanged)

    def preview(self, fields: PreviewFields) -> Flow[Preview]:
        """Resolve a command without creating anything."""
        body = {"command": {}, "macros": [], **wire_form(fields)}
        return fetch(self.link, Call("POST", paths.api("scheduler/preview_macro"), body=body), Preview)

    def action_page(self, schedule_id: int | None, page: int, per_page: int) -> Flow[ActionList]:
        """Fetch one page of actions, newest first, of one schedule or of all."""
        path = paths.api("actions") if schedule_id is None else paths.schedule(schedule_id, "actions")
        return fetch(self.link, Call("GET", path, {"page": page, "per_page": per_page}), ActionList)

    def action(self, schedule_id: int, sequence_id: int) -> Flow[list[ActionRecord]]:
        """Return the action with a sequence number and its reruns, newest first."""
        call = Call("GET", paths.schedule(schedule_id, f"actions/{sequence_id}"))
        response = yield from exchange(self.link, call)
        answer = json_of(response)
        if isinstance(answer, dict) and "actions" in answer:
            return read(ActionList, response).actions
        return [read(ActionRecord, response)]

    def action_by_id(self, action_id: int) -> Flow[ActionRecord]:
        """Fetch the action with an id."""
        response = yield from exchange(self.link, Call("GET", paths.api(f"actions/{action_id}")))
        answer = json_of(response)
        if isinstance(answer, dict) and isinstance(answer.get("actions"), list) and answer["actions"]:
            return build(ActionRecord, answer["actions"][0], place(response))
        return read(ActionRecord, response)

    def kill_action(self, action_id: int) -> Flow[bool]:
        """Kill an action; return whether it took effect."""
        call = Call("PUT", paths.api(f"actions/{action_id}/kill"), body={})
        answer = yield from fetch(self.link, call, ActionKilled)
        return is_true(answer.kill_succeeded)

    def rerun(self, action_id: int) -> Flow[Rescheduled]:
        """Run an action again."""
        call = Call("POST", paths.api(f"actions/{action_id}/rerun"), body={}, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, Rescheduled)

    def instances(self, schedule_id: int, page: int, per_page: int) -> Flow[InstanceList]:
        """Fetch one page of the commands that a schedule ran."""
        call = Call("GET", paths.schedule(schedule_id, "instances"), {"page": page, "per_page": per_page})
        return fetch(self.link, call, InstanceList)

    def all_instances(self, schedule_id: int) -> Flow[list[CommandRecord]]:
        """Fetch all commands that a schedule ran, newest first."""
        pages: Pages[CommandRecord] = Pages(attrgetter("id"))
        commands: list[CommandRecord] = []
        while pages.page is not None:
            listing = yield from self.instances(schedule_id, pages.page, WHOLE_PAGE)
            commands += pages.take(listing.commands, listing.paging_info)
        return commands

    def instance_logs(self, schedule_id: int, instance: int) -> Flow[str]:
        """Fetch the log of a run."""
        path = paths.schedule(schedule_id, f"instances/{instance}/logs")
        response = yield from exchange(self.link, Call("GET", path, accept="text/plain"))
        return response.text

    def instance_results(self, schedule_id: int, instance: int) -> Flow[Results]:
        """Fetch the results of a run as text."""
        path = paths.schedule(schedule_id, f"instances/{instance}/results")
        return fetch(self.link, Call("GET", path, {"inline": True}), Results)


def is_true(word: Any) -> bool:
    """Return whether a value is `true`, `"true"` or `"True"`."""
    return word if isinstance(word, bool) else str(word).strip().lower() == "true"


def chosen(name_or_id: str, schedules: Sequence[ScheduleRecord]) -> ScheduleRecord:
    """Return the schedule with this name, else the one with these digits as its id.

    Among several with the same name, returns the only one that is neither done nor killed, or else the newest. Raises
    NotFound with the nearest names, or NotUnique when several are active.
    """
    named = [schedule for schedule in schedules if schedule.name == name_or_id]
    living = [schedule for schedule in named if not is_over(schedule)]
    if len(living) > 1:
        ids = ", ".join(str(schedule.id) for schedule in living)
        raise NotUnique(f"{len(living)} schedules are named {name_or_id!r}; give the id: {ids}")
    if named:
        return living[0] if living else max(named, key=lambda schedule: schedule.id)
    if with_id := [schedule for schedule in schedules if str(schedule.id) == name_or_id]:
        return with_id[0]
    names = sorted({schedule.name for schedule in schedules})
    near = get_close_matches(name_or_id, names, n=3) or names[:_NEAR_NAMES]
    hint = f"did you mean {' or '.join(near)}?" if near else "there are no schedules yet"
    raise NotFound(f"there is no schedule {name_or_id!r}; {hint}", status=404)


def is_over(schedule: ScheduleRecord) -> bool:
    """Whether no further nominal time will come; only the contract's final statuses count."""
    return str(schedule.status).upper() in ("DONE", "KILLED")


def latest(actions: list[ActionRecord]) -> ActionRecord:
    """Return the newest of an action and its reruns."""
    return max(actions, key=lambda action: (action.rerun_number, action.id))
