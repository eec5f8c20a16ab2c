"""`%%svc_schedule create`, `edit` and `preview`, and `create-notebook`."""

import pandas as pd
import pytest

EVERY_OPTION = (
    "%%svc_schedule create --every '2 weeks' --start '2026-11-22 09:00' --end '2027-01-01 00:00' --tz Europe/Paris "
    "--name report --label etl --tags a,b --pool fast --concurrency 3 --timeout 60 --retry 2 --retry-delay 5 "
    "--no-catch-up --wait-for flights/%Y-%m-%d --wait-for weather --done-flag _SUCCESS --window 7 --interval '1 day' "
    "--time-out 30 --notify --notify-failure --notify-success --channel 4 --channel 5 --digest 18:30 "
    "--due-by 8:05 --longer-than 2.5 "
    "--param who=ann --var days --macro 'day=1+1' -o made\n%%svc_shell --files a,b\necho $day$\n"
)


def made(service):
    return service.schedules.bodies[-1]


def previewed(service):
    return service.schedules.previews[-1]


def test_a_cell_is_scheduled_by_one_line_above_it(service, notebook):
    service.add_tap("flights")
    handle = notebook.value(
        "%%svc_schedule --every day --name report\n%%svc_db --tap flights --timeout 60 --macro 'day=1'\nselect $day$\n"
    )
    assert made(service) == {
        "command_type": "DbTapQueryCommand",
        "command": {"db_tap_id": 1, "query": "select $day$\n"},
        "frequency": 1,
        "time_unit": "days",
        "name": "report",
        "command_timeout": 60,
        "macros": [{"day": "1"}],
    }
    assert handle.name == "report"
    assert repr(handle).startswith("schedule report (12) · ● active\n")
    assert "database query: select $day$" in repr(handle)
    assert service.submissions == []


def test_every_option_reaches_the_service(service, notebook):
    notebook.shell.user_ns["days"] = 7
    handle = notebook.value(EVERY_OPTION)
    assert notebook.shell.user_ns["made"] is handle
    file = {"done_flag": "_SUCCESS", "window_start": -6, "window_end": 0, "interval": {"days": 1}}
    assert made(service) == {
        "command_type": "ShellCommand",
        "command": {"inline": "echo $day$\n", "files": "a,b"},
        "frequency": 2,
        "time_unit": "weeks",
        "start_time": "2026-11-22 09:00",
        "end_time": "2027-01-01 00:00",
        "time_zone": "Europe/Paris",
        "name": "report",
        "label": "etl",
        "tags": "[a,b]",
        "pool": "fast",
        "concurrency": 3,
        "command_timeout": 60,
        "retry": 2,
        "retry_delay": 5,
        "no_catch_up": True,
        "dependency_info": {"files": [{"path": "flights/%Y-%m-%d", **file}, {"path": "weather", **file}]},
        "time_out": 30,
        "can_notify": True,
        "notification": {
            "notify_failure": True,
            "notify_success": True,
            "notification_channels": [4, 5],
            "is_digest": True,
            "digest_time_hour": 18,
            "digest_time_minute": 30,
        },
        "due_by": "08:05",
        "longer_than": 2.5,
        "macros": [{"who": '"ann"'}, {"days": '"7"'}, {"day": "1+1"}],
    }


def test_several_cells_are_one_composite_command(service, notebook):
    service.add_tap("flights")
    notebook.value(
        "%%svc_schedule --cron '0 9 * * *'\n"
        "%%svc_shell --name first\necho 1\n\n%%svc_db --tap flights --retry 2\nselect 1\n"
        "%svc_notebook run Common/report.ipynb --arg days=7 --keep-source\n"
    )
    assert made(service)["command_type"] == "CompositeCommand"
    assert made(service)["cron_expression"] == "0 9 * * *"
    assert made(service)["command"]["sub_commands"] == [
        {"command_type": "ShellCommand", "inline": "echo 1\n", "name": "first"},
        {"command_type": "DbTapQueryCommand", "db_tap_id": 1, "query": "select 1", "retry": 2},
        {
            "command_type": "JupyterNotebookCommand",
            "path": "Common/report.ipynb",
            "arguments": {"days": 7},
            "upload_to_source": False,
        },
    ]


def test_a_notebook_is_scheduled_by_its_path(service, notebook):
    notebook.value(
        "%svc_schedule create-notebook Users/a@b.c/report.ipynb --every month --at 7:05 --arg region=EU --arg days=7 "
        "--arg 'code=\"7\"' --arg share=0.5 --arg all=true --keep-source --retry 2 --retry-delay 3"
    )
    assert made(service)["command_type"] == "JupyterNotebookCommand"
    assert made(service)["command"] == {
        "path": "Users/a@b.c/report.ipynb",
        "arguments": {"region": "EU", "days": 7, "code": "7", "share": 0.5, "all": True},
        "upload_to_source": False,
        "retry": 2,
        "retry_delay": 3,
    }
    assert "retry" not in made(service)
    assert made(service)["start_time"].endswith(" 07:05")


def test_arguments_of_a_scheduled_notebook_have_the_types_that_it_declares(service, notebook):
    cell = {"cell_type": "code", "source": "zip = '01234'\ndays = 7", "metadata": {"tags": ["parameters"]}}
    service.notebooks["Common/report.ipynb"] = {"cells": [cell], "metadata": {}}
    notebook.value("%svc_schedule create-notebook Common/report.ipynb --every day --arg zip=75001 --arg days=1")
    assert made(service)["command"]["arguments"] == {"zip": "75001", "days": 1}
    error = notebook.error("%svc_schedule create-notebook Common/report.ipynb --every day --arg days=soon")
    assert "'soon' is not of the type int" in str(error)


def test_the_default_zone_counts_unless_one_is_given(service, notebook):
    notebook.value("%svc_config default_time_zone Asia/Tokyo")
    notebook.value("%%svc_schedule --every day\n%%svc_shell\na\n")
    assert made(service)["time_zone"] == "Asia/Tokyo"
    notebook.value("%%svc_schedule --every day --tz UTC\n%%svc_shell\na\n")
    assert made(service)["time_zone"] == "UTC"


def test_dependencies_can_be_a_dict_of_the_notebook(service, notebook):
    info = {"hive_tables": [{"schema": "s", "name": "t", "columns": {"day": "%Y"}}]}
    notebook.shell.user_ns["needs"] = info
    notebook.value("%%svc_schedule --every day --dependencies needs\n%%svc_shell\na\n")
    assert made(service)["dependency_info"] == info


REFUSED_OPTIONS = {
    "": "say when it runs",
    "--every day --cron '* * * * *'": "give --every or --cron, not both",
    "--cron '* * * * *' --at 9:00": "leave --at and --start out",
    "--every day --at 9:00 --start '2026-11-22 09:00'": "give --at or --start",
    "--every '0 days'": "takes a number and a unit",
    "--every '2 fortnights'": "Units: minutes",
    "--every day --at 25:00": "takes a time of day",
    "--every day --tz paris": "Did you mean Europe/Paris?",
    "--every day --done-flag x": "--done-flag belongs to a --wait-for",
    "--every day --wait-for x --window 0": "--window takes a number of intervals",
    "--every day --dependencies needs": "the notebook has no variable needs",
    "--every day --dependencies days": "the notebook has int, no dict, days",
    "--every day --dependencies days --wait-for x": "or --wait-for",
    "--every day --channel 4": "say when to notify",
    "--every day --evry x": "Did you mean --every?",
    "--every day --timeout 5": "timeout is given in both lines",
    "--every day --macro day=2": "$day$ has a value in both lines",
}


def test_invalid_or_contradictory_options_create_no_schedule(service, notebook):
    notebook.shell.user_ns["days"] = 7
    cell = "%%svc_schedule {}\n%%svc_shell --timeout 60 --macro day=1\necho\n"
    errors = {options: str(notebook.error(cell.format(options))) for options in REFUSED_OPTIONS}
    assert {options: error for options, error in errors.items() if REFUSED_OPTIONS[options] not in error} == {}
    assert service.schedules.bodies == []


REFUSED_CELLS = {
    "%%svc_schedule --every day\necho\n": "the cell must begin with the line of a command",
    "%%svc_schedule --every day\n\n%%svc_shell -o x\necho\n": "command 1: %svc_shell: -o is for a cell",
    "%%svc_schedule --every day\n%%svc_shell --format csv\necho\n": "--format is for a result that is read",
    "%%svc_schedule --every day\n%%svc_shel\necho\n": "Did you mean svc_shell?",
    "%%svc_schedule --every day\n%%svc_history\n": "%svc_history cannot stand here",
    "%%svc_schedule --every day\n%%svc_notebook list\n": "only `%svc_notebook run PATH`",
    "%%svc_schedule --every day\n%%svc_notebook run a.ipynb\ntext\n": "a notebook has its own cells",
    "%%svc_schedule --every day\n%%svc_shell\n": "there is no script",
    "%svc_schedule create --every day": "write %%svc_schedule above the cell",
    "%%svc_schedule suspend x\n%%svc_shell\na\n": "suspend takes no cell",
    "%svc_schedule suspnd x": "Did you mean suspend?",
    "%svc_schedule create-notebook a.ipynb --every day --arg 7": "--arg takes NAME=VALUE",
    "%svc_schedule create-notebook a.ipynb --every day --arg a=1 --arg a=2": "--arg a is given twice",
}


def test_a_cell_that_is_not_understood_makes_nothing(service, notebook):
    errors = {cell: str(notebook.error(cell)) for cell in REFUSED_CELLS}
    assert {cell: error for cell, error in errors.items() if REFUSED_CELLS[cell] not in error} == {}
    assert service.schedules.bodies == []


def test_an_edit_sends_what_changes(service, notebook):
    service.schedules.add("report", time_zone="Asia/Tokyo", command_type="ShellCommand")
    notebook.value("%%svc_schedule edit report --cron '5 9 * * *' --catch-up\n%%svc_shell\nnew\n")
    assert made(service) == {"cron_expression": "5 9 * * *", "no_catch_up": False, "command": {"inline": "new\n"}}
    notebook.value("%svc_schedule edit report --no-end --no-dependencies --no-notifications --concurrency 2")
    assert made(service) == {
        "end_time": "",
        "dependency_info": {},
        "notification": {},
        "can_notify": False,
        "concurrency": 2,
    }


def test_an_edit_that_ends_the_notifications_ends_the_alerts(service, notebook):
    service.schedules.add("report", due_by="08:00", longer_than=2.0)
    notebook.value("%svc_schedule edit report --no-notifications")
    assert made(service) == {"notification": {}, "can_notify": False, "due_by": "", "longer_than": 0}


def test_an_edit_ends_the_alerts_alone(service, notebook):
    service.schedules.add("report", due_by="08:00", longer_than=2.0)
    notebook.value("%svc_schedule edit report --no-alerts")
    assert made(service) == {"due_by": "", "longer_than": 0}
    notebook.value("%svc_schedule edit report --no-alerts --no-notifications")
    assert made(service) == {"notification": {}, "can_notify": False, "due_by": "", "longer_than": 0}


def test_alerts_need_no_other_notification_and_go_to_channels(service, notebook):
    notebook.value("%%svc_schedule --every day --due-by 8:00 --channel 4\n%%svc_shell\ntrue\n")
    sent = made(service)
    assert sent["due_by"] == "08:00"
    assert sent["notification"] == {"notify_failure": False, "notify_success": False, "notification_channels": [4]}


def test_an_edit_that_cannot_be_meant(service, notebook):
    service.schedules.add("report")
    service.add_tap("flights")
    for cell, said in (
        ("%svc_schedule edit report", "nothing to change was given"),
        ("%svc_schedule edit report --end 2027-01-01 --no-end", "--no-end contradicts end_time"),
        ("%svc_schedule edit report --due-by 8:00 --no-alerts", "--no-alerts contradicts due_by"),
        ("%svc_schedule edit report --catch-up --no-catch-up", "--catch-up contradicts no_catch_up"),
        ("%%svc_schedule edit report\n%%svc_db --tap flights\nselect 1\n", "cannot change to a DbTapQueryCommand"),
    ):
        assert said in str(notebook.error(cell))
    assert service.schedules.bodies == []


@pytest.mark.both_services
def test_a_preview_of_a_cell_makes_nothing(service, notebook):
    answer = notebook.value(
        "%%svc_schedule preview --every day --tz Europe/Paris --nominal-time 2026-01-02T00:00Z --param a=x -o seen\n"
        "%%svc_shell --macro b=1\necho $a$ $b$\n"
    )
    assert notebook.shell.user_ns["seen"] is answer
    assert previewed(service) == {
        "command": {"inline": "echo $a$ $b$\n"},
        "macros": [{"a": '"x"'}, {"b": "1"}],
        "nominal_time": "2026-01-02T00:00Z",
        "frequency": 1,
        "time_unit": "days",
        "time_zone": "Europe/Paris",
    }
    assert service.schedules.schedules == {}
    assert answer.macros == {"a": '"x"', "b": "1"}
    if service.bare:
        assert "the service does not report them" in repr(answer)
        assert len(answer.next_runs) == 0
    else:
        assert list(answer.next_runs) == [
            pd.Timestamp(f"2026-11-{day} 09:00", tz="Europe/Paris") for day in range(22, 27)
        ]


def test_a_preview_of_a_schedule_takes_what_is_given_first(service, notebook):
    service.schedules.add("report", time_zone="Asia/Tokyo", macros=[{"a": "1"}])
    notebook.value("%svc_schedule preview report")
    assert previewed(service)["time_zone"] == "Asia/Tokyo"
    assert previewed(service)["nominal_time"] == "2026-11-22 09:00"
    assert previewed(service)["macros"] == [{"a": "1"}]
    notebook.value("%svc_schedule preview report --cron '0 8 * * *' --macro a=2")
    assert previewed(service)["cron_expression"] == "0 8 * * *"
    assert "frequency" not in previewed(service)
    assert previewed(service)["macros"] == [{"a": "2"}]
    assert "name a schedule, or write the cell" in str(notebook.error("%svc_schedule preview"))


def test_a_refusal_is_one_error_in_the_service_s_words(service, notebook):
    service.refusal = (422, "cron_expression: it never fires")
    error = notebook.error("%%svc_schedule --cron '0 0 31 2 *'\n%%svc_shell\na\n")
    assert type(error).__name__ == "SvcServiceError"
    assert str(error) == "cron_expression: it never fires"


def test_the_command_of_a_finished_schedule_is_previewed(service, notebook):
    service.schedules.add("report", status="DONE", next_materialized_time=None)
    service.schedules.refused_timetables = 1
    answer = notebook.value("%svc_schedule preview report --nominal-time 2026-01-02T00:00Z")
    assert answer.command == {"inline": "date"}
    assert "frequency" not in previewed(service)
    service.schedules.refused_timetables = 1
    error = notebook.error("%svc_schedule preview report --every day")
    assert "nothing is left to come" in str(error)
