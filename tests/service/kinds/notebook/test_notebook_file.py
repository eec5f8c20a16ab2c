"""Reading a source of any format, and writing the executed copy as a whole or not at all."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest
from tests.service.kinds.notebook.notebooks import notebook
from tests.support.until import until

from svc_jupyter.service.kinds.notebook import notebook_file
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.kinds.notebook.notebook_file import ExecutedFile, read_notebook

V4 = {"nbformat": 4, "nbformat_minor": 5}
NO_FORMAT = "n.ipynb is not a notebook: it has no valid nbformat and nbformat_minor"
NO_PARTS = "n.ipynb is not a notebook: it lacks a part of a notebook, or has one of a wrong type"
NO_NOTEBOOKS = {
    "": "n.ipynb is not a notebook: it is not JSON (Expecting value: line 1 column 1 (char 0))",
    "{": "n.ipynb is not a notebook: it is not JSON "
    "(Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
    "[]": "n.ipynb is not a notebook: it is not a JSON object",
    "{}": NO_FORMAT,
    json.dumps({**V4, "nbformat": "4"}): NO_FORMAT,
    json.dumps({**V4, "nbformat": True}): NO_FORMAT,
    json.dumps({"nbformat": 4, "nbformat_minor": "x", "metadata": {}, "cells": []}): NO_FORMAT,
    json.dumps({**V4, "metadata": {}, "cells": 3}): NO_PARTS,
    json.dumps({**V4, "metadata": {}}): NO_PARTS,
    json.dumps({**V4, "metadata": {}, "cells": [{"cell_type": "sound"}]}): NO_PARTS,
    json.dumps({**V4, "metadata": {}, "cells": [{"cell_type": "code", "source": 5}]}): (
        "n.ipynb is not a notebook: ['cells'][0]['source']: 5 is not valid under any of the given schemas"
    ),
    json.dumps({"nbformat": 3, "nbformat_minor": 0}): NO_PARTS,
    json.dumps({"nbformat": 2, "worksheets": [5]}): NO_PARTS,
    json.dumps({"nbformat": 5, "nbformat_minor": 0}): (
        "n.ipynb is not a notebook: it is of notebook format 5; this service reads formats up to 4"
    ),
}


def test_a_text_that_is_no_notebook_is_refused_with_a_reason():
    def refusal(text):
        with pytest.raises(RunFailure) as refused:
            read_notebook(text, "n.ipynb")
        assert not refused.value.may_retry
        return refused.value.message

    assert {text: refusal(text) for text in NO_NOTEBOOKS} == NO_NOTEBOOKS


def test_json_that_is_nested_without_end_is_refused():
    with pytest.raises(RunFailure, match="nested too deeply"):
        read_notebook("[" * 100_000, "n.ipynb")


def test_missing_and_doubled_cell_ids_are_put_right():
    cells = [
        {"cell_type": "raw", "metadata": {}, "source": ""},
        *2 * [{"id": "a", "cell_type": "raw", "metadata": {}, "source": ""}],
    ]
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    found, repairs = read_notebook(text, "n")
    assert [cell.id for cell in found.cells] == ["cell-1", "a", "cell-3"]
    assert repairs == "the notebook was repaired: cells without an id of their own got one"


def test_a_file_is_replaced_as_a_whole(tmp_path):
    found = notebook("1")
    file = ExecutedFile(tmp_path / "e.ipynb", found, min_free_bytes=0)
    file.save()
    found.cells[0].source = "2 \ud800"
    file.save(durable=True)
    assert json.loads((tmp_path / "e.ipynb").read_text())["cells"][0]["source"] == ["2 \ud800"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["e.ipynb"]


def test_a_full_disk_leaves_the_file_before(tmp_path):
    ExecutedFile(tmp_path / "e.ipynb", notebook("1"), min_free_bytes=0).save()
    before = (tmp_path / "e.ipynb").read_text()
    with pytest.raises(RunFailure, match="MB are free on the service's disk"):
        ExecutedFile(tmp_path / "e.ipynb", notebook("2"), min_free_bytes=2**62).save()
    assert (tmp_path / "e.ipynb").read_text() == before


def test_a_write_that_fails_leaves_the_file_before(tmp_path):
    (tmp_path / "e.ipynb").mkdir()  # nothing can be renamed onto a folder
    with pytest.raises(RunFailure, match="the executed notebook could not be written: Is a directory"):
        ExecutedFile(tmp_path / "e.ipynb", notebook("1"), min_free_bytes=0).save()
    assert [entry.name for entry in tmp_path.iterdir()] == ["e.ipynb"]


def put_off(tmp_path, monkeypatch, *seconds):
    """Return a file whose first save took a second, and its notebook, changed since; the clock shows `seconds`."""
    clock = iter((0.0, 1.0, *seconds))
    # The event loop keeps its own clock.
    monkeypatch.setattr(notebook_file, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    found = notebook("1")
    file = ExecutedFile(tmp_path / "e.ipynb", found, min_free_bytes=0)
    file.save_soon()
    found.cells[0].source = "2"
    return file, found


async def test_a_notebook_that_takes_long_to_write_is_not_written_after_each_cell(tmp_path, monkeypatch):
    file, _ = put_off(tmp_path, monkeypatch, 2.0, 12.0, 12.0, 13.0)
    file.save_soon()
    assert '"1"' in (tmp_path / "e.ipynb").read_text()
    file.save_soon()
    assert '"2"' in (tmp_path / "e.ipynb").read_text()


async def test_a_cell_that_was_not_written_at_its_end_is_written_while_the_next_one_runs(tmp_path, monkeypatch):
    file, _ = put_off(tmp_path, monkeypatch, 10.99, 11.0, 12.0)
    file.save_soon()
    assert '"1"' in (tmp_path / "e.ipynb").read_text()
    await until(lambda: '"2"' in (tmp_path / "e.ipynb").read_text())


async def test_nothing_is_written_after_the_last_save(tmp_path, monkeypatch):
    file, found = put_off(tmp_path, monkeypatch, 10.99, 11.0, 12.0, 13.0, 14.0)
    file.save_soon()
    file.save(durable=True)
    found.cells[0].source = "3"
    await asyncio.sleep(0.02)  # timers go off in their order: that of the planned save would be earlier
    assert '"2"' in (tmp_path / "e.ipynb").read_text()
