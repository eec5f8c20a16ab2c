"""An interrupt cancels the remote command, then raises; a second one gives up waiting."""

import threading

import pytest
from tests.magics.conftest import interrupt_when

from svc_jupyter.magics.cells import running
from svc_jupyter.magics.display.errors import SvcInterrupted
from svc_jupyter.magics.display.status import STATUS

pytestmark = pytest.mark.usefixtures("interruptible")


def status_shown(notebook):
    """The status that JupyterLab is told with the last line."""
    return notebook.shell.display_pub.sent[-1]["data"][STATUS]["status"]


@pytest.mark.both_services
def test_an_interrupt_cancels_the_command_and_raises(service, notebook):
    service.behave("sleep", held=True)
    sender = interrupt_when(service.wait_until_submitted)
    error = notebook.error("%%svc_shell\nsleep\n")
    sender.join()
    assert isinstance(error, SvcInterrupted)
    assert isinstance(error, KeyboardInterrupt)
    assert service.wait_until_final(128) == "cancelled"
    assert notebook.lines[-1].startswith("■ command 128 · cancelled by interrupt after ")
    assert str(error) == notebook.lines[-1].removeprefix("■ ")
    assert notebook.error_text == ""  # the line above has said it
    assert status_shown(notebook) == "cancelled"


def test_the_lines_of_the_log_that_were_shown_stay_when_the_cell_is_interrupted(service, notebook, wait_until):
    service.behave("sleep", held=True, log="begun\nzzz\n")
    sender = interrupt_when(lambda: wait_until(lambda: any("│ zzz" in line for line in notebook.lines)))
    notebook.error("%%svc_shell\nsleep\n")
    sender.join()
    html = notebook.shell.display_pub.sent[-1]["data"]["text/html"]
    assert ">begun\nzzz</pre></details>" in html


def test_a_quiet_cell_is_reported_by_its_error(service, notebook):
    service.behave("sleep", held=True)
    sender = interrupt_when(service.wait_until_submitted)
    notebook.error("%%svc_shell --quiet\nsleep\n")
    sender.join()
    assert notebook.lines == []
    assert notebook.error_text.startswith("SvcInterrupted: command 128 · cancelled by interrupt after ")


def test_an_interrupt_during_the_submission_cancels_what_comes_of_it(service, notebook):
    service.behave("sleep", held=True)
    service.held = threading.Event()

    def asked() -> None:
        service.wait_until_asked("/commands")
        threading.Timer(0.2, service.held.set).start()

    sender = interrupt_when(asked)
    error = notebook.error("%%svc_shell\nsleep\n")
    sender.join()
    assert isinstance(error, SvcInterrupted)
    assert service.wait_until_final(128) == "cancelled"


@pytest.mark.both_services
def test_a_second_interrupt_gives_up_waiting(service, notebook):
    service.behave("sleep", held=True, ignores_cancel=True)
    sent = []

    def cancelled() -> None:
        service.wait_until_asked("PUT /api/v1.2/commands/128")

    def twice() -> None:
        first = interrupt_when(service.wait_until_submitted)
        first.join()
        second = interrupt_when(cancelled)
        second.join()
        sent.append(True)

    thread = threading.Thread(target=twice)
    thread.start()
    error = notebook.error("%%svc_shell\nsleep\n")
    thread.join()
    assert isinstance(error, SvcInterrupted)
    assert "interrupted twice" in str(error)
    assert "%svc_command 128 cancel" in str(error)
    assert sent
    assert status_shown(notebook) == "running"  # JupyterLab follows it to its end


def test_a_cancellation_that_is_refused_is_reported(service, notebook):
    service.behave("sleep", held=True, cancel_refusal="you may not cancel this")
    interrupt_when(service.wait_until_submitted)
    error = notebook.error("%%svc_shell\nsleep\n")
    assert isinstance(error, SvcInterrupted)
    assert "could not be cancelled: you may not cancel this · %svc_command 128 cancel" in str(error)


def test_an_interrupted_wait_for_a_deferred_command_leaves_it_running(service, notebook, monkeypatch):
    monkeypatch.setattr(running, "SILENT_SECONDS", 60)  # a slow submission would ask for the command's log itself
    service.behave("sleep", held=True, output="x\n")
    notebook.value("%%svc_shell --no-wait -o later\nsleep\n")
    path = "/api/v1.2/commands/128"
    sender = interrupt_when(lambda: service.wait_until_asked(path))
    error = notebook.error("later.result()")
    sender.join()
    assert "no longer waited for; it goes on" in str(error)
    assert service.commands[128].record["status"] == "running"
    service.end(128, "done")
    assert list(notebook.value("later.result()")["line"]) == ["x"]


def test_an_interrupt_ends_the_wait_for_a_cluster_and_not_its_start(service, notebook, wait_until):
    service.clusters.add()
    service.clusters.starts_at_once = False
    sender = interrupt_when(lambda: wait_until(lambda: notebook.lines))
    error = notebook.error("%svc_cluster start")
    sender.join()
    assert isinstance(error, SvcInterrupted)
    assert notebook.lines[-1] == "■ cluster default is no longer waited for; it goes on · %svc_cluster default state"
    assert service.clusters.states[1]["state"] == "PENDING"


def test_a_cell_after_an_interrupt_works(service, notebook):
    service.behave("sleep", held=True)
    service.behave("echo", output="x\n")
    interrupt_when(service.wait_until_submitted)
    notebook.error("%%svc_shell\nsleep\n")
    assert list(notebook.value("%%svc_shell\necho\n")["line"]) == ["x"]
