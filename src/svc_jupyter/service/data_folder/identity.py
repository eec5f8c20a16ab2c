"""Identity of a database and its data folder: the folder holds the files of commands, the database their rows.

Both hold the same key: the database in `database_identity`, the folder in `identity.json`, which also names the
database for users. A start refuses a pair that does not match, before it changes anything.
"""

from __future__ import annotations

import json
import secrets
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import sqlalchemy as sa

from svc_jupyter.files import write_whole
from svc_jupyter.service.database.database import Database, conflict_insert, database_clock
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.commands import commands, replicas
from svc_jupyter.service.schema.identity import THE_ROW, database_identity

_FILE = "identity.json"
_KEY = sa.select(database_identity.c.key)
_JUST_ENDED = "Where that one has just ended on another host, start again after a minute"
_TO_COPY = "`svc-jupyter database copy --to URL` moves what is there to PostgreSQL"


class ForeignDatabaseError(RuntimeError):
    """The database and the data folder do not belong together."""


@dataclass(frozen=True, slots=True)
class FolderIdentity:
    """The database of a data folder; `database` is its name for users, without a password."""

    key: str
    kind: str
    database: str

    @classmethod
    def read(cls, data_dir: Path) -> FolderIdentity | None:
        """Return the folder's identity, None without one; raises `ForeignDatabaseError` for a broken file."""
        file = data_dir / _FILE
        try:
            content = json.loads(file.read_text("utf-8"))
            return cls(str(content["key"]), str(content["kind"]), str(content["database"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise ForeignDatabaseError(
                f"{file} is damaged: nobody can tell which database the data folder belongs to. Restore the file from "
                "a backup; where you are sure that the database is the folder's own, delete it"
            ) from None

    def write(self, data_dir: Path) -> None:
        """Write it into the folder and sync it to disk."""
        write_whole(data_dir / _FILE, json.dumps(asdict(self)), mode=0o600, durable=True)


def check_kind(settings: Settings) -> None:
    """Raise `ForeignDatabaseError` when the folder belongs to a database of the other kind; opens no database.

    So a service on PostgreSQL gets no empty SQLite file in its folder.
    """
    recorded = FolderIdentity.read(settings.data_dir)
    own = settings.data_dir / "service.db"
    if recorded is None:
        return
    if recorded.kind == "postgresql" and settings.on_sqlite:
        raise ForeignDatabaseError(
            f"the data folder {settings.data_dir} belongs to the PostgreSQL database {recorded.database}, and no "
            "database is set: set SVC_DATABASE_URL to its address, or give another --data-dir"
        )
    if recorded.kind == "sqlite" and not settings.on_sqlite:
        raise ForeignDatabaseError(_sqlite_is_there(settings))
    if recorded.kind == "sqlite" and not own.exists():
        raise ForeignDatabaseError(
            f"the database {own} is gone, and the data folder holds what belongs to it: restore it from a backup, "
            "or give another --data-dir"
        )


def check(settings: Settings, database: Database) -> None:
    """Raise `ForeignDatabaseError` where the database does not belong to the folder; changes neither."""
    check_kind(settings)
    recorded = FolderIdentity.read(settings.data_dir)
    with database.connect() as connection:
        tables = sa.inspect(connection)
        is_empty, is_known = not tables.has_table(commands.name), tables.has_table(database_identity.name)
        key: str | None = connection.execute(_KEY).scalar() if is_known else None
        has_commands = not is_empty and connection.execute(sa.select(commands.c.id).limit(1)).first() is not None
    if recorded is None and not settings.on_sqlite and not has_commands and has_sqlite(settings.data_dir):
        raise ForeignDatabaseError(_sqlite_is_there(settings))
    if recorded is not None and key is not None and recorded.key != key:
        raise ForeignDatabaseError(_mismatch(settings, recorded))
    if is_empty and recorded is not None:
        raise ForeignDatabaseError(
            f"the database {name_of(settings)} is empty, and the data folder {settings.data_dir} belongs to "
            f"{recorded.database}: restore a backup into the database, or give another --data-dir"
        )
    if is_empty and _is_used(settings):
        raise ForeignDatabaseError(
            f"the database {name_of(settings)} is empty, and the data folder {settings.data_dir} holds files of "
            "commands or users that are in another one: give the database that they belong to, or another --data-dir; "
            "to start empty here, move them away"
        )
    if settings.on_sqlite or is_empty:
        return
    if recorded is None:
        _refuse_beside_another_folder(settings, database)


def bind(settings: Settings, connection: sa.Connection) -> FolderIdentity:
    """Give the database a key if it has none, in a write transaction; return the folder's identity.

    A new database with a folder that has a key gets that key.
    """
    recorded = FolderIdentity.read(settings.data_dir)
    fresh = secrets.token_hex(16) if recorded is None else recorded.key
    values = {"id": THE_ROW, "key": fresh, "created_at": time.time()}
    connection.execute(conflict_insert(connection, database_identity).values(values).on_conflict_do_nothing())
    key = connection.execute(_KEY).scalar_one()
    if recorded is not None and recorded.key != key:  # another replica was first, with a folder of its own
        raise ForeignDatabaseError(_mismatch(settings, recorded))
    return identity_of(settings, key)


def identity_of(settings: Settings, key: str) -> FolderIdentity:
    """Return the folder's identity for a database with that key."""
    return FolderIdentity(key, "sqlite" if settings.on_sqlite else "postgresql", name_of(settings))


def name_of(settings: Settings) -> str:
    """Return the database's name for users, without its user and password."""
    if settings.on_sqlite:
        return str(settings.data_dir / "service.db")
    url = sa.make_url(settings.sqlalchemy_url)
    place = url.host or url.query.get("host") or "this machine"
    port = "" if url.port is None else f":{url.port}"
    return f"{url.database} at {place}{port}"


def has_sqlite(data_dir: Path) -> bool:
    """Return whether a data folder has a SQLite database; an empty file of a refused start does not count."""
    file = data_dir / "service.db"
    return file.exists() and file.stat().st_size > 0


def _is_used(settings: Settings) -> bool:
    """Return whether the folder has files to which rows of a database refer."""
    folders = ("commands", "environments", "pipelines", "clusters", "jupyter")
    return any(any(folder.iterdir()) for name in folders if (folder := settings.data_dir / name).is_dir())


def _refuse_beside_another_folder(settings: Settings, database: Database) -> None:
    """Refuse a start with another folder while replicas live: they share one folder."""
    living = _living(database)
    if living is None or FolderIdentity.read(settings.data_dir) is not None:  # meanwhile bound by a replica
        return
    host, pid = living
    raise ForeignDatabaseError(
        f"the database {name_of(settings)} is used by a service on another data folder (process {pid} of "
        f"{host}): replicas share one folder, so give its as --data-dir. {_JUST_ENDED}"
    )


def _living(database: Database) -> tuple[str, int] | None:
    """Return host and process of a living replica of the database, None where there is none.

    Runs before the schema is migrated: it uses only columns that every version has.
    """
    host = socket.gethostname()
    with database.connect() as connection:
        now = database_clock(connection)
        living = sa.select(replicas.c.host, replicas.c.pid).where(replicas.c.lease_until > now)
        rows = connection.execute(living).all()
    return next(((on, pid) for on, pid in rows if on != host or psutil.pid_exists(pid)), None)


def _sqlite_is_there(settings: Settings) -> str:
    return (
        f"the data folder {settings.data_dir} belongs to the SQLite database service.db in it, not to "
        f"{name_of(settings)}. {_TO_COPY}; or unset SVC_DATABASE_URL, or give another --data-dir"
    )


def _mismatch(settings: Settings, recorded: FolderIdentity) -> str:
    where = recorded.database if recorded.database != name_of(settings) else "another database that was there"
    return (
        f"the database {name_of(settings)} does not belong to the data folder {settings.data_dir}, which is that of "
        f"{where}: each would take the other's files for its own. Give the database of this folder, or the folder of "
        "this database (--data-dir)"
    )
