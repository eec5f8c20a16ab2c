"""The database's schema as migrations; `upgrade` brings any older database to the newest revision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from svc_jupyter.service.database.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

_LOCK = 0x5C4A02
"""Key of the advisory lock with which PostgreSQL replicas that start together migrate one after the other."""
HEAD = "0021"
"""The newest revision: stored here, so that a start without migrations does not load Alembic (0.15 s)."""
_FIRST = "0016"
"""The revision of the first release. Earlier ones belong to versions that were never released."""


def upgrade(database: Database) -> None:
    """Bring the schema to the newest revision.

    Raises `RuntimeError` for a database of a newer version, or of a version before the first release.
    """
    with database.connect() as connection:
        found = current(connection)
    if found == HEAD:
        return
    if found is not None and found < _FIRST:
        raise RuntimeError(
            f"the database has revision {found}: it was made by a version before the first release, and cannot be "
            "brought up to date. Start with another --data-dir (SVC_DATA_DIR) and database"
        )
    from alembic.util import CommandError

    with database.begin() as connection:
        try:
            upgrade_within(connection)
        except CommandError as error:
            raise RuntimeError(
                f"the database has revision {found}, which this version does not know (its newest is {HEAD}): "
                "it was made by a newer svc-jupyter; upgrade this installation"
            ) from error


def upgrade_within(connection: sa.Connection) -> None:
    """Bring the schema to the newest revision in the caller's transaction."""
    from alembic import command

    if connection.dialect.name != "sqlite":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def current(connection: sa.Connection) -> str | None:
    """Return the revision of the schema; None for a database without one."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return revision


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config
