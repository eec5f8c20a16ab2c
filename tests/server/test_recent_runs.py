"""The runs of all schedules: read once, then only what is new or had not ended."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess, wait_until

pytestmark = pytest.mark.xdist_group("jupyter-server")


def created(service: ServiceProcess, name: str, inline: str, **fields: Any) -> int:
    body = {"command_type": "ShellCommand", "command": {"inline": inline}, "name": name, **fields}
    answer = service.http.post("/scheduler", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def recent(jupyter: JupyterProcess, schedule: int) -> list[dict[str, Any]]:
    answer = jupyter.http.get("/runs/recent")
    assert answer.status_code == 200, answer.text
    return [run for run in answer.json()["runs"] if run["schedule_id"] == schedule]


def test_runs_of_schedules_and_runs_by_hand_are_listed_and_followed_to_their_end(
    jupyter: JupyterProcess, service: ServiceProcess, tmp_path: Path
) -> None:
    gate = tmp_path / "go"
    start = f"{datetime.now(UTC) - timedelta(minutes=1):%Y-%m-%dT%H:%MZ}"
    wait = f"while [ ! -e {gate} ]; do sleep 0.1; done"
    schedule = created(service, "waits", wait, frequency=1, time_unit="days", start_time=start)

    def running() -> dict[str, Any] | None:
        return next((run for run in recent(jupyter, schedule) if run["status"] == "running"), None)

    first = wait_until(running, "the begin of the run", 30)
    assert (first["name"], first["done"], first["end_time"]) == ("waits", False, None)
    by_hand = jupyter.http.post(f"/schedules/{schedule}/run").json()
    assert by_hand["id"] in [run["command_id"] for run in recent(jupyter, schedule) if run["action_id"] is None]
    gate.touch()

    def ended() -> list[dict[str, Any]] | None:
        runs = recent(jupyter, schedule)
        return runs if all(run["done"] for run in runs) else None

    runs = wait_until(ended, "the end of the runs", 30)
    assert sorted(run["status"] for run in runs) == ["done", "done"]
    assert {run["command_id"] for run in runs} == {first["command_id"], by_hand["id"]}
    assert all(run["end_time"] >= run["start_time"] for run in runs)
    assert all(datetime.fromisoformat(run["ended_at"]) > datetime.fromisoformat(run["started_at"]) for run in runs)
    assert jupyter.http.get("/runs/recent").json()["is_complete"] is True
    service.http.put(f"/scheduler/{schedule}", json={"status": "kill"}).raise_for_status()


def test_the_next_times_of_many_timetables_come_in_one_answer(jupyter: JupyterProcess) -> None:
    daily = {"frequency": 1, "time_unit": "days", "start_time": "2026-01-01 09:00", "time_zone": "Europe/Paris"}
    yearly = {"cron_expression": "0 0 1 1 *", "end_time": "2099-01-02 00:00"}
    body = {"timetables": [daily, {"cron_expression": "never"}, yearly]}
    answer = jupyter.http.post("/schedules/next_times", json=body)
    first, refused, last = answer.json()["next_times"]
    assert (len(first), refused) == (200, None)
    assert all(earlier < later for earlier, later in itertools.pairwise(first))
    assert all(time[4:10] == "-01-01" for time in last)
    assert jupyter.http.post("/schedules/next_times", json={"timetables": {}}).status_code == 422
    assert jupyter.http.post("/schedules/next_times", json={"timetables": [7]}).status_code == 422
