"""Lists of commands, schedules and clusters as a front end shows them: in words, on the reader's clock."""

import re
from html import unescape

import pandas as pd
import pyarrow as pa
import pytest


@pytest.fixture
def used(service, notebook):
    """The notebook, after a query that is done, a script that failed, and one that runs."""
    service.add_tap("flights")
    service.behave("SELECT 1", table=pa.table({"n": [1, 2]}))
    service.behave("bad", status="error", message="exit code 3")
    service.behave("slow", held=True)
    notebook.value("%%svc_db --tap flights\nSELECT 1\n")
    notebook.error("%%svc_shell\nbad\n")
    notebook.value("%%svc_shell --no-wait\nslow\n")
    return notebook


def cells_of(html):
    """Return the texts of the rows of a table, its head first."""
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    texts = [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)] for row in rows]
    return [row[1:] for row in texts]  # without the index


def colours_of(html):
    """Return the cells that have a colour, by its name."""
    names = dict(re.findall(r"\.(\w+)\{color:var\(--jp-(\w+)-color1,", html))
    cells = re.findall(r"<td class=(\w+)>([^<]+)</td>", html)
    return {names[name]: text for name, text in cells if name in names}


@pytest.mark.usefixtures("in_paris")
@pytest.mark.both_services
def test_the_history_is_in_words_on_the_readers_clock(service, used):
    data = used.displayed("%svc_history")
    head, running, failed, done = cells_of(data["text/html"])
    columns = ["id", "status", "type", "name", "submitted Europe/Paris", "took", "rows"]
    assert head == [*columns, "label", "source", "message", "text"]
    assert running[:7] == ["130", "◐ running", "shell", "", "2025-11-21 10:00", "", ""]
    assert failed[1:3] == ["✗ failed", "shell"]
    assert failed[8] == ("API" if service.bare else "notebook")
    assert failed[9] == ("" if service.bare else "exit code 3")
    assert done[1:3] == ["✓ done", "database query"]
    assert done[4:7] == ["2025-11-21 10:00", "3 s", "" if service.bare else "2"]
    assert colours_of(data["text/html"]) == {"brand": "◐ running", "error": "✗ failed", "success": "✓ done"}
    for nothing in ("NaT", "<NA>", "NaN", "None", "null"):
        assert nothing not in data["text/plain"] + unescape(data["text/html"])
    assert "✗ failed" in data["text/plain"]


@pytest.mark.usefixtures("in_paris")
def test_the_frame_of_the_history_has_values_to_work_with(used):
    frame = used.value("%svc_history")
    assert list(frame["status"]) == ["running", "failed", "done"]
    assert str(frame["submitted"].dtype.tz) == "Europe/Paris"
    assert frame["took"].dtype.kind == "m"
    assert frame["rows"].dtype == "Int64"


OFFSETS = {
    "Etc/UTC": "UTC+0",
    "EST5": "UTC-5",
    "<-0530>5:30": "UTC-5.5",
    "Nowhere/Land": "UTC+0",
    "/etc/passwd": "UTC+0",
    "/etc": "UTC+0",
}


def test_every_clock_can_be_read(set_zone, service, notebook):
    notebook.value("%%svc_shell --quiet\ntrue\n")
    found = {}
    for zone in OFFSETS:
        set_zone(zone)
        [submitted] = notebook.value("%svc_history")["submitted"]
        assert submitted == pd.Timestamp("2025-11-21 09:00", tz="UTC")
        assert "Etc" not in notebook.displayed("%svc_history")["text/html"]
        found[zone] = f"UTC{submitted.utcoffset() / pd.Timedelta(hours=1):+g}"
    assert found == OFFSETS


@pytest.mark.filterwarnings("error")
def test_settings_that_contradict_the_clock_warn_of_nothing(set_zone, monkeypatch, service, notebook):
    notebook.value("%%svc_shell --quiet\ntrue\n")
    set_zone("")
    monkeypatch.setattr("tzlocal.unix._get_localzone_name", lambda _root: "Asia/Kathmandu")
    [submitted] = notebook.value("%svc_history")["submitted"]
    assert submitted == pd.Timestamp("2025-11-21 09:00", tz="UTC")


@pytest.mark.usefixtures("in_paris")
def test_a_schedule_that_ends_with_the_calendar_is_listed(service, notebook):
    service.schedules.add("for ever", end_time="9999-12-31 23:59", time_zone="UTC")
    frame = notebook.value("%svc_schedule list")
    assert str(frame["end"].dtype.tz) == "Europe/Paris"
    assert "9999-12-31 23:59" in notebook.displayed("%svc_schedule list")["text/html"]
    assert "Fri 31 Dec 9999 23:59:59" in repr(notebook.value("%svc_schedule show 'for ever'"))


def test_a_terminal_shows_a_list_in_words(terminal, service, capsys):
    service.schedules.add("report", status="KILLED")
    with pd.option_context("display.width", 300):
        terminal.value("%svc_schedule list")
    shown = capsys.readouterr().out
    assert "■ ended" in shown
    assert "shell" in shown
    assert "NaT" not in shown


@pytest.mark.usefixtures("in_paris")
def test_schedules_are_in_words_on_the_readers_clock(service, notebook):
    service.schedules.add("one", time_zone="Asia/Tokyo", next_materialized_time="2096-11-22 09:00")
    service.schedules.add("two", time_zone="Europe/Paris", next_materialized_time="2096-11-22 09:00")
    head, second, first = cells_of(notebook.displayed("%svc_schedule list")["text/html"])
    place = head.index("next_run Europe/Paris")
    assert first[head.index("status")] == "● active"
    assert (first[place], second[place]) == ("2096-11-22 01:00", "2096-11-22 09:00")


def test_an_action_says_what_it_waits_for(service, notebook):
    schedule = service.schedules.add("report")
    service.schedules.act(schedule, "waiting", query_hist_id=128)
    service.schedules.act(schedule, "waiting", dependencies={"found": [], "not_found": ["flights/a", "flights/b"]})
    head, second, first = cells_of(notebook.displayed("%svc_schedule actions report")["text/html"])
    assert first[head.index("status")] == "◌ waiting for a free slot"
    assert second[head.index("status")] == "◌ waiting for its dependencies"
    assert [second[head.index(name)] for name in ("found", "missing")] == ["", "flights/a, flights/b"]


def test_the_labels_of_clusters_are_enumerated(service, notebook):
    service.clusters.add(state="UP")["label"] = ["etl", "default"]
    head, cluster = cells_of(notebook.displayed("%svc_clusters")["text/html"])
    assert cluster[head.index("labels")] == "etl, default"
    assert cluster[head.index("state")] == "● up"


def test_a_result_says_the_zone_of_its_times_and_keeps_its_nulls(service, notebook):
    service.add_tap("flights")
    times = pa.array([1_700_000_000, None], pa.timestamp("s", "UTC"))
    service.behave("q", table=pa.table({"at": times, "status": ["failed", None]}))
    head, first, second = cells_of(notebook.displayed("%%svc_db\nq\n")["text/html"])
    assert head == ["at UTC", "status"]
    assert first == ["2023-11-14 22:13:20", "failed"]  # the word is the data's own: it has no icon
    assert second == ["null", "null"]
