"""Pig commands and `kill -9`: of the service, and of the Java that runs a script."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest
from tests.support.engines import engine_at_once
from tests.support.pig import FLIGHTS, put_data, rows_of, submit_pig, succeeded
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.installs.engine import Engine


@pytest.fixture
def service(new_service) -> ServiceProcess:
    """A service of the test's own, with Pig installed and data in its storage."""
    engine_at_once(Engine.PIG)
    service = new_service(kill_grace_seconds=1)
    put_data(service)
    return service.start()


def waiting_for(gate: Path, then: str) -> str:
    """Return a script that goes on once a file is there; it makes another one when it has come so far."""
    return (
        f"DEFINE wait `sh -c 'cat; touch {gate}.reached; until [ -e {gate} ]; do sleep 0.1; done'`;\n"
        f"{FLIGHTS}b = STREAM f THROUGH wait AS (carrier:chararray, origin:chararray, delay:int);\n{then}"
    )


def reached(gate: Path) -> bool:
    return Path(f"{gate}.reached").exists()


def test_a_script_goes_on_without_the_service_and_is_found_by_the_next_one(service, tmp_path):
    gate = tmp_path / "gate"
    command = submit_pig(service, waiting_for(gate, "DUMP b; STORE b INTO 'pig/survived';"))
    wait_until(lambda: reached(gate), "the script", 100)

    service.kill()
    gate.touch()
    wait_until((service.folder(command) / "1" / "rc").exists, "its end without a service", 60)
    service.start()
    record = service.ended(command)

    assert (record["status"], record["result_rows"]) == ("done", 5)
    assert len(record["attempts"]) == 1
    assert rows_of(service, command)[0] == {"carrier": "UA", "origin": "LGA", "delay": 10}
    assert (service.data_dir / "storage" / "pig" / "survived" / "_SUCCESS").exists()


def test_a_java_that_is_killed_is_reported_as_such_and_leaves_no_output(service, tmp_path):
    gate = tmp_path / "gate"
    command = submit_pig(service, waiting_for(gate, "STORE b INTO 'pig/killed';"))
    wait_until(lambda: reached(gate), "the script", 100)

    os.kill(int((service.folder(command) / "1" / "pid").read_text().split()[0]), signal.SIGKILL)
    record = service.ended(command)

    assert record["status"] == "error"
    assert "the Java that ran the script was killed" in record["message"]
    assert not (service.data_dir / "storage" / "pig" / "killed").exists()


def test_a_script_whose_java_was_killed_is_run_again_where_that_was_asked_for(service, tmp_path):
    gate = tmp_path / "gate"
    fields = {"retry": 1, "retry_delay": 0}
    command = submit_pig(service, waiting_for(gate, "STORE b INTO 'pig/again';"), **fields)
    wait_until(lambda: reached(gate), "the script", 100)

    os.kill(int((service.folder(command) / "1" / "pid").read_text().split()[0]), signal.SIGKILL)
    gate.touch()
    record = service.ended(command, 100)

    assert record["status"] == "done", record["message"]
    assert len(record["attempts"]) == 2
    assert "was killed" in record["attempts"][0]["message"]
    assert record["outputs"]["stores"][0]["rows"] == 5


def test_a_script_that_takes_longer_than_it_may_is_ended_and_leaves_no_output(new_service, tmp_path):
    engine_at_once(Engine.PIG)
    service = new_service(kill_grace_seconds=1, timeout_check_seconds=0.5)
    storage = put_data(service)
    service.start()
    gate = tmp_path / "gate"
    command = submit_pig(service, waiting_for(gate, "STORE b INTO 'pig/late';"), timeout=1)
    record = service.ended(command, 100)

    assert record["status"] == "error"
    assert record["message"].startswith("timed out")
    assert not (storage / "pig" / "late").exists()
    assert not (service.folder(command) / "1" / "result.arrow").exists()


def test_a_java_that_waits_ends_with_its_service_and_its_files_with_the_next(service):
    succeeded(service, FLIGHTS + "DUMP f;")
    running = service.data_dir / "pig" / "running"
    (warm,) = wait_until(lambda: [f for f in running.iterdir() if javas_of(f)], "a warm Java", 60)

    service.kill()
    wait_until(lambda: not javas_of(warm), "its end", 60)
    service.start()

    wait_until(lambda: not warm.exists(), "its files to go")


def test_a_java_that_waits_is_ended_when_the_service_stops(service):
    succeeded(service, FLIGHTS + "DUMP f;")
    running = service.data_dir / "pig" / "running"
    (warm,) = wait_until(lambda: [f for f in running.iterdir() if javas_of(f)], "a warm Java", 60)

    assert service.stop() == 0

    assert not javas_of(warm)
    assert list(running.iterdir()) == []


def javas_of(scratch: Path) -> list[psutil.Process]:
    """Return the living Javas whose folder this is."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if str(scratch) in (process.info["cmdline"] or ()) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def test_a_script_beyond_the_limit_waits_also_for_one_that_outlived_the_service(new_service, tmp_path):
    engine_at_once(Engine.PIG)
    service = new_service(pig_jvms=1, kill_grace_seconds=1)
    put_data(service)
    service.start()
    gate = tmp_path / "gate"
    first = submit_pig(service, waiting_for(gate, "DUMP b;"))
    wait_until(lambda: reached(gate), "the script", 100)
    service.kill()
    service.start()

    second = submit_pig(service, FLIGHTS + "DUMP f;")
    wait_until(lambda: "waiting for a free Pig JVM (1 of 1 in use)" in service.logs(second), "its turn", 60)
    assert not (service.folder(second) / "1" / "pid").exists()
    gate.touch()

    assert service.ended(first)["status"] == "done"
    assert service.ended(second)["status"] == "done"
