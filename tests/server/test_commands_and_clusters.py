"""Commands and clusters through the extension."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pyarrow as pa
import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess

pytestmark = pytest.mark.xdist_group("jupyter-server")


def test_a_command_is_listed_shown_and_read(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    command_id = service.submit("echo out; echo err >&2", name="through-jupyter")["id"]
    service.ended(command_id)
    listed = jupyter.http.get("/commands", params={"name": "through-jupyter"}).json()
    assert [record["id"] for record in listed["commands"]] == [command_id]
    assert jupyter.http.get(f"/commands/{command_id}").json()["status"] == "done"
    assert jupyter.http.get(f"/commands/{command_id}/logs").text == "err\n"
    assert jupyter.http.get(f"/commands/{command_id}/results").json()["results"] == "out\r\n"
    assert jupyter.http.get(f"/commands/{command_id}/status_with_results").json()["status"] == "done"


def test_a_running_command_is_followed_while_it_runs_and_cancelled(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    command_id = service.submit("echo begun >&2; sleep 300")["id"]
    text = ""
    with jupyter.http.stream("GET", f"/commands/{command_id}/events") as events:
        assert events.headers["Content-Type"].startswith("text/event-stream")
        for piece in events.iter_text():
            text += piece
            if "begun" in text and "cancelling" not in text:
                text += "cancelling"
                answer = jupyter.http.put(f"/commands/{command_id}", json={"status": "kill"})
                assert answer.json()["kill_succeeded"] is True
            if "event: end" in text:
                break
    assert "event: end" in text
    assert jupyter.http.get(f"/commands/{command_id}").json()["status"] == "cancelled"


def test_a_page_that_goes_away_lets_the_services_stream_go(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    command_id = service.submit("echo begun >&2; sleep 300")["id"]
    with jupyter.http.stream("GET", f"/commands/{command_id}/events") as events:
        next(events.iter_text())
    assert jupyter.http.put(f"/commands/{command_id}", json={"status": "kill"}).json()["kill_succeeded"] is True
    assert jupyter.http.get("/status").json()["connected"] is True


def test_a_log_passes_through_while_it_comes_and_says_how_far_it_reaches(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    command_id = service.submit("seq 100000 >&2")["id"]
    service.ended(command_id)
    lines = "".join(f"{number}\n" for number in range(1, 100001))
    for part in ("logs", "error_logs"):
        with jupyter.http.stream("GET", f"/commands/{command_id}/{part}") as log:
            assert "Content-Length" not in log.headers, "it was held whole"
            assert log.headers["Content-Type"].startswith("text/plain")
            assert "".join(log.iter_text()) == (lines if part == "logs" else "")
    tail = {"err_file_processed": len(lines) - 7}
    rest = jupyter.http.get(f"/commands/{command_id}/logs", params=tail)
    assert (rest.text, rest.headers["err_length"], rest.headers["log_length"]) == ("100000\n", "7", str(len(lines)))
    assert jupyter.http.get("/commands/999999/logs").status_code == 404


def test_requests_in_progress_complete_when_the_connection_is_renewed(
    jupyter: JupyterProcess, service: ServiceProcess
) -> None:
    command_id = service.submit("echo begun >&2; sleep 300")["id"]
    with ThreadPoolExecutor(1) as thread, jupyter.http.stream("GET", f"/commands/{command_id}/events") as events:
        pieces = events.iter_text()
        text = next(pieces)
        waiting = thread.submit(jupyter.http.get, f"/commands/{command_id}", params={"wait": 30})
        for _ in range(3):
            assert jupyter.http.post("/status").json()["connected"] is True
        assert jupyter.http.put(f"/commands/{command_id}", json={"status": "kill"}).json()["kill_succeeded"] is True
        text += "".join(pieces)
        answer = waiting.result()
    assert "event: end" in text
    assert (answer.status_code, answer.json().get("status")) == (200, "cancelled"), answer.text


def test_an_unknown_command_is_reported_in_the_words_of_the_service(jupyter: JupyterProcess) -> None:
    answer = jupyter.http.get("/commands/999999")
    assert answer.status_code == 404
    assert answer.json()["error"]["error_message"] == "there is no command 999999"
    assert jupyter.http.get("/commands/999999/events").status_code == 404


def test_a_cluster_is_listed_and_shown_by_its_label(jupyter: JupyterProcess) -> None:
    listed = jupyter.http.get("/clusters").json()
    assert "default" in listed["clusters"][-1]["label"]
    assert jupyter.http.get("/clusters/default").json()["state"] == "DOWN"
    assert jupyter.http.get("/clusters/default/state").json()["state"] == "DOWN"


def test_actions_that_need_a_running_cluster_are_refused_while_it_is_down(jupyter: JupyterProcess) -> None:
    assert jupyter.http.get("/clusters/default/live_cluster_health").status_code == 409
    assert jupyter.http.post("/clusters/default/nodes", json={"node_count": 1}).status_code == 409
    assert jupyter.http.delete("/clusters/default/nodes", params={"private_dns": "x"}).status_code == 409
    assert jupyter.http.put("/clusters/default/state", json={"state": "terminate"}).status_code == 409
    assert jupyter.http.get("/clusters/a%2fb%20c").status_code == 404


def test_a_column_is_summed_up_whatever_its_name(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    names = ("a/b", "50%2F", "é ?&#", ".", "..", "", "summary/summary")
    file = service.data_dir / "storage" / "names.db"
    file.parent.mkdir(exist_ok=True)
    sqlite3.connect(file).close()
    tap = service.http.post("/db_taps", json={"name": "names", "db_type": "sqlite", "db_name": str(file)}).json()["id"]
    query = "SELECT " + ", ".join(f'{number} AS "{name}"' for number, name in enumerate(names))
    body = {"command_type": "DbTapQueryCommand", "db_tap_id": tap, "query": query}
    command_id = service.http.post("/commands", json=body).json()["id"]
    assert service.ended(command_id)["status"] == "done"
    given = [column["name"] for column in jupyter.http.get(f"/commands/{command_id}/rows").json()["columns"]]
    assert given == ["a/b", "50%2F", "é ?&#", ".#1", "..#1", "#1", "summary/summary"]
    for number, name in enumerate(given):
        found = jupyter.http.get(f"/commands/{command_id}/columns/{quote(name, safe='')}/summary").json()
        assert (found["name"], found["max"]) == (name, number)


def test_rows_come_as_files_and_stop_where_the_page_goes_away(jupyter: JupyterProcess, service: ServiceProcess) -> None:
    file = service.data_dir / "storage" / "rows.db"
    file.parent.mkdir(exist_ok=True)
    sqlite3.connect(file).close()
    tap = service.http.post("/db_taps", json={"name": "rows", "db_type": "sqlite", "db_name": str(file)}).json()["id"]
    query = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i, 'a,b' AS t FROM n"
    )
    body = {"command_type": "DbTapQueryCommand", "db_tap_id": tap, "query": query}
    command_id = service.http.post("/commands", json=body).json()["id"]
    assert service.ended(command_id)["status"] == "done"
    csv = {"Accept": "text/csv"}
    with jupyter.http.stream("GET", f"/commands/{command_id}/results", headers=csv) as rows:
        assert rows.headers["Content-Type"].startswith("text/csv")
        first = next(rows.iter_lines())
    assert first == '"i","t"'
    whole = jupyter.http.get(f"/commands/{command_id}/results", headers=csv).text
    assert whole.endswith('300000,"a,b"\n')
    parquet = jupyter.http.get(f"/commands/{command_id}/results", headers={"Accept": "application/vnd.apache.parquet"})
    assert parquet.content[:4] == parquet.content[-4:] == b"PAR1"
    arrow = {"Accept": "application/vnd.apache.arrow.stream"}
    stream = jupyter.http.get(f"/commands/{command_id}/results", headers=arrow).content
    assert pa.ipc.open_stream(stream).read_all().column("i")[299_999].as_py() == 300_000
    assert jupyter.http.get("/commands/999999/results", headers=csv).status_code == 404
