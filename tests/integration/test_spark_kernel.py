"""The kernel Spark (svc) as front ends use it: nbclient, and messages of a Jupyter client."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pexpect
import psutil
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.magics.display.grid import RESULT
from svc_jupyter.magics.display.status import STATUS

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("spark")]
SECONDS = 300
PICTURE = """import base64
class Figure:
    def savefig(self, file, **about):
        file.write(base64.b64decode("iVBORw0KGgo="))
"""
"""What matplotlib's figures do; Spark's own Python has no matplotlib."""
SPECS = Path(__file__).parents[2] / "jupyter-config"


@pytest.fixture
def environment(spark: ServiceProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a kernel that talks to the service with the Spark cluster."""
    monkeypatch.setenv("JUPYTER_PATH", str(SPECS))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return clean | {
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "SVC_BASE_URL": f"http://127.0.0.1:{spark.http.base_url.port}",
        "SVC_API_TOKEN": spark.http.headers["X-AUTH-TOKEN"],
    }


def outputs(cell: Any) -> str:
    """Return what a cell shows, as text."""
    texts = []
    for output in cell.outputs:
        data = output.get("data") or {}
        texts.append(output.get("text") or "\n".join(output.get("traceback") or [data.get("text/plain", "")]))
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


@pytest.fixture
def kernel(environment: dict[str, str]) -> Iterator[Kernel]:
    """A running kernel with a front end."""
    manager = KernelManager(kernel_name="svc-spark")
    manager.start_kernel(env=environment)
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=SECONDS)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=False)
        manager.cleanup_resources()
        manager.context.destroy(linger=0)


class Kernel:
    """A kernel and one front end of it."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self.pages: list[str] = []
        """What cells have shown as HTML."""

    def run(self, code: str, on_text: Callable[[str], None] = lambda _text: None) -> str:
        """Run a cell and return what it shows; `on_text` receives what it prints as it comes."""
        shown: list[str] = []

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            shown.extend(content.get("traceback") or [content.get("text", "")])
            if data := content.get("data"):
                shown.append(data.get("text/plain", ""))
                self.pages.append(data.get("text/html", ""))
            if message["msg_type"] == "stream":
                on_text(content["text"])

        self.client.execute_interactive(code, output_hook=take, timeout=SECONDS)
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(shown))

    def complete(self, code: str) -> tuple[list[str], str]:
        """Return the matches at the end of the code, and the text that they replace."""
        content = self.client.complete(code, reply=True, timeout=SECONDS)["content"]
        return content["matches"], code[content["cursor_start"] : content["cursor_end"]]

    def describe(self, code: str) -> str:
        content = self.client.inspect(code, reply=True, timeout=SECONDS)["content"]
        return str(content["data"].get("text/plain", "")) if content["found"] else ""


def end_process(pid: int) -> None:
    """Kill a process, and return once it has ended."""
    process = psutil.Process(pid)
    process.kill()
    wait_until(lambda: process.status() == psutil.STATUS_ZOMBIE, "the process has ended", SECONDS)


def sessions(service: ServiceProcess) -> list[dict[str, Any]]:
    return [
        row for row in service.http.get("/commands?per_page=100").json()["commands"] if row["command"].get("app_id")
    ]


def test_an_interrupt_cancels_the_cell_and_the_editor_asks_the_session(kernel: Kernel, spark: ServiceProcess) -> None:
    kernel.run("import time\nfares = spark.range(3).selectExpr('id AS fare_amount', 'id AS printed')")
    kernel.run("fares.createOrReplaceTempView('fares')")
    assert {(row["command_source"], row["notebook"]) for row in sessions(spark)[:2]} == {("UI", "")}
    assert kernel.complete("fares.fare_am") == (["fares.fare_amount"], "fares.fare_am")
    # The catalogue may be slow the first time: it is not waited for, and known to a later question.
    wait_until(lambda: kernel.complete("%sql\nselect * from far") == (["fares"], "far"), "the table is known", SECONDS)
    columns = "%sql\nselect 1 from fares where fare_a"
    wait_until(lambda: kernel.complete(columns) == (["fare_amount"], "fare_a"), "the column is known", SECONDS)
    # What comes before a function, and may come too late for one question.
    printed, offered = "%sql\nselect 1 from fares where print", (["printed", "printf"], "print")
    wait_until(lambda: kernel.complete(printed) == offered, "the column is there, too", SECONDS)
    # Hive's catalogue and the session's views together, by the place in the statement.
    kernel.run("%sql create table trips (trip_id int, `paid in` string)")
    joined = "%sql\nselect t.paid\nfrom trips t join fares on t."
    wait_until(lambda: kernel.complete(joined) == (["trip_id", "`paid in`"], ""), "the new table is known", SECONDS)
    assert kernel.complete("%sql -o x\nselect * from tri") == (["trips"], "tri")
    assert kernel.complete("%sql select 'tri")[0] == []
    kernel.run("%sql drop table trips")
    assert "spark" in kernel.complete("spa")[0]
    assert "%%local" in kernel.run("%%help")
    assert "withColumnRenamed" in kernel.describe("fares.withColumnRenamed")
    assert kernel.describe("no_such_name") == ""
    # Live output; an interrupt ends this cell only, and the session's variables stay.
    said: list[str] = []

    def interrupt(text: str) -> None:
        if "begun" in text and not said:
            said.append(text)
            kernel.manager.interrupt_kernel()

    shown = kernel.run("print('begun')\nkept = 7\nwhile True:\n    time.sleep(0.05)", interrupt)
    assert said
    assert "cancelled by interrupt" in shown
    assert "\n7" in kernel.run("kept").replace("'", "\n")
    # The log of a slow cell unfolds below its line.
    kernel.run("%sh\necho 'in the log' >&2\nsleep 2")
    assert kernel.pages[-1].endswith(">in the log</pre></details>")
    # The death of the session is an error; the next cell says what that means.
    assert "the session ended while the program ran" in kernel.run("import os\nos._exit(3)")
    shown = kernel.run("'kept' in globals()")
    assert "the variables of earlier cells are gone" in shown
    assert "False" in shown
    # Between two cells its death is no error of the next one.
    found = re.search(r"pid (\d+)", kernel.run("import os\nprint('pid', os.getpid())"))
    assert found is not None
    end_process(int(found[1]))
    shown = kernel.run("6 * 7")
    assert "the variables of earlier cells are gone" in shown
    assert "42" in shown
    # A restart gives a session with no variables, and leaves none behind.
    kernel.run("once = 1")
    before = sessions(spark)[0]["command"]["app_id"]
    kernel.manager.restart_kernel(now=False)
    kernel.client.wait_for_ready(timeout=SECONDS)
    assert "False" in kernel.run("'once' in globals()")
    after = sessions(spark)[0]
    assert after["command"]["app_id"] != before
    assert spark.http.delete(f"/commands/{after['id']}/session").json() == {"ended": True}
    assert spark.http.delete(f"/commands/{after['id']}/session").json() == {"ended": False}
    previous = next(row["id"] for row in sessions(spark) if row["command"]["app_id"] == before)
    assert spark.http.delete(f"/commands/{previous}/session").json() == {"ended": False}


def test_a_console_runs_cells_in_a_session_and_is_left_by_exit(environment: dict[str, str]) -> None:
    console = pexpect.spawn(
        sys.executable,
        ["-m", "jupyter_console", "--kernel", "svc-spark", "--simple-prompt"],
        env=environment | {"NO_COLOR": "1"},  # type: ignore[arg-type]
        encoding="utf-8",
        timeout=SECONDS,
    )
    try:
        console.expect_exact("In [1]: ")
        console.sendline("spark.range(5).count() * 1000")
        console.expect_exact("In [2]: ")
        assert "5000" in console.before
        console.sendline("1 / 0")
        console.expect_exact("In [3]: ")
        assert "ZeroDivisionError: division by zero" in console.before
        console.sendline("exit")
        console.expect_exact("Shutting down kernel")
        console.expect(pexpect.EOF)
    finally:
        console.close(force=True)


def test_a_notebook_runs_in_one_session_in_all_languages(
    environment: dict[str, str], tmp_path: Path, spark: ServiceProcess
) -> None:
    texts = [
        "print('begun')\nspark.range(5).createOrReplaceTempView('numbers')\nkept = 40 + 2",
        "%sql\nselect id, id * ${factor=2} as more from numbers order by id",
        '%spark\nprintln(spark.table("numbers").count + 1)',
        "%sh\necho from $((1 + 1)) shell",
        "%md\n# Title",
        "%%sql -o local_rows\nselect id from numbers where id > 2 order by id",
        "%%local\nlocal_rows['twice'] = local_rows.id * 2\nlocal_rows.twice.sum()",
        "%%send local_rows",
        "%sql\nselect sum(twice) as total from local_rows",
        f"{PICTURE}\nz.show(Figure())\nkept",
        "%%pyspark -o doubled\ndoubled = spark.range(2)",
        "%%local\nlen(doubled)",
        "%%forms factor=10",
        "%sql select 7 * ${factor=2} as seventy",
        "%sh expr 6 \\* ${factor=2}",
        "%md ${factor=2} times",
        "x = 1\n\nspark.table('nothing_there')",
        "%nosuch\n1",
        "%svc_plot local_rows -x id",
    ]
    newest = spark.submit("true")["id"]
    notebook = new_notebook(cells=[new_code_cell(text) for text in texts])
    NotebookClient(
        notebook,
        kernel_name="svc-spark",
        timeout=SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": tmp_path}},
    ).execute(env=environment)
    nbformat.validate(notebook)
    shown = [outputs(cell) for cell in notebook.cells]
    assert "begun" in shown[0]
    assert "5 rows × 2" in shown[1]
    assert re.search(r"4 +8", shown[1])
    assert "6" in shown[2]
    assert "from 2 shell" in shown[3]
    assert notebook.cells[4].outputs[0].data["text/markdown"] == "# Title"
    assert "2 rows × 1 column · local_rows" in shown[5]
    assert shown[6] == "np.int64(14)"
    assert re.search(r"0 +14", shown[8])
    assert "42" in shown[9]
    assert any("image/png" in output.get("data", {}) for output in notebook.cells[9].outputs)
    assert shown[11] == "2"
    assert re.search(r"0 +70", shown[13])
    assert shown[14].startswith("60\n")
    assert notebook.cells[15].outputs[0].data["text/markdown"] == "10 times"
    assert "cell, line 3: spark.table('nothing_there')" in shown[16]
    assert "TABLE_OR_VIEW_NOT_FOUND" in shown[16]
    assert "%nosuch is neither a language nor a magic" in shown[17]
    assert "image/png" in notebook.cells[18].outputs[0].data
    ours = [row for row in spark.http.get("/commands?per_page=100").json()["commands"] if row["id"] > newest]
    assert {(row["command_type"], row["command_source"]) for row in ours} == {
        ("SparkCommand", "UI"),
        ("ShellCommand", "UI"),
    }
    [cell] = [row["command"]["cell"] for row in ours if "as seventy" in row["command"].get("program", "")]
    assert cell == {"forms": {"factor": "10"}, "limit": 1000}
    # The table of a cell is a grid of all its rows, and the line above it leads to the command.
    table, line = (
        next(output.data[kind] for output in notebook.cells[1].outputs if kind in output.get("data", {}))
        for kind in (RESULT, STATUS)
    )
    assert (line["command"], line["status"], line["rows"]) == (table["command"], "done", 5)
    assert [column["name"] for column in table["columns"]] == ["id", "more"]
    rows = spark.http.get(f"/commands/{table['command']}/rows?sort=-id&limit=1").json()
    assert (rows["rows"], rows["total"]) == ([[4, 8]], 5)
