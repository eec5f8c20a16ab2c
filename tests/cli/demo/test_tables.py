from __future__ import annotations

import sqlite3
from pathlib import Path

import pyarrow as pa
import pytest

from svc_jupyter.cli.demo.tables import FLIGHTS, PLANES, TABLES, WEATHER, Table


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_declaration_is_one_that_sqlite_takes(table: Table):
    database = sqlite3.connect(":memory:")
    database.execute(table.creation)
    for statement in table.index_creations:
        database.execute(statement)
    declared = {
        name: (kind, bool(not_null))
        for _, name, kind, not_null, *_ in database.execute(f"PRAGMA table_info({table.name})")
    }
    database.close()
    assert declared == {name: (kind, name not in table.nullable) for name, kind in table.columns.items()}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_keys_indexes_and_nullable_columns_are_columns_of_the_table(table: Table):
    named = {*table.nullable, *table.key, *(name for index in table.indexes for name in index)}
    assert named <= set(table.columns)


def test_missing_values_are_null_in_columns_of_numbers_and_of_text(tmp_path: Path):
    source = tmp_path / "planes.csv"
    source.write_text(f"{','.join(PLANES.columns)}\nN1,NA,Fixed wing,BOEING,737,2,149,NA,Turbo-fan\n")
    assert PLANES.read(source).to_pylist() == [
        {
            "tailnum": "N1",
            "year": None,
            "type": "Fixed wing",
            "manufacturer": "BOEING",
            "model": "737",
            "engines": 2,
            "seats": 149,
            "speed": None,
            "engine": "Turbo-fan",
        }
    ]


def test_times_are_utc_instants():
    assert FLIGHTS.arrow_types["time_hour"] == pa.timestamp("s", "UTC")


def test_a_file_with_other_columns_is_refused(tmp_path: Path):
    source = tmp_path / "weather.csv"
    source.write_text("origin,year\nEWR,2013\n")
    with pytest.raises((pa.ArrowInvalid, KeyError)):
        WEATHER.read(source)


def test_a_number_that_is_none_is_refused(tmp_path: Path):
    source = tmp_path / "airlines.csv"
    table = Table("airlines", {"carrier": "TEXT", "flights": "INTEGER"})
    source.write_text("carrier,flights\nUA,many\n")
    with pytest.raises(pa.ArrowInvalid, match="many"):
        table.read(source)
