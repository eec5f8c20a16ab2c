"""Schedules of services that are killed, stopped, replaced, or lose their database around nominal times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.integration.schedule_calls import EVERY_SECOND, actions_of, create, done_actions, kill
from tests.support.outage_cluster import outage_cluster
from tests.support.service_process import DATABASE_IS_AWAY, ServiceProcess, wait_until

NewService = Callable[..., ServiceProcess]


def recording(service: ServiceProcess, ran: Path, **fields: Any) -> int:
    """Create a schedule that writes its nominal times, each second's, to a file."""
    script = {"inline": f"echo $at$ >> {ran}"}
    macros = [{"at": "Service_nominal_time.utc().format('YYYY-MM-DDTHH:mm:ss[Z]')"}]
    return int(create(service, command=script, macros=macros, concurrency=20, **EVERY_SECOND, **fields)["id"])


def begun_at_the_end(service: ServiceProcess, schedule_id: int) -> list[str]:
    """Suspend a schedule, wait for its last command, and return the nominal times of all of them, in order."""
    suspended = service.http.put(f"/scheduler/{schedule_id}", json={"status": "suspend"})
    assert suspended.status_code == 200, suspended.text  # from here on no action gets a command

    def ended() -> list[dict[str, Any]] | None:
        begun = [action for action in actions_of(service, schedule_id) if action["query_hist_id"]]
        return begun if all(action["done"] for action in begun) else None

    begun = wait_until(ended, "the end of the last command", 60)
    assert {action["status"] for action in begun} == {"done"}
    return sorted(action["nominal_time"] for action in begun)


def assert_each_ran_once(ran: Path, begun: list[str], *, without_gaps: bool = True) -> None:
    assert Counter(ran.read_text().split()) == Counter(begun)
    assert len(set(begun)) == len(begun) > 2
    times = [datetime.fromisoformat(moment) for moment in begun]
    if without_gaps:
        assert all(later - earlier == timedelta(seconds=1) for earlier, later in pairwise(times)), begun


def later_than(service: ServiceProcess, schedule_id: int, action_id: int) -> bool:
    return any(action["done"] and action["id"] > action_id for action in actions_of(service, schedule_id))


def test_nominal_times_around_kills_and_stops_run_exactly_once(new_service: NewService, tmp_path: Path):
    caught_up, dropped = tmp_path / "caught-up", tmp_path / "dropped"
    service = new_service().start()
    every = recording(service, caught_up)
    some = recording(service, dropped, no_catch_up=True)
    done_actions(service, every, 1)
    for end in ("kill", "stop"):
        last = max(action["id"] for action in actions_of(service, every))
        getattr(service, end)()
        service = new_service().start()  # it takes a second at least: nominal times pass meanwhile
        wait_until(lambda service=service, last=last: later_than(service, every, last), "actions of the new service")
    assert_each_ran_once(caught_up, begun_at_the_end(service, every))
    assert_each_ran_once(dropped, begun_at_the_end(service, some), without_gaps=False)


def test_a_killed_ticker_is_replaced_by_another_replica(
    new_service: NewService, empty_postgres_url: str, tmp_path: Path
):
    settings = {"database_url": empty_postgres_url, "lease_seconds": 1.5}
    first = new_service(**settings).start()
    schedule = recording(first, tmp_path / "ran")
    done_actions(first, schedule, 1)
    second = new_service(**settings).start()
    first.kill()
    last = max(action["id"] for action in actions_of(second, schedule))
    wait_until(lambda: later_than(second, schedule, last), "actions of the second replica")
    assert_each_ran_once(tmp_path / "ran", begun_at_the_end(second, schedule))


def test_a_database_that_is_restarted_loses_and_doubles_nothing(new_service: NewService, tmp_path: Path):
    with outage_cluster() as cluster:
        service = new_service(database_url=cluster.url, lease_seconds=1).start()
        schedule = recording(service, tmp_path / "ran")
        done_actions(service, schedule, 1)
        for _ in range(2):
            cluster.restart()
            wait_until(lambda: service.http.get("/scheduler").status_code == 200, "the recovery")
            last = max(action["id"] for action in actions_of(service, schedule))
            wait_until(lambda last=last: later_than(service, schedule, last), "actions after the restart")
        assert_each_ran_once(tmp_path / "ran", begun_at_the_end(service, schedule))
        assert service.exceptions(but=DATABASE_IS_AWAY) == []
        service.kill()


def test_the_embedded_service_stays_for_an_active_schedule_alone(new_service: NewService, tmp_path: Path):
    needed = new_service(tmp_path / "needed", embedded=True, idle_stop_seconds=5).start()
    schedule = create(needed)["id"]
    other = new_service(tmp_path / "other", embedded=True, idle_stop_seconds=5).start()
    other.wait_for_exit()  # it was idle for a shorter time
    kill(needed, schedule)
    needed.wait_for_exit()
