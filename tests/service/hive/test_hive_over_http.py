"""Hive's tables, sensors and dependencies as a client of a real service meets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.service.hive.conftest import engine_at_once_in_thread
from tests.support.hive import add_partitions, end_metastore_of, make_table, metastore_client, metastores_of
from tests.support.service_process import ServiceProcess, wait_until

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    engine_at_once_in_thread()
    service = ServiceProcess(tmp_path_factory.mktemp("over_http") / "data").start()
    with on_its_metastore(service) as client:
        make_table(client, "logs", {"x": ("int", "a number")}, {"day": "string"}, properties={"team": "ops"})
        add_partitions(client, "logs", ["2026-11-21"])
    yield service
    service.kill()
    end_metastore_of(service.data_dir)


def on_its_metastore(service: ServiceProcess) -> Any:
    """Return Hive's own client of the service's metastore, which is started by it."""
    answer = service.http.get("/hive")
    assert answer.status_code == 200, answer.text
    port = int((service.data_dir / "hive" / "metastore" / "port").read_text())
    return metastore_client("127.0.0.1", port)


def refusal(answer: httpx.Response, status: int) -> str:
    assert answer.status_code == status, answer.text
    return str(answer.json()["error"]["error_message"])


def sensor(service: ServiceProcess, path: str = "/sensors/partition_sensor", **body: Any) -> httpx.Response:
    columns = [{"column": "day", "values": ["2026-11-21"]}]
    return service.http.post(path, json={"schema": "default", "table": "logs", "columns": columns, **body})


def test_a_table_and_its_partitions(service: ServiceProcess):
    assert service.http.get("/hive/default").json()["tables"][0] == "logs"
    assert service.http.get("/hive/default/logs").json() == [
        {"name": "x", "type": "int", "comment": "a number"},
        {"name": "day", "type": "string", "comment": None},
    ]
    [partition] = service.http.get("/hive/default/logs/partitions").json()["partitions"]
    assert (partition["name"], partition["values"]) == ("day=2026-11-21", {"day": "2026-11-21"})
    refusal(service.http.get("/hive/default/nothing"), 404)
    refusal(service.http.get("/hive/nowhere"), 404)


def test_properties_are_set_and_removed(service: ServiceProcess):
    path = "/hive/default/logs/properties"
    record = service.http.get(path).json()
    assert (record["owner"], record["partition_columns"], record["properties"]["team"]) == ("ann", ["day"], "ops")
    changed = service.http.post(path, json={"properties": {"team": "web", "tier": "gold"}}).json()["properties"]
    assert (changed["team"], changed["tier"]) == ("web", "gold")
    kept = service.http.delete(path, params={"properties": "tier,never there"}).json()["properties"]
    assert (kept["team"], "tier" in kept) == ("web", False)
    assert service.http.get(path).json()["properties"] == kept
    assert "kept by Hive" in refusal(service.http.post(path, json={"properties": {"spark.sql.x": "1"}}), 422)
    assert "name those" in refusal(service.http.delete(path), 422)
    [last, *_] = service.http.get("/audit", params={"resource": "hive"}).json()["audit"]
    assert (last["action"], last["object_id"]) == ("delete", "default.logs")


@pytest.mark.parametrize("path", ["/sensors/partition_sensor", "/partition_sensor"])
def test_a_partition_sensor_answers_at_both_paths(service: ServiceProcess, path: str):
    assert sensor(service, path).json() == {"status": "true"}
    both = [{"column": "day", "values": ["2026-11-21", "2026-11-22"]}]
    assert sensor(service, path, columns=both).json() == {"status": "false"}
    assert "there is no Hive table default.nothing" in refusal(sensor(service, path, table="nothing"), 422)
    unknown = [{"column": "hour", "values": ["3"]}]
    assert "hour is not a column of default.logs" in refusal(sensor(service, path, columns=unknown), 422)
    refusal(sensor(service, path, columns=[]), 422)


def test_a_file_sensor(service: ServiceProcess):
    folder = service.data_dir / "storage" / "landing"
    folder.mkdir(exist_ok=True)
    (folder / "there.csv").write_text("1")
    for files, status in ([["landing/there.csv", "landing"], "true"], [["landing/there.csv", "landing/x"], "false"]):
        assert service.http.post("/sensors/file_sensor", json={"files": files}).json() == {"status": status}
    refusal(service.http.post("/sensors/file_sensor", json={"files": ["file:///etc/passwd"]}), 422)


def test_an_action_waits_for_its_partition(service: ServiceProcess):
    table = {"schema": "default", "name": "logs", "columns": {"day": ["2030-01-01"]}}
    schedule_id = create_schedule(service, table).json()["id"]
    [shown] = service.http.get(f"/scheduler/{schedule_id}").json()["dependency_info"]["hive_tables"]
    assert (shown["initial_instance"], shown["time_zone"]) == ("", "UTC")

    def action() -> dict[str, Any]:
        found = service.http.get(f"/scheduler/{schedule_id}/actions").json()["actions"]
        return dict(found[0]) if found and found[0]["dependencies"]["not_found"] else {}

    waiting = wait_until(action, "a look", 30)
    assert (waiting["status"], waiting["dependencies"]["not_found"]) == ("waiting", ["default.logs/day=2030-01-01"])
    with on_its_metastore(service) as client:
        add_partitions(client, "logs", ["2030-01-01"])

    def command_id() -> int | None:
        found = service.http.get(f"/scheduler/{schedule_id}/actions").json()["actions"][0]["query_hist_id"]
        return None if found is None else int(found)

    assert service.ended(wait_until(command_id, "a command", 30))["status"] == "done"


def test_a_schedule_on_a_table_that_is_not_there_is_refused(service: ServiceProcess):
    table = {"schema": "default", "name": "nothing", "columns": {"day": "%Y-%m-%d"}}
    message = refusal(create_schedule(service, table), 422)
    assert message == "dependency_info: hive_tables.0: there is no Hive table default.nothing"


def create_schedule(service: ServiceProcess, table: dict[str, Any]) -> httpx.Response:
    body = {"command_type": "ShellCommand", "command": {"inline": "true"}, "frequency": 12, "time_unit": "months"}
    return service.http.post("/scheduler", json={**body, "dependency_info": {"hive_tables": [table]}})


def test_a_killed_service_finds_its_metastore_again_and_a_stop_ends_it(new_service: Callable[..., ServiceProcess]):
    engine_at_once_in_thread()
    service = new_service().start()
    try:
        assert service.http.get("/hive").json()["schemas"] == ["default"]
        before = metastores_of(service.data_dir)
        service.kill()
        assert metastores_of(service.data_dir) == before
        service.start()
        assert service.http.get("/hive").json()["schemas"] == ["default"]
        assert metastores_of(service.data_dir) == before
        assert service.stop() == 0
        wait_until(lambda: not metastores_of(service.data_dir), "the end of the metastore", 60)
    finally:
        end_metastore_of(service.data_dir)
