"""A copy of the service's database as of one moment, as a SQLite file, while the service works."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.backup.manifest import DATABASE
from svc_jupyter.service.backup.target import BackupFailure
from svc_jupyter.service.commands.rows import command_root
from svc_jupyter.service.data_folder import copying, identity
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.clusters import cluster_instances
from svc_jupyter.service.schema.commands import commands, replicas


class Snapshot:
    """The copy in a folder of its own. Close it with `close`."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self.file = folder / DATABASE
        self.database = Database(settings.model_copy(update={"data_dir": folder, "database_url": None}))

    def close(self) -> None:
        """Close the copy."""
        self.database.close()

    def take(self) -> dict[str, str]:
        """Copy the database of the settings; return what is beside its tables and not copied, with what to do.

        On SQLite all pages are read in one step, under one read lock, which blocks no writer; on PostgreSQL all rows in
        one transaction. Raises `BackupFailure`, and `ForeignDatabaseError` where database and data folder do not
        belong together.
        """
        source = Database(self._settings)
        try:
            identity.check(self._settings, source)
            with source.connect() as connection:
                found = migrations.current(connection)
                beside = [] if source.on_sqlite else _other_schemas(connection)
            if found != migrations.HEAD:
                raise BackupFailure(
                    f"the database has revision {found}, and this svc-jupyter needs {migrations.HEAD}: back up with "
                    "the version of the service"
                )
            self._copy(source)
            return {f"schema {name}": f"save it with pg_dump --schema={name}" for name in beside}
        except DBAPIError as error:
            raise BackupFailure(f"the database cannot be used: {str(error.orig).strip()}") from error
        except sqlite3.Error as error:
            raise BackupFailure(f"the database cannot be copied to {self.file}: {error}") from error
        finally:
            source.close()

    def command_folders(self) -> set[str]:
        """Return the folders of its commands, relative to the data folder."""
        with self.database.connect() as connection:
            rows = connection.execute(sa.select(commands.c.id, commands.c.folder_key))
            return {str(command_root(Path("commands"), row.id, row.folder_key)) for row in rows}

    def leave_the_machine(self, host: str) -> None:
        """Let everything that ran count as lost with a host that no longer answers.

        So no service takes a process of this machine, or of a host of clusters, for one of its own. It may belong to
        the service that the backup is of.
        """
        before = " (before the restore)"
        with self.database.begin() as connection:
            connection.execute(sa.update(replicas).values(host=replicas.c.host + before, lease_until=0.0))
            where = sa.func.coalesce(cluster_instances.c.host, host) + before
            active = sa.update(cluster_instances).where(cluster_instances.c.state != ClusterState.DOWN.value)
            connection.execute(active.values(host=where, replica_id=None))

    def _copy(self, source: Database) -> None:
        if source.on_sqlite:
            _expect_room(self._settings, self.file.parent)
            with (
                closing(sqlite3.connect(self._settings.data_dir / DATABASE)) as reading,
                closing(sqlite3.connect(self.file)) as writing,
            ):
                reading.backup(writing)
            return
        migrations.upgrade(self.database)
        with copying.one_moment(source) as reading, self.database.begin() as writing:
            copying.copy_rows(reading, writing)


def _other_schemas(connection: sa.Connection) -> list[str]:
    """Return the schemas of others in the database, such as the Hive metastore's."""
    inspector = sa.inspect(connection)
    names = set(inspector.get_schema_names()) - {inspector.default_schema_name, "public", "information_schema"}
    return sorted(name for name in names if not name.startswith("pg_"))


def _expect_room(settings: Settings, folder: Path) -> None:
    """Refuse a copy that would leave the service without space."""
    size = sum(file.stat().st_size for file in settings.data_dir.glob(f"{DATABASE}*"))
    free = shutil.disk_usage(folder).free
    if free - size < settings.min_free_disk_bytes:
        raise BackupFailure(
            f"the database has {size:,} bytes and is copied to {folder} first, where {free:,} are free: make room there"
        )
