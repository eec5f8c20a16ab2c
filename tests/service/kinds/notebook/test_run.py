"""Runs of real notebooks in real kernels: what they leave, and where they stop."""

from __future__ import annotations

import json
import os

import nbformat
import pytest
from tests.service.kinds.notebook.notebooks import DEADLINE, code, prose
from tests.support.service_process import wait_until


def texts(outputs):
    return [output.get("text") or output.get("data", {}).get("text/plain") for output in outputs]


def test_all_cells_run_in_order_and_their_text_is_logged_as_it_comes(parent):
    run = parent.start(
        "a = 20\nprint('out')", prose("# Title"), "", "import sys\nprint('err', file=sys.stderr)\na + 22"
    )
    assert run.text == "42\n"  # stderr is for the log
    assert [texts(outputs) for outputs in run.outputs] == [["out\n"], [], ["err\n", "42"]]
    lines = run.log.splitlines()
    assert lines[0] == "cell 1 of 2: a = 20"
    assert lines[1] == "out"
    assert lines[2].startswith("cell 1 of 2: done, ")
    assert lines[3:6] == ["cell 2 of 2: import sys", "err", "42"]
    assert [cell.get("execution_count") for cell in run.executed.cells] == [1, None, None, 2]
    assert run.executed.metadata.language_info["name"] == "python"


def test_the_kernel_has_the_commands_environment_and_works_in_its_folder(parent):
    run = parent.start(
        "import os, sys, json\n"
        "open('made.txt', 'w').close()\n"
        "names = {n: v for n, v in os.environ.items() if n.startswith('SVC_')}\n"
        "print(json.dumps([names, os.getcwd(), sys.argv[0], __name__, os.getppid()]))"
    )
    names, folder, program, module, above = json.loads(run.text)
    assert names == {"SVC_COMMAND_ID": "7", "SVC_COMMAND_MARK": str(run.folder)}
    assert folder == str(run.folder / "work")
    assert (program, module) == ("ipykernel_launcher.py", "__main__")
    assert above == run.pid
    assert os.listdir(folder) == ["made.txt"]
    assert not list(run.folder.glob("kernel*"))


def test_each_run_has_a_fresh_kernel_without_a_trace_of_the_run(parent):
    first = parent.start("left = 1\nimport os\nprint(os.getpid())")
    second = parent.start(
        "import os, sys\nprint(os.getpid())",
        "print([n for n in dir() if 'svc' in n or n in ('left', 'install')])\n"
        "print([n for n in sys.modules if n.startswith(('svc_jupyter', 'nbformat', 'nbclient', 'jsonschema.'))])\n"
        "print([type(finder).__module__ for finder in sys.meta_path if 'svc' in type(finder).__module__])",
    )
    assert second.text == "[]\n[]\n[]\n"
    assert first.text != second.outputs[0][0]["text"]


def test_a_cell_that_raises_stops_the_run_and_is_named(parent):
    run = parent.start("1", "def f():\n    raise ValueError('no rows')\n\nf()", "print('never')")
    assert run.message == (
        "cell 2 of 3: ValueError: no rows, in line 2: raise ValueError('no rows')\n"
        "the run stopped there; tag the cell raises-exception to let it go on after an error"
    )
    assert run.may_retry
    assert [output["output_type"] for output in run.outputs[1]] == ["error"]
    assert run.outputs[2] == []
    assert "never" not in run.log
    assert "\x1b" not in run.log


def test_a_cell_tagged_raises_exception_does_not_stop_the_run(parent):
    run = parent.start(
        code("1 / 0", "raises-exception"),
        code("import warnings\nwarnings.warn('careful')", "raises-exception"),
        "print('after')",
    )
    assert run.text == "after\n"


def test_a_cell_that_shows_a_warning_completes_and_then_the_run_stops(parent):
    run = parent.start("import warnings\nwarnings.warn('careful')\nprint('to the end')", "print('never')")
    assert run.message == (
        "cell 1 of 2 showed a warning: UserWarning: careful, in line 2: warnings.warn('careful')\n"
        "the run stopped after it; tag the cell raises-exception to let it go on after a warning"
    )
    assert "to the end" in run.log
    assert "UserWarning: careful" in run.log
    assert "never" not in run.log


def test_only_a_warning_that_is_shown_counts(parent):
    run = parent.start(
        "import sys, logging\nprint('UserWarning: just text', file=sys.stderr)\nlogging.warning('Warning: a log line')",
        "import warnings\nwith warnings.catch_warnings(record=True) as caught:\n    warnings.warn('caught')",
        "warnings.simplefilter('ignore')\nwarnings.warn('ignored')\nprint(len(caught))",
    )
    assert run.text == "1\n"


def test_a_warning_of_a_librarys_own_line_is_reported_with_its_place(parent):
    run = parent.start("import json, warnings\nexec(compile('warnings.warn(\"deep\")', 'library.py', 'exec'))")
    assert run.message.startswith("cell 1 of 1 showed a warning: UserWarning: deep (library.py, line 1)\n")


@pytest.mark.parametrize(
    "cell",
    [
        "import sys\nsys.exit()\nprint('never')",
        "import sys\nsys.exit(0)\nprint('never')",
        "exit()\nprint('never')",
        "quit(0)\nprint('never')",
        "exit(keep_kernel=True)",
        "exit",
    ],
)
def test_a_cell_may_end_the_run_itself(parent, cell):
    run = parent.start("print('so far')", cell, "print('never')")
    assert run.text == "so far\n"
    assert run.log.endswith("cell 2 of 3 ended the run\n")


@pytest.mark.parametrize(("end", "value"), [("sys.exit(3)", "3"), ("exit(3)", "3"), ("quit('no rows')", "no rows")])
def test_a_cell_that_ends_the_run_with_another_code_fails_it(parent, end, value):
    run = parent.start("print('so far')", f"import sys\n{end}\nprint('never')", "print('never')")
    assert run.message.startswith(f"cell 2 of 3: SystemExit: {value}")
    assert run.outputs[2] == []


def test_parameters_follow_the_cell_of_the_notebooks_own(parent):
    value = 'it\'s "quoted" \\ $x {y} \n é \N{GRINNING FACE}'
    run = parent.start(
        code("a = 1\nb = 'own'\nc = 'kept'", "parameters"),
        "print(repr((a, b, c, d)))",
        arguments={"a": 2, "b": value, "d": -1.5},
    )
    assert run.text == f"{(2, value, 'kept', -1.5)!r}\n"
    assert [cell.metadata.get("tags") for cell in run.executed.cells] == [["parameters"], ["injected-parameters"], None]
    assert "parameters: a, b, d" in run.log


def test_outputs_of_an_earlier_run_are_gone_where_this_one_did_not_come(parent):
    late = code("print('new')")
    late.outputs = [nbformat.v4.new_output("stream", text="of yesterday")]
    late.execution_count = 9
    run = parent.start("1 / 0", late)
    assert run.code == 1
    assert run.outputs[1] == []
    assert run.executed.cells[1].execution_count is None


def test_the_executed_notebook_and_the_progress_grow_with_the_cells(parent, tmp_path):
    go = tmp_path / "go"
    wait = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)"
    run = parent.start("print('first')", "print('second')", wait, "print('last')")
    progress = run.folder / "progress"
    wait_until(lambda: progress.exists() and progress.read_text() == "49\n", "two cells to be done", DEADLINE)
    wait_until(lambda: run.outputs[1], "the outputs, which are put off when writing takes long", DEADLINE)
    assert [texts(outputs) for outputs in run.outputs] == [["first\n"], ["second\n"], [], []]
    assert "second" in run.log
    go.touch()
    assert run.text == "last\n"
    assert progress.read_text() == "99\n"


def test_displays_are_updated_cleared_and_kept_as_a_front_end_would(parent):
    run = parent.start(
        "from IPython.display import HTML, clear_output, display\n"
        "print('gone')\nclear_output(wait=True)\n"
        "handle = display('first', display_id=True)\nhandle.update('second')\n"
        "display(HTML('<b>bold</b>'))",
        "for percent in (1, 50, 100):\n    print(f'\\r{percent} %', end='', flush=True)\nprint()",
    )
    assert run.text == "100 %\n"
    assert [texts([output]) for output in run.outputs[0]] == [["'second'"], ["<IPython.core.display.HTML object>"]]
    assert run.outputs[0][1]["data"]["text/html"] == "<b>bold</b>"


def test_a_cell_tagged_to_be_skipped_is_not_run(parent):
    assert parent.start(code("1 / 0", "skip-execution"), "print('ran')").text == "ran\n"


def test_exit_handlers_of_a_kernel_are_run(parent):
    run = parent.start("import atexit, pathlib\natexit.register(pathlib.Path('bye').touch)", "print('x')")
    assert run.code == 0
    assert (run.folder / "work" / "bye").exists()


@pytest.mark.parametrize("source", ["", "# %%\n"])
def test_a_notebook_without_code_succeeds_without_a_result(parent, source):
    run = parent.start(prose("only words"), *([source] if source else []))
    assert run.code == 0
    assert not (run.folder / "result.txt").exists()
    assert run.executed.cells[0].source == "only words"


def test_a_notebook_of_an_older_format_runs_and_is_kept_as_the_newest(parent):
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [
            {"metadata": {}, "cells": [{"cell_type": "code", "input": ["6 * 7"], "language": "python", "outputs": []}]}
        ],
    }
    run = parent.hand(parent.new_job(json.dumps(old)))
    assert run.text == "42\n"
    assert run.executed.nbformat == 4


def test_a_newer_minor_format_keeps_what_nobody_here_knows(parent):
    newer = {"nbformat": 4, "nbformat_minor": 99, "metadata": {}, "new_field": [1], "cells": []}
    run = parent.hand(parent.new_job(json.dumps(newer)))
    assert run.code == 0
    assert json.loads((run.folder / "executed.ipynb").read_text())["new_field"] == [1]
