"""Generated requests, aimed at what exists and kept from doing harm."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemathesis import Case
from tests.support.service_process import ServiceProcess

NOBODY = 2**40
"""No user and no token has this id."""
HARMLESS: dict[str, Any] = {
    "inline": "echo harmless",
    "query": "SELECT 1 AS one",
    "script_location": "nowhere/script",
    "files": "nowhere/file",
    "archives": "nowhere/archive.zip",
    "archive": "nowhere/archive.zip",
    "db_host": "127.0.0.1",
    "port": 1,
    "endpoint": "http://127.0.0.1:1",
}
"""What stands in for texts that would run something or reach for a network."""
PLAUSIBLE: dict[str, Any] = {
    "command_type": "ShellCommand",
    "label": "default",
    "tags": "[generated]",
    "tag": "[generated]",
    "macros": [{"a": "1 + 1"}],
    "pool": "etl",
    "name": "generated",
    "timeout": 5,
    "db_type": "sqlite",
    "status": "kill",
    "groups": "system-user",
    "expires_at": "2999-01-01T00:00:00Z",
    "token_id": NOBODY,
}
"""What generation by a schema hardly ever meets by chance."""


@dataclass(frozen=True)
class Existing:
    """Ids of what there is, by the name of their path parameter."""

    ids: dict[str, list[int]]
    storage_url: str
    database: str

    @classmethod
    def on(cls, service: ServiceProcess) -> Existing:
        """Make a few of everything."""
        storage = service.data_dir / "storage"
        database = storage / "there.db"
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE numbers (n INTEGER, word TEXT)")
        connection.close()
        taps = [_tap(service, f"tap {number}", database) for number in range(3)]
        query = {"command_type": "DbTapQueryCommand", "db_tap_id": taps[0], "query": "SELECT 1 AS one, 'a' AS word"}
        commands = [
            service.submit("echo out; echo log >&2", name="done", tags="[a,b]")["id"],
            service.submit("echo why >&2; exit 3", retry=1, retry_delay=0)["id"],
            service.http.post("/commands", json=query).json()["id"],
        ]
        for command_id in commands:
            service.ended(command_id)
        member = service.http.post("/users/invite_new", json={"invitee_email": "m@example.org"}).json()["user"]["id"]
        tokens = [service.http.post(f"/users/{member}/tokens", json={"name": "t"}).json()["id"] for _ in range(3)]
        ids = {"command_id": commands, "db_tap_id": taps, "user_id": [1, member], "token_id": tokens}
        return cls(ids, storage.as_uri(), str(database))


def aim(case: Case, existing: Existing) -> None:
    """Turn most cases towards what exists; which, follows from the case itself, so that a run can be repeated."""
    choice = random.Random(repr((case.method, case.path, case.path_parameters, case.query, case.body)))
    for key, ids in existing.ids.items():
        if key in (case.path_parameters or {}) and choice.random() < 0.7:
            # What is deleted is the last one, or there would soon be nothing left to aim at.
            case.path_parameters[key] = ids[-1] if case.method == "DELETE" else choice.choice(ids)
    if not isinstance(case.body, dict):
        return
    for key, value in {**PLAUSIBLE, "url": existing.storage_url, "db_name": existing.database}.items():
        if key in case.body and choice.random() < 0.8:
            case.body[key] = value
    if "user_id" in case.body and choice.random() < 0.5:
        case.body["user_id"] = existing.ids["user_id"][1]
    if "db_tap_id" in case.body and choice.random() < 0.5:
        case.body |= {"db_tap_id": existing.ids["db_tap_id"][0], "command_type": "DbTapQueryCommand"}
    if case.body.get("command_type") == "ShellCommand" and choice.random() < 0.7:
        for key in ("script_location", "archive", "archives", "files", "parameters"):
            case.body.pop(key, None)
        case.body["inline"] = "echo harmless"


def make_harmless(case: Case) -> None:
    """Keep the form of a request; take away what would run something, reach for a network or lock the test out."""
    own = {"user_id": "1", "token_id": "1"}
    for part in (case.path_parameters, case.query, case.body):
        if not isinstance(part, dict):
            continue
        for key, value in own.items():
            if str(part.get(key)) == value and (case.method == "DELETE" or "disable" in case.path):
                part[key] = NOBODY
    if not isinstance(case.body, dict):
        return
    for key, value in HARMLESS.items():
        if case.body.get(key) and isinstance(case.body[key], type(value)):
            case.body[key] = value
    url = case.body.get("url")
    if isinstance(url, str) and not url.startswith("file://"):
        case.body["url"] = "file:///nowhere"


def _tap(service: ServiceProcess, name: str, database: Path) -> int:
    body = {"name": name, "db_type": "sqlite", "db_name": str(database)}
    response = service.http.post("/db_taps", json=body)
    assert response.status_code == 200, response.text
    return int(response.json()["id"])
