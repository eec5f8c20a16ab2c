"""SQL of cells is compared with what the service has read, through the extension."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess

pytestmark = pytest.mark.xdist_group("jupyter-server")


@pytest.fixture
def folder(jupyter: JupyterProcess, service: ServiceProcess) -> Path:
    """A folder of the service's storage; there are no taps."""
    for tap in jupyter.http.get("/db_taps").json()["db_taps"]:
        jupyter.http.delete(f"/db_taps/{tap['id']}")
    path = service.data_dir / "storage" / "checked"
    path.mkdir(parents=True, exist_ok=True)
    return path


def make_tap(jupyter: JupyterProcess, name: str, file: Path) -> str:
    """Create a tap whose catalogue was read; return its path."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE flights (origin, dest)")
    made = jupyter.http.post("/db_taps", json={"name": name, "db_type": "sqlite", "db_name": str(file)})
    assert made.status_code == 200, made.text
    path = f"/db_taps/{made.json()['id']}"
    assert jupyter.http.get(f"{path}/catalogue", params={"wait": 30}).json()["state"] == "ready"
    return path


def checked(jupyter: JupyterProcess, source: Any, default_tap: Any = None) -> list[dict[str, Any]]:
    answer = jupyter.http.post("/check", json={"source": source, "default_tap": default_tap})
    assert answer.status_code == 200, answer.text
    problems: list[dict[str, Any]] = answer.json()["problems"]
    return problems


def test_each_part_of_a_cell_is_compared_with_its_own_tables(jupyter: JupyterProcess, folder: Path) -> None:
    cell = (
        "\n%%svc_db --tap 'the tap' -o x\nSELECT '\U0001f600', orign FROM flights\n"
        "%%svc_shell\nSELECT FORM\n%%svc_presto\nSELECT 1 FORM x\n%%svc_sql\nSELECT `a` FORM x"
    )
    make_tap(jupyter, "the tap", folder / "one.db")
    other = make_tap(jupyter, "the other tap", folder / "two.db")
    assert [
        (problem["message"], cell.encode("utf-16-le")[2 * problem["start"] : 2 * problem["end"]].decode("utf-16-le"))
        for problem in checked(jupyter, cell)
    ] == [("There is no column orign", "orign"), ("Unknown word FORM", "FORM"), ("Unknown word FORM", "FORM")]
    query = "%%svc_db\nSELECT orign FROM flights"
    named = query.replace("_db", "_db --tap='the tap'")

    def expected(start: int) -> list[dict[str, Any]]:
        told = {"message": "There is no column orign", "did_you_mean": ["origin"]}
        return [{"start": start, "end": start + 5, **told}]

    assert checked(jupyter, query, "the tap") == expected(16)
    assert checked(jupyter, named, "nobody's") == expected(32)
    for unknown in (query, query.replace("_db", "_db --tap nobody"), query.replace("_db", "_db --tap 'the tap")):
        assert checked(jupyter, unknown) == []
    jupyter.http.delete(other)
    assert checked(jupyter, query) == expected(16)  # the only tap


def test_a_cell_without_sql_or_too_long_is_not_sent(jupyter: JupyterProcess) -> None:
    assert checked(jupyter, "x = 1") == []
    assert checked(jupyter, "%%svc_hive\n \n") == []
    assert checked(jupyter, f"%%svc_hive\nSELECT 1 FORM x{' ' * 100_000}") == []


def test_a_wrong_body_is_refused(jupyter: JupyterProcess) -> None:
    bodies: list[dict[str, Any]] = [{}, {"source": 1}, {"source": "", "default_tap": 1}]
    answers = [jupyter.http.post("/check", json=body) for body in bodies]
    reason = "source must be a text, and default_tap the name of a tap or null"
    assert [(answer.status_code, answer.json()["message"]) for answer in answers] == [(422, reason)] * 3


def test_no_service_is_started(
    new_jupyter: Callable[..., JupyterProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = tmp_path / "data"
    monkeypatch.setenv("SVC_DATA_DIR", str(data_dir))
    assert checked(new_jupyter(base_url="", token=""), "%%svc_hive\nSELECT 1 FORM x") == []
    assert not data_dir.exists()
