"""`%svc_attach`: a new kernel gets the results of its notebook's commands, and none runs again."""

import json
import threading

import pyarrow as pa
import pytest

from svc_jupyter.magics.display.errors import SvcMagicError, SvcUsageError
from svc_jupyter.magics.display.executed import ExecutedNotebook
from svc_jupyter.magics.display.failures import SvcCommandFailed
from svc_jupyter.magics.display.status import STATUS


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of the notebook, as a Jupyter server tells its kernel."""
    file = tmp_path / "flights.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    return file


def save(file, *outputs):
    """Save a notebook with an output per cell; each is the data of a display."""
    cells = [{"cell_type": "code", "outputs": [{"output_type": "display_data", "data": data}]} for data in outputs]
    file.write_text(json.dumps({"cells": cells}), encoding="utf-8")


def shown(notebook):
    """What the displays of the notebook show now, the earliest first."""
    displays = {
        sent["transient"]["display_id"]: sent["data"] for sent in notebook.shell.display_pub.sent if "transient" in sent
    }
    return list(displays.values())


def restart(notebook, file):
    """Save the notebook as it is shown and take its variables away, as a new kernel has none."""
    save(file, *shown(notebook))
    notebook.shell.display_pub.sent.clear()
    notebook.shell.reset(new_session=False)


def submitted(service):
    return sorted(service.commands)


@pytest.mark.both_services
def test_the_variables_of_a_notebook_come_back_and_nothing_runs_again(service, notebook, file):
    service.behave("list", output="a\nb\n")
    service.behave("table", output="x,code\n1,007\n")
    notebook.value("%%svc_shell -o names\nlist\n")
    notebook.value("%%svc_shell --format csv --types code=str -o table\ntable\n")
    notebook.value("%%svc_shell\nlist\n")
    restart(notebook, file)
    assert notebook.value("%svc_attach") is None
    assert list(notebook.shell.user_ns["names"]["line"]) == ["a", "b"]
    assert notebook.shell.user_ns["table"].to_dict("list") == {"x": [1], "code": ["007"]}
    assert notebook.lines == [
        "✓ command 128 · done · 2 lines · names",
        "✓ command 129 · done · 1 row × 2 columns · table",
    ]
    assert submitted(service) == [128, 129, 130]


def test_the_output_of_a_running_command_names_it(service, notebook, file, wait_until):
    service.behave("slow", held=True, output="x\n")
    cell = threading.Thread(target=notebook.run, args=("%%svc_shell -o later\nslow\n",))
    cell.start()
    try:
        wait_until(lambda: STATUS in (notebook.shell.display_pub.sent or [{"data": {}}])[-1]["data"])
        status = notebook.shell.display_pub.sent[-1]["data"][STATUS]
    finally:
        service.end(128, "done")
        cell.join()
    assert status == {
        "version": 1,
        "command": 128,
        "created_at": status["created_at"],
        "kind": "shell",
        "status": "running",
        "seconds": None,
        "rows": None,
        "columns": None,
        "name": "later",
    }


def test_each_dump_of_pig_comes_back(service, notebook, drawn, file):
    dumps = [{"alias": alias, "rows": 1, "size": 9, "columns": [["n", "int64"]]} for alias in ("first", "last")]
    first, last = pa.table({"n": [1]}), pa.table({"n": [2]})
    how = {"table": last, "outputs": {"dumps": dumps, "stores": []}, "dumps": {1: first, 2: last}}
    service.behave("run", **how)
    notebook.value("%%svc_pig -o first=one -o two\nrun\n")
    restart(notebook, file)
    notebook.value("%svc_attach")
    assert [list(notebook.shell.user_ns[name]["n"]) for name in ("one", "two")] == [[1], [2]]
    for name in ("one", "two"):
        notebook.value(f"%svc_plot {name} -x n")
    assert drawn == [(128, {"dump": 1}), (128, {})]


def test_a_dump_that_there_is_not_is_said(service, notebook, file):
    service.behave("run", table=pa.table({"n": [1]}), outputs={"dumps": [], "stores": []})
    notebook.value("%%svc_pig -o out\nrun\n")
    save(file, running(service, 128, name="out", options={"outs": ["out", "none=further"]}))
    with pytest.raises(SvcMagicError, match="command 128 has no DUMP none; there is none"):
        notebook.value("%svc_attach")
    assert "out" in notebook.shell.user_ns


def test_each_table_of_a_note_comes_back(service, notebook, file):
    service.behave("None", output="a\n1\n\nb\n2\n")
    notebook.value("%svc_spark_run 5 -o 1=one -o two")
    restart(notebook, file)
    notebook.value("%svc_attach")
    assert notebook.shell.user_ns["one"].to_dict("list") == {"a": [1]}
    assert notebook.shell.user_ns["two"].to_dict("list") == {"b": [2]}


def test_the_variable_of_a_notebook_run_is_the_executed_notebook(service, notebook, file):
    executed = json.dumps({"cells": [{"cell_type": "code", "execution_count": 1}]})
    service.behave("report.ipynb", output="14\n", notebook=(executed, "<p>ran</p>"))
    notebook.value("%svc_notebook run report.ipynb -o report")
    restart(notebook, file)
    notebook.value("%svc_attach")
    assert isinstance(notebook.shell.user_ns["report"], ExecutedNotebook)


def test_the_result_of_a_composite_is_that_of_its_cell(service, notebook, file):
    service.behave("run", output="a,b\n1,2\n")
    service.behave("true", output="x\n")
    service.behave("None", held=True)
    cell = "%%svc_composite --result 1 --no-wait\n%%svc_shell --format csv\nrun\n%%svc_shell\ntrue\n"
    handle = notebook.value(cell)
    service.run_children(handle.id)
    service.end(handle.id, "done")
    save(file, running(service, handle.id, name="out", options={"result": 1, "format": "csv"}))
    notebook.value("%svc_attach")
    assert notebook.shell.user_ns["out"].to_dict("list") == {"a": [1], "b": [2]}


def test_a_result_that_its_cell_could_not_read_is_no_end(service, notebook, wait_until):
    service.behave("run", held=True, output="no JSON\n")

    def finish():
        try:
            wait_until(lambda: notebook.lines)
        finally:
            service.end(128, "done")

    thread = threading.Thread(target=finish)
    thread.start()
    notebook.error("%%svc_shell --format json\nrun\n")
    thread.join()
    assert notebook.lines[-1] == "✗ command 128 · done, its result could not be read"
    assert notebook.shell.display_pub.sent[-1]["data"][STATUS]["status"] == "unread"


def running(service, command, **more):
    """The data of a display whose kernel died while its command ran."""
    status = {"version": 1, "command": command, "created_at": service.commands[command].record["created_at"]}
    return {STATUS: {**status, "status": "running", "name": None, **more}}


def test_a_command_whose_kernel_died_is_waited_for(service, notebook, file):
    service.behave("slow", held=True, output="x\n")
    notebook.value("%%svc_shell --no-wait\nslow\n")
    save(file, running(service, 128, name="later"))
    threading.Timer(0.5, service.end, (128, "done")).start()
    notebook.value("%svc_attach")
    assert list(notebook.shell.user_ns["later"]["line"]) == ["x"]
    assert submitted(service) == [128]


def test_rows_that_no_cell_has_shown_are_shown(service, notebook, file):
    service.behave("list", output="a\n")
    notebook.value("%%svc_shell --no-wait\nlist\n")
    save(file, running(service, 128))
    notebook.value("%svc_attach")
    assert [text.split()[-1] for text in notebook.lines] == ["line", "a"]


def test_a_variable_is_that_of_its_latest_command(service, notebook, file):
    for number in range(2):
        service.behave("run", output=f"{number}\n")
        notebook.value("%%svc_shell -o out\nrun\n")
    save(file, *reversed(shown(notebook)))
    notebook.value("%svc_attach")
    assert list(notebook.shell.user_ns["out"]["line"]) == ["1"]
    assert len(notebook.lines) == 3


def test_one_command_is_returned_and_takes_another_name(service, notebook, file):
    service.behave("table", output="x\n1\n")
    notebook.value("%%svc_shell --format csv -o first\ntable\n")
    restart(notebook, file)
    frame = notebook.value("%svc_attach 128 -o second")
    assert frame.to_dict("list") == {"x": [1]}
    assert notebook.shell.user_ns["second"] is frame
    assert "first" not in notebook.shell.user_ns


def test_one_command_needs_no_notebook(service, notebook, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    service.behave("list", output="a\n")
    notebook.value("%%svc_shell\nlist\n")
    assert list(notebook.value("%svc_attach 128")["line"]) == ["a"]


def test_a_failure_is_raised_after_the_others_are_assigned(service, notebook, file):
    service.behave("bad", status="error", message="exit code 3")
    service.behave("list", output="a\n")
    with pytest.raises(SvcCommandFailed):
        notebook.value("%%svc_shell -o bad\nbad\n")
    notebook.value("%%svc_shell -o good\nlist\n")
    save(file, running(service, 128, name="bad"), running(service, 129, name="good"))
    with pytest.raises(SvcMagicError, match=r"command 128 failed.*exit code 3"):
        notebook.value("%svc_attach")
    assert list(notebook.shell.user_ns["good"]["line"]) == ["a"]


def test_a_cell_whose_failure_was_seen_is_left_alone(service, notebook, file):
    service.behave("bad", status="error", message="exit code 3")
    with pytest.raises(SvcCommandFailed):
        notebook.value("%%svc_shell -o bad\nbad\n")
    restart(notebook, file)
    notebook.value("%svc_attach")
    assert "bad" not in notebook.shell.user_ns
    assert notebook.lines == []


def test_a_command_of_another_service_is_refused(service, notebook, file):
    service.behave("list", output="a\n")
    notebook.value("%%svc_shell\nlist\n")
    save(file, running(service, 128, name="out", created_at="2001-01-01T00:00:00Z"))
    with pytest.raises(SvcMagicError, match="command 128 of this service is not the one of the notebook"):
        notebook.value("%svc_attach")
    assert "out" not in notebook.shell.user_ns


def test_a_file_of_anybody_is_not_believed(service, notebook, file):
    service.behave("list", output="a\n")
    notebook.value("%%svc_shell\nlist\n")
    hostile = [
        {"command": -1},
        {"command": "128; DROP"},
        {"version": 2},
        {"name": "a.b"},
        {"name": "class"},
        {"name": ["x"]},
        {"options": {"outs": [1]}},
    ]
    right = running(service, 128, name="out")[STATUS]
    save(file, *({STATUS: right | wrong} for wrong in hostile), {STATUS: None}, {STATUS: []}, "no data", None)
    notebook.shell.display_pub.sent.clear()
    notebook.value("%svc_attach")
    assert notebook.lines == []


def test_a_file_without_cells_has_no_commands(notebook, file):
    refusals = {}
    for content in ("", "{", "[]", '{"cells": 1}', '{"cells": [1, {"outputs": [null, {"data": 1}]}]}'):
        file.write_text(content)
        refusals[content] = str(notebook.run("%svc_attach").error_in_exec)
    refused = f"svc_attach: {file} is no notebook"
    assert refusals == {
        "": refused,
        "{": refused,
        "[]": "None",
        '{"cells": 1}': "None",
        '{"cells": [1, {"outputs": [null, {"data": 1}]}]}': "None",
    }


def test_a_front_end_that_tells_no_notebook_is_told_what_to_do(service, notebook, tmp_path, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    with pytest.raises(SvcUsageError, match="Add --notebook FILE, or an ID"):
        notebook.value("%svc_attach")
    service.behave("list", output="a\n")
    notebook.value("%%svc_shell -o names\nlist\n")
    named = tmp_path / "of vscode.ipynb"
    restart(notebook, named)
    notebook.shell.user_ns["__vsc_ipynb_file__"] = str(named)
    notebook.value("%svc_attach")
    assert list(notebook.shell.user_ns["names"]["line"]) == ["a"]
    with pytest.raises(SvcUsageError, match="cannot be read: No such file"):
        notebook.value(f"%svc_attach --notebook {tmp_path}/nowhere.ipynb")


def test_a_name_for_all_commands_is_refused(service, notebook, file):
    with pytest.raises(SvcUsageError, match="-o x is for one command"):
        notebook.value("%svc_attach -o x")
