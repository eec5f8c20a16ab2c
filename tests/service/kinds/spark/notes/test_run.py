"""A note's run: order, forms, results and the first error. The session is a double that runs Python in this process;
`tests/integration/test_spark_notes.py` runs notes on Spark itself."""

import contextlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from svc_jupyter.service.kinds.spark.notes.languages import Paragraph
from svc_jupyter.service.kinds.spark.notes.run import NoteRun
from svc_jupyter.service.kinds.spark.notes.shell_paragraphs import Shell, displayed
from svc_jupyter.service.kinds.spark.notes.statements import Log, RunFailure, StatementEnd, StatementError


class PythonHere:
    """Runs Python in one namespace; `calls` and `gone` are for the code to set."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def run(self, paragraph: Paragraph, code: str, values: Mapping[str, Any], log: Log) -> StatementEnd:
        printed = io.StringIO()
        self.names |= {"calls": (), "values": values}
        error = None
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(code, "paragraph", "exec"), self.names)
            except ConnectionError:
                raise RunFailure("the session server is gone") from None
            except Exception as raised:  # noqa: BLE001  the paragraph's own error, whatever it is
                trace = raised.__traceback__
                assert trace is not None
                assert trace.tb_next is not None
                error = StatementError(f"{type(raised).__name__}: {raised}", trace.tb_next.tb_lineno)
        log(printed.getvalue())
        return StatementEnd(displayed(printed.getvalue()), error, calls=tuple(self.names["calls"]))


class Ran:
    """A run that has ended."""

    def __init__(self, folder: Path, code: int, log: str) -> None:
        self.code = code
        self.log = log
        self.folder = folder
        self.paragraphs = json.loads((folder / "paragraphs.json").read_text())
        self.summary = json.loads((folder / "result.json").read_text())
        self.tables = (folder / "tables.tsv").read_text()
        error = folder / "error.json"
        self.error = json.loads(error.read_text())["message"] if error.exists() else None

    def texts(self) -> list[str]:
        return ["".join(m["data"] for m in one["results"]["msg"]) for one in self.paragraphs if one["results"]]


def run(folder: Path, *texts: str | dict[str, Any], **arguments: Any) -> Ran:
    paragraphs = [
        {"id": f"p{number}", **(text if isinstance(text, dict) else {"text": text})}
        for number, text in enumerate(texts, start=1)
    ]
    work = folder / "work"
    work.mkdir()
    log: list[str] = []
    shell = Shell(work, {"PATH": os.environ["PATH"]})
    code = NoteRun(folder, paragraphs, arguments, PythonHere(), shell, log.append).run()
    return Ran(folder, code, "".join(log))


def test_paragraphs_share_a_session_and_run_in_order(tmp_path: Path) -> None:
    ran = run(tmp_path, "%pyspark\nx = 20", "%python\nprint(x + 1)")
    assert ran.code == 0
    assert ran.texts() == ["", "21\n"]
    assert [one["status"] for one in ran.paragraphs] == ["FINISHED", "FINISHED"]


def test_the_run_stops_at_the_first_error_and_says_where(tmp_path: Path) -> None:
    ran = run(tmp_path, "%pyspark\nx = 1", {"text": "%pyspark\n\nx / 0", "title": "Share"}, "%pyspark\nx = 2")
    assert ran.code == 1
    assert ran.error == "paragraph 2 (Share), line 3: ZeroDivisionError: division by zero"
    assert [one["status"] for one in ran.paragraphs] == ["FINISHED", "ERROR"]


def test_a_form_takes_its_argument_or_its_default(tmp_path: Path) -> None:
    ran = run(tmp_path, "%pyspark\nprint('${who=nobody}', ${n=3} + 1)", who="it's \\ \"$\n", n=4)
    assert ran.texts() == ["it's \\ \"$\n 5\n"]


def test_a_value_that_a_form_cannot_take_ends_the_run_without_reporting_it(tmp_path: Path) -> None:
    ran = run(tmp_path, "%pyspark\nx = f${password:key}", key="hunter2")
    assert ran.error is not None
    assert ran.error.startswith("paragraph 1: form key touches a word")
    assert "hunter2" not in ran.error + ran.log


def test_tables_are_text_with_blank_lines_between_and_typed_rows(tmp_path: Path) -> None:
    ran = run(tmp_path, "%pyspark\nprint('%table\\na\\tb\\n1\\tx\\n2\\ty')", "%sh\nprintf '%%table\\nc\\n1.5\\n'")
    assert ran.tables == "a\tb\n1\tx\n2\ty\n\nc\n1.5\n"
    assert [(one["paragraph"], one["rows"]) for one in ran.summary["tables"]] == [("p1", 2), ("p2", 1)]
    with pa.OSFile(str(tmp_path / "table-1.arrow")) as file:
        assert pa.ipc.open_stream(file).read_all().to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_a_shell_paragraph_works_in_the_runs_folder_and_its_exit_code_counts(tmp_path: Path) -> None:
    ran = run(tmp_path, "%sh\necho here > made", "%sh\ncat made; exit 3", "%md\nnever")
    assert ran.texts()[1].startswith("here\n")
    assert ran.error == "paragraph 2: the shell ended with exit code 3"


def test_a_shell_paragraph_ends_though_it_left_something_in_the_background(tmp_path: Path) -> None:
    ran = run(tmp_path, "%sh\n(read -t 20 <> <(:)) & echo $!")
    pid = int(ran.texts()[0])
    os.kill(pid, 9)
    assert ran.code == 0


def test_markdown_is_html_and_html_in_it_is_text(tmp_path: Path) -> None:
    ran = run(tmp_path, "%md\n# Late ${who=all}\n<script>", who="<b>*x*")
    (message,) = ran.paragraphs[0]["results"]["msg"]
    assert message["type"] == "HTML"
    assert "<h1>Late &lt;b&gt;*x*</h1>" in message["data"]
    assert "<script>" not in message["data"]


def test_disabled_and_blank_paragraphs_are_not_run(tmp_path: Path) -> None:
    ran = run(tmp_path, {"text": "%pyspark\n1/0", "config": {"enabled": False}}, "  \n", "%pyspark\n", "%sh\necho x")
    assert [one["id"] for one in ran.paragraphs] == ["p3", "p4"]


def test_a_paragraph_can_ask_for_another_but_not_for_ever(tmp_path: Path) -> None:
    ran = run(tmp_path, "%pyspark\ncalls = ['p3']", "%pyspark\nprint('two')", "%pyspark\nprint('three')")
    assert [one["id"] for one in ran.paragraphs] == ["p1", "p3", "p2", "p3"]
    (tmp_path / "again").mkdir()
    assert run(tmp_path / "again", "%pyspark\ncalls = ['1']").error == "z.run asked for more than 100 paragraphs"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("%cobol\nx", "paragraph 1: %cobol is not a language of a Spark notebook"),
        ("%pyspark\nraise ConnectionError", "paragraph 1: the session server is gone"),
        ("%pyspark\ncalls = ['p9']", "z.run names no paragraph of this note: p9"),
    ],
)
def test_a_paragraph_that_cannot_run_is_reported(tmp_path: Path, text: str, why: str) -> None:
    ran = run(tmp_path, text)
    assert ran.error is not None
    assert ran.error.startswith(why)


def test_a_note_keeps_no_more_of_a_result_than_it_can_show(tmp_path: Path) -> None:
    ran = run(tmp_path, "%sh\nyes | head -c 3000000")
    kept = ran.paragraphs[0]["results"]["msg"]
    assert sum(len(message["data"]) for message in kept) < 1_100_000
    assert kept[-1]["data"] == "cut at 1,000,000 characters; the log has it whole\n"
    assert len(ran.log) > 3_000_000
