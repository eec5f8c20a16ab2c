"""The schedules of the double: kept as they are made, run when the test says so."""

from __future__ import annotations

from typing import Any

from tests.support.double.records import page_of, record_of

from svc_jupyter.api.schedules import ActionRecord, Preview, ScheduleRecord


class ScheduleDouble:
    """Schedules and actions behind the double's HTTP; `bare` answers without our extensions."""

    def __init__(self, *, bare: bool) -> None:
        self.bare = bare
        self.schedules: dict[int, dict[str, Any]] = {}
        self.actions: dict[int, dict[str, Any]] = {}
        self.bodies: list[dict[str, Any]] = []
        """What was sent to make or change something, in order."""
        self.previews: list[dict[str, Any]] = []
        self.refused_timetables = 0
        """How many previews with a timetable are still to be refused."""
        self.ran: list[dict[str, Any]] = []
        """The records of the commands that the schedules ran."""

    def add(self, name: str | None = None, **fields: Any) -> dict[str, Any]:
        number = len(self.schedules) + 12
        about = {"id": number, "name": name or str(number), "description": "every day at 09:00 (somewhere)"}
        self.schedules[number] = record_of(ScheduleRecord, bare=self.bare, **(about | fields))
        return self.schedules[number]

    def act(self, schedule: dict[str, Any], status: str = "done", **fields: Any) -> dict[str, Any]:
        """Add an action of a schedule."""
        number = len(self.actions) + 30
        of_schedule = [action for action in self.actions.values() if action["periodic_job_id"] == schedule["id"]]
        about = {"id": number, "periodic_job_id": schedule["id"], "sequence_id": len(of_schedule) + 1, "status": status}
        done = status in ("done", "error", "cancelled", "not_found")
        self.actions[number] = record_of(ActionRecord, bare=self.bare, **({"done": done} | about | fields))
        return self.actions[number]

    def answer(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the answer of a call for `scheduler…` or `actions…`."""
        resource, *rest = path.split("/")
        if method in ("POST", "PUT"):
            (self.previews if rest == ["preview_macro"] else self.bodies).append(body)
        if resource == "actions":
            return self._action(method, rest, query)
        if rest == ["preview_macro"]:
            return self._preview(body)
        if not rest:
            return self._list(query) if method == "GET" else (200, self._create(body))
        schedule = self.schedules.get(int(rest[0]))
        if schedule is None:
            return 404, f"there is no schedule {rest[0]}"
        return self._one(method, schedule, rest[1:], query, body)

    def _one(
        self, method: str, schedule: dict[str, Any], part: list[str], query: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, Any]:
        if part[:1] == ["instances"]:
            return 200, page_of("commands", self.ran, query)
        if part[:1] == ["actions"]:
            actions = [a for a in self.actions.values() if a["periodic_job_id"] == schedule["id"]]
            wanted = [a for a in actions if not part[1:] or a["sequence_id"] == int(part[1])]
            found = wanted or not part[1:]
            return (200, page_of("actions", wanted, query)) if found else (404, "there is no such action")
        return self._change(schedule, body) if method == "PUT" else (200, schedule)

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.add(**{"name": None, **body})

    def _list(self, query: dict[str, str]) -> tuple[int, Any]:
        part, status = query.get("name", ""), query.get("status")
        wanted = [s for s in self.schedules.values() if part in s["name"] and status in (None, s["status"])]
        return 200, page_of("schedules", wanted, query)

    def _change(self, schedule: dict[str, Any], body: dict[str, Any]) -> tuple[int, Any]:
        goal = {"suspend": "SUSPENDED", "resume": "RUNNING", "kill": "KILLED"}.get(body.get("status", ""))
        if goal is None:
            schedule.update(body)
            return 200, schedule
        if schedule["status"] == "KILLED":
            return 409, f"schedule {schedule['id']} is KILLED and cannot be changed"
        schedule["status"] = goal
        return 200, {"succeeded": "true", "status": goal}

    def _preview(self, body: dict[str, Any]) -> tuple[int, Any]:
        if self.refused_timetables and "frequency" in body:
            self.refused_timetables -= 1
            return 422, "nothing is left to come"
        values = {name: expression for macro in body["macros"] for name, expression in macro.items()}
        answer = record_of(Preview, command=body["command"], macros=values)
        if not self.bare and (body.get("frequency") or body.get("cron_expression")):
            days = ("22", "23", "24", "25", "26")
            answer |= {"description": "every day", "next_times": [f"2026-11-{day}T08:00:00Z" for day in days]}
        return 200, answer

    def _action(self, method: str, rest: list[str], query: dict[str, str]) -> tuple[int, Any]:
        if not rest:
            return 200, page_of("actions", list(self.actions.values()), query)
        action = self.actions[int(rest[0])]
        if rest[1:] == ["kill"]:
            took_effect = not action["done"]
            action |= {"done": True, "status": action["status"] if not took_effect else "cancelled"}
            return 200, {"kill_succeeded": "true" if took_effect else "false"}
        if rest[1:] == ["rerun"]:
            schedule = self.schedules[action["periodic_job_id"]]
            rerun = self.act(schedule, "submitted", sequence_id=action["sequence_id"], rerun_number=1)
            return 200, {"status": "rescheduled"} | ({} if self.bare else {"action": rerun})
        return 200, action
