"""`%svc_command`, `%svc_history` and the handle of `--no-wait`."""

import re
import time

import pandas as pd
import pytest
from tests.support.displayed import html_of

from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.display.failures import SvcCommandFailed


@pytest.fixture
def ended(service, notebook):
    """The notebook, after one command that is done."""
    service.behave("ls -l", output="a\nb\n", log="to stderr\n")
    notebook.value("%%svc_shell --name listing --label etl\nls -l\n")
    return notebook


@pytest.mark.both_services
def test_a_deferred_command_is_a_handle(service, notebook):
    service.behave("slow", held=True, output="x\n", log="half way\n")
    handle = notebook.value("%%svc_shell --no-wait -o later\nslow\n")
    assert isinstance(handle, CommandHandle)
    assert notebook.shell.user_ns["later"] is handle
    assert handle.id == 128
    assert handle.status() == "running"
    assert handle.logs() == "half way\n"
    service.end(128, "done")
    assert list(handle.result()["line"]) == ["x"]
    assert handle.wait() is handle
    assert handle.status() == "done"


def test_a_handle_keeps_the_format_of_its_cell(service, notebook):
    service.behave("run", output="a,b\n1,2\n")
    handle = notebook.value("%%svc_shell --no-wait --format csv\nrun\n")
    assert handle.result().to_dict("list") == {"a": [1], "b": [2]}


@pytest.mark.both_services
def test_a_deferred_failure_is_raised_by_the_result(service, notebook):
    service.behave("bad", status="error", message="exit code 3")
    handle = notebook.value("%%svc_shell --no-wait\nbad\n")
    with pytest.raises(SvcCommandFailed, match="exit code 3"):
        handle.result()


def test_a_deferred_command_can_be_cancelled(service, notebook):
    service.behave("slow", held=True)
    handle = notebook.value("%%svc_shell --no-wait\nslow\n")
    assert handle.cancel() == "cancelled"


def test_a_handle_is_shown_with_what_matters(service, notebook):
    service.behave("slow <b>", held=True)
    handle = notebook.value("%%svc_shell --no-wait --name listing --label etl\nslow <b>\n")
    assert repr(handle).startswith("command 128 · shell · ◐ running\n")
    for words in ("listing", "etl", "slow <b>"):
        assert words in repr(handle)
    assert "<b>" not in html_of(handle)
    assert "slow &lt;b&gt;" in html_of(handle)


def test_command_shows_the_status(ended):
    for line in ("%svc_command 128", "%svc_command 128 status"):
        assert ended.value(line).record.status == "done"


def test_command_returns_the_result_again(ended):
    frame = ended.value("%svc_command 128 result -o again")
    assert list(frame["line"]) == ["a", "b"]
    assert ended.shell.user_ns["again"] is frame
    assert ended.lines[-1] == "✓ command 128 · done · 2 lines · again"


def test_command_returns_a_result_in_a_format(service, notebook):
    service.behave("run", output="a,b\n1,2\n")
    notebook.value("%%svc_shell\nrun\n")
    assert notebook.value("%svc_command 128 result --format csv").to_dict("list") == {"a": [1], "b": [2]}


def test_a_format_for_typed_columns_is_refused(service, notebook):
    import pyarrow as pa

    service.add_tap("flights")
    service.behave("q", table=pa.table({"n": [1]}))
    notebook.value("%%svc_db\nq\n")
    assert "has typed columns" in str(notebook.error("%svc_command 128 result --format csv"))


def test_command_prints_the_log(ended, capsys):
    ended.value("%svc_command 128 logs")
    ended.value("%svc_command 128 logs --follow")
    assert capsys.readouterr().out == "to stderr\n" * 2


def test_command_prints_the_last_lines_of_a_log(service, notebook, capsys):
    service.behave("run", log="a\nb\nc\n")
    notebook.value("%%svc_shell --quiet\nrun\n")
    notebook.value("%svc_command 128 logs -n 2")
    assert capsys.readouterr().out == "b\nc\n"


def test_command_cancels(service, notebook, capsys):
    service.behave("slow", held=True)
    notebook.value("%%svc_shell --no-wait --quiet\nslow\n")
    capsys.readouterr()
    notebook.value("%svc_command 128 cancel")
    assert capsys.readouterr().out.startswith("command 128 · cancelled")
    notebook.value("%svc_command 128 cancel")
    assert capsys.readouterr().out == "command 128 had ended already: cancelled\n"
    service.behave("bad", status="error")
    notebook.error("%%svc_shell\nbad\n")
    capsys.readouterr()
    notebook.value("%svc_command 129 cancel")
    assert capsys.readouterr().out == "command 129 had ended already: failed\n"


def test_an_unknown_command_and_an_unknown_action(notebook):
    assert "there is no command 5" in str(notebook.error("%svc_command 5"))
    assert "invalid choice" in str(notebook.error("%svc_command 5 stop"))
    assert "invalid int value" in str(notebook.error("%svc_command five"))


def test_the_history_is_a_frame_newest_first(ended):
    ended.value("%%svc_shell\ntrue\n")
    frame = ended.value("%svc_history")
    assert list(frame["id"]) == [129, 128]
    row = frame.iloc[1]
    assert (row["type"], row["status"], row["name"], row["label"]) == ("shell", "done", "listing", "etl")
    assert row["text"] == "ls -l"
    assert row["submitted"] == pd.Timestamp("2025-11-21 09:00", tz="UTC")
    assert row["took"] == pd.Timedelta(seconds=3)


EXACT = {"started_at": "2025-11-21T09:00:01.500Z", "ended_at": "2025-11-21T09:00:01.547Z"}
OF_ANOTHER_SERVICE = [{"started_at": "09:00"}, {"ended_at": "now"}, {"started_at": "2025-11-21T09:00:01"}]


def time_of(handle):
    """Return how long the command of a handle ran, as it is shown."""
    return re.search(r"^  ran +(.*)$", repr(handle), re.MULTILINE)[1]


def test_a_duration_is_exact_where_the_service_tells(service, ended):
    service.change(128, **EXACT)
    assert ended.value("%svc_history")["took"][0] == pd.Timedelta(milliseconds=47)
    assert "<td>47 ms</td>" in re.sub("<td[^>]*>", "<td>", ended.displayed("%svc_history")["text/html"])
    assert time_of(ended.value("%svc_command 128")) == "47 ms"
    for odd in OF_ANOTHER_SERVICE:
        service.change(128, **EXACT | odd)
        assert time_of(ended.value("%svc_command 128")) == "3 s"


def test_a_command_that_runs_shows_whole_seconds(service, notebook):
    service.behave("slow", held=True)
    handle = notebook.value("%%svc_shell --no-wait\nslow\n")
    service.change(128, start_time=int(time.time()) - 4, started_at="2025-11-21T09:00:01.500Z")
    handle.status()
    assert re.fullmatch(r"(\d+ min )?\d+ s so far", time_of(handle))


def test_the_filters_of_the_history_reach_the_service(service, notebook):
    notebook.value(
        "%svc_history --status done --type ShellCommand --source API --name x --tags a --label etl --days 7 "
        "--all-users -n 5"
    )
    path = service.calls[-1]
    for part in ("status=done", "command_type=ShellCommand", "command_source=API", "name=x", "label=etl", "per_page=5"):
        assert part in path
    assert "all_users=1" in path
    assert "start_date=" in path


FILTERS = {
    "--status failed": "status=error",
    "--status error": "status=error",
    "--type 'database query,Shell'": "command_type=DbTapQueryCommand%2CShellCommand",
    "--source notebook": "command_source=UI",
    "--source schedule": "command_source=SCHEDULED",
}


def test_the_history_is_filtered_by_the_words_that_it_shows(service, notebook):
    asked = {}
    for options in FILTERS:
        notebook.value(f"%svc_history {options}")
        asked[options] = service.calls[-1]
    assert {options: call for options, call in asked.items() if FILTERS[options] not in call} == {}


def test_an_empty_history_has_its_columns(notebook):
    frame = notebook.value("%svc_history")
    assert frame.empty
    assert "submitted" in frame.columns
