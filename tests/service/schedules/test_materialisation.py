"""What a tick does, on both databases, with a clock that is told what time it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from tests.service.schedules.simulation import Simulation, instant

from svc_jupyter.api.commands import CommandSource
from svc_jupyter.api.states import ActionStatus, CommandStatus, ScheduleStatus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schedules.advance import BACKLOG_LIMIT, RERUN_LIMIT
from svc_jupyter.service.schedules.rights import refusals
from svc_jupyter.service.schema.access import group_roles, groups, memberships, roles, users
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import AT_ONCE, Schedule, actions, schedules

NOON = instant("2026-11-21 12:00")
HOUR = 3600.0


@pytest.fixture
def simulation(database: Database, account_id: int) -> Simulation:
    made = Simulation(database, account_id, duration=1e9)
    made.now = NOON
    return made


def hourly(simulation: Simulation, *, start: float = NOON, **values: object) -> int:
    return simulation.add(start=start, frequency=1, time_unit="hours", **values)


def times(simulation: Simulation, schedule_id: int) -> list[float]:
    return [action["nominal_time"] for action in simulation.actions(schedule_id)]


def change(simulation: Simulation, table: sa.Table, row_id: int, **values: object) -> None:
    with simulation.database.begin(durable=False) as connection:
        connection.execute(sa.update(table).where(table.c.id == row_id).values(**values))


def give_to_a_user_with_a_role(simulation: Simulation, policy: dict[str, object], number: int = 1) -> int:
    """Make a user whose only right is what a role of a group of theirs says; the numbers are the role's and theirs."""
    of_account = {"account_id": simulation.account_id}
    name = "owner" if number == 1 else f"owner{number}"
    who = {"email": f"{name}@example.org", "name": name, "enabled": True, "created_at": NOON, **of_account}
    with simulation.database.begin(durable=False) as connection:
        user_id: int = connection.execute(sa.insert(users).values(**who).returning(users.c.id)).scalar_one()
        group = sa.insert(groups).values(name=f"group of {name}", **of_account).returning(groups.c.id)
        group_id = connection.execute(group).scalar_one()
        connection.execute(sa.insert(roles).values(id=number, name=f"role of {name}", policies=[policy], **of_account))
        connection.execute(sa.insert(group_roles).values(group_id=group_id, role_id=number))
        connection.execute(sa.insert(memberships).values(group_id=group_id, user_id=user_id))
    return user_id


def test_the_command_of_an_action_says_what_it_belongs_to(simulation: Simulation):
    schedule = hourly(
        simulation, name="report", tags="[daily]", label="default", pool="q", retry=2, retry_delay=3, command_timeout=60
    )
    simulation.settle()
    [action] = simulation.actions(schedule)
    with simulation.database.connect() as connection:
        command = connection.execute(sa.select(commands).where(commands.c.id == action["command_id"])).mappings().one()
    wanted = {
        "command_source": CommandSource.SCHEDULED,
        "nominal_time": "2026-11-21T12:00:00Z",
        "sequence_id": 1,
        "name": "report",
        "tags": "[daily]",
        "label": "default",
        "pool": "q",
        "retry": 2,
        "retry_delay": 3,
        "timeout": 60,
        "command": {"inline": "true"},
        "can_notify": False,
    }
    assert {key: command[key] for key in wanted} == wanted


def test_nothing_is_done_before_its_time_and_the_next_look_is_at_the_next_nominal_time(simulation: Simulation):
    schedule = hourly(simulation, start=NOON + 60)
    simulation.settle()
    assert simulation.actions() == []
    simulation.now = NOON + 60
    simulation.settle()
    assert times(simulation, schedule) == [NOON + 60]
    assert simulation.schedule(schedule)["due_at"] == NOON + 60 + HOUR


def test_an_outage_is_caught_up_on_oldest_first_with_as_many_at_once_as_the_concurrency_allows(simulation: Simulation):
    schedule = hourly(simulation, start=NOON - 5 * HOUR, concurrency=2)
    simulation.settle()
    assert len(simulation.running) == 2
    while simulation.running:
        oldest = min(simulation.running)
        simulation.end_command(oldest)
        simulation.settle()
        assert len(simulation.running) <= 2
    assert times(simulation, schedule) == [NOON - n * HOUR for n in range(5, -1, -1)]
    by_command = sorted(simulation.actions(schedule), key=lambda action: action["command_id"])
    assert [action["sequence_id"] for action in by_command] == [1, 2, 3, 4, 5, 6]


def test_materialisation_stops_at_a_full_backlog_and_goes_on_from_there(simulation: Simulation):
    schedule = hourly(simulation, start=NOON - 100 * HOUR)
    simulation.settle()
    # One runs, the others wait.
    assert len(simulation.actions(schedule)) == BACKLOG_LIMIT + 1
    assert simulation.schedule(schedule)["due_at"] is None
    simulation.duration = 0
    simulation.end_command(min(simulation.running))
    simulation.settle()
    assert times(simulation, schedule) == [NOON - n * HOUR for n in range(100, -1, -1)]


def test_without_catch_up_what_was_missed_is_dropped_and_the_next_is_in_the_future(simulation: Simulation):
    schedule = hourly(simulation, start=NOON - 5 * HOUR - 1800, no_catch_up=True)
    simulation.settle()
    assert times(simulation, schedule) == []
    simulation.now = NOON + 1800 + 59  # late, as a busy service is
    simulation.settle()
    assert times(simulation, schedule) == [NOON + 1800]


def test_a_schedule_is_done_when_its_end_has_passed_and_its_last_action_has_ended(simulation: Simulation):
    schedule = hourly(simulation, end_time=NOON + HOUR)  # the end itself no longer belongs to it
    simulation.settle()
    assert simulation.schedule(schedule)["status"] == ScheduleStatus.RUNNING
    simulation.end_command(min(simulation.running))
    simulation.settle()
    assert simulation.schedule(schedule)["status"] == ScheduleStatus.DONE
    assert times(simulation, schedule) == [NOON]


def test_the_end_of_a_command_is_the_end_of_its_action_and_is_reported(simulation: Simulation):
    schedule = hourly(simulation)
    simulation.settle()
    simulation.end_command(min(simulation.running), CommandStatus.ERROR)
    [action] = simulation.actions(schedule)
    assert (action["status"], action["done"], action["ended_at"]) == ("error", True, NOON)
    [(told_schedule, told_action)] = simulation.ended
    assert (told_schedule.id, told_action.id) == (schedule, action["id"])


def test_the_actions_of_a_disabled_owner_end_in_error_and_say_so(simulation: Simulation):
    schedule = hourly(simulation, start=NOON - 3 * HOUR, concurrency=2)
    change(simulation, users, simulation.user_id, enabled=False)
    simulation.settle()
    found = simulation.actions(schedule)
    assert [action["status"] for action in found] == [ActionStatus.ERROR] * 4
    assert all("disabled" in action["message"] and action["command_id"] is None for action in found)
    change(simulation, users, simulation.user_id, enabled=True)
    simulation.now += HOUR
    simulation.settle()
    assert len(simulation.running) == 1


def test_actions_end_in_error_while_no_role_lets_their_owner_run_schedules(simulation: Simulation):
    owner = give_to_a_user_with_a_role(simulation, {"access": "allow", "resource": "scheduler", "action": ["all"]})
    schedule = hourly(simulation, user_id=owner, concurrency=9)
    simulation.settle()
    assert len(simulation.running) == 1
    change(simulation, roles, 1, policies=[{"access": "allow", "resource": "scheduler", "action": ["read"]}])
    simulation.now += HOUR
    simulation.settle()
    [_, refused] = simulation.actions(schedule)
    assert (refused["status"], refused["done"], refused["command_id"]) == (ActionStatus.ERROR, True, None)
    assert "owner@example.org may not run schedules any more" in refused["message"]
    assert "(permission to create scheduler)" in refused["message"]
    change(simulation, roles, 1, policies=[{"access": "allow", "resource": "all", "action": ["create"]}])
    simulation.now += HOUR
    simulation.settle()
    assert len(simulation.running) == 2


@pytest.mark.parametrize("loss", ["role", "user"])
def test_rights_that_go_while_macros_are_resolved_count(simulation: Simulation, loss: str):
    owner = give_to_a_user_with_a_role(simulation, {"access": "allow", "resource": "scheduler", "action": ["create"]})
    schedule = hourly(simulation, user_id=owner, macros=[{"x": "1"}])
    [item] = simulation.step()
    if loss == "role":
        change(simulation, roles, 1, policies=[])
    else:
        change(simulation, users, owner, enabled=False)
    with simulation.database.begin() as connection:
        assert simulation.work.begin(connection, item, [{"x": 1}], simulation.now) is None
    [action] = simulation.actions(schedule)
    assert (action["status"], action["command_id"]) == (ActionStatus.ERROR, None)


def test_the_rights_of_many_owners_are_read_at_once(simulation: Simulation, count_statements: list[str]):
    allowed = {"access": "allow", "resource": "scheduler", "action": ["create"]}
    owners = [give_to_a_user_with_a_role(simulation, allowed, number) for number in range(1, 31)]
    schedule = Schedule(**simulation.schedule(hourly(simulation)))
    with simulation.database.connect() as connection:
        for user_ids, statements in (([*owners, simulation.user_id], 3), ([simulation.user_id], 1)):
            due = [replace(schedule, id=number, user_id=user_id) for number, user_id in enumerate(user_ids)]
            count_statements.clear()
            assert refusals(connection, due) == {}
            assert sum(statement.startswith("SELECT") for statement in count_statements) == statements


def test_the_cluster_of_a_command_is_found_when_it_is_run_and_without_one_the_action_says_so(simulation: Simulation):
    def place(_connection: sa.Connection, row: Mapping[str, Any]) -> int | None:
        if row["label"] == "gone":
            raise Invalid("no cluster has the label 'gone'")
        return 7

    simulation.place = place
    hourly(simulation, label="etl")
    refused = hourly(simulation, label="gone")
    simulation.run_until(NOON + 1)
    with simulation.database.connect() as connection:
        placed = connection.execute(sa.select(commands.c.label, commands.c.cluster_id)).all()
    assert set(placed) == {("etl", 7)}
    (action,) = simulation.actions(refused)
    assert (action["status"], action["message"], action["done"]) == (
        "error",
        "not run: no cluster has the label 'gone'",
        True,
    )


def test_a_suspended_schedule_begins_nothing_but_reruns(simulation: Simulation):
    schedule = hourly(simulation, start=NOON - HOUR)
    simulation.settle()
    change(simulation, schedules, schedule, status=ScheduleStatus.SUSPENDED, due_at=simulation.now)
    simulation.end_command(min(simulation.running))
    simulation.now += 5 * HOUR
    simulation.settle()
    assert len(simulation.actions(schedule)) == 2
    assert simulation.running == {}
    first = simulation.actions(schedule)[0]
    with simulation.database.begin() as connection:
        values = {key: first[key] for key in ("account_id", "schedule_id", "sequence_id", "nominal_time")}
        again = {
            "rerun_number": 1,
            "is_rerun_of": first["id"],
            "status": "submitted",
            "done": False,
            "created_at": NOON,
        }
        connection.execute(sa.insert(actions).values(**values, **again))
        connection.execute(sa.update(schedules).values(due_at=simulation.now))
    simulation.settle()
    assert len(simulation.running) == 1


def test_reruns_run_beside_the_others_up_to_their_own_limit(simulation: Simulation):
    schedule = hourly(simulation)
    simulation.settle()
    [first] = simulation.actions(schedule)
    simulation.end_command(first["command_id"])
    with simulation.database.begin() as connection:
        for number in range(1, RERUN_LIMIT + 6):
            values = {key: first[key] for key in ("account_id", "schedule_id", "sequence_id", "nominal_time")}
            again = {"rerun_number": number, "status": "submitted", "done": False, "created_at": NOON}
            connection.execute(sa.insert(actions).values(**values, **again))
        connection.execute(sa.update(schedules).values(due_at=simulation.now))
    simulation.settle()
    assert len(simulation.running) == RERUN_LIMIT
    simulation.end_command(min(simulation.running))
    simulation.settle()
    assert len(simulation.running) == RERUN_LIMIT


def test_a_clock_that_is_set_back_makes_nothing_come_twice(simulation: Simulation):
    simulation.duration = 0
    schedule = hourly(simulation)
    simulation.now = NOON + 3 * HOUR
    simulation.settle()
    simulation.now = NOON - 24 * HOUR
    simulation.settle()
    simulation.now = NOON + 4 * HOUR
    simulation.settle()
    assert times(simulation, schedule) == [NOON + n * HOUR for n in range(5)]


def test_the_database_itself_refuses_a_nominal_time_twice(simulation: Simulation):
    schedule = hourly(simulation)
    simulation.settle()
    [action] = simulation.actions(schedule)
    again = {key: value for key, value in action.items() if key != "id"}
    with pytest.raises(IntegrityError), simulation.database.begin() as connection:
        connection.execute(sa.insert(actions).values(**again))


def test_a_schedule_that_cannot_be_worked_on_does_not_stop_the_others(simulation: Simulation):
    broken = hourly(simulation, start=NOON - HOUR)
    whole = hourly(simulation, start=NOON - HOUR)
    change(simulation, schedules, broken, time_zone="Nowhere/Gone", frequency=None, cron_expression="* * * * *")
    with simulation.database.begin() as connection:
        simulation.work.tick(connection, simulation.now, careful=True)
    assert times(simulation, whole) == [NOON - HOUR, NOON]
    assert simulation.schedule(broken)["due_at"] == NOON + 60


def test_macros_leave_an_action_ready_until_they_are_resolved(simulation: Simulation):
    schedule = hourly(simulation, macros=[{"day": "Service_nominal_time.format('YYYY')"}], concurrency=1)
    [item] = simulation.step()
    assert simulation.running == {}
    with simulation.database.begin() as connection:
        simulation.work.begin(connection, item, [{"day": "2026"}], simulation.now)
        simulation.work.begin(connection, item, [{"day": "2026"}], simulation.now)
    assert len(simulation.running) == 1
    [action] = simulation.actions(schedule)
    with simulation.database.connect() as connection:
        query = sa.select(commands.c.resolved_macros).where(commands.c.id == action["command_id"])
        assert connection.execute(query).scalar() == [{"day": "2026"}]


def test_work_left_by_a_killed_process_is_recovered(simulation: Simulation):
    schedule = hourly(simulation, macros=[{"x": "1"}])
    simulation.step()  # and the process that resolves is gone
    assert simulation.step() == ()
    simulation.recover()
    [item] = simulation.step()
    with simulation.database.begin() as connection:
        simulation.work.begin(connection, item, [{"x": 1}], simulation.now)
    [action] = simulation.actions(schedule)
    # The end of the command was written without its action's.
    change(simulation, commands, action["command_id"], status=CommandStatus.DONE)
    simulation.recover()
    [action] = simulation.actions(schedule)
    assert (action["status"], action["done"]) == ("done", True)


def test_a_schedule_that_is_due_now_does_not_wait_for_late_schedules(simulation: Simulation):
    late = [hourly(simulation, start=NOON - 100 * HOUR) for _ in range(30)]
    now = hourly(simulation, start=NOON - 1)
    simulation.step()
    assert times(simulation, now) == [NOON - 1]
    assert sum(bool(times(simulation, schedule)) for schedule in late) == 20
    simulation.step()
    assert all(times(simulation, schedule) for schedule in late)


def test_an_action_that_became_ready_later_and_is_older_begins_first(simulation: Simulation):
    schedule = hourly(simulation, start=NOON - HOUR, macros=[{"x": "1"}])
    [older] = simulation.step()
    first, second = simulation.actions(schedule)
    change(simulation, actions, first["id"], status=ActionStatus.WAITING)
    change(simulation, schedules, schedule, due_at=AT_ONCE)
    [younger] = simulation.step()
    assert (older.action_id, younger.action_id) == (first["id"], second["id"])
    # While the macros of the younger one are resolved, what the older one waited for comes.
    change(simulation, actions, first["id"], status=ActionStatus.SUBMITTED)
    with simulation.database.begin() as connection:
        simulation.work.begin(connection, younger, [{"x": 1}], simulation.now)
        simulation.work.begin(connection, older, [{"x": 1}], simulation.now)
    begun = [action["id"] for action in simulation.actions(schedule) if action["command_id"]]
    assert begun == [first["id"]]


def test_an_action_whose_schedule_was_suspended_meanwhile_is_left_for_the_resume(simulation: Simulation):
    schedule = hourly(simulation, macros=[{"x": "nobody.knows"}])
    [item] = simulation.step()
    change(simulation, schedules, schedule, status=ScheduleStatus.SUSPENDED)
    with simulation.database.begin() as connection:
        assert simulation.work.begin(connection, item, (), simulation.now, problem="not run") is None
        assert simulation.work.begin(connection, item, [{"x": 1}], simulation.now) is None
    assert [(action["done"], action["command_id"]) for action in simulation.actions(schedule)] == [(False, None)]
    change(simulation, schedules, schedule, status=ScheduleStatus.RUNNING, due_at=AT_ONCE)
    [again] = simulation.step()
    assert again.action_id == item.action_id
