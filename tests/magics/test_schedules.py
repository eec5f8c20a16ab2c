"""`%svc_schedule`: lists, states, actions and what they ran."""

import pandas as pd
import pytest
from tests.support.displayed import html_of

from svc_jupyter.magics.schedules.handle import ScheduleHandle


def at(text, zone):
    return pd.Timestamp(text, tz=zone)


def shell_run(service, notebook, text, **how):
    """Let a command have run as a schedule's action does; return its id."""
    service.behave(text, **how)
    return notebook.value(f"%%svc_shell --no-wait\n{text}\n").id


@pytest.mark.both_services
def test_the_list_has_times_in_the_zone_of_each_schedule(service, notebook):
    service.schedules.add("tokyo", time_zone="Asia/Tokyo", description=None)
    service.schedules.add("over", status="KILLED", end_time="2026-12-01 00:00", cron_expression="0 9 * * *")
    frame = notebook.value("%svc_schedule -o all_of_them")
    assert notebook.shell.user_ns["all_of_them"] is frame
    assert list(frame["name"]) == ["over", "tokyo"]
    assert list(frame["status"]) == ["ended", "active"]
    assert list(frame["type"]) == ["shell", "shell"]
    assert frame["next_run"][1] == at("2026-11-22 09:00", "Asia/Tokyo")
    assert pd.isna(frame["next_run"][0])
    assert frame["end"][0] == at("2026-12-01 00:00", "UTC")
    assert isinstance(frame["end"].dtype, pd.DatetimeTZDtype)
    assert frame["runs"][1] == "every day at 09:00 (Asia/Tokyo)"
    if service.bare:
        assert frame["runs"][0] == "cron 0 9 * * * (UTC)"


def test_the_list_is_narrowed_by_the_service(service, notebook):
    service.schedules.add("report")
    service.schedules.add("other", status="SUSPENDED")
    service.schedules.add("killed", status="KILLED")
    service.schedules.add("done", status="DONE")
    assert list(notebook.value("%svc_schedule list --status SUSPENDED")["name"]) == ["other"]
    assert list(notebook.value("%svc_schedule list --status active")["name"]) == ["report"]
    assert list(notebook.value("%svc_schedule list --status ended")["name"]) == ["done", "killed"]
    assert list(notebook.value("%svc_schedule list --name epor")["name"]) == ["report"]
    assert "invalid choice" in str(notebook.error("%svc_schedule list --status GONE"))


def test_an_empty_list_has_its_columns_and_types(service, notebook):
    frame = notebook.value("%svc_schedule list")
    assert frame.empty
    assert isinstance(frame["next_run"].dtype, pd.DatetimeTZDtype)


@pytest.mark.both_services
def test_a_schedule_is_shown_with_what_matters(service, notebook):
    to_come = {"next_materialized_time": "2096-11-22 09:00"}
    schedule = service.schedules.add("report <b>", time_zone="Europe/Paris", concurrency=2, retry=1, **to_come)
    service.schedules.act(schedule, "not_found", dependencies={"found": [], "not_found": ["flights/2026-11-21"]})
    handle = notebook.value("%svc_schedule show 12 -o one")
    assert isinstance(handle, ScheduleHandle)
    assert notebook.shell.user_ns["one"] is handle
    for words in ("✗ dependencies not found", "missing: flights/2026-11-21", "shell: date", "at once"):
        assert words in repr(handle)
    assert "<b>" not in html_of(handle)
    assert "report &lt;b&gt;" in html_of(handle)
    assert (len(handle.coming) == 1) == service.bare
    assert handle.actions()["nominal_time"][0] == at("2026-11-21 09:00", "Europe/Paris")


def test_states_are_changed_by_name_or_id(service, notebook, capsys):
    service.schedules.add("report")
    for action, status in (("suspend report", "‖ suspended"), ("resume 12", "● active"), ("kill report", "■ ended")):
        notebook.value(f"%svc_schedule {action}")
        assert capsys.readouterr().out == f"schedule report (12) · {status}\n"
    assert service.schedules.bodies == [{"status": "suspend"}, {"status": "resume"}, {"status": "kill"}]
    assert "is KILLED" in str(notebook.error("%svc_schedule resume report"))


def test_missed_runs_can_be_dropped_when_a_schedule_is_resumed(service, notebook):
    service.schedules.add("report", status="SUSPENDED")
    notebook.value("%svc_schedule resume report --no-catch-up")
    assert service.schedules.bodies == [{"status": "resume", "no_catch_up": True}]


def test_a_handle_changes_states_too(service, notebook):
    service.schedules.add("report")
    handle = notebook.value("%svc_schedule show report")
    assert handle.suspend() == "SUSPENDED"
    assert handle.record.status == "SUSPENDED"
    assert handle.resume(no_catch_up=True) == "RUNNING"
    assert handle.kill() == "KILLED"
    assert (handle.id, handle.name) == (12, "report")


def test_actions_are_a_frame_newest_first(service, notebook):
    schedule = service.schedules.add("report", time_zone="Asia/Tokyo")
    service.schedules.act(schedule, "done", query_hist_id=128)
    waits = {"found": ["a"], "not_found": ["b", "c"]}
    service.schedules.act(schedule, "waiting", dependencies=waits, nominal_time="2026-11-22T08:00:00Z")
    frame = notebook.value("%svc_schedule actions report -o acts")
    assert list(frame["sequence"]) == [2, 1]
    assert frame["nominal_time"][0] == at("2026-11-22 17:00", "Asia/Tokyo")
    assert list(frame["status"]) == ["waiting for its dependencies", "done"]
    assert frame["missing"][0] == ["b", "c"]
    assert frame["reason"][0] == "missing: b and 1 more"
    assert (frame["command"][1], pd.isna(frame["command"][0])) == (128, True)
    assert len(notebook.value("%svc_schedule actions report -n 1")) == 1
    everywhere = notebook.value("%svc_schedule actions")
    assert list(everywhere["schedule"]) == [12, 12]
    assert everywhere["nominal_time"][1] == at("2026-11-21 08:00", "UTC")


def test_more_actions_than_a_page_are_fetched(service, notebook):
    schedule = service.schedules.add("report")
    for _ in range(130):
        service.schedules.act(schedule)
    assert len(notebook.value("%svc_schedule actions report -n 125")) == 125


def test_runs_are_the_commands_with_their_nominal_times(service, notebook):
    service.schedules.add("report", time_zone="Asia/Tokyo")
    number = shell_run(service, notebook, "date", output="x\n")
    service.change(number, nominal_time="2026-11-21T08:00:00Z")
    service.schedules.ran = [service.commands[number].record]
    frame = notebook.value("%svc_schedule runs report")
    assert (frame["id"][0], frame["nominal_time"][0]) == (number, at("2026-11-21 17:00", "Asia/Tokyo"))


def test_the_result_of_an_action_is_its_command_s(service, notebook):
    schedule = service.schedules.add("report")
    first = shell_run(service, notebook, "one", output="a,b\n1,2\n")
    last = shell_run(service, notebook, "two", output="x\n")
    service.schedules.act(schedule, "done", query_hist_id=first)
    service.schedules.act(schedule, "done", query_hist_id=last)
    assert list(notebook.value("%svc_schedule result report")["line"]) == ["x"]
    frame = notebook.value("%svc_schedule result report 1 --format csv -o one")
    assert frame.to_dict("list") == {"a": [1], "b": [2]}
    assert notebook.shell.user_ns["one"] is frame
    assert notebook.lines[-1] == f"✓ command {first} · done · 1 row × 2 columns · one"


def test_the_result_of_an_action_that_waits_is_waited_for(service, notebook, wait_until):
    schedule = service.schedules.add("report")
    action = service.schedules.act(schedule, "waiting", dependencies={"found": [], "not_found": ["flights/x"]})
    number = shell_run(service, notebook, "one", output="x\n")

    def come_true(*_args, **_more):
        if any("waiting for its dependencies (missing: flights/x)" in line for line in notebook.lines):
            action.update(status="done", query_hist_id=number, done=True)

    publish = notebook.shell.display_pub.publish
    notebook.shell.display_pub.publish = lambda *args, **more: (publish(*args, **more), come_true())[0]
    assert list(notebook.value("%svc_schedule result report 1")["line"]) == ["x"]


def test_a_failed_action_is_the_cell_s_error(service, notebook):
    schedule = service.schedules.add("report")
    number = shell_run(service, notebook, "bad", status="error", message="exit code 3")
    service.schedules.act(schedule, "error", query_hist_id=number)
    error = notebook.error("%svc_schedule result report")
    assert type(error).__name__ == "SvcCommandFailed"
    assert "exit code 3" in str(error)


def test_an_action_that_ran_nothing_says_why(service, notebook):
    later = {"next_materialized_time": "2999-01-01 09:00"}
    schedule = service.schedules.add("report", **later)
    assert "has not run that yet; next: Tue 1 Jan 2999 09:00" in str(notebook.error("%svc_schedule result report"))
    assert "has not run that yet" in str(notebook.error("%svc_schedule result report 7"))
    service.schedules.act(schedule, "not_found", dependencies={"found": [], "not_found": ["flights/x"]})
    for what in ("result", "logs"):
        error = str(notebook.error(f"%svc_schedule {what} report 1"))
        assert "ran nothing, dependencies not found: missing: flights/x" in error


def test_the_log_of_an_action_is_printed(service, notebook, capsys):
    schedule = service.schedules.add("report")
    number = shell_run(service, notebook, "run", log="a\nb\n")
    service.schedules.act(schedule, "done", query_hist_id=number)
    capsys.readouterr()
    notebook.value("%svc_schedule logs report")
    assert capsys.readouterr().out == "a\nb\n"
    notebook.value("%svc_schedule logs report -n 1")
    notebook.value("%svc_schedule logs report 1 -n 1")
    assert capsys.readouterr().out == "b\n" * 2


@pytest.mark.both_services
def test_an_action_runs_again_and_is_ended(service, notebook, capsys):
    schedule = service.schedules.add("report")
    service.schedules.act(schedule, "error", query_hist_id=128)
    notebook.value("%svc_schedule rerun report 1")
    said = capsys.readouterr().out
    assert said.startswith("schedule report (12) · action 1 of ")
    assert said.endswith("runs again\n" if service.bare else "runs again as action 31\n")
    notebook.value("%svc_schedule kill-action report 1")
    assert capsys.readouterr().out == "schedule report (12) · action 1 ended\n"
    for action in service.schedules.actions.values():
        action["status"] = "not_found"
    notebook.value("%svc_schedule kill-action report 1")
    assert capsys.readouterr().out == "schedule report (12) · action 1 had ended already: dependencies not found\n"


def test_each_action_has_help(notebook, capsys):
    from svc_jupyter.magics.schedules.schedules import ScheduleMagics

    for name in ScheduleMagics.actions["svc_schedule"]:
        notebook.value(f"%svc_schedule {name} --help")
        assert f"%svc_schedule {name}" in capsys.readouterr().out


def test_a_name_that_is_not_there_is_reported_with_the_nearest(service, notebook):
    service.schedules.add("report")
    assert "did you mean report?" in str(notebook.error("%svc_schedule show repot"))


def test_in_a_terminal_the_panel_is_a_text(service, terminal):
    schedule = service.schedules.add("report")
    service.schedules.act(schedule, "error", message="exit code 3\nmore", query_hist_id=128)
    shown = repr(terminal.value("%svc_schedule panel report"))
    assert shown.startswith("schedule report (12) · ● active")
    assert "✗ failed  command 128 · exit code 3" in shown
    assert "report (12)" in repr(terminal.value("%svc_schedule panel"))


def test_a_panel_without_schedules_offers_the_first_step(service, notebook):
    assert "There are no schedules yet" in repr(notebook.value("%svc_schedule panel"))
