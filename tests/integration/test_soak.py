"""Nothing is lost: a service that is killed again and again under load ends every accepted command exactly once."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.service_process import ServiceProcess, wait_until

pytestmark = pytest.mark.campaign
ROUNDS = 5
AT_LEAST = 40
"""Commands accepted in each round."""


class Submitters:
    """Threads that submit to whatever answers at the service's address, and keep what was accepted.

    All but the last submit a script, the last composites that run it twice.
    """

    def __init__(self, script: str, count: int = 3) -> None:
        self.accepted: list[int] = []
        shell = {"command_type": "ShellCommand", "inline": script, "retry": 1, "retry_delay": 0}
        composite = {"command_type": "CompositeCommand", "sub_commands": [shell, shell]}
        self._address: tuple[str, str] | None = None
        self._enough = threading.Event()
        bodies = [shell] * (count - 1) + [composite]
        self._threads = [threading.Thread(target=self._submit_all, args=[body]) for body in bodies]
        for thread in self._threads:
            thread.start()

    def submit_to(self, service: ServiceProcess | None) -> None:
        self._address = None if service is None else (f"{service.base_url}/api/v1.2", service.token)

    def stop(self) -> None:
        self._enough.set()
        for thread in self._threads:
            thread.join(30)

    def _submit_all(self, body: Mapping[str, object]) -> None:
        while not self._enough.is_set():
            if self._address is None:
                self._enough.wait(0.01)
                continue
            base_url, token = self._address
            with httpx.Client(base_url=base_url, headers={"X-AUTH-TOKEN": token}, trust_env=False, timeout=90) as http:
                try:
                    while not self._enough.is_set():
                        response = http.post("/commands", json=body)
                        assert response.status_code in (200, 503), response.text
                        if response.status_code == 200:
                            self.accepted.append(int(response.json()["id"]))
                except httpx.TransportError:
                    self._enough.wait(0.01)  # it was killed


def test_a_service_killed_again_and_again_loses_nothing_and_runs_nothing_twice(
    new_service: Callable[..., ServiceProcess], tmp_path: Path
):
    ran = tmp_path / "ran"
    service = new_service(running_limit=8)
    submitters = Submitters(
        f"echo begun $SVC_COMMAND_ID >>{ran}; sleep 0.0$((RANDOM % 9)); echo end $SVC_COMMAND_ID >>{ran}"
    )
    moments = random.Random(7)
    try:
        for _ in range(ROUNDS):
            service.start()
            reached = len(submitters.accepted) + AT_LEAST + moments.randrange(20)
            submitters.submit_to(service)
            wait_until(lambda reached=reached: len(submitters.accepted) >= reached, "the load of a round")
            service.kill()
            submitters.submit_to(None)
    finally:
        submitters.stop()
    service.start()
    wait_until(lambda: not unfinished(service), "the end of every command", 60)
    records = every_record(service)
    ended = {record["id"]: record["status"] for record in records}
    assert len(submitters.accepted) == len(set(submitters.accepted)) >= ROUNDS * AT_LEAST
    assert set(submitters.accepted) <= ended.keys()
    assert set(ended.values()) == {"done"}
    # A submission whose answer never arrived was accepted too, or leaves no trace.
    words = Counter(tuple(line.split()) for line in ran.read_text().splitlines())
    scripts = [record["id"] for record in records if record["command_type"] == "ShellCommand"]
    assert words == Counter((word, str(command_id)) for command_id in scripts for word in ("begun", "end"))
    composites = {record["id"] for record in records if record["command_type"] == "CompositeCommand"}
    children = Counter(record["parent_id"] for record in records if record["parent_id"] is not None)
    assert children == Counter(dict.fromkeys(composites, 2))
    assert children


def unfinished(service: ServiceProcess) -> bool:
    return any(
        service.http.get("/commands", params={"status": status, "per_page": 1}).json()["commands"]
        for status in ("waiting", "running")
    )


def every_record(service: ServiceProcess) -> list[dict[str, Any]]:
    """Return the record of every command there is."""
    found: list[dict[str, Any]] = []
    page: int | None = 1
    while page is not None:
        answer = service.http.get("/commands", params={"page": page, "per_page": 100}).json()
        found += answer["commands"]
        page = answer["paging_info"]["next_page"]
    return found
