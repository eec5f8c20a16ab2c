"""The schedules of the double: kept as they are made, run when the test says so."""

from __future__ import annotations

from typing import Any


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
        self.schedules[number] = {
            "id": number,
            "name": name or str(number),
            "status": "RUNNING",
            "command_type": "ShellCommand",
            "command": {"inline": "date"},
            "macros": [],
            "start_time": "2026-11-22 09:00",
            "end_time": None,
            "frequency": 1,
            "time_unit": "days",
            "time_zone": "UTC",
            "time_out": 600,
            "command_timeout": 129600,
            "concurrency": 1,
            "no_catch_up": False,
            "label": "default",
            "dependency_info": {},
            "incremental": {},
            "next_materialized_time": "2026-11-22 09:00",
            "user_id": 1,
            **fields,
        }
        if not self.bare:
            self.schedules[number].setdefault("description", "every day at 09:00 (somewhere)")
        return self.schedules[number]

    def act(self, schedule: dict[str, Any], status: str = "done", **fields: Any) -> dict[str, Any]:
        """Add an action of a schedule."""
        number = len(self.actions) + 30
        self.actions[number] = {
            "id": number,
            "periodic_job_id": schedule["id"],
            "sequence_id": len([a for a in self.actions.values() if a["periodic_job_id"] == schedule["id"]]) + 1,
            "nominal_time": "2026-11-21T08:00:00Z",
            "rerun_number": 0,
            "is_rerun_of": None,
            "done": status in ("done", "error", "cancelled", "not_found"),
            "status": status,
            "query_hist_id": None,
            "dependencies": {"found": [], "not_found": []},
            "command": None,
            "created_at": "2026-11-21T08:00:00Z",
            **fields,
        }
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
            return self._page("commands", self.ran, query)
        if part[:1] == ["actions"]:
            actions = [a for a in self.actions.values() if a["periodic_job_id"] == schedule["id"]]
            wanted = [a for a in actions if not part[1:] or a["sequence_id"] == int(part[1])]
            return self._page("actions", wanted, query) if wanted or not part[1:] else (404, "there is no such action")
        return self._change(schedule, body) if method == "PUT" else (200, schedule)

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.add(**{"name": None, **body})

    def _list(self, query: dict[str, str]) -> tuple[int, Any]:
        part, status = query.get("name", ""), query.get("status")
        wanted = [s for s in self.schedules.values() if part in s["name"] and status in (None, s["status"])]
        return self._page("schedules", wanted, query)

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
        answer = {"command": body["command"], "macros": values}
        if not self.bare and (body.get("frequency") or body.get("cron_expression")):
            days = ("22", "23", "24", "25", "26")
            answer |= {"description": "every day", "next_times": [f"2026-11-{day}T08:00:00Z" for day in days]}
        return 200, answer

    def _action(self, method: str, rest: list[str], query: dict[str, str]) -> tuple[int, Any]:
        if not rest:
            return self._page("actions", list(self.actions.values()), query)
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

    def _page(self, plural: str, items: list[dict[str, Any]], query: dict[str, str]) -> tuple[int, Any]:
        page, per_page = int(query.get("page", 1)), int(query.get("per_page", 10))
        shown = items[::-1][(page - 1) * per_page : page * per_page]
        more = page * per_page < len(items)
        info = {"page": page, "per_page": per_page, "next_page": page + 1 if more else None}
        return 200, {plural: shown, "paging_info": info}
