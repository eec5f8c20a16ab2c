"""Where commands came from: cells name their notebook, as far as its front end tells it."""

from __future__ import annotations

import json
import threading

import httpx
import pytest
from IPython.core.interactiveshell import InteractiveShell
from tests.support.http_front import HttpFront

from svc_jupyter.api.status_words import source_words
from svc_jupyter.magics.session.notebook import notebook_name, notebook_path
from svc_jupyter.magics.spark_notes import run_with


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The notebook that a Jupyter server names."""
    file = tmp_path / "report.ipynb"
    file.write_text("{}")
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    return file


def sent(service):
    """Return what the last submission said of its notebook."""
    return [request for request in service.requests if request.method == "POST"][-1].headers.get("Notebook-Name")


CELLS = (
    "%%svc_shell\ntrue\n",
    "%%svc_shell --no-wait\ntrue\n",
    "%svc_notebook run Common/other.ipynb",
    "%%svc_composite\n%%svc_shell\ntrue\n",
)


def test_every_cell_names_its_notebook(service, notebook, file):
    for cell in CELLS:
        notebook.value(cell)
    submissions = [request for request in service.requests if request.method == "POST"]
    assert [request.headers.get("Notebook-Name") for request in submissions] == ["report.ipynb"] * len(CELLS)


def test_a_note_that_is_run_by_its_panel_names_the_notebook_of_the_panel(service, notebook, file):
    run_with(notebook.shell.magics_manager.registry["SparkRunMagics"].session, 7, {}, lambda _said: None)
    assert sent(service) == "report.ipynb"


def test_the_shell_of_a_terminal_has_no_notebook(service, terminal, file):
    terminal.value("%%svc_shell\ntrue\n")
    assert sent(service) is None


def test_a_file_that_is_gone_is_not_named(service, notebook, file):
    file.unlink()
    notebook.value("%%svc_shell\ntrue\n")
    assert sent(service) == ""


class JupyterSessions(HttpFront):
    """The list of sessions of a Jupyter server, as far as a kernel reads it; the real one is in tests/browser."""

    sessions: object = ()

    def answer(self, request):
        assert request.url.path == "/base/api/sessions"
        assert request.headers["Authorization"] == "token of the server"
        return httpx.Response(200, json=self.sessions)


@pytest.fixture
def jupyter(tmp_path, monkeypatch):
    """The Jupyter server that started this kernel, which is `kernel-mine`; its notebooks are below `tmp_path`."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("JPY_PARENT_PID", "4711")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setattr("ipykernel.connect.get_connection_file", lambda: str(tmp_path / "kernel-mine.json"))
    with JupyterSessions() as front:
        about = {"url": f"{front.base_url}/base/", "token": "of the server", "root_dir": str(tmp_path)}
        (tmp_path / "jpserver-4711.json").write_text(json.dumps(about))
        front.sessions = [
            {"path": "other.ipynb", "kernel": {"id": "other"}},
            {"path": "sub/renamed.ipynb", "kernel": {"id": "mine"}},
        ]
        yield front


def test_a_notebook_that_was_renamed_has_its_new_name(notebook, file, jupyter):
    renamed = file.parent / "sub" / "renamed.ipynb"
    renamed.parent.mkdir()
    renamed.write_text("{}")
    assert notebook_path({}) == renamed
    assert notebook_name(notebook.shell) == "renamed.ipynb"
    assert jupyter.calls == ["GET /base/api/sessions"] * 2


def test_a_server_that_is_busy_is_not_waited_for(file, jupyter, monkeypatch):
    monkeypatch.setattr("svc_jupyter.magics.session.notebook._ANSWER_SECONDS", 0.1)
    jupyter.held = threading.Event()
    assert notebook_path({}) == file


def test_a_server_that_does_not_tell_leaves_the_name_of_the_start(file, jupyter):
    for nothing in ([], [None], {}, "x", [{"path": "a", "kernel": None}], [{"path": None, "kernel": {"id": "mine"}}]):
        jupyter.sessions = nothing
        assert notebook_path({}) == file
    jupyter.refusal = (403, "Forbidden")
    assert notebook_path({}) == file
    assert len(jupyter.calls) == 7
    about = file.with_name("jpserver-4711.json")
    for broken in ("", "[]", "{}", '{"url": "nowhere", "token": "", "root_dir": "/"}'):
        about.write_text(broken)
        assert notebook_path({}) == file
    about.unlink()
    assert notebook_path({}) == file


def test_vscode_tells_it_by_a_variable(service, notebook, file, tmp_path):
    named = tmp_path / "of vscode.ipynb"
    named.write_text("{}")
    notebook.shell.user_ns["__vsc_ipynb_file__"] = str(named)
    notebook.value("%%svc_shell\ntrue\n")
    assert sent(service) == "of%20vscode.ipynb"


def test_a_run_in_the_service_knows_the_name_alone(notebook, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "report.ipynb")
    assert notebook_name(notebook.shell) == "report.ipynb"


def test_what_a_name_must_not_hold_is_replaced(notebook, file, monkeypatch):
    names = {
        "R&D <Zürich>.ipynb": "R&D <Zürich>.ipynb",
        "a\u202eb\n.ipynb": "a\ufffdb\ufffd.ipynb",
        "\udcff.ipynb": "\ufffd.ipynb",
    }
    found = {}
    for name in names:
        file.with_name(name).write_text("{}")
        monkeypatch.setenv("JPY_SESSION_NAME", str(file.with_name(name)))
        found[name] = notebook_name(notebook.shell)
    assert found == names


def test_nothing_is_said_of_a_notebook_that_nobody_named(notebook, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert notebook_name(notebook.shell) == ""
    assert notebook_name(InteractiveShell()) is None
    assert notebook_name(None) is None


def test_the_history_and_a_command_say_where_it_came_from(service, notebook, file):
    notebook.value("%%svc_shell\ntrue\n")
    assert "notebook report.ipynb" in notebook.displayed("%svc_command 128")["text/plain"]
    assert list(notebook.value("%svc_history")["source"]) == ["notebook report.ipynb"]


def test_words_of_sources():
    words = {
        ("UI", "report.ipynb"): "notebook report.ipynb",
        ("UI", ""): "notebook",
        ("UI", None): "notebook",
        ("API", None): "API",
        ("SCHEDULED", None): "schedule",
        ("QUEST", None): "QUEST",
    }
    assert {of: source_words(*of) for of in words} == words
