"""A data folder with a database, files of every kind and a key, and targets for its backups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.support.s3_server import S3Server, s3_store

from svc_jupyter.service.access.accounts import ensure_account
from svc_jupyter.service.commands.rows import command_root
from svc_jupyter.service.data_folder import at_start
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_instances, clusters
from svc_jupyter.service.schema.commands import commands, replicas

LARGE = bytes(range(256)) * 20_000
"""Content of a file that is read in parts."""
AddCommand = Callable[..., Path]


@pytest.fixture
def service(settings: Settings, database: Database) -> Settings:
    """The settings of a service that has worked: its database and folder belong together, with files in it."""
    with database.begin() as connection:
        account_id = ensure_account(connection, settings)
        user_id = connection.execute(sa.select(sa.func.min(users.c.id))).scalar_one()
        running = {"pid": 1, "boot_id": "", "start_ticks": 0, "lease_until": 0.0}
        connection.execute(sa.insert(replicas).values(id="r" * 32, host="alpha", **running))
        cluster = {"account_id": account_id, "user_id": user_id, "created_at": 0.0, "configuration": {}, "state": "UP"}
        cluster_id = connection.execute(sa.insert(clusters).values(cluster).returning(clusters.c.id)).scalar_one()
        instance = {"cluster_id": cluster_id, "configuration": {}, "start_at": 0.0, "last_used_at": 0.0}
        connection.execute(
            sa.insert(cluster_instances),
            [
                {**instance, "state": "UP", "provider": "local", "host": "alpha", "replica_id": "r" * 32},
                {**instance, "state": "UP", "provider": "hosts", "host": None, "replica_id": "r" * 32},
                {**instance, "state": "DOWN", "provider": "local", "host": "alpha", "replica_id": None},
            ],
        )
    at_start.join(settings, database)
    folder = settings.data_dir
    (folder / "secret.key").write_bytes(b"key")
    (folder / "storage" / "empty").mkdir(parents=True)
    (folder / "storage" / "large.bin").write_bytes(LARGE)
    (folder / "storage" / "Zoë ☃.txt").write_text("snow")
    (folder / "storage" / "link").symlink_to("/nowhere")
    (folder / "jupyter" / "1" / "common").mkdir(parents=True)
    (folder / "jupyter" / "1" / "common" / "a.ipynb").write_text("{}")
    (folder / "hive" / "metastore" / "derby" / "seg0").mkdir(parents=True)
    (folder / "hive" / "metastore" / "derby" / "seg0" / "c10.dat").write_bytes(b"rows")
    (folder / "hive" / "metastore" / "port").write_text("1234")
    (folder / "service.json").write_text('{"token": "secret"}')
    (folder / "clusters" / "1").mkdir(parents=True)
    return settings


@pytest.fixture
def add_command(service: Settings, database: Database) -> AddCommand:
    """Adds a command that has ended, or has the status that is given; returns its folder."""

    def add(status: str = "done") -> Path:
        with database.begin() as connection:
            user = connection.execute(sa.select(users.c.id, users.c.account_id)).first()
            assert user is not None
            values = {"user_id": user.id, "account_id": user.account_id, "command_type": "ShellCommand"}
            rest = {"command_source": "API", "command": {}, "created_at": 0.0, "can_notify": False}
            row = {**values, **rest, "status": status, "folder_key": "abc", "replica_id": "r" * 32}
            command_id = connection.execute(sa.insert(commands).values(row).returning(commands.c.id)).scalar_one()
        root = command_root(service.commands_dir, command_id, "abc")
        (root / "1" / "work").mkdir(parents=True)
        (root / "log").write_text(f"log of {command_id}\n")
        script = root / "1" / "work" / "script.sh"
        script.write_text(f"echo {command_id}")
        script.chmod(0o750)
        return root

    return add


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder that is not there yet."""
    return tmp_path / "backups"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    """A real S3 server with an empty bucket; the other one of the tests stalls when several threads write."""
    with s3_store() as server:
        yield server
