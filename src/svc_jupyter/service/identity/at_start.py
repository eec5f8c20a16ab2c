"""What a start does so that a database and its data folder stay one: before the schema is touched, and after."""

from __future__ import annotations

import sqlalchemy as sa
import structlog

from svc_jupyter.service.commands.tables import commands
from svc_jupyter.service.database import Database
from svc_jupyter.service.identity import identity, taken_ids
from svc_jupyter.service.settings import Settings

log = structlog.get_logger(__name__)


def join(settings: Settings, database: Database) -> None:
    """Bind the database and the folder to each other, and give no id again that a folder is named by.

    Raises `ForeignDatabaseError`. A kill between the steps leaves what the next start takes up: first the database has
    its key, then the folder.
    """
    on_disk = taken_ids.highest_on_disk(settings.data_dir)
    with database.begin() as connection:
        belongs = identity.bind(settings, connection)
        newest = connection.execute(sa.select(sa.func.max(commands.c.id))).scalar() or 0
        taken_ids.go_above(connection, on_disk)
    if identity.FolderIdentity.read(settings.data_dir) != belongs:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        belongs.write(settings.data_dir)
    if on_disk.get(commands, 0) > newest:
        _tell_unknown(settings, newest)


def _tell_unknown(settings: Settings, newest: int) -> None:
    """The newest command is committed before its folder is made: what is above it was lost with the database's end."""
    unknown = taken_ids.commands_on_disk(settings.commands_dir, above=newest)
    log.warning(
        "commands_unknown",
        count=len(unknown),
        newest_known=newest,
        highest_folder=max(unknown),
        meaning=f"{len(unknown)} commands after {newest} have folders, and the database does not know them: it was "
        "restored from a backup, or lost its last transactions. Their files stay; new commands get higher ids",
    )
