"""A backup under load, kill -9, a restore into an empty folder; and a target that is full."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
import sqlalchemy as sa
from tests.integration.test_full_disk import namespace
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.clusters import cluster_instances, clusters
from svc_jupyter.service.schema.commands import commands

SOME = 20
NewService = Callable[..., ServiceProcess]
LEFT = "the service on elsewhere (before the restore), where the cluster runs, no longer answers"


def cli(*arguments: str | Path, before: tuple[str, ...] = (), url: str | None = None) -> tuple[int, str]:
    """Run a subcommand; return its exit code and what it says."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    run = subprocess.run(
        [*before, sys.executable, "-m", "svc_jupyter", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=clean if url is None else clean | {"SVC_DATABASE_URL": url},
    )
    return run.returncode, run.stdout


@contextmanager
def database_of(service: ServiceProcess) -> Iterator[sa.Connection]:
    """Open the database of a service, while it works."""
    url = Settings(data_dir=service.data_dir, database_url=service.settings.get("database_url")).sqlalchemy_url
    engine = sa.create_engine(url)
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def rows_of(service: ServiceProcess) -> dict[int, tuple[str, str]]:
    """Return name and status of every command, by id."""
    with database_of(service) as connection:
        rows = connection.execute(sa.select(commands.c.id, commands.c.name, commands.c.status))
        return {row.id: (row.name, row.status) for row in rows}


def mark_a_cluster_as_running_elsewhere(service: ServiceProcess) -> int:
    """Return the id of the cluster."""
    with database_of(service) as connection:
        cluster_id = connection.execute(sa.select(sa.func.min(clusters.c.id))).scalar_one()
        configuration = connection.execute(
            sa.select(clusters.c.configuration).where(clusters.c.id == cluster_id)
        ).scalar_one()
        values = {"cluster_id": cluster_id, "configuration": configuration, "state": "UP", "provider": "local"}
        times = {"start_at": time.time(), "up_at": time.time(), "last_used_at": time.time()}
        instance = {**values, **times, "host": "elsewhere", "replica_id": "0" * 32}
        instance_id = connection.execute(
            sa.insert(cluster_instances).values(instance).returning(cluster_instances.c.id)
        ).scalar_one()
        running = {"state": "UP", "instance_id": instance_id}
        connection.execute(sa.update(clusters).where(clusters.c.id == cluster_id).values(running))
    return int(cluster_id)


class Load:
    """Submits commands until the service is gone; each says its name."""

    def __init__(self, service: ServiceProcess) -> None:
        self._service = service
        self._thread = threading.Thread(target=self._run)
        self.submitted = 0

    def start(self) -> None:
        self._thread.start()
        wait_until(lambda: self.submitted >= SOME, "some submissions")

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                self._service.submit(f"echo word{self.submitted}", name=f"word{self.submitted}")
            except (httpx.HTTPError, RuntimeError):  # it is killed, or its client closed
                return
            self.submitted += 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_after_a_backup_under_load_and_a_kill_every_command_is_final_and_the_next_one_runs(
    new_service: NewService, tmp_path: Path, kind: str, postgres_cluster: PostgresCluster
):
    with postgres_cluster.database() as old_url, postgres_cluster.database() as new_url:
        old, new = ({"database_url": url} if kind == "postgresql" else {} for url in (old_url, new_url))
        service = new_service(tmp_path / "old", lease_seconds=1, **old).start()
        runs = service.submit("sleep 300", name="runs")["id"]
        process = wait_until(lambda: service.record(runs)["pid"], "its process")
        cluster_id = mark_a_cluster_as_running_elsewhere(service) if kind == "sqlite" else None
        load = Load(service)
        load.start()
        target = tmp_path / "backups"
        code, text = cli("backup", target, "--data-dir", service.data_dir, url=old.get("database_url"))
        assert (code, text[:8]) == (0, "backup 2"), text
        assert "not in the backup" not in text
        assert {path.stat().st_mode & 0o077 for path in (target, *target.rglob("*"))} == {0}
        assert cli("restore", target, "--data-dir", service.data_dir) == (
            3,
            f"svc-jupyter: a service works on the data folder {service.data_dir}: restore into another, empty folder\n",
        )
        service.kill()
        load.join()
        fresh = new_service(tmp_path / "new", lease_seconds=1, **new)
        code, text = cli("restore", target, "--data-dir", fresh.data_dir, url=new.get("database_url"))
        assert code == 0, text
        before = rows_of(fresh)
        assert (len(before) >= SOME, before[runs]) == (True, ("runs", "running"))
        fresh.start()
        for command_id, (name, status) in before.items():
            record = fresh.ended(command_id)
            if status == "running":
                assert record["status"] == "error"
                assert " (before the restore) that ran it no longer answers" in record["message"]
            else:
                assert (record["status"], fresh.text(command_id).split()) == ("done", [name])
        assert psutil.pid_exists(process)  # it is the other service's
        after = fresh.submit("echo after")["id"]
        assert after not in before
        assert (fresh.ended(after)["status"], fresh.text(after).split()) == ("done", ["after"])
        if cluster_id is not None:
            url = f"/clusters/{cluster_id}/state"
            wait_until(lambda: fresh.http.get(url).json()["state"] == "DOWN", "the end of the cluster")
            assert fresh.http.get(url).json()["terminate_reason"] == LEFT


def test_a_full_target_is_named_and_leaves_the_service_alone(new_service: NewService, tmp_path: Path):
    service = new_service().start()
    command_id = service.submit("head -c 3000000 /dev/urandom >file; echo done")["id"]
    assert service.ended(command_id)["status"] == "done"
    target = tmp_path / "small"
    target.mkdir()
    mount = (*namespace(), 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"', str(target))
    code, text = cli("backup", target, "--data-dir", service.data_dir, before=mount)
    assert (code, text) == (1, f"svc-jupyter: {target}: No space left on device\n")
    assert not (service.data_dir / "backup").exists()
    assert service.ended(service.submit("echo after")["id"])["status"] == "done"
