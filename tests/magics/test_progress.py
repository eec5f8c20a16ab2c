"""The progress line: its words, and where it is written."""

import io
import re
import threading
from html import unescape

import pytest
from tests.support.http_front import error
from tests.support.service_process import wait_until

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.magics.cells import running
from svc_jupyter.magics.display.progress import DisplayLine, TerminalLine, done_line, going_line


def record(**fields):
    base = {
        "id": 128,
        "path": "/tmp/x",
        "status": "running",
        "created_at": "2026-01-01T00:00:00Z",
        "submit_time": 0,
        "command_type": "DbTapQueryCommand",
        "account_id": 1,
        "user_id": 1,
        "meta_data": {"results_resource": "r", "logs_resource": "l"},
        "command": {},
    }
    return CommandRecord.model_validate(base | fields)


GOING = [
    (
        {"label": "default", "result_rows": 120_000},
        "◐ command 128 · database query · running on default · 4 s · 120,000 rows · interrupt to cancel",
    ),
    ({"progress": 40}, "◐ command 128 · database query · running · 4 s · 40 % · interrupt to cancel"),
    (
        {"status": "waiting", "message": "waiting for a free slot (20 of 20 running)"},
        "◐ command 128 · database query · waiting for a free slot (20 of 20 running) · 4 s · interrupt to cancel",
    ),
    (
        {"status": "waiting", "message": "starting cluster default (12 s)"},
        "◐ command 128 · database query · starting cluster default (12 s) · 4 s · interrupt to cancel",
    ),
    (
        {"status": "waiting", "throttled": True},
        "◐ command 128 · database query · waiting for a free slot · 4 s · interrupt to cancel",
    ),
    ({"status": "waiting"}, "◐ command 128 · database query · waiting · 4 s · interrupt to cancel"),
]


def test_a_running_command_says_what_it_does():
    assert [(fields, going_line(record(**fields), 4.4)) for fields, _ in GOING] == GOING


def test_before_the_submission_it_is_connecting():
    assert going_line(None, 1.0) == "◐ connecting · 1 s"


def test_the_last_line_shows_what_came_out():
    assert done_line(128, 4.2, ["336,776 rows × 19 columns", "delays"]) == (
        "✓ command 128 · 4.2 s · 336,776 rows × 19 columns · delays"
    )


class Publisher:
    def __init__(self):
        self.sent = []

    def publish(self, **message):
        self.sent.append(message)


def test_a_notebook_replaces_one_display():
    publisher = Publisher()
    line = DisplayLine(publisher, animates=True)
    line.replace("a")
    line.replace("a")
    line.replace("b")
    line.finish("c")
    assert [message["data"]["text/plain"] for message in publisher.sent] == ["a", "b", "c"]
    assert [message["update"] for message in publisher.sent] == [False, True, True]
    assert len({message["transient"]["display_id"] for message in publisher.sent}) == 1


class Screen(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_terminal_rewrites_one_line_without_pictures(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    line = TerminalLine()
    line.replace("◐ command 128 · running")
    line.finish("✓ done")
    assert screen.getvalue() == "command 128 · running\rdone" + " " * 17 + "\n"


def test_a_terminal_line_never_wraps(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "20")
    TerminalLine().replace("x" * 500)
    assert len(screen.getvalue()) == 19


def test_a_terminal_that_knows_ascii_only_gets_no_error(monkeypatch):
    screen = Screen()
    screen.encoding = "ascii"
    monkeypatch.setattr("sys.stdout", screen)
    TerminalLine().finish("✓ command 1 · done")
    assert screen.getvalue() == "command 1 ? done\n"


def run_held(service, notebook, *, until):
    """Run a held command, end it when the notebook shows what `until` wants, and return the displays."""
    service.behave("slow", held=True, output="x\n")

    def finish():
        service.wait_until_submitted()
        try:
            until()
        finally:
            service.end(128, "done")

    thread = threading.Thread(target=finish)
    thread.start()
    notebook.value("%%svc_shell\nslow\n")
    thread.join()
    return notebook.shell.display_pub.sent


@pytest.mark.both_services
def test_a_slow_command_shows_progress_that_its_last_line_replaces(service, notebook, wait_until):
    runs = "◐ command 128 · shell · running · "

    def is_shown():
        return any(line.startswith(runs) for line in notebook.lines)

    sent = run_held(service, notebook, until=lambda: wait_until(is_shown))
    assert sent[-1]["text"].endswith(" s · 1 line")
    assert len({message["transient"]["display_id"] for message in sent}) == 1
    assert [message["update"] for message in sent] == [False] + [True] * (len(sent) - 1)


def test_the_reason_why_a_command_waits_is_shown(service, notebook, wait_until):
    why = "waiting for a free slot (20 of 20 running)"
    service.behave("slow", held=True, waiting=why)

    def finish():
        try:
            wait_until(lambda: any(why in line for line in notebook.lines))
            service.change(128, status="running", message=None)
            wait_until(lambda: any("· running ·" in line for line in notebook.lines))
        finally:
            service.end(128, "done")

    thread = threading.Thread(target=finish)
    thread.start()
    notebook.value("%%svc_shell\nslow\n")
    thread.join()
    words = [line.split(" · ")[2] for line in notebook.lines if " · shell · " in line]
    assert list(dict.fromkeys(words)) == [why, "running"]


def test_a_run_that_nobody_watches_keeps_the_last_line_only(service, notebook, monkeypatch):
    monkeypatch.setattr(running, "SILENT_SECONDS", 0.0)
    notebook.shell.watched = False
    [message] = run_held(service, notebook, until=lambda: service.wait_until_asked("/commands/128"))
    assert message["text"].endswith("s · 1 line")


@pytest.mark.both_services
def test_a_slow_failure_leaves_no_running_line(service, notebook, wait_until):
    service.behave("slow", held=True, status="error", message="exit code 1")

    def finish():
        service.wait_until_submitted()
        wait_until(lambda: notebook.lines)
        service.end(128)

    thread = threading.Thread(target=finish)
    thread.start()
    notebook.error("%%svc_shell\nslow\n")
    thread.join()
    assert notebook.lines[-1].startswith("✗ command 128 · failed after ")


# The log, folded away when the command has ended


def folded(notebook):
    """The lines that unfold below the last line; None where there is no word to press."""
    html = notebook.shell.display_pub.sent[-1]["data"]["text/html"]
    assert "svc-status-log" not in html, "the box of a running command is gone"
    if "<details" not in html:
        return None
    found = re.search(r"</div><details [^>]+><summary [^>]+>Log</summary><pre [^>]+>(.*)</pre></details>$", html, re.S)
    return unescape(found[1]).split("\n")


def run_with_log(service, notebook, cell, log, *, shown, before_end=lambda: None, **how):
    """Run a held cell that writes `log`, and end it once the line `shown` is below its line."""
    service.behave("slow", held=True, log=log, **how)

    def finish():
        try:
            wait_until(lambda: any(line.endswith(f"\n│ {shown}") for line in notebook.lines))
            before_end()
        finally:
            service.end(128)

    thread = threading.Thread(target=finish)
    thread.start()
    notebook.run(cell)
    thread.join()


@pytest.mark.both_services
def test_the_log_of_a_slow_command_unfolds_below_its_last_line(service, notebook):
    log = "begun\n10 %\r100 %\n\x1b[31m<b>no &amp; room</b>\x1b[0m\n"
    run_with_log(service, notebook, "%%svc_shell\nslow\n", log, shown="<b>no &amp; room</b>")
    assert notebook.lines[-1].startswith("✓ command 128 · ")
    assert folded(notebook) == ["begun", "100 %", "<b>no &amp; room</b>"]


@pytest.mark.both_services
def test_of_a_long_log_the_end_stays_with_the_way_to_the_rest(service, notebook):
    log = "".join(f"part {number} {'x' * 400}\n" for number in range(1, 51))
    cut = [f"part {number} {'x' * 292}" for number in range(31, 51)]
    run_with_log(service, notebook, "%%svc_shell\nslow\n", log, shown=cut[-1])
    assert max(line.count("\n│ ") for line in notebook.lines) == 5
    assert folded(notebook) == ["… all of it: %svc_command 128 logs", *cut]


def test_another_service_does_not_send_its_whole_log_again(notebook_of, bare_service):
    notebook = notebook_of(bare_service)
    run_with_log(bare_service, notebook, "%%svc_shell\nslow\n", "begun\n", shown="begun")
    assert folded(notebook) == ["begun"]
    assert len([call for call in bare_service.calls if "/logs" in call and "err_file_processed=0" in call]) == 1


@pytest.mark.parametrize(("status", "line"), [("done", "✓ command 128 · "), ("error", "✗ command 128 · failed after ")])
def test_lines_at_the_end_that_were_never_shown_are_there(service, notebook, status, line):
    def write():
        service.commands[128].log = b"begun\nthe last words\n"

    how = {"status": status, "message": "exit code 1", "before_end": write}
    run_with_log(service, notebook, "%%svc_shell\nslow\n", "begun\n", shown="begun", **how)
    assert notebook.lines[-1].startswith(line)
    assert folded(notebook) == ["begun", "the last words"]


@pytest.mark.parametrize("refusal", [404, 503])
def test_the_lines_that_were_shown_stay_when_the_end_of_the_log_cannot_be_had(service, notebook, monkeypatch, refusal):
    monkeypatch.setattr(running, "_LOG_GRACE_SECONDS", 0.1)

    def refuse():
        monkeypatch.setattr(service, "_logs", lambda *_: error(refusal, "no"))

    run_with_log(service, notebook, "%%svc_shell\nslow\n", "begun\n", shown="begun", before_end=refuse)
    assert notebook.lines[-1].startswith("✓ command 128 · ")
    assert folded(notebook) == ["begun"]


def test_a_cell_that_shows_no_progress_does_not_ask_for_the_log(service, notebook, monkeypatch):
    monkeypatch.setattr(running, "SILENT_SECONDS", 60)
    service.behave("quick", log="begun\n")
    notebook.value("%%svc_shell\nquick\n")
    assert folded(notebook) is None
    assert not [call for call in service.calls if "/logs" in call]


def test_a_command_without_a_log_has_nothing_to_unfold(service, notebook, wait_until):
    run_held(service, notebook, until=lambda: wait_until(lambda: notebook.lines))
    assert folded(notebook) is None
