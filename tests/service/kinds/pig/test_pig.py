"""Pig commands in local mode, over HTTP and with a real Pig."""

from __future__ import annotations

import datetime
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.support.engines import engine_at_once
from tests.support.pig import FLIGHTS, SECONDS, put_data, rows_of, run_pig, submit_pig, succeeded, table_of
from tests.support.processes import is_over
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.installs.engine import Engine

BARS = "USING PigStorage('|')"


@pytest.fixture(scope="module")
def service(shared_service: ServiceProcess) -> ServiceProcess:
    """The session's service, with Pig installed and data in its storage."""
    engine_at_once(Engine.PIG)
    put_data(shared_service)
    return shared_service


@pytest.fixture
def storage(service) -> Path:
    return service.data_dir / "storage"


@pytest.fixture(scope="module")
def dumped(service) -> dict[str, Any]:
    """The record of a script with three DUMPs; each script has a Java of its own, so tests share one."""
    script = FLIGHTS + "a = FILTER f BY carrier == 'UA'; DUMP a; b = DISTINCT (FOREACH f GENERATE origin); DUMP b;"
    script += "g = GROUP f BY carrier; s = FOREACH g GENERATE group AS carrier, COUNT(f) AS n, AVG(f.delay);"
    return succeeded(service, script + "o = ORDER s BY n DESC, carrier; DUMP o;")


def test_a_group_by_is_a_typed_table(service, dumped):
    table = table_of(service, dumped["id"])
    assert [str(kind) for kind in table.schema.types] == ["string", "int64", "double"]
    assert table.column_names == ["carrier", "n", "$2"]
    assert table.to_pylist() == [
        {"carrier": "UA", "n": 3, "$2": 4.0},
        {"carrier": "AA", "n": 1, "$2": None},
        {"carrier": "B6", "n": 1, "$2": 30.0},
    ]
    assert dumped["result_rows"] == 3
    assert service.text(dumped["id"]) == "UA\t3\t4.0\r\nAA\t1\tNULL\r\nB6\t1\t30.0\r\n"
    assert "GROUP_BY" in service.logs(dumped["id"])


def test_every_dump_is_a_table_of_its_own_and_the_last_one_is_the_result(service, dumped):
    command = dumped["id"]

    assert [(dump["alias"], dump["rows"]) for dump in dumped["outputs"]["dumps"]] == [("a", 3), ("b", 3), ("o", 3)]
    assert dumped["outputs"]["dumps"][0]["columns"] == [["carrier", "string"], ["origin", "string"], ["delay", "int32"]]
    assert [row["delay"] for row in rows_of(service, command, dump="a")] == [10, -5, 7]
    assert sorted(row["origin"] for row in rows_of(service, command, dump="b")) == ["EWR", "JFK", "LGA"]
    assert rows_of(service, command, dump="3") == rows_of(service, command)
    missing = service.http.get(f"/commands/{command}/results", params={"dump": "c"})
    assert (missing.status_code, "there is a, b, o" in missing.text) == (404, True)


def test_a_command_has_no_jobs_of_a_cluster_in_local_mode(service, dumped):
    assert service.http.get(f"/commands/{dumped['id']}/jobs").json() == {"jobs": []}


ODD = r"it costs 5$ \ `ls` ${x}"
"""A parameter's text with characters that mean something to Pig and to shells."""


@pytest.fixture(scope="module")
def typed(service) -> int:
    """The id of a command, submitted as a form, with a DUMP for each of several tests."""
    storage = service.data_dir / "storage"
    (storage / "pig" / "ragged.txt").write_bytes(b"a\tb\nc\nd\te\tf\n\xff\t\n")
    with zipfile.ZipFile(storage / "pig" / "extra.jar", "w") as jar:
        jar.writestr("greeting.txt", "hello")
    script = """
    REGISTER 'pig/extra.jar';
    REGISTER 'pig/udfs.py' USING streaming_python AS u;
    a = LOAD 'pig/nested.txt'
        AS (k:chararray, n:int, b:bag{t:(w:chararray, c:long)}, m:map[int], t:(p:chararray, q:int));
    DUMP a;
    c = FOREACH a GENERATE k, ToDate('2013-01-01T05:00:00Z') AS at, (bigdecimal)'12.345' AS d,
        TOMAP('a', 1, 'b', 'x'), 2.5f;
    DUMP c;
    ragged = LOAD 'pig/ragged.txt';
    DUMP ragged;
    """
    script += (
        FLIGHTS
        + """
    lowered = FOREACH f GENERATE u.lower(carrier);
    DUMP lowered;
    few = LIMIT f $n;
    odd = FOREACH few GENERATE '$odd';
    DUMP odd;
    """
    )
    fields = {"command_type": "PigCommand", "latin_statements": script, "parameters[n]": "1", "parameters[odd]": ODD}
    response = service.http.post("/commands", data=fields)
    assert response.status_code == 200, response.text
    record = service.ended(response.json()["id"], SECONDS)
    assert record["status"] == "done", f"{record['message']}\n{service.logs(record['id'])}"
    return int(record["id"])


def test_bags_tuples_and_maps_stay_nested_and_numbers_keep_their_digits(service, typed):
    assert rows_of(service, typed, dump="a") == [
        {
            "k": "a",
            "n": 1,
            "b": [{"w": "x", "c": 1}, {"w": "y", "c": 2}],
            "m": [("l", 2), ("k", 1)],
            "t": {"p": "p", "q": 3},
        },
        {"k": "b", "n": None, "b": None, "m": None, "t": None},
        {"k": "c", "n": None, "b": [], "m": [], "t": None},
    ]
    first = rows_of(service, typed, dump="c")[0]
    assert first["at"] == datetime.datetime(2013, 1, 1, 5, tzinfo=datetime.UTC)
    assert first["d"] == Decimal("12.345")
    assert first["$3"] == [("a", "1"), ("b", "x")]  # values of several types are texts
    assert first["$4"] == 2.5


def test_rows_without_declared_types_are_as_wide_as_the_widest(service, typed):
    table = table_of(service, typed, dump="ragged")
    assert [str(kind) for kind in table.schema.types] == ["binary", "string", "string"]
    assert table.to_pylist()[2] == {"$0": b"d", "$1": "e", "$2": "f"}


def test_the_text_of_a_parameter_is_taken_as_it_is(service, typed):
    assert [list(row.values()) for row in rows_of(service, typed, dump="odd")] == [[ODD]]


def test_a_form_is_a_submission_too(service, typed):
    assert service.record(typed)["result_rows"] == 1


def test_a_store_is_reported_and_lies_in_the_accounts_storage(service, storage):
    record = succeeded(service, f"{FLIGHTS}DESCRIBE f; sh echo from the shell;\nSTORE f INTO 'pig/stored' {BARS};")

    (store,) = record["outputs"]["stores"]
    assert store["location"] == (storage / "pig" / "stored").as_uri()
    part = storage / "pig" / "stored" / "part-m-00000"
    assert (store["alias"], store["rows"], store["bytes"]) == ("f", 5, part.stat().st_size)
    assert record["message"] == f"stored 5 rows of f in {store['location']}"
    assert part.read_text().startswith("UA|LGA|10\n")
    # What a script prints is its result when it dumps nothing.
    lines = service.text(record["id"]).splitlines()
    assert lines == ["f: {carrier: chararray,origin: chararray,delay: int}", "from the shell"]


def test_a_script_that_fails_late_leaves_nothing_of_what_it_stored_and_what_was_there(service, storage):
    there = storage / "pig" / "there" / "part-m-00000"
    there.parent.mkdir()
    there.write_text("of another script")
    record = run_pig(service, FLIGHTS + "STORE f INTO 'pig/early';\nexec;\nSTORE f INTO 'pig/there';")

    assert record["status"] == "error"
    assert "already exists (ERROR 6000)" in record["message"]
    assert there.read_text() == "of another script"
    assert not (storage / "pig" / "early").exists()
    assert "pig/early, which the script had begun to store" in service.logs(record["id"])


def test_a_script_out_of_the_storage_takes_parameters(service, storage):
    (storage / "pig" / "by.pig").write_text(
        "%default least '0'\n" + FLIGHTS + "a = FILTER f BY delay > $least; DUMP a;"
    )

    record = succeeded(service, None, script_location="pig/by.pig", parameters={"least": "9"})

    assert [row["delay"] for row in rows_of(service, record["id"])] == [10, 30]
    assert record["command"] == {
        "latin_statements": None,
        "script_location": "pig/by.pig",
        "parameters": {"least": "9"},
    }


def test_functions_in_python_are_registered_out_of_the_storage(service, storage, typed):
    script = "REGISTER 'pig/udfs.py' USING streaming_python AS u;\n" + FLIGHTS
    failed = run_pig(service, script + "a = FOREACH f GENERATE u.failing(carrier); DUMP a;")

    assert [row["r"] for row in rows_of(service, typed, dump="lowered")] == ["ua", "ua", "aa", "b6", "ua"]
    assert failed["message"].splitlines()[0] == "ValueError: cannot take UA"
    assert "udfs.py, line 7, in failing" in failed["message"]
    assert not list(storage.rglob("__pycache__"))


def test_a_jar_that_is_not_in_the_storage_is_reported(service):
    failed = run_pig(service, "REGISTER 'pig/none.jar';\n" + FLIGHTS + "DUMP f;")

    assert "none.jar' does not exist" in failed["message"]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "b = FILTR f BY delay > 1;\nDUMP b;",
            "Syntax error, unexpected symbol at or near 'b' (ERROR 1200)\n  script, line 2, column 0: "
            "b = FILTR f BY delay > 1;",
        ),
        (
            "b = FILTER f BY dely > 1;\nDUMP b;",
            "Invalid field projection. Projected field [dely] does not exist in schema: "
            "carrier:chararray,origin:chararray,delay:int. (ERROR 1025)\n  script, line 2, column 16: "
            "b = FILTER f BY dely > 1;",
        ),
        (
            "b = LOAD '$input';\nDUMP b;",
            "Undefined parameter : input\n  script, line 2, column 10: b = LOAD '$input';",
        ),
        (
            "b = FOREACH f GENERATE ToDate(carrier);\nDUMP b;",
            'IllegalArgumentException: Invalid format: "UA"\n  script, line 1, column 4: ' + FLIGHTS.strip(),
        ),
        (
            "STORE f INTO 'az://lake/x';",
            "No FileSystem for scheme \"az\" (ERROR 2116)\n  script, line 2, column 0: STORE f INTO 'az://lake/x';\n"
            "az: locations are not opened here; Pig, Hive and Hadoop's programs open file:, hdfs: and, where the "
            "account's storage is an S3 store, s3: locations: copy the data to one of these first",
        ),
    ],
    ids=["syntax", "field", "parameter", "function", "store"],
)
def test_a_failure_reports_the_cause_and_the_place(service, script, message):
    record = run_pig(service, FLIGHTS + script)

    assert record["status"] == "error"
    assert record["message"] == message


def test_an_input_that_is_missing_is_reported_as_such(service, storage):
    record = run_pig(service, "a = LOAD 'pig/none.csv';\nSTORE a INTO 'pig/of_none';")

    place = (storage / "pig" / "none.csv").as_posix()
    assert record["message"].splitlines()[0] == f"Input path does not exist: file:{place} (ERROR 2118)"
    assert not (storage / "pig" / "of_none").exists()


def leaving(left: Path, then: str = "") -> str:
    """Return statements whose program starts a process outside its group and writes its number to a file."""
    start = f"setsid sleep 1000 >/dev/null 2>&1 & echo $! > {left}"
    return f"{FLIGHTS}b = STREAM f THROUGH `sh -c 'cat; {start}{then}'`;\n"


def test_a_cancelled_script_leaves_no_output_no_files_and_no_process(service, storage, tmp_path):
    left = tmp_path / "left"
    command = submit_pig(service, leaving(left, "; sleep 100") + "STORE b INTO 'pig/cancelled';")
    wait_until((storage / "pig" / "cancelled").exists, "its output", 60)
    number = wait_until(lambda: left.exists() and left.read_text().strip(), "its process", 60)
    scratch = Path((service.folder(command) / "1" / "scratch").read_text().strip())

    service.http.put(f"/commands/{command}", json={"status": "kill"})
    record = service.ended(command)

    assert record["status"] == "cancelled"
    assert not (storage / "pig" / "cancelled").exists()
    assert not scratch.exists()
    assert is_over(int(number))


def test_what_a_script_leaves_running_ends_with_it(service, tmp_path):
    left = tmp_path / "left"
    command = submit_pig(service, f"{leaving(left)}DUMP b;")
    assert service.ended(command)["status"] == "done"
    assert is_over(int(left.read_text()))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"latin_statements": "  "},
        {"latin_statements": "DUMP a;", "script_location": "x.pig"},
        {"latin_statements": "DUMP a;", "parameters": {"n": 1}},
        {"latin_statements": "DUMP a;", "parameters": {"no name": "1"}},
        {"latin_statements": "DUMP a;\0"},
        {"script_location": "ftp://lake/x.pig"},
        {"latin_statements": "DUMP a;", "label": "nowhere"},
    ],
)
def test_a_submission_that_is_wrong_is_refused(service, fields):
    response = service.http.post("/commands", json={"command_type": "PigCommand", **fields})

    assert response.status_code == 422
    assert "PigCommand could not be created" in response.json()["error"]["error_message"]
