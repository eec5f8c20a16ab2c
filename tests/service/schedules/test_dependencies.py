from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from svc_jupyter.api.schedules import DependencyInfo, TimeUnit
from svc_jupyter.service.schedules import dependencies
from svc_jupyter.service.schedules.dependencies import Needed, check_dependencies, needed
from svc_jupyter.service.schedules.timetable import Timetable, next_nominal_time

START = datetime(2026, 11, 1, 9, tzinfo=UTC)
NOMINAL = datetime(2026, 11, 21, 9, tzinfo=UTC)
DAILY = Timetable(START, None, "UTC", 1, TimeUnit.DAYS)
BY_CRON = Timetable(START, None, "UTC", cron_expression="0 9 * * *")


def files(*entries: dict) -> DependencyInfo:
    return DependencyInfo.model_validate({"files": [{"path": "s3://lake/%Y-%m-%d", **entry} for entry in entries]})


def tables(*entries: dict) -> DependencyInfo:
    common = {"schema": "web", "name": "visits", "columns": {"day": "%Y-%m-%d"}}
    return DependencyInfo.model_validate({"hive_tables": [common | entry for entry in entries]})


def keys(info: DependencyInfo, nominal_time: datetime = NOMINAL, timetable: Timetable = DAILY) -> list[str]:
    check_dependencies(info, timetable)
    return [item.key.removeprefix("s3://lake/") for item in needed(info, nominal_time, timetable)]


def test_without_a_window_only_the_nominal_time_s_own_file_is_needed():
    assert needed(files({}), NOMINAL, DAILY) == [Needed("file", "s3://lake/2026-11-21", may_be_folder=True)]


def test_every_step_of_the_window_is_needed():
    window = {"window_start": -2, "window_end": 0, "interval": {"days": 1}}
    assert keys(files(window)) == ["2026-11-19", "2026-11-20", "2026-11-21"]
    assert keys(files(window | {"window_end": -1})) == ["2026-11-19", "2026-11-20"]
    assert keys(files(window | {"window_start": 1, "window_end": 2})) == ["2026-11-22", "2026-11-23"]


INTERVALS: list[tuple[dict, list[str]]] = [
    ({"minutes": 30}, ["2026-11-21T08:30", "2026-11-21T09:00"]),
    ({"hours": "6"}, ["2026-11-21T03:00", "2026-11-21T09:00"]),
    ({"days": 2}, ["2026-11-19T09:00", "2026-11-21T09:00"]),
    ({"weeks": 1}, ["2026-11-14T09:00", "2026-11-21T09:00"]),
    ({"months": 1}, ["2026-10-21T09:00", "2026-11-21T09:00"]),
]


def test_the_interval_is_the_distance_of_the_steps():
    entry = {"path": "%FT%R", "window_start": "-1", "window_end": "0"}
    assert [(interval, keys(files(entry | {"interval": interval}))) for interval, _ in INTERVALS] == INTERVALS


def test_without_an_interval_the_steps_are_those_of_the_schedule():
    weekly = Timetable(START, None, "UTC", 2, TimeUnit.WEEKS)
    assert keys(files({"window_start": -1}), START, weekly) == ["2026-10-18", "2026-11-01"]


def test_the_schedule_s_own_steps_before_the_end_of_february_are_in_january_s_last_day():
    monthly = Timetable(datetime(2027, 1, 31, 9, tzinfo=UTC), None, "UTC", 1, TimeUnit.MONTHS)
    february = next_nominal_time(monthly, monthly.start)
    assert keys(files({"window_start": -2, "window_end": 1}), february, monthly) == [
        "2026-12-31",
        "2027-01-31",
        "2027-02-28",
        "2027-03-31",
    ]


def test_a_nominal_time_of_an_earlier_timetable_counts_its_steps_from_itself():
    off = NOMINAL + timedelta(hours=3)
    assert keys(files({"path": "%FT%H", "window_start": -1}), off) == ["2026-11-20T12", "2026-11-21T12"]


def test_masks_are_rendered_in_the_schedule_s_zone_or_the_entry_s_own():
    tokyo = Timetable(START, None, "Asia/Tokyo", 1, TimeUnit.DAYS)
    assert keys(files({"path": "%FT%H"}, {"path": "%FT%H", "time_zone": "America/New_York"}), NOMINAL, tokyo) == [
        "2026-11-21T18",
        "2026-11-21T04",
    ]


def test_an_hour_that_comes_twice_is_needed_once():
    nominal = datetime(2026, 10, 25, 2, tzinfo=UTC)  # 03:00 in Paris; at 01:00 UTC clocks went back from 03:00
    paris = Timetable(nominal - timedelta(days=2), None, "Europe/Paris", 1, TimeUnit.HOURS)
    assert keys(files({"path": "%FT%H", "window_start": -3}), nominal, paris) == [
        "2026-10-25T01",
        "2026-10-25T02",
        "2026-10-25T03",
    ]


def test_a_done_flag_is_a_file_inside_the_path():
    info = files({"done_flag": "_SUCCESS"}, {"path": "a/%d/", "done_flag": "_SUCCESS"}, {"path": "a/%d/"})
    assert needed(info, NOMINAL, DAILY) == [
        Needed("file", "s3://lake/2026-11-21/_SUCCESS"),
        Needed("file", "a/21/_SUCCESS"),
        Needed("file", "a/21/", may_be_folder=True),
    ]


def test_steps_before_the_initial_instance_are_not_needed():
    window = {"window_start": -9, "interval": {"days": 1}}
    assert keys(files(window | {"initial_instance": "2026-11-20T09:00Z"})) == ["2026-11-20", "2026-11-21"]
    assert keys(files(window | {"initial_instance": "2026-11-20 09:01"})) == ["2026-11-21"]
    assert keys(files(window | {"initial_instance": "2027-01-01 00:00"})) == []
    in_tokyo = {"time_zone": "Asia/Tokyo", "initial_instance": "2026-11-21 18:00"}
    assert keys(files(window | in_tokyo)) == ["2026-11-21"]


def test_of_a_table_every_combination_of_values_is_needed_at_every_step():
    entry = {
        "columns": {"day": "%Y-%m-%d", "region": ["EU", "US"], "kind": "all"},
        "window_start": "-1",
        "window_end": "0",
        "interval": {"days": "1"},
    }
    assert keys(tables(entry)) == [
        "web.visits/day=2026-11-20/region=EU/kind=all",
        "web.visits/day=2026-11-20/region=US/kind=all",
        "web.visits/day=2026-11-21/region=EU/kind=all",
        "web.visits/day=2026-11-21/region=US/kind=all",
    ]
    assert {item.kind for item in needed(tables(entry), NOMINAL, DAILY)} == {"hive"}


def test_partitions_are_named_as_hive_writes_them():
    entry = {"columns": {"Hour": "%Y-%m-%d %H:%M", "path": ["a/b=c", "50%", "é}"]}, "interval": {"days": 1}}
    assert keys(tables(entry)) == [
        "web.visits/hour=2026-11-21 09%3A00/path=a%2Fb%3Dc",
        "web.visits/hour=2026-11-21 09%3A00/path=50%25",
        "web.visits/hour=2026-11-21 09%3A00/path=é}",
    ]


def test_values_in_an_array_are_no_masks():
    assert keys(tables({"columns": {"day": ["%Y"]}})) == ["web.visits/day=%25Y"]


def test_files_and_tables_of_one_schedule_are_all_needed():
    both = DependencyInfo(files=files({}).files, hive_tables=tables({}).hive_tables)
    assert keys(both) == ["2026-11-21", "web.visits/day=2026-11-21"]
    assert keys(DependencyInfo()) == []


def refusal(info: DependencyInfo) -> str:
    with pytest.raises(ValueError, match=r"^(files|hive_tables)\.") as refused:
        check_dependencies(info, DAILY)
    return str(refused.value)


NO_DIRECTIVE = "is not a date directive such as %Y, %m, %d or %H; write %% for a percent sign"
NO_ZONE = "time_zone 'Mars/Olympus' is not known; give a name such as UTC or Europe/Paris"
NO_TIME = "is not a time; give it as 2026-11-21 09:00 (the schedule's own wall clock) or 2026-11-21T09:00Z (UTC)"
TOO_FAR = "the window from window_start to window_end leaves the years 1900 to 9000"
NO_FILE_NAME = "done_flag must be the name of a file inside path, such as _SUCCESS"
KNOWN_SCHEMES = "file://, s3://, gs://, az://, abfss:// and https://"
WRONG_FILES: list[tuple[dict, str]] = [
    ({"window_start": 1, "window_end": 0}, "window_start must not be later than window_end"),
    ({"path": "a/%Q"}, f"path: '%Q' {NO_DIRECTIVE}"),
    ({"path": "a%20b"}, f"path: '%2' {NO_DIRECTIVE}"),
    ({"path": "../%Y"}, "the location ../2026 must not hold '.' or '..' as a part of its path"),
    (
        {"path": "ftp://host/%Y"},
        f"the location ftp://host/2026 has an unknown scheme; known are {KNOWN_SCHEMES}",
    ),
    (
        {"path": "http://example.org/%Y"},
        "the location http://example.org/2026 must use https://: what comes over plain http can be altered on its way",
    ),
    (
        {"path": "https://example.org/%Y?signature=secret"},
        "path must have no query: it is rendered for each step, and shown",
    ),
    ({"path": " "}, "a location is empty"),
    ({"path": "a\0b"}, "the location a\ufffdb holds a control character"),
    ({"done_flag": "../x"}, NO_FILE_NAME),
    ({"done_flag": " "}, NO_FILE_NAME),
    ({"done_flag": ".."}, "the location s3://lake/2026-11-01/.. must not hold '.' or '..' as a part of its path"),
    ({"time_zone": "Mars/Olympus"}, NO_ZONE),
    ({"initial_instance": "soon"}, f"initial_instance: 'soon' {NO_TIME}"),
    ({"interval": {"months": 1_000_000}, "window_start": -1_000_000}, TOO_FAR),
    ({"interval": {"days": 300}, "window_end": 9_000}, TOO_FAR),
]


def test_a_file_that_cannot_be_is_refused_by_its_place():
    assert [(entry, refusal(files({}, entry))) for entry, _ in WRONG_FILES] == [
        (entry, f"files.1: {message}") for entry, message in WRONG_FILES
    ]


WRONG_TABLES: list[tuple[dict, str]] = [
    ({"window_start": "0", "window_end": "-1"}, "window_start must not be later than window_end"),
    ({"schema": "my-schema"}, "schema 'my-schema' is not a name of Hive (letters, digits and _)"),
    ({"name": "a.b"}, "name 'a.b' is not a name of Hive (letters, digits and _)"),
    ({"columns": {"day": "%Q"}}, f"columns.'day': '%Q' {NO_DIRECTIVE}"),
    ({"columns": {"day": []}}, "columns.'day' has no values"),
    ({"columns": {"day": ["a", ""]}}, "columns.'day' has an empty value"),
    ({"columns": {"day": ""}}, "columns.'day' has an empty value"),
    ({"columns": {"day": ["a\n"]}}, "columns.'day' holds a control character"),
    ({"columns": {" ": "x"}}, "columns must be named"),
    ({"time_zone": "Mars/Olympus"}, NO_ZONE),
    ({"initial_instance": "2026-99-01"}, f"initial_instance: '2026-99-01' {NO_TIME}"),
]


def test_a_table_that_cannot_be_is_refused_by_its_place():
    assert [(entry, refusal(tables(entry))) for entry, _ in WRONG_TABLES] == [
        (entry, f"hive_tables.0: {message}") for entry, message in WRONG_TABLES
    ]


def test_beside_a_cron_expression_a_window_needs_an_interval():
    window = {"window_start": -1}
    with pytest.raises(ValueError, match=r"^files\.0: interval is needed beside cron_expression"):
        check_dependencies(files(window), BY_CRON)
    assert keys(files(window | {"interval": {"days": 1}}), NOMINAL, BY_CRON) == ["2026-11-20", "2026-11-21"]
    assert keys(files({}), NOMINAL, BY_CRON) == ["2026-11-21"]


def test_more_than_an_action_can_wait_for_is_refused_without_being_counted_out(monkeypatch):
    monkeypatch.delattr(dependencies, "product")
    wide = {"window_start": -999_999, "interval": {"minutes": 1}}
    with pytest.raises(ValueError, match="an action would wait for 1000000 files and partitions; at most 10000 are"):
        check_dependencies(files(wide), DAILY)
    many = {"columns": {name: [str(n) for n in range(100)] for name in "abcdef"}}
    with pytest.raises(ValueError, match="an action would wait for 1000000000000 files and partitions"):
        check_dependencies(tables(many), DAILY)
    together = {"window_start": -5_000, "interval": {"minutes": 1}}
    check_dependencies(files(together), DAILY)
    with pytest.raises(ValueError, match="an action would wait for 10002 files"):
        check_dependencies(files(together, together), DAILY)


WRONG_COLUMNS: list[tuple[object, set[str]]] = [
    (5, {"Input should be a valid dictionary"}),
    ("day", {"Input should be a valid dictionary"}),
    (["day"], {"Input should be a valid dictionary"}),
    ({"day": 5}, {"Input should be a valid string", "Input should be a valid list"}),
    ({"day": True}, {"Input should be a valid string", "Input should be a valid list"}),
    ({"day": {}}, {"Input should be a valid string", "Input should be a valid list"}),
    ({"day": [[]]}, {"Input should be a valid string"}),
]


def test_columns_of_a_wrong_type_are_refused():
    def messages(columns: object) -> set[str]:
        table = {"schema": "web", "name": "visits", "columns": columns}
        with pytest.raises(ValidationError, match=r"hive_tables\.0\.columns") as refused:
            DependencyInfo.model_validate({"hive_tables": [table]})
        return {error["msg"] for error in refused.value.errors()}

    assert [(columns, messages(columns)) for columns, _ in WRONG_COLUMNS] == WRONG_COLUMNS


def test_a_number_among_the_values_of_a_column_is_its_text():
    table = {"schema": "web", "name": "visits", "columns": {"year": [2026, "2027"]}}
    info = DependencyInfo.model_validate({"hive_tables": [table]})
    assert info.hive_tables[0].columns == {"year": ["2026", "2027"]}
