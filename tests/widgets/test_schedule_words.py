from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord
from svc_jupyter.api.status_words import icon_of, word_of
from svc_jupyter.widgets.schedules.words import (
    moment,
    name_of,
    next_time,
    nominal_time,
    reason_of,
    timetable_text,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PARIS = ZoneInfo("Europe/Paris")


def schedule(**fields):
    return ScheduleRecord(id=12, name="report", status="RUNNING", command_type="ShellCommand", command={}, **fields)


def action(**fields):
    about = {"nominal_time": "2026-11-21T08:00:00Z", "done": True, "status": "done", "created_at": ""}
    return ActionRecord(id=1, periodic_job_id=12, sequence_id=1, **about | fields)


def test_a_wall_clock_is_the_zone_s_and_an_instant_is_brought_to_it():
    assert moment("2026-11-22 09:00", "Europe/Paris") == datetime(2026, 11, 22, 9, tzinfo=PARIS)
    assert moment("2026-11-22T09:00Z", "Europe/Paris").hour == 10
    assert nominal_time(action()) == datetime(2026, 11, 21, 9, tzinfo=PARIS)


def test_an_invalid_time_is_read_as_none():
    assert [moment(text, "UTC") for text in (None, "", "soon", 5)] == [None] * 4


def test_a_zone_that_is_not_known_here_is_taken_as_utc():
    zones = ["Mars/Olympus", "../etc", "", None]
    assert [moment("2026-11-22 09:00", zone) for zone in zones] == [datetime(2026, 11, 22, 9, tzinfo=UTC)] * 4


def test_a_timetable_is_reported_in_the_service_s_words_or_in_ours():
    assert timetable_text(schedule(description="when it likes")) == "when it likes"
    cron = schedule(cron_expression="0 9 * * *", time_zone="Asia/Tokyo")
    assert timetable_text(cron) == "cron 0 9 * * * (Asia/Tokyo)"
    start = "2026-11-22 09:00"
    assert timetable_text(schedule(frequency=2, time_unit="days", start_time=start)) == "every 2 days at 09:00 (UTC)"
    assert timetable_text(schedule(frequency=1, time_unit="hours", start_time=start)) == "every hour (UTC)"


def test_only_a_running_schedule_has_a_next_time():
    fields = {"next_materialized_time": "2026-11-22 09:00", "time_zone": "Europe/Paris"}
    running = schedule(**fields)
    assert next_time(running) == datetime(2026, 11, 22, 9, tzinfo=PARIS)
    assert next_time(running.model_copy(update={"status": "SUSPENDED"})) is None


def test_why_an_action_waits_or_failed():
    missing = {"found": [], "not_found": ["a", "b"]}
    assert reason_of(action(message="exit code 3\nTraceback")) == "exit code 3"
    assert reason_of(action(status="not_found", dependencies=missing)) == "missing: a and 1 more"
    assert reason_of(action(query_hist_id=5, dependencies=missing)) == ""
    assert reason_of(action(status="cancelled", message="cancelled")) == ""


def test_names_icons_and_words():
    assert name_of(schedule()) == "report (12)"
    assert name_of(schedule().model_copy(update={"name": "12"})) == "12"
    assert (icon_of("error"), icon_of("running"), icon_of("odd")) == ("✗", "◐", "·")
    assert word_of("waiting", has_command=False) == "waiting for its dependencies"
    assert word_of("waiting", has_command=True) == "waiting for a free slot"
    assert word_of("error", has_command=True) == "failed"
