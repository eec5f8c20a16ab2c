"""Pig where the account's storage is an S3 store: a real Pig, and a server that checks each request's signature."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.pig import DATA, FLIGHTS, rows_of, run_pig, submit_pig, succeeded
from tests.support.s3_server import S3Server, s3_store
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.installs.engine import Engine

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_store() as server:
        for name, text in DATA.items():
            server.put(name, text.encode())
        yield server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, s3: S3Server) -> Iterator[ServiceProcess]:
    """A service of its own: the account's storage is one for all who use a service."""
    engine_at_once(Engine.PIG)
    service = ServiceProcess(tmp_path_factory.mktemp("s3") / "data", kill_grace_seconds=1).start()
    try:
        assert service.http.put("/account/storage", json=s3.record).status_code == 200
        yield service
    finally:
        service.kill()
        end_commands_of(service.data_dir)


def test_a_script_reads_stores_and_registers_in_the_accounts_store(service: ServiceProcess, s3: S3Server) -> None:
    script = "REGISTER 'pig/udfs.py' USING streaming_python AS u;\n" + FLIGHTS
    script += "g = GROUP f BY carrier; s = FOREACH g GENERATE u.lower(group) AS carrier, COUNT(f) AS n;"
    record = succeeded(service, script + "o = ORDER s BY carrier; STORE o INTO 'out/by_carrier'; DUMP o;")

    assert rows_of(service, record["id"])[0] == {"carrier": "aa", "n": 1}
    assert s3.text("out/by_carrier") == "aa\t1\nb6\t1\nua\t3\n"
    assert record["outputs"]["stores"] == [
        {"alias": "o", "location": "s3://lake/out/by_carrier", "rows": 3, "bytes": len("aa\t1\nb6\t1\nua\t3\n")}
    ]
    kept = [file for file in service.folder(record["id"]).rglob("*") if file.is_file()]
    assert not [file for file in kept if s3.secret_key.encode() in file.read_bytes()]


def test_a_cancelled_script_leaves_nothing_in_the_store(service: ServiceProcess, s3: S3Server) -> None:
    slow = FLIGHTS + "b = STREAM f THROUGH `sh -c 'cat; sleep 100'`; STORE b INTO 'out/cancelled';"
    command = submit_pig(service, slow)
    wait_until(lambda: s3.keys("out/cancelled"), "its output", 100)

    service.http.put(f"/commands/{command}", json={"status": "kill"})

    assert service.ended(command, 100)["status"] == "cancelled"
    wait_until(lambda: not s3.keys("out/cancelled"), "the removal of its output", 60)
    assert "removed s3://lake/out/cancelled, which the script had begun to store" in service.logs(command)


def test_a_store_that_refuses_the_keys_is_reported(service: ServiceProcess, s3: S3Server) -> None:
    wrong = s3.record | {"secret_key": "not-the-secret"}
    assert service.http.put("/account/storage", json=wrong).status_code == 200
    try:
        record = run_pig(service, FLIGHTS + "DUMP f;")
    finally:
        service.http.put("/account/storage", json=s3.record)

    assert record["status"] == "error"
    assert "403" in record["message"]
    assert "not-the-secret" not in record["message"] + service.logs(record["id"])


def test_a_store_that_pig_cannot_read_is_refused_with_those_it_can(service: ServiceProcess, s3: S3Server) -> None:
    assert service.http.put("/account/storage", json={"url": "gs://lake"}).status_code == 200
    try:
        record = run_pig(service, FLIGHTS + "DUMP f;")
    finally:
        service.http.put("/account/storage", json=s3.record)

    assert "a folder (file://…) or an S3 store (s3://…)" in record["message"]
