"""Sensors and dependencies ask for partitions that are there, that are not, and that never can be."""

from __future__ import annotations

import pytest
from pymetastore.hive_metastore.ThriftHiveMetastore import Client
from tests.support.hive import add_partitions, make_table

from svc_jupyter.api.schedules import DependencyInfo
from svc_jupyter.api.sensors import SensorColumn
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.hive.partitions import HiveDependencies
from svc_jupyter.service.hive.sensors import combinations
from svc_jupyter.service.schedules.dependencies import Needed

STRANGE = "a=b/c d'é\"100%.*+"


@pytest.fixture
def logs(client: Client, schema: str) -> str:
    """A table partitioned by a text, a number and a text."""
    make_table(client, "logs", {"x": "int"}, {"day": "string", "hour": "int", "what": "string"}, schema=schema)
    add_partitions(
        client,
        "logs",
        ["2026-11-21", "3", "web"],
        ["2026-11-21", "4", "web"],
        ["2026-11-22", "3", STRANGE],
        schema=schema,
    )
    return schema


async def found(hive: Hive, schema: str, *wanted: dict[str, str]) -> list[bool]:
    return await hive.search.found(schema, "logs", wanted)


async def test_whole_partitions(hive: Hive, logs: str):
    there = {"day": "2026-11-21", "hour": "3", "what": "web"}
    assert await found(hive, logs, there, there | {"hour": "5"}, there | {"day": "2026-11-2_"}) == [True, False, False]


async def test_a_number_is_the_same_with_zeros_before_it(hive: Hive, logs: str):
    there = {"day": "2026-11-21", "hour": "03", "what": "web"}
    assert await found(hive, logs, there, {"day": "2026-11-21", "hour": "04"}) == [True, True]


async def test_values_with_any_characters(hive: Hive, logs: str):
    there = {"day": "2026-11-22", "hour": "3", "what": STRANGE}
    assert await found(hive, logs, there, {"what": STRANGE}, {"what": STRANGE[:-1]}) == [True, True, False]


async def test_columns_that_are_left_out_may_have_any_value(hive: Hive, logs: str):
    asked = [{"day": "2026-11-21"}, {"hour": "4"}, {"what": "web", "day": "2026-11-22"}, {"day": "2026-11"}]
    assert await found(hive, logs, *asked) == [True, True, False, False]


async def test_more_partitions_than_one_call_asks_for(hive: Hive, logs: str):
    asked = [{"day": "2026-11-21", "hour": str(hour), "what": "web"} for hour in range(1200)]
    assert [number for number, is_there in enumerate(await found(hive, logs, *asked)) if is_there] == [3, 4]


async def test_columns_that_are_none(hive: Hive, logs: str):
    with pytest.raises(
        Invalid, match=rf"columns: x is not a partition column of {logs}\.logs, which is partitioned by day, hour, what"
    ):
        await found(hive, logs, {"x": "1"})
    with pytest.raises(Invalid, match="columns: y is not a column of"):
        await found(hive, logs, {"y": "1"})


async def test_tables_that_cannot_be_asked_about(hive: Hive, client: Client, schema: str):
    make_table(client, "plain", {"x": "int"}, schema=schema)
    with pytest.raises(Invalid, match="there is no Hive table"):
        await hive.search.found(schema, "nothing", [{"day": "1"}])
    with pytest.raises(Invalid, match="has no partition columns"):
        await hive.search.found(schema, "plain", [{"x": "1"}])


def test_every_combination_of_values_is_asked_for():
    columns = [SensorColumn(column="Day", values=["a", "b"]), SensorColumn(column="hour", values=["1", "2"])]
    assert combinations(columns) == [
        {"day": "a", "hour": "1"},
        {"day": "a", "hour": "2"},
        {"day": "b", "hour": "1"},
        {"day": "b", "hour": "2"},
    ]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [([("day", 1), ("DAY", 1)], "day is given twice"), ([("day", 200), ("hour", 51)], "10200 combinations")],
)
def test_combinations_that_cannot_be_asked_for(columns: list[tuple[str, int]], problem: str):
    given = [SensorColumn(column=name, values=[str(n) for n in range(count)]) for name, count in columns]
    with pytest.raises(Invalid, match=problem):
        combinations(given)


async def test_dependencies_are_found_as_the_schedule_writes_them(hive: Hive, logs: str):
    there = Needed("hive", f"{logs}.logs/hour=03/day=2026-11-21")
    strange = Needed("hive", f"{logs}.logs/what=a%3Db%2Fc d%27é%22100%25.%2A+")
    missing, file = Needed("hive", f"{logs}.logs/day=2030-01-01"), Needed("file", "landing/x")
    assert await HiveDependencies(hive.search).found(1, [there, missing, file, strange]) == {there, strange}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"name": "nothing", "columns": {"day": "%Y"}}, "hive_tables.1: there is no Hive table"),
        ({"name": "logs", "columns": {"x": "%Y"}}, "hive_tables.1: columns: x is not a partition column"),
    ],
)
async def test_a_dependency_that_can_never_be_found_is_refused(hive: Hive, logs: str, entry: dict, problem: str):
    right = {"schema": logs, "name": "logs", "columns": {"Day": "%Y-%m-%d"}}
    checker = HiveDependencies(hive.search)
    await checker.check(1, DependencyInfo.model_validate({"hive_tables": [right]}))
    info = DependencyInfo.model_validate({"hive_tables": [right, {"schema": logs, **entry}]})
    with pytest.raises(Invalid, match=problem):
        await checker.check(1, info)
