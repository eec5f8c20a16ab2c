"""`%%svc_composite` in a notebook."""

import re

import pyarrow as pa
import pytest

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.magics.display.grid import RESULT
from svc_jupyter.magics.display.progress import going_line

CELL = (
    "%%svc_composite{}\n%%svc_shell --format csv --name first\nrun\n"
    "%%svc_db --tap flights\nselect 1\n%%svc_shell\ntrue\n"
)


@pytest.fixture
def composite(service):
    """Say how the three commands of the cell go."""
    service.add_tap("flights")
    service.behave("run", output="a,b\n1,2\n")
    service.behave("select 1", table=pa.table({"n": [1, 2]}))
    service.behave("true")
    service.behave("None", held=True)
    return service


def run_to_its_end(composite, notebook, options=""):
    """Run the cell while its sub-commands, which the double does not begin by itself, come to their ends."""
    handle = notebook.value(CELL.format(f" --no-wait{options}"))
    if not composite.bare:
        composite.run_children(handle.id)
    composite.end(handle.id, "done")
    return handle


def test_the_sections_are_sub_commands_with_their_own_options(composite, notebook):
    notebook.value(CELL.format(" --no-wait --label etl --macro day=1 --retry 1"))
    assert composite.submissions == [
        {
            "command_type": "CompositeCommand",
            "label": "etl",
            "macros": [{"day": "1"}],
            "retry": 1,
            "sub_commands": [
                {"command_type": "ShellCommand", "inline": "run", "name": "first"},
                {"command_type": "DbTapQueryCommand", "db_tap_id": 1, "query": "select 1"},
                {"command_type": "ShellCommand", "inline": "true\n"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("options", "columns"), [(" --result 1", {"a": [1], "b": [2]}), (" --result 2", {"n": [1, 2]})]
)
@pytest.mark.both_services
def test_the_frame_is_the_result_that_was_asked_for(composite, notebook, options, columns):
    frame = run_to_its_end(composite, notebook, options).result()
    if composite.bare:
        frame = frame.astype("int64")
    assert frame.to_dict("list") == columns


def test_the_grid_is_of_the_rows_of_the_sub_command(composite, notebook):
    handle = run_to_its_end(composite, notebook)
    shown = notebook.displayed(f"%svc_command {handle.id} result")[RESULT]
    assert (handle.id, shown["command"], shown.get("part"), shown["total"]) == (128, 130, None, 2)
    assert [column["name"] for column in shown["columns"]] == ["n"]


@pytest.mark.both_services
def test_without_a_number_it_is_the_last_one_with_rows(composite, notebook):
    frame = run_to_its_end(composite, notebook).result()
    assert list(frame.columns) == (["line"] if composite.bare else ["n"])
    again = notebook.value("%svc_command 128 result")
    assert list(again.columns) == list(frame.columns)


def test_a_result_that_there_is_not_submits_nothing(composite, notebook):
    assert "--result 4: the cell has 3 commands" in str(notebook.error(CELL.format(" --result 4")))
    assert composite.submissions == []


def test_a_failure_names_the_sub_command_and_the_place_in_its_text(service, notebook):
    service.add_tap("flights")
    message = "sub-command 2 of 2 (DbTapQueryCommand, command 131) failed: no such column: dep"
    service.behave("None", status="error", message=message)
    error = notebook.error(
        "%%svc_composite\n%%svc_shell\ndep=1\n%%svc_db --tap flights\nselect 1\nfrom t where dep > 3\n"
    )
    assert str(error).split("\n") == [
        str(error).split("\n")[0],
        "  query, line 2: from t where dep > 3",
        "  tap flights (sqlite). Log: %svc_command 131 logs",
    ]
    assert f": {message}" in str(error).split("\n")[0]
    assert error.command_id == 128


def record(progress, **more):
    fields = {"id": 5, "path": "/", "created_at": "", "submit_time": 0, "account_id": 1, "user_id": 1}
    command = {"sub_commands": [{"command_type": f"T{number}"} for number in (1, 2, 3)]}
    place = {"results_resource": "", "logs_resource": ""}
    return CommandRecord(
        **fields,
        status="running",
        command_type="CompositeCommand",
        meta_data=place,
        command=command,
        progress=progress,
        **more,
    )


def test_progress_names_the_running_sub_command():
    words = {
        progress: re.search(r" · sub-command (.*?) · ", going_line(record(progress, attempts=[]), 3))[1]
        for progress in (0, 32, 33, 65, 66, 100)
    }
    assert words == {
        0: "1 of 3: T1",
        32: "1 of 3: T1",
        33: "2 of 3: T2",
        65: "2 of 3: T2",
        66: "3 of 3: T3",
        100: "3 of 3: T3",
    }


def test_progress_of_a_service_without_shares_only_counts():
    assert "· 3 sub-commands · 3 s" in going_line(record(50), 3)


def test_a_cell_without_commands_submits_nothing(composite, notebook):
    assert "the cell must begin with the line of a command" in str(notebook.error("%%svc_composite\necho hi\n"))
    error = str(notebook.error("%%svc_composite\n%%svc_shell\na\n%%svc_shell --quiet\nb\n"))
    assert "svc_composite, command 2: %svc_shell: --quiet is for a cell that runs by itself" in error
    assert composite.submissions == []
