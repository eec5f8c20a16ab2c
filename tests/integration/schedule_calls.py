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
    """Return a schedule's actions, newest first."""
    found: list[dict[str, Any]] = []
    page: int | None = 1
    while page is not None:
        response = service.http.get(f"/scheduler/{schedule_id}/actions", params={"per_page": 100, "page": page})
        assert response.status_code == 200, response.text
        found += response.json()["actions"]
        page = response.json()["paging_info"]["next_page"]
    # An action that came between two pages has pushed another one to the second of them.
    return list({action["id"]: action for action in found}.values())


def done_actions(service: ServiceProcess, schedule_id: int, count: int) -> list[dict[str, Any]]:
    """Wait until that many actions, the oldest, are done; return them and later ones that are, oldest first."""

    def look() -> list[dict[str, Any]] | None:
        found = actions_of(service, schedule_id)[::-1]
        are_done = len(found) >= count and all(action["done"] for action in found[:count])
        return [action for action in found if action["done"]] if are_done else None

    return list(wait_until(look, f"{count} actions of schedule {schedule_id}", 30))
