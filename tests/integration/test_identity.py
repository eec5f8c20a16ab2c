"""A database and its data folder: after a restore, an exchange or a mistake nothing of another command is taken."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from tests.conftest import end_commands_of
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess

NewService = Callable[..., ServiceProcess]


@pytest.fixture
def url(postgres_cluster: PostgresCluster) -> Iterator[str]:
    """The address of an empty database."""
    with postgres_cluster.database() as url:
        yield url


@pytest.fixture
def on_folder(tmp_path: Path) -> Iterator[NewService]:
    """Makes services on one data folder."""
    made: list[ServiceProcess] = []

    def on_folder(**settings: object) -> ServiceProcess:
        made.append(ServiceProcess(tmp_path / "data", **settings))
        return made[-1]

    yield on_folder
    for service in made:
        service.kill()
    end_commands_of(tmp_path / "data")


def cli(data_dir: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a subcommand that ends by itself."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    return subprocess.run(
        [sys.executable, "-m", "svc_jupyter", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment | {"SVC_DATA_DIR": str(data_dir)} | {f"SVC_{key.upper()}": settings[key] for key in settings},
        stdin=subprocess.DEVNULL,
    )


def run(service: ServiceProcess, word: str) -> int:
    """Run a command that says a word, and see that it is this one that ran; return its id."""
    command_id = int(service.submit(f"echo {word}; echo log of {word} >&2")["id"])
    assert service.ended(command_id)["status"] == "done"
    assert service.text(command_id).split() == [word]
    assert f"log of {word}" in service.logs(command_id)
    return command_id


def back_up(service: ServiceProcess, target: Path) -> None:
    """Do what the documentation says, while the service runs."""
    with closing(sqlite3.connect(service.data_dir / "service.db")) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)


def restore(service: ServiceProcess, backup: Path) -> None:
    for file in service.data_dir.glob("service.db*"):
        file.unlink()
    shutil.copy(backup, service.data_dir / "service.db")


def test_after_a_restored_backup_commands_run_and_none_takes_what_an_older_one_left(
    on_folder: NewService, tmp_path: Path
):
    service = on_folder().start()
    first = run(service, "first")
    back_up(service, tmp_path / "backup.db")
    lost = [run(service, "lost") for _ in range(3)]
    service.stop()
    restore(service, tmp_path / "backup.db")
    service.start()
    assert service.text(first).split() == ["first"]
    assert {service.http.get(f"/commands/{number}").status_code for number in lost} == {404}
    assert run(service, "after") > max(lost)
    told = [json.loads(line) for line in service.log_file.read_text().splitlines() if "commands_unknown" in line]
    assert [(entry["count"], entry["newest_known"], entry["highest_folder"]) for entry in told] == [
        (3, first, lost[-1])
    ]
    assert "3 commands after" in told[0]["meaning"]


def test_ids_that_are_given_again_after_all_find_nothing_of_the_earlier_commands(on_folder: NewService, tmp_path: Path):
    """Whoever restores beneath a start's looks, such as into a PostgreSQL that is in use."""
    service = on_folder().start()
    back_up(service, tmp_path / "backup.db")
    lost = run(service, "lost")
    service.stop()
    restore(service, tmp_path / "backup.db")
    hidden = service.data_dir / "hidden"
    (service.data_dir / "commands").rename(hidden)
    service.start()
    shutil.copytree(hidden, service.data_dir / "commands", dirs_exist_ok=True)
    assert run(service, "after") == lost


def test_users_that_are_invited_after_a_restore_do_not_get_the_notebooks_of_others(
    on_folder: NewService, tmp_path: Path
):
    service = on_folder().start()
    back_up(service, tmp_path / "backup.db")
    lost = service.http.post("/users/invite_new", json={"invitee_email": "ada@example.org"}).json()
    user_id = lost.get("user", lost)["id"]
    (service.data_dir / "jupyter" / "1" / "users" / str(user_id)).mkdir(parents=True)
    for kind, name in (("pipelines", "7"), ("environments", "8"), ("environments/8", "11-2"), ("clusters/1", "9")):
        (service.data_dir / kind / name).mkdir(parents=True)
    service.stop()
    restore(service, tmp_path / "backup.db")
    service.start()
    invited = service.http.post("/users/invite_new", json={"invitee_email": "eve@example.org"}).json()
    assert invited.get("user", invited)["id"] == user_id + 1
    service.stop()
    with closing(sqlite3.connect(service.data_dir / "service.db")) as connection:
        last = dict(connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    assert (last["pipelines"], last["cluster_instances"]) == (7, 9)
    assert (last["package_environments"], last["package_activities"]) == (8, 11)


def test_on_postgresql_a_restore_gives_no_id_again_either(on_folder: NewService, url: str):
    service = on_folder(database_url=url).start()
    run(service, "first")
    with psycopg.connect(url, autocommit=True) as connection:
        rolled_back_to = connection.execute("SELECT last_value FROM commands_id_seq").fetchone()
        assert rolled_back_to is not None
        lost = run(service, "lost")
        service.stop()
        connection.execute("DELETE FROM commands WHERE id = %s", [lost])
        connection.execute("SELECT setval('commands_id_seq', %s)", rolled_back_to)
    service.start()
    assert run(service, "after") > lost


def test_another_database_on_the_folder_of_sqlite_is_refused(on_folder: NewService, url: str):
    service = on_folder().start()
    run(service, "first")
    service.stop()
    ended = cli(service.data_dir, "serve", database_url=url)
    assert ended.returncode == 1
    assert "belongs to the SQLite database service.db in it" in ended.stderr
    assert "svc-jupyter database copy --to URL" in ended.stderr
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_a_file_of_another_installation_in_place_of_the_database_is_refused(on_folder: NewService, tmp_path: Path):
    other = ServiceProcess(tmp_path / "other").start()
    back_up(other, tmp_path / "other.db")
    other.stop()
    service = on_folder().start()
    run(service, "first")
    service.stop()
    restore(service, tmp_path / "other.db")
    ended = cli(service.data_dir, "serve")
    assert ended.returncode == 1
    assert "does not belong to the data folder" in ended.stderr
    (service.data_dir / "service.db").unlink()
    ended = cli(service.data_dir, "serve")
    assert ended.returncode == 1
    assert "service.db is gone" in ended.stderr
    assert not (service.data_dir / "service.db").exists()


def test_a_folder_of_postgresql_is_left_alone_by_whoever_has_no_database(on_folder: NewService, url: str):
    """Its announced replica ends first: the other one still works on the folder."""
    first = on_folder(database_url=url).start()
    second = on_folder(database_url=url).start()
    first.stop()
    assert run(second, "still") > 0
    before = second.token_file.read_text()
    for arguments in (["user", "list"], ["status"], ["stop"]):
        ended = cli(second.data_dir, *arguments)
        assert ended.returncode != 0
        assert "belongs to the PostgreSQL database test_" in ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
    ended = cli(second.data_dir, "serve")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "set SVC_DATABASE_URL to its address" in ended.stderr
    assert second.token_file.read_text() == before
    assert not (second.data_dir / "service.db").exists()
    assert run(second, "unharmed") > 0


def test_a_replica_on_a_folder_of_its_own_is_refused_while_another_one_lives(
    on_folder: NewService, url: str, tmp_path: Path
):
    service = on_folder(database_url=url).start()
    ended = cli(tmp_path / "elsewhere", "serve", database_url=url)
    assert ended.returncode == 1
    assert "is used by a service on another data folder" in ended.stderr
    assert run(service, "unharmed") > 0


def test_the_announced_replica_is_followed_by_one_that_starts(on_folder: NewService, url: str):
    first = on_folder(database_url=url).start()
    second = on_folder(database_url=url).start()
    assert json.loads(second.token_file.read_text())["base_url"] == first.base_url
    first.kill()
    third = on_folder(database_url=url).start()
    assert json.loads(third.token_file.read_text())["base_url"] == third.base_url
    assert third.token == first.token
