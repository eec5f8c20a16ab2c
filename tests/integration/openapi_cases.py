"""Generated requests, aimed at what exists and kept from doing harm."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemathesis import Case
from tests.support.service_process import ServiceProcess, wait_until

PATHS = (
    *("Common", "Common/there.ipynb", "Common/there.txt", "Common/folder", "Common/folder/new.ipynb", "Common/new.txt"),
    *("Users", "Users/admin@localhost", "Users/admin@localhost/new", "Users/m@example.org", "Common/.hidden"),
)
"""Places of Jupyter contents, some of which are there."""
FOLDERS = ("Common", "Common/one", "Common/one/two", "Common/three", "Users/admin@localhost", "Common/nowhere", "Users")
"""Folders of notes and dashboards, most of which are there."""
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
    "jupyter_notebooks": True,
    "package_management": True,
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
        service.http.put("/account/features", json={"jupyter_notebooks": True, "package_management": True})
        for name, body in [("there.ipynb", {}), ("there.txt", {"content": "text"}), ("folder", {"type": "directory"})]:
            service.http.put(f"/jupyter_notebooks/contents/Common/{name}", json=body)
        member = service.http.post("/users/invite_new", json={"invitee_email": "m@example.org"}).json()["user"]["id"]
        tokens = [service.http.post(f"/users/{member}/tokens", json={"name": "t"}).json()["id"] for _ in range(3)]
        channels = [_channel(service, f"channel {number}") for number in range(3)]
        ids = {"cluster": [_cluster(service, f"cluster{number}") for number in range(3)]}
        ids |= {"command_id": commands, "db_tap_id": taps, "user_id": [1, member], "token_id": tokens}
        ids["channel_id"] = channels
        ids["pipeline_id"] = [_pipeline(service, f"pipeline {number}") for number in range(3)]
        ids["env_id"] = [_environment(service, f"environment {number}") for number in range(3)]
        schedules = [_schedule(service, name) for name in ("ran", "waits", "to be killed")]
        # Their actions are numbered from 1; a schedule's is its first.
        ids |= {"schedule_id": schedules, "action_id": [1, 2, 3], "sequence_id": [1], "instance": [1]}
        ids |= _workspace(service)
        ids |= {"group": _named(service, "groups"), "role": _named(service, "roles"), "users": [1, member]}
        return cls(ids, storage.as_uri(), str(database))


def aim(case: Case, existing: Existing) -> None:
    """Turn most cases towards what exists; which, follows from the case itself, so that a run can be repeated."""
    choice = random.Random(repr((case.method, case.path, case.path_parameters, case.query, case.body)))
    for key, ids in existing.ids.items():
        if key in (case.path_parameters or {}) and choice.random() < 0.7:
            # What is deleted is the last one, or there would soon be nothing left to aim at.
            case.path_parameters[key] = ids[-1] if case.method == "DELETE" else choice.choice(ids)
    _aim_at_clusters(case, existing, choice)
    _aim_at_environments(case)
    _aim_at_contents(case, choice)
    _aim_at_policies(case, existing, choice)
    _aim_at_workspace(case, existing, choice)
    _aim_at_schedules(case, existing, choice)
    if not isinstance(case.body, dict):
        return
    for key, value in {**PLAUSIBLE, "url": existing.storage_url, "db_name": existing.database}.items():
        if key in case.body and choice.random() < 0.8:
            case.body[key] = value
    if "user_id" in case.body and choice.random() < 0.5:
        case.body["user_id"] = existing.ids["user_id"][1]
    if "db_tap_id" in case.body and choice.random() < 0.5:
        case.body |= {"db_tap_id": existing.ids["db_tap_id"][0], "command_type": "DbTapQueryCommand"}
    _aim_at_scripts(case.body, choice)


def _aim_at_scripts(body: dict[str, Any], choice: random.Random) -> None:
    """Run nothing that does harm, and no engine: the script of a Pig command cannot be fetched."""
    if body.get("command_type") == "ShellCommand" and choice.random() < 0.7:
        for key in ("script_location", "archive", "archives", "files", "parameters"):
            body.pop(key, None)
        body["inline"] = "echo harmless"
    if body.get("command_type") == "PigCommand":
        body.pop("latin_statements", None)
        body["script_location"] = "nowhere/script.pig"


def _aim_at_clusters(case: Case, existing: Existing, choice: random.Random) -> None:
    """Name clusters that are there; none is ever started."""
    if "/clusters" not in case.path or not isinstance(case.body, dict):
        return
    if case.path.endswith("/state"):
        case.body["state"] = "terminate"
    if "label" in case.body and choice.random() < 0.8:
        case.body["label"] = choice.choice(["generated", "cluster1", "cluster9"])
    if "destination_cluster" in case.body and choice.random() < 0.8:
        case.body["destination_cluster"] = choice.choice(existing.ids["cluster"])


def _aim_at_environments(case: Case) -> None:
    """Build nothing and start no cluster: no Python is of that version, and no cluster has the label."""
    if "/pipelines" in case.path and isinstance(case.body, dict):
        case.body["cluster_label"] = "nowhere"
    if case.path.endswith("/package") and isinstance(case.body, dict):
        case.body["python_version"] = "2.7"


def _aim_at_contents(case: Case, choice: random.Random) -> None:
    for part in (case.path_parameters, case.body):
        for key in ("path", "copy_from"):
            if isinstance(part, dict) and isinstance(part.get(key), str) and choice.random() < 0.8:
                part[key] = choice.choice(PATHS)


def _aim_at_workspace(case: Case, existing: Existing, choice: random.Random) -> None:
    """Name folders that are there; `rename` and `move` get the ones that may go about, a deletion the last ones."""
    for part in (case.query, case.body):
        if not isinstance(part, dict) or choice.random() < 0.2:
            continue
        for key in ("location", "destination_location"):
            if isinstance(part.get(key), str):
                part[key] = choice.choice(FOLDERS)
        if "folder_id" in part:
            part["folder_id"] = choice.choice(existing.ids["folder_id"])
        if "note_id" in part and "/notebook" in case.path:
            part["note_id"] = existing.ids["note_id"][0]
    if isinstance(case.body, dict) and "/notebooks/import" in case.path and choice.random() < 0.6:
        case.body.pop("cells", None)
        case.body.setdefault("paragraphs", [{"text": "${a=1}"}])


def _workspace(service: ServiceProcess) -> dict[str, list[int]]:
    """Make folders, notes and dashboards."""
    found: dict[str, list[int]] = {"folder_id": [], "note_id": [], "dashboard_id": [], "number": [1, 2]}
    for location in FOLDERS[1:4]:
        parent, name = location.rsplit("/", 1)
        for folder_type in ("notes", "notebook_dashboards"):
            folder = {"name": name, "location": parent, "type": folder_type}
            found["folder_id"].append(int(service.http.post("/folders", json=folder).json()["id"]))
    for number in range(3):
        note = {"name": f"note {number}", "location": "Common", "paragraphs": [{"text": "${password:p}"}]}
        found["note_id"].append(int(service.http.post("/notebooks", json=note).json()["id"]))
        service.http.put(f"/notebooks/{found['note_id'][-1]}", json={"config": {"a": 1}})
        board = {"name": f"board {number}", "location": "Common", "note_id": found["note_id"][0]}
        found["dashboard_id"].append(int(service.http.post("/notebook_dashboard", json=board).json()["id"]))
    return found


def _aim_at_policies(case: Case, existing: Existing, choice: random.Random) -> None:
    for part in (case.query, case.body):
        if "object_policy" in case.path and isinstance(part, dict) and choice.random() < 0.8:
            notebook = {"source_type": "jupyter_notebook", "source_id": "Common/there.ipynb"}
            schedule = {"source_type": "scheduler", "source_id": existing.ids["schedule_id"][0]}
            part.update(notebook if choice.random() < 0.3 else schedule)
    if isinstance(case.body, dict) and "policy" in case.body and choice.random() < 0.5:
        entry = {"access": "deny", "condition": {"service_users": [existing.ids["user_id"][1]]}, "action": ["update"]}
        case.body["policy"] = [entry]


def _aim_at_schedules(case: Case, existing: Existing, choice: random.Random) -> None:
    if not isinstance(case.body, dict) or "/scheduler" not in case.path:
        return
    if choice.random() < 0.6:
        case.body |= {"command_type": "ShellCommand", "command": {"inline": "echo $day$"}, "frequency": 1}
        case.body |= {"macros": [{"day": "Service_nominal_time.format('DD')"}], "time_zone": "Europe/Paris"}
        case.body.pop("cron_expression", None)
        for key in ("start_time", "end_time", "notification", "dependency_info"):
            case.body.pop(key, None)
    if case.method == "PUT" and case.path_parameters is not None:
        wanted = choice.choice([None, None, "suspend", "resume", "kill"])
        case.body["status"] = wanted
        if wanted == "kill":  # forever, so always the same one
            case.path_parameters["schedule_id"] = existing.ids["schedule_id"][-1]


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


def _schedule(service: ServiceProcess, name: str) -> int:
    """Make a schedule with one action: of the one that waits it waits for a file, of the others it has run."""
    body: dict[str, Any] = {"name": name, "command_type": "ShellCommand", "command": {"inline": "echo ran"}}
    body |= {"frequency": 12, "time_unit": "months", "notification": {"notify_failure": True}}
    if name == "waits":
        body["dependency_info"] = {"files": [{"path": "nowhere/%Y-%m-%d"}]}
    response = service.http.post("/scheduler", json=body)
    assert response.status_code == 200, response.text
    schedule_id = int(response.json()["id"])
    wait_until(lambda: service.http.get(f"/scheduler/{schedule_id}/actions").json()["actions"], "an action")
    return schedule_id


def _named(service: ServiceProcess, plural: str) -> list[int]:
    return [int(service.http.post(f"/{plural}", json={"name": f"{plural} {n}"}).json()["id"]) for n in range(3)]


def _cluster(service: ServiceProcess, label: str) -> int:
    body = {"label": label, "cloud_settings": {"compute_secret_key": "hidden"}}
    return int(service.http.post("/clusters", json=body).json()["id"])


def _channel(service: ServiceProcess, name: str) -> int:
    body = {"name": name, "type": "email", "target": "ada@example.org"}
    return int(service.http.post("/notification_channels", json=body).json()["id"])


def _environment(service: ServiceProcess, name: str) -> int:
    """An environment that is never built: no request makes the service go to the package index."""
    body = {"name": name, "python_version": "2.7"}
    return int(service.http.post("/package", json=body).json()["id"])


def _pipeline(service: ServiceProcess, name: str) -> int:
    body = {"name": name, "code": "1", "cluster_label": "nowhere"}
    return int(service.http.post("/pipelines", json=body).json()["data"]["id"])


def _tap(service: ServiceProcess, name: str, database: Path) -> int:
    body = {"name": name, "db_type": "sqlite", "db_name": str(database)}
    response = service.http.post("/db_taps", json=body)
    assert response.status_code == 200, response.text
    return int(response.json()["id"])
