"""The magics in a real kernel, on a real service, as JupyterLab, nbclient and `ipython` use them."""

import os
import pty
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tests.integration.kernel_session import SECONDS
from tests.support.locked_sqlite import locked
from tests.support.service_process import wait_until

TERMINAL_SESSION = """
get_ipython().run_line_magic('load_ext', 'svc_jupyter')
import pandas, pyarrow, svc_jupyter.client  # so that the cell's time is the command's own
get_ipython().run_cell_magic('svc_shell', '', 'while [ ! -e "{gate}" ]; do sleep 0.05; done; echo hi')
"""
RUNS = r"command \d+ · shell · running · \d+ s · interrupt to cancel *\r"


@pytest.fixture
def tap(shared_service):
    """A DB tap on a SQLite file with two planes, by its name."""
    folder = shared_service.data_dir / "storage"
    folder.mkdir(exist_ok=True)
    name = "planes"
    taps = shared_service.http.get("/db_taps?per_page=100").json()["db_taps"]
    if name not in [tap["name"] for tap in taps]:
        with sqlite3.connect(folder / "planes.db") as database:
            database.execute("create table planes (tail text, seats integer, speed real)")
            database.executemany("insert into planes values (?, ?, ?)", [("N1", 100, 1.5), ("N2", 200, None)])
        database.close()
        body = {"name": name, "db_type": "sqlite", "db_name": str(folder / "planes.db")}
        answer = shared_service.http.post("/db_taps", json=body)
        assert answer.status_code == 200, answer.text
    return name


def release_when_shown(cell_text: str, gate: Path):
    """Return an output hook that opens the gate when a display with this text has arrived."""

    def look(message):
        if cell_text in str(message["content"].get("data", {}).get("text/plain", "")):
            gate.touch()

    return look


def test_a_shell_cell_is_a_frame_of_lines(kernel):
    cell = kernel.run("%%svc_shell -o greeting\necho hi; echo '<there>'\n")
    assert cell.status == "ok"
    assert "&lt;there&gt;" in cell.result["text/html"]
    assert kernel.value("list(greeting['line'])") == ["hi", "<there>"]
    assert kernel.value("list(Out[2]['line'])") == ["hi", "<there>"]


def test_a_query_cell_is_a_typed_frame(kernel, tap):
    cell = kernel.run(f"%%svc_db --tap {tap} -o planes --param least=150\nselect * from planes where seats > $least$\n")
    assert cell.status == "ok", cell.error
    assert cell.lines[-1].endswith(" · 1 row × 3 columns · planes")
    assert kernel.value("[planes['tail'][0], int(planes['seats'][0]), planes['seats'].dtype.kind]") == ["N2", 200, "i"]


def test_a_failed_query_is_one_error_and_stops_what_was_queued(kernel, tap, shared_service):
    client = kernel.client
    with locked(shared_service.data_dir / "storage" / "planes.db"):
        failing = client.execute(f"%%svc_db --tap {tap}\nselect tail\nfrom planes\nwhere seat > 1\n")
        queued = client.execute("ran_on = True")
    replies = {}
    while len(replies) < 2:
        reply = client.get_shell_msg(timeout=SECONDS)
        replies[reply["parent_header"]["msg_id"]] = reply["content"]
    error = "\n".join(replies[failing]["traceback"])
    assert replies[failing]["ename"] == "SvcCommandFailed"
    assert "no such column: seat" in error.split("\n")[0]
    assert "  query, line 3: where seat > 1" in error
    assert "tap planes (sqlite)" in error
    assert "File" not in error
    assert replies[queued]["status"] == "aborted"


def test_a_failed_script_names_the_line_of_the_whole_script(kernel):
    cell = kernel.run("%%svc_shell\ncat <<END\nline 1: of a text\nEND\nnosuch --now\n")
    assert cell.reply["content"]["ename"] == "SvcCommandFailed"
    assert re.fullmatch(
        r"SvcCommandFailed: command \d+ failed after [\d.]+ m?s: the script exited with code 127\n"
        r"  line 4: nosuch: command not found\n"
        r"  script, line 4: nosuch --now\n"
        r"  Log: %svc_command \d+ logs",
        cell.error,
    )
    silent = kernel.run("%%svc_shell\necho first\npython3 -c 'raise ValueError'\n")
    assert "script, line" not in silent.error


def test_an_interrupt_cancels_the_remote_command(kernel, shared_service):
    interrupted = []

    def interrupt(message):
        text = str(message["content"].get("data", {}).get("text/plain", ""))
        if "· running" in text and not interrupted:
            interrupted.append(text)
            kernel.manager.interrupt_kernel()

    cell = kernel.run("%%svc_shell\nsleep 600\n", interrupt)
    assert cell.status == "error"
    assert cell.reply["content"]["ename"] == "SvcInterrupted"
    assert re.match(r"■ command \d+ · cancelled by interrupt after ", cell.lines[-1])
    assert cell.reply["content"]["traceback"] == []
    assert not [output for output in cell.outputs if output["msg_type"] == "error"]  # the line above has said it
    command_id = int(interrupted[0].split()[2])
    assert shared_service.ended(command_id)["status"] == "cancelled"
    assert kernel.run("%%svc_shell\necho on\n").status == "ok"


def test_a_slow_command_shows_one_line_that_is_replaced(kernel, tmp_path):
    gate = tmp_path / "gate"
    cell = kernel.run(
        f"%%svc_shell\nwhile [ ! -e '{gate}' ]; do sleep 0.05; done; echo done\n",
        release_when_shown("· shell · running ·", gate),
    )
    shown = [output for output in cell.outputs if output["msg_type"] in ("display_data", "update_display_data")]
    assert [output["msg_type"] for output in shown] == ["display_data"] + ["update_display_data"] * (len(shown) - 1)
    assert len({output["content"]["transient"]["display_id"] for output in shown}) == 1
    assert cell.lines[0].startswith("◐ ")
    assert cell.lines[-1].startswith("✓ command ")


def test_a_deferred_command_goes_on_beside_the_notebook(kernel, tmp_path):
    gate = tmp_path / "gate"
    kernel.run(f"%%svc_shell --no-wait -o later\nwhile [ ! -e '{gate}' ]; do sleep 0.05; done; echo done\n")
    assert kernel.value("later.status()") in ("waiting", "running")
    gate.touch()
    assert kernel.value("list(later.result()['line'])") == ["done"]


def test_completion_offers_options_and_taps(kernel, tap):
    assert kernel.complete("%%svc_db --ta") == ["--tap", "--tags"]
    wait_until(lambda: kernel.complete("%%svc_db --tap pl") == [tap], "the tap is offered")


def test_the_token_is_in_no_output(kernel, shared_service):
    for code in (
        "%svc_status",
        "%svc_config",
        "%svc_history",
        "%%svc_shell\nfalse\n",
        "%svc_config base_url http://h:1",
    ):
        cell = kernel.run(code)
        assert shared_service.token not in str(cell.outputs)


def test_a_notebook_run_by_nbclient_keeps_the_last_lines_only(environment, monkeypatch, tmp_path):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    cells = ["%load_ext svc_jupyter", "%%svc_shell\nsleep 0.7; echo hi\n", "_"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    updates = count_of_messages(notebook, "update_display_data")
    display, result = notebook.cells[1].outputs
    assert display.data["text/plain"].startswith("✓ command ")
    assert "hi" in result.data["text/html"]
    assert "hi" in notebook.cells[2].outputs[0].data["text/html"]
    assert updates == 0


def count_of_messages(notebook, kind):
    """Execute a notebook and return how many messages of a kind the kernel sent."""
    seen = []

    class Counting(NotebookClient):
        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] == kind:
                seen.append(msg)
            return super().process_message(msg, cell, cell_index)

    Counting(notebook, timeout=SECONDS).execute()
    return len(seen)


def test_a_failure_under_nbclient_stops_the_run(environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    cells = ["%load_ext svc_jupyter", "%%svc_shell\necho why >&2; exit 3\n", "print('ran on')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    with pytest.raises(CellExecutionError, match="SvcCommandFailed") as caught:
        NotebookClient(notebook, timeout=SECONDS).execute()
    assert "why" in str(caught.value)
    assert notebook.cells[2].outputs == []


def test_ipython_in_a_terminal_rewrites_one_line(environment, tmp_path):
    gate = tmp_path / "gate"
    session = TERMINAL_SESSION.format(gate=gate)
    shown = in_a_terminal(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--colors=NoColor", "-c", session], environment, gate
    )
    assert re.search(RUNS, shown)
    assert re.search(r"command \d+ · [\d.]+ s · 1 line", shown)
    assert "✓" not in shown
    assert "◐" not in shown


def in_a_terminal(command: list[str], environment: dict[str, str], gate: Path) -> str:
    """Run a program in a pseudo-terminal and return what it wrote; open the gate once a running line is over."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, env=environment | {"COLUMNS": "200"}
    )
    os.close(terminal)
    pieces: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(main, 4096):
                pieces.append(piece)
                if re.search(RUNS, b"".join(pieces).decode(errors="replace")):
                    gate.touch()
        except OSError:
            return  # the other end is closed: that is how a terminal ends

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        reader.join(SECONDS)
        os.close(main)
    return b"".join(pieces).decode()
