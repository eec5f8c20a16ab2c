"""Macros count in a script that is in a file, as they do in one that the command holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from tests.support.service_process import ServiceProcess

MACROS = [{"day": "'2026-11-' + 21"}, {"n": "3"}]


def ran(service: ServiceProcess, script: bytes, **body: Any) -> dict[str, Any]:
    folder = service.data_dir / "storage"
    folder.mkdir(exist_ok=True)
    (folder / "script").write_bytes(script)
    answer = service.http.post("/commands", json={"script_location": "script", "macros": MACROS, **body})
    assert answer.status_code == 200, answer.text
    record = service.ended(answer.json()["id"])
    assert record["resolved_macros"] == [{"day": "2026-11-21"}, {"n": 3}]
    return record


def test_of_a_shell_command(shared_service: ServiceProcess):
    script = b"name=x; printf '%s|' $day$ ${name}$n$ '$other$' \xff\n"
    record = ran(shared_service, script, command_type="ShellCommand")
    assert record["status"] == "done", record
    results = shared_service.http.get(f"/commands/{record['id']}/results", params={"inline": "false"}).json()
    with open(results["result_location"][0].removeprefix("file://"), "rb") as file:
        assert file.read() == b"2026-11-21|x3|$other$|\xff|"


def test_of_a_query(shared_service: ServiceProcess):
    file = shared_service.data_dir / "storage" / "macros.db"
    file.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (n)")
    tap = shared_service.http.post("/db_taps", json={"name": "macros", "db_type": "sqlite", "db_name": str(file)})
    record = ran(
        shared_service,
        b"SELECT '$day$' AS day, $n$ AS n",
        command_type="DbTapQueryCommand",
        db_tap_id=tap.json()["id"],
    )
    assert record["status"] == "done", record
    assert shared_service.text(record["id"]) == "2026-11-21\t3\r\n"


def test_a_shell_script_without_macros_may_be_of_any_size(shared_service: ServiceProcess):
    large = b"echo ran; exit\n" + b"#" * (17 << 20)
    assert ran(shared_service, large, command_type="ShellCommand")["message"].startswith("script_location: file://")
    folder = shared_service.data_dir / "storage"
    (folder / "script").write_bytes(large)
    answer = shared_service.http.post("/commands", json={"command_type": "ShellCommand", "script_location": "script"})
    assert shared_service.ended(answer.json()["id"])["status"] == "done"
