"""Keeps a database and its data folder together at each start, before and after the schema's migration."""

from __future__ import annotations

import sqlalchemy as sa
import structlog

from svc_jupyter.service.data_folder import identity, taken_ids
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.ids import go_above
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.commands import commands

log = structlog.get_logger(__name__)


def join(settings: Settings, database: Database) -> None:
    """Bind the database and the folder to each other, and raise the next ids above all that folders are named by.

    Raises `ForeignDatabaseError`. After a kill between the steps, the next start completes them: first the database
    gets its key, then the folder.
    """
    on_disk = taken_ids.highest_on_disk(settings.data_dir)
    with database.begin() as connection:
        belongs = identity.bind(settings, connection)
        newest = connection.execute(sa.select(sa.func.max(commands.c.id))).scalar() or 0
        go_above(connection, on_disk)
    if identity.FolderIdentity.read(settings.data_dir) != belongs:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        belongs.write(settings.data_dir)
    if on_disk.get(commands, 0) > newest:
        _log_unknown(settings, newest)


def _log_unknown(settings: Settings, newest: int) -> None:
    """Log the commands that have folders but lost rows: a row is committed before its folder is made."""
    unknown = taken_ids.commands_on_disk(settings.commands_dir, above=newest)
    log.warning(
        "commands_unknown",
        count=len(unknown),
        newest_known=newest,
        highest_folder=max(unknown),
        meaning=f"{len(unknown)} commands after {newest} have folders, and the database does not know them: it was "
        "restored from a backup, or lost its last transactions. Their files stay; new commands get higher ids",
    )
