"""A year of many schedules, with kills and outages at random, against what the pure timetable lists."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import sqlalchemy as sa
from tests.service.schedules.simulation import Simulation, instant

from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.schedules.timetable import from_seconds, nominal_times, timetable_of
from svc_jupyter.service.schema.schedules import Schedule, actions

BEGIN, END = instant("2026-01-01"), instant("2027-01-01")
pytestmark = pytest.mark.all
DAY = 86_400.0
ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo")
MIX = (
    (460, {"frequency": 4, "time_unit": "months"}, 365),
    (100, {"frequency": 1, "time_unit": "months"}, 365),
    (200, {"frequency": 13, "time_unit": "weeks"}, 365),
    (120, {"frequency": 61, "time_unit": "days"}, 365),
    (60, {"cron_expression": "30 9 1 */3 *"}, 365),
    (30, {"cron_expression": "15 2 * * 7#1"}, 365),
    (20, {"frequency": 1, "time_unit": "days"}, 30),
    (6, {"frequency": 6, "time_unit": "hours"}, 20),
    (4, {"frequency": 20, "time_unit": "minutes"}, 1),
)
"""How many schedules, of which timetable, over how many days: 1,000 in all."""


def populate(simulation: Simulation, numbers: random.Random, *, share: float, no_catch_up: bool) -> list[int]:
    ids = []
    for count, timetable, days in MIX:
        for _ in range(max(1, round(count * share))):
            start = BEGIN + 60 * numbers.randrange(0, round((366 - days) * 24 * 60))
            end = min(END, start + days * DAY)
            ids.append(
                simulation.add(
                    start=start,
                    end_time=end,
                    time_zone=numbers.choice(ZONES),
                    concurrency=numbers.choice((1, 1, 2, 5)),
                    no_catch_up=no_catch_up,
                    **timetable,
                )
            )
    return ids


def listed(simulation: Simulation, schedule_id: int) -> list[float]:
    row = simulation.schedule(schedule_id)
    after = row["start_time"] - (0 if row["cron_expression"] else 1e-6)
    times = nominal_times(timetable_of(Schedule(**row)), from_seconds(after), from_seconds(END))
    return [moment.timestamp() for moment in times]


def test_a_year_with_kills_and_outages_has_exactly_the_actions_that_the_timetable_lists(
    database: Database, account_id: int
):
    numbers = random.Random(20261)
    simulation = Simulation(database, account_id, kill=lambda: numbers.random() < 0.03)
    # PostgreSQL sees a tenth: a transaction takes ten times as long there, and the steps are the same.
    ids = populate(simulation, numbers, share=1.0 if database.on_sqlite else 0.1, no_catch_up=False)
    simulation.now = BEGIN

    simulation.run_until(END, outage=lambda: numbers.expovariate(1 / DAY) if numbers.random() < 0.02 else 0.0)

    assert simulation.kills > 30
    materialised: dict[int, list[float]] = {schedule_id: [] for schedule_id in ids}
    for action in simulation.actions():
        assert action["done"]
        materialised[action["schedule_id"]].append(action["nominal_time"])
    for schedule_id in ids:
        assert materialised[schedule_id] == listed(simulation, schedule_id)
        assert simulation.schedule(schedule_id)["status"] == ScheduleStatus.DONE


def test_without_catch_up_nothing_runs_twice_and_only_an_outage_drops_a_nominal_time(
    database: Database, account_id: int
):
    numbers = random.Random(7)
    simulation = Simulation(database, account_id, kill=lambda: numbers.random() < 0.03)
    ids = populate(simulation, numbers, share=0.05, no_catch_up=True)
    simulation.now = BEGIN
    outages: list[tuple[float, float]] = []

    def outage() -> float:
        seconds = numbers.expovariate(1 / DAY) if numbers.random() < 0.05 else 0.0
        if seconds:
            # From the moment that was due on, for so long: what is due by then is late.
            outages.append((simulation.now, seconds))
        return seconds

    simulation.run_until(END, outage=outage)

    begun = {schedule_id: set() for schedule_id in ids}
    for action in simulation.actions():
        assert action["nominal_time"] not in begun[action["schedule_id"]]
        begun[action["schedule_id"]].add(action["nominal_time"])
    dropped = 0
    for schedule_id in ids:
        wanted = set(listed(simulation, schedule_id))
        assert begun[schedule_id] <= wanted
        dropped += len(wanted - begun[schedule_id])
    assert 0 < dropped < 3 * len(outages) * len(ids)


def test_two_tickers_that_race_materialise_each_nominal_time_once(database: Database, account_id: int):
    first = Simulation(database, account_id, duration=30)
    second = Simulation(database, account_id, duration=30)
    ids = [first.add(start=BEGIN + 60 * n, end_time=BEGIN + 6000, frequency=1, time_unit="minutes") for n in range(5)]
    for minute in range(110):
        first.now = second.now = BEGIN + 60 * minute
        first.settle()
        second.settle()
        first.end_due_commands()
    with database.connect() as connection:
        query = sa.select(actions.c.schedule_id, actions.c.nominal_time)
        counted = Counter(connection.execute(query).all())
    assert set(counted.values()) == {1}
    assert {schedule_id for schedule_id, _ in counted} == set(ids)
