"""`%svc_notebook run`, `%svc_notebooks`, and executed notebooks."""

import json

import pytest
from tests.support.double.records import record_of

from svc_jupyter.api.jupyter_contents import Contents
from svc_jupyter.magics.display.executed import ExecutedNotebook

PATH = "Common/report.ipynb"
EXECUTED = json.dumps(
    {"cells": [{"cell_type": "code", "execution_count": 1}, {"cell_type": "code", "execution_count": None}]}
)


@pytest.fixture
def runs(service):
    """The double, where the notebook ran: its file and its page are kept, except by a bare service."""
    executed = None if service.bare else (EXECUTED, "<p>ran <script>alert(1)</script></p>")
    service.behave(PATH, output="14\n", notebook=executed)
    return service


@pytest.mark.both_services
def test_a_run_sends_its_parameters_and_shows_the_text_result(runs, notebook):
    frame = notebook.value(
        f"%svc_notebook run {PATH} --arg region=EU --arg days=7 --arg 'zip=\"01234\"' --arg share=0.5 --arg all=false "
        "--keep-source --name 'a run' --retry 1"
    )
    assert list(frame["line"]) == ["14"]
    assert runs.submissions == [
        {
            "command_type": "JupyterNotebookCommand",
            "path": PATH,
            "arguments": {"region": "EU", "days": 7, "zip": "01234", "share": 0.5, "all": False},
            "upload_to_source": False,
            "name": "a run",
            "retry": 1,
        }
    ]
    assert notebook.lines[-1].endswith(" · 1 line")


DECLARED = "zip, days, rate, full, city, half = '01234', 7, 1.5, True, 'Paris', 5//2"


@pytest.fixture
def declaring(runs):
    cell = {"cell_type": "code", "source": DECLARED, "metadata": {"tags": ["parameters"]}}
    runs.notebooks[PATH] = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return runs


def test_arguments_have_the_types_that_the_notebook_declares(declaring, notebook):
    given = (
        "--arg zip=75001 --arg days=0.5 --arg rate=2 --arg full=False --arg half=3 --arg 'city=\"true\"' --arg more=8"
    )
    expected = {"zip": "75001", "days": 0.5, "rate": 2.0, "full": False, "half": 3, "city": "true", "more": 8}
    notebook.value(f"%svc_notebook run {PATH} {given}")
    arguments = declaring.submissions[-1]["arguments"]
    assert arguments == expected
    assert {name: type(value) for name, value in arguments.items()} == {
        name: type(value) for name, value in expected.items()
    }
    notebook.value(f"%%svc_composite\n%%svc_notebook run {PATH} --arg zip=75001")
    assert declaring.submissions[-1]["sub_commands"][0]["arguments"] == {"zip": "75001"}


def test_a_value_that_is_not_of_the_declared_type_is_refused_unless_it_is_quoted(declaring, notebook):
    message = str(notebook.error(f"%svc_notebook run {PATH} --arg days=soon"))
    assert "--arg days: 'soon' is not of the type int, which the notebook has there (days = 7)" in message
    assert "--arg full: '1' is not of the type bool" in str(notebook.error(f"%svc_notebook run {PATH} --arg full=1"))
    for wrong in ("full=soon", "days=true", "rate=1e400", f"rate={'9' * 400}", "days=[1]", "rate=nan", "days=5$"):
        assert "is not of the type" in str(notebook.error(f"%svc_notebook run {PATH} --arg {wrong}")), wrong
    assert declaring.submissions == []
    notebook.value(f"%svc_notebook run {PATH} --arg days=+5 --arg rate=.5 --arg full=TRUE")
    assert declaring.submissions[-1]["arguments"] == {"days": 5, "rate": 0.5, "full": True}
    notebook.value(f"%svc_notebook run {PATH} --arg days=1_000 --arg rate=1_000")
    assert repr(declaring.submissions[-1]["arguments"]) == "{'days': 1000, 'rate': 1000.0}"
    notebook.value(f"%svc_notebook run {PATH} --arg days=$n$")
    assert declaring.submissions[-1]["arguments"] == {"days": "$n$"}
    notebook.value(f"%svc_notebook run {PATH} --arg 'days=\"soon\"'")
    assert declaring.submissions[-1]["arguments"] == {"days": "soon"}


def test_a_cell_that_cannot_be_read_leaves_the_types_to_the_texts_and_says_so(declaring, notebook, capsys):
    declaring.notebooks[PATH]["cells"][0]["source"] = "zip = '01234'\ndays = ("
    notebook.value(f"%svc_notebook run {PATH} --arg zip=75001")
    assert declaring.submissions[-1]["arguments"] == {"zip": 75001}
    said = (
        "--arg goes by the form of its texts: the cell tagged parameters cannot be read (line 2: '(' was never closed)"
    )
    assert said in capsys.readouterr().out


@pytest.mark.both_services
def test_the_executed_notebook_is_assigned_and_shown(runs, notebook, tmp_path):
    if runs.bare:
        error = notebook.error(f"%svc_notebook run {PATH} -o nb")
        assert "does not send the executed notebook" in str(error)
        return
    notebook.value(f"%svc_notebook run {PATH} -o nb --open")
    executed = notebook.shell.user_ns["nb"]
    assert isinstance(executed, ExecutedNotebook)
    assert repr(executed) == f"{PATH}, executed by command 128: 1 of 2 code cells"
    assert executed.save(tmp_path / "a.ipynb").read_text() == EXECUTED
    assert executed.save(tmp_path / "a.html").read_text().startswith("<p>ran")
    [shown] = [
        sent["data"]["text/html"]
        for sent in notebook.shell.display_pub.sent
        if "iframe" in sent["data"].get("text/html", "")
    ]
    assert "<iframe sandbox srcdoc=" in shown
    assert "<script>" not in shown


def test_a_failed_run_leaves_its_notebook_too(service, notebook):
    executed = (EXECUTED, "<p>ran</p>")
    service.behave(PATH, status="error", message="cell 2: ZeroDivisionError", notebook=executed)
    error = notebook.error(f"%svc_notebook run {PATH} -o nb")
    assert "cell 2: ZeroDivisionError" in str(error)
    assert len(notebook.shell.user_ns["nb"].cells) == 2
    assert len(notebook.value("%svc_command 128 notebook").cells) == 2


def test_a_failure_goes_before_a_notebook_that_cannot_be_had(bare_service, notebook_of):
    bare_service.behave(PATH, status="error", message="cell 2: ZeroDivisionError")
    assert "ZeroDivisionError" in str(notebook_of(bare_service).error(f"%svc_notebook run {PATH} -o nb"))


def test_a_run_goes_on_beside_the_notebook(runs, notebook):
    runs.behave(PATH, held=True, output="x\n")
    handle = notebook.value(f"%svc_notebook run {PATH} --no-wait -o later")
    assert notebook.shell.user_ns["later"] is handle
    runs.end(handle.id)
    assert list(handle.result()["line"]) == ["x"]
    assert "--no-wait does not wait" in str(notebook.error(f"%svc_notebook run {PATH} --no-wait --open"))


def test_a_line_with_an_invalid_action_or_argument_runs_nothing(runs, notebook):
    assert "there is no action 'rum'. Did you mean run?" in str(notebook.error(f"%svc_notebook rum {PATH}"))
    assert "--arg takes NAME=VALUE" in str(notebook.error(f"%svc_notebook run {PATH} --arg seven"))
    assert "--arg a is given twice" in str(notebook.error(f"%svc_notebook run {PATH} --arg a=1 --arg a=2"))
    assert runs.submissions == []


def entry(name, kind):
    return record_of(Contents, name=name, path=f"Common/{name}", type=kind)


def test_a_folder_is_a_frame_folders_first(service, notebook):
    service.contents["Common"] = [entry("b.ipynb", "notebook"), entry("a", "directory")]
    service.contents[""] = [entry("Common", "directory")]
    frame = notebook.value("%svc_notebooks Common -o there")
    assert notebook.shell.user_ns["there"] is frame
    assert list(frame["name"]) == ["a", "b.ipynb"]
    assert frame["last_modified"].dt.tz is not None
    assert list(notebook.value("%svc_notebooks")["name"]) == ["Common"]
    service.contents["empty"] = []
    assert notebook.value("%svc_notebooks empty").empty
    assert "there is no nowhere" in str(notebook.error("%svc_notebooks nowhere"))


def test_a_file_is_uploaded_into_one_s_own_folder(service, notebook, tmp_path):
    file = tmp_path / "report.ipynb"
    file.write_text(EXECUTED)
    frame = notebook.value(f"%svc_notebooks upload {file}")
    assert list(frame["path"]) == ["Users/reader@example.com/report.ipynb"]
    frame = notebook.value(f"%svc_notebooks upload {file} --to Common/other.ipynb")
    assert list(frame["path"]) == ["Common/other.ipynb"]


def test_an_upload_that_cannot_be_meant(service, notebook, tmp_path):
    file = tmp_path / "report.ipynb"
    assert "name the file" in str(notebook.error("%svc_notebooks upload"))
    assert "there is no file" in str(notebook.error(f"%svc_notebooks upload {file}"))
    assert "belong to upload" in str(notebook.error(f"%svc_notebooks Common {file}"))
    file.write_text("no JSON")
    assert "is not a notebook" in str(notebook.error(f"%svc_notebooks upload {file}"))
    assert service.contents == {}
