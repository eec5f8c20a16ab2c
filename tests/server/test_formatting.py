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


@pytest.mark.parametrize(
    ("body", "reason"),
    [({}, "source: must be a text"), ({"source": 1}, "source: must be a text"), ({"source": "x = 1 % 2"}, "%%svc_db")],
)
def test_what_has_no_sql_is_refused(jupyter: JupyterProcess, body: dict[str, Any], reason: str) -> None:
    answer = jupyter.http.post("/format", json=body)
    assert answer.status_code == 422
    assert reason in answer.json()["message"]
