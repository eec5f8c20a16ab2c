"""A notebook run calls the service that runs it, with a token of its own: on a real service, through kills and ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest
from tests.conftest import end_commands_of
from tests.integration.schedule_calls import done_actions
from tests.integration.test_notebook_runs import NOTEBOOK, executed, store, submit, switch_on
from tests.support.file_search import files_below, files_with
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess, wait_until

FILE = Path("access") / "connection.json"
LOAD = "%load_ext svc_jupyter"
CLIENT = "from svc_jupyter.client import Client\nclient = Client()"
EVERY_SECOND = {"cron_expression": "* * * ? * *", "start_time": "2020-01-01T00:00:00Z"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service with notebooks switched on."""
    service = ServiceProcess(
        tmp_path_factory.mktemp("runs") / "data", timeout_check_seconds=1, kill_grace_seconds=3
    ).start()
    switch_on(service)
    yield service
    service.kill()
    end_commands_of(service.data_dir)


@contextmanager
def member(service: ServiceProcess, name: str) -> Iterator[tuple[int, httpx.Client]]:
    """Invite a member; yield the id and a client of theirs."""
    body = {"invitee_email": f"{name}@example.org", "groups": "system-user"}
    user_id = service.http.post("/users/invite_new", json=body).json()["user"]["id"]
    token = service.http.post(f"/users/{user_id}/tokens", json={"name": "t"}).json()["token"]
    with service.client(token) as client:
        yield user_id, client


@pytest.fixture
def go(tmp_path: Path) -> Path:
    return tmp_path / "go"


def waiting_for(go: Path) -> str:
    return f"import os, time\nprint('begun', flush=True)\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)"


def begun(service: ServiceProcess, path: str, *cells: str, **fields: Any) -> int:
    """Store a notebook, run it, and return the run once a cell has printed `begun`."""
    store(service, path, *cells)
    command_id = submit(service, path, **fields)
    wait_until(lambda: "begun" in service.logs(command_id), f"the waiting cell: {service.logs(command_id)}")
    return command_id


def connection_of(service: ServiceProcess, command_id: int, attempt: int = 1) -> dict[str, str]:
    return dict(json.loads((service.folder(command_id) / str(attempt) / FILE).read_text()))


def status_with(service: ServiceProcess, token: str, path: str = "/account") -> int:
    with service.client(token) as client:
        return client.get(path).status_code


def done(service: ServiceProcess, command_id: int) -> str:
    """Wait for the end of a run that succeeds; return its text."""
    record = service.ended(command_id)
    assert record["status"] == "done", service.logs(command_id)
    return service.text(command_id)


def test_the_magics_of_a_run_use_its_service_and_submit_and_wait(service: ServiceProcess, tmp_path: Path):
    home = tmp_path / "home"
    store(
        service,
        "Common/magics.ipynb",
        f"import os\nos.environ['XDG_DATA_HOME'] = {str(home)!r}  # where a second service would have its folder",
        LOAD,
        "%%svc_shell\necho from a command of the run",
        f"{CLIENT}\nprint(client.base_url, client.account.get().email)\nassert 'this run' in client.settings.source",
    )
    run = submit(service, "Common/magics.ipynb")
    assert done(service, run).split(None, 2)[:2] == [service.base_url, "admin@localhost"]
    assert "from a command of the run" in str(executed(service, run).cells[2].outputs)
    newest = service.http.get("/commands").json()["commands"][0]
    assert (newest["command_type"], newest["status"]) == ("ShellCommand", "done")
    assert (newest["command_source"], newest["notebook"]) == ("UI", "magics.ipynb")
    assert not home.exists()


def test_the_token_of_a_run_is_absent_from_its_output_logs_and_files(service: ServiceProcess, go: Path):
    show = f"import os\nfor pair in os.environ.items(): print(*pair)\n{CLIENT}\nprint(client, client.settings)"
    more = "import subprocess\nprint(subprocess.run(['env'], capture_output=True, text=True).stdout)\nvars(client)"
    run = begun(service, "Common/shows.ipynb", LOAD, show, "%svc_config", more, waiting_for(go))
    file = service.folder(run) / "1" / FILE
    token = connection_of(service, run)["token"]
    assert file.stat().st_mode & 0o777 == 0o600
    for process in psutil.process_iter(["cmdline", "environ"]):
        assert token not in str(process.info["cmdline"])
        assert token not in str(process.info["environ"])
    go.touch()
    text = done(service, run)
    log = service.logs(run)
    assert str(file) in log
    notebook = service.http.get(f"/commands/{run}/results", headers={"Accept": NOTEBOOK}).text
    for shown in (text, log, notebook, service.log_file.read_text(), str(service.http.get("/audit").json())):
        assert token not in shown
    assert not file.exists()
    assert not files_with(token, files_below(service.folder(run)))


def test_the_token_ends_with_the_run_however_it_ends(service: ServiceProcess, go: Path):
    run = begun(service, "Common/ends.ipynb", waiting_for(go))
    token = connection_of(service, run)["token"]
    assert status_with(service, token) == 200
    go.touch()
    done(service, run)
    assert status_with(service, token) == 401
    go.unlink()
    cancelled = begun(service, "Common/ends.ipynb", waiting_for(go))
    token = connection_of(service, cancelled)["token"]
    assert status_with(service, token) == 200
    assert service.http.put(f"/commands/{cancelled}", json={"status": "kill"}).json()["kill_succeeded"]
    assert status_with(service, token) == 401


def test_runs_forked_from_one_parent_have_a_token_each(service: ServiceProcess, go: Path):
    show = "import os\nprint('file', os.environ['SVC_CONNECTION_FILE'])"
    runs = [begun(service, f"Common/twin{number}.ipynb", show, waiting_for(go)) for number in range(2)]
    tokens = {connection_of(service, run)["token"] for run in runs}
    assert len(tokens) == 2
    for run in runs:
        assert f"file {service.folder(run) / '1' / FILE}\n" in service.logs(run)
    go.touch()
    for run in runs:
        done(service, run)
    assert {status_with(service, token) for token in tokens} == {401}


def test_a_retry_has_another_token(service: ServiceProcess, go: Path, tmp_path: Path):
    copies = tmp_path / "copies"
    keep = (
        "import json, os\n"
        "token = json.load(open(os.environ['SVC_CONNECTION_FILE']))['token']\n"
        f"print(token, file=open({str(copies)!r}, 'a'))\n"
        f"assert len(open({str(copies)!r}).readlines()) == 2, 'the first attempt'"
    )
    run = begun(service, "Common/again.ipynb", keep, waiting_for(go), retry=1, retry_delay=0)
    first, second = copies.read_text().split()
    assert (status_with(service, first), status_with(service, second)) == (401, 200)
    assert second == connection_of(service, run, attempt=2)["token"]
    go.touch()
    done(service, run)


def test_a_run_makes_no_rights_that_outlive_it_and_manages_nobody(service: ServiceProcess, go: Path):
    run = begun(service, "Common/rights.ipynb", waiting_for(go))
    me = service.http.get("/account").json()["user_id"]
    before = service.http.get(f"/users/{me}/tokens").json()["tokens"]
    assert not [token for token in before if "run" in token["name"]]
    schedule = {"command_type": "JupyterNotebookCommand", "command": {"path": "Common/rights.ipynb"}, **EVERY_SECOND}
    with service.client(connection_of(service, run)["token"]) as client:
        calls: list[tuple[str, str, dict[str, Any] | None]] = [
            ("GET", f"/users/{me}/tokens", None),
            ("POST", f"/users/{me}/tokens", {"name": "for ever"}),
            ("DELETE", f"/users/{me}/tokens/1", None),
            ("POST", "/users/invite_new", {"invitee_email": "new@example.org"}),
            ("POST", "/accounts/disable_user", {"user_id": me}),
            ("POST", "/groups", {"name": "mine"}),
            ("POST", "/roles", {"name": "mine"}),
            ("PUT", "/account/features", {"jupyter_notebooks": False}),
            ("GET", "/audit", None),
            ("POST", "/scheduler", schedule),
        ]
        for method, path, body in calls:
            answer = client.request(method, path, json=body)
            assert answer.status_code == 403, (method, path, answer.text)
            assert "a notebook run" in answer.json()["error"]["error_message"], answer.text
        made = client.post("/folders", json={"name": "of a run", "location": "Common", "type": "notes"})
        assert made.status_code == 200, made.text
    assert service.http.get(f"/users/{me}/tokens").json()["tokens"] == before
    told = service.http.get("/audit", params={"resource": "folder"}).json()["audit"][0]
    assert (told["user_id"], told["detail"]["run"]) == (me, run)
    go.touch()
    done(service, run)


def test_a_run_whose_owner_is_disabled_meanwhile_is_refused_at_once(service: ServiceProcess, go: Path):
    with member(service, "leaver") as (user_id, client):
        store(service, "Common/leaver.ipynb", waiting_for(go))
        made = client.post("/commands", json={"command_type": "JupyterNotebookCommand", "path": "Common/leaver.ipynb"})
        run = int(made.json()["id"])
        wait_until(lambda: "begun" in service.logs(run), "the waiting cell")
        token = connection_of(service, run)["token"]
        assert status_with(service, token) == 200
        assert service.http.post("/accounts/disable_user", json={"user_id": user_id}).status_code == 200
        assert status_with(service, token) == 401
        go.touch()
        assert service.ended(run)["status"] in ("done", "error")


def test_a_schedule_that_two_users_are_responsible_for_has_no_token(service: ServiceProcess, tmp_path: Path):
    store(service, "Common/edited.ipynb", LOAD, "%%svc_shell\necho never")
    body = {
        "command_type": "JupyterNotebookCommand",
        "command": {"path": "Common/edited.ipynb", "upload_to_source": False},
        "cron_expression": "0 0 0 1 1 ? 2099",
    }
    with member(service, "planner") as (_, client):
        made = client.post("/scheduler", json=body)
        assert made.status_code == 200, made.text
        schedule = made.json()["id"]
    changed = {"command": {"path": "Common/edited.ipynb", "upload_to_source": False, "arguments": {"a": 1}}}
    assert service.http.put(f"/scheduler/{schedule}", json=changed).status_code == 200
    assert service.http.put(f"/scheduler/{schedule}", json={"cron_expression": "* * * ? * *"}).status_code == 200
    action = done_actions(service, schedule, 1)[0]
    service.http.put(f"/scheduler/{schedule}", json={"status": "suspend"})
    record = service.record(action["query_hist_id"])
    assert record["status"] == "error"
    assert "this run has no access to its service" in record["message"]
    assert "last edited" in record["message"]


def test_a_scheduled_run_has_its_owners_token(service: ServiceProcess):
    store(service, "Common/planned.ipynb", LOAD, "%%svc_shell\necho for its owner")
    command = {"path": "Common/planned.ipynb", "upload_to_source": False}
    body = {"command_type": "JupyterNotebookCommand", "command": command, **EVERY_SECOND}
    schedule = service.http.post("/scheduler", json=body).json()["id"]
    action = done_actions(service, schedule, 1)[0]
    service.http.put(f"/scheduler/{schedule}", json={"status": "suspend"})
    assert action["status"] == "done", service.logs(action["query_hist_id"])
    assert "for its owner" in str(executed(service, action["query_hist_id"]).cells[1].outputs)


def test_a_run_finds_the_next_service_at_its_new_address(
    new_service: Callable[..., ServiceProcess], go: Path, tmp_path: Path
):
    service = new_service().start()
    switch_on(service)
    call = "email = client.account.get().email\nprint(client.base_url, email)"
    run = begun(
        service,
        "Common/moved.ipynb",
        f"{CLIENT}\n{call}",
        waiting_for(go),
        f"{call}\n%load_ext svc_jupyter",
        "%%svc_shell\necho to the next service",
        call,
    )
    first, token = service.base_url, connection_of(service, run)["token"]
    service.kill()
    service.start()
    assert service.base_url != first
    wait_until(lambda: connection_of(service, run)["base_url"] == service.base_url, "the new address")
    assert connection_of(service, run)["token"] == token
    go.touch()
    assert done(service, run).split() == [service.base_url, "admin@localhost"]
    cells = executed(service, run).cells
    assert first in cells[0].outputs[0].text
    assert service.base_url in cells[2].outputs[0].text
    assert "to the next service" in str(cells[3].outputs)


def test_a_run_whose_service_does_not_answer_starts_none(
    new_service: Callable[..., ServiceProcess], go: Path, tmp_path: Path
):
    service = new_service().start()
    switch_on(service)
    home = tmp_path / "home"
    says = (
        f"import os\nos.environ['XDG_DATA_HOME'] = {str(home)!r}\n"
        f"{CLIENT}\n"
        "try: client.account.get()\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    run = begun(service, "Common/alone.ipynb", waiting_for(go), says, waiting_for(tmp_path / "end"))
    service.kill()
    go.touch()
    log = service.folder(run) / "log"
    wait_until(lambda: "cannot be reached" in log.read_text(), "the client gives up", seconds=60)
    assert "ConnectionFailed" in log.read_text()
    assert not home.exists()
    service.start()
    (tmp_path / "end").touch()
    assert service.ended(run)["status"] == "done"


def test_another_replica_takes_over_the_run_with_its_token(postgres_cluster: PostgresCluster, tmp_path: Path, go: Path):
    with postgres_cluster.database() as url, psycopg.connect(url, autocommit=True):
        pair = [ServiceProcess(tmp_path / "data", database_url=url, lease_seconds=5) for _ in range(2)]
        try:
            first, second = (service.start() for service in pair)
            switch_on(first)
            run = begun(first, "Common/taken.ipynb", waiting_for(go), LOAD, "%%svc_shell\necho with the other replica")
            held = connection_of(first, run)
            ours, other = (first, second) if held["base_url"] == first.base_url else (second, first)
            assert status_with(other, held["token"]) == 200
            ours.kill()
            wait_until(lambda: connection_of(other, run)["base_url"] == other.base_url, "the other's address", 60)
            go.touch()
            done(other, run)
            assert "with the other replica" in str(executed(other, run).cells[2].outputs)
            assert status_with(other, held["token"]) == 401
        finally:
            for service in pair:
                service.kill()
            end_commands_of(tmp_path / "data")
