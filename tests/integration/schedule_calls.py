"""Calls about schedules that several tests make."""

from __future__ import annotations

from typing import Any

from tests.support.service_process import ServiceProcess, wait_until

NIGHTLY = {
    "command_type": "ShellCommand",
    "command": {"inline": "echo $day$"},
    "macros": [{"day": "Service_nominal_time.format('YYYY-MM-DD')"}],
    "start_time": "2199-03-30 02:30",
    "frequency": 1,
    "time_zone": "Europe/Paris",
}
EVERY_SECOND = {"frequency": None, "start_time": None, "cron_expression": "* * * ? * *"}


def create(service: ServiceProcess, **fields: Any) -> dict[str, Any]:
    """Create a schedule, a nightly one unless `fields` say otherwise; return its record."""
    response = service.http.post("/scheduler", json=NIGHTLY | fields)
    assert response.status_code == 200, response.text
    return dict(response.json())


def kill(service: ServiceProcess, schedule_id: int) -> None:
    assert service.http.put(f"/scheduler/{schedule_id}", json={"status": "kill"}).json()["status"] == "KILLED"


def actions_of(service: ServiceProcess, schedule_id: int) -> list[dict[str, Any]]:
    """Return a schedule's newest hundred actions, newest first."""
    response = service.http.get(f"/scheduler/{schedule_id}/actions", params={"per_page": 100})
    assert response.status_code == 200, response.text
    return list(response.json()["actions"])


def done_actions(service: ServiceProcess, schedule_id: int, count: int) -> list[dict[str, Any]]:
    """Wait until that many actions are done; return them, oldest first."""

    def look() -> list[dict[str, Any]] | None:
        found = [action for action in actions_of(service, schedule_id) if action["done"]]
        return found[::-1] if len(found) >= count else None

    return list(wait_until(look, f"{count} actions of schedule {schedule_id}", 30))
