"""SQL of cells in a readable layout, through the extension."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.jupyter_process import JupyterProcess

pytestmark = pytest.mark.xdist_group("jupyter-server")


def test_the_sql_of_a_cell_is_laid_out(jupyter: JupyterProcess) -> None:
    source = "%%svc_db\nselect  a;\nselect 'x\\'  '"
    answer = jupyter.http.post("/format", json={"source": source})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "source": "%%svc_db\nselect a;\n\nselect 'x\\'  '",
        "note": "The SQL at line 3 stays as written: with another layout it might mean something else",
    }
    answer = jupyter.http.post("/format", json={"source": "%%svc_hive\nselect  1"})
    assert answer.json() == {"source": "%%svc_hive\nselect 1", "note": None}


def test_a_body_without_sql_is_refused(jupyter: JupyterProcess) -> None:
    bodies: list[dict[str, Any]] = [{}, {"source": 1}, {"source": "x = 1 % 2"}]
    answers = [jupyter.http.post("/format", json=body) for body in bodies]
    assert [answer.status_code for answer in answers] == [422] * 3
    assert [answer.json()["message"] for answer in answers] == [
        "source: must be a text",
        "source: must be a text",
        "the cell has no SQL: no query below %%svc_db, %%svc_hive, %%svc_presto or %%svc_sql",
    ]
