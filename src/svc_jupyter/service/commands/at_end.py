"""What follows from the end of a command: mails, the state of a pipeline, the next action of a schedule.

Each of those who are told notes what it has to in the transaction that ends the command. One that fails there must keep
neither the command from its end nor the others from being told: it is owed the end, and told again later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
import structlog

from svc_jupyter.service.commands.tables import commands, owed_ends
from svc_jupyter.service.database import Database, conflict_insert
from svc_jupyter.service.database_errors import is_away

AtEnd = Callable[[sa.Connection, Mapping[str, Any]], None]
"""Called with the finished row inside the transaction that ends a command."""
_AT_ONCE: Final = 200
_PATIENCE_SECONDS: Final = 7 * 24 * 3600.0
"""For how long an end is told again and again: until then somebody has read the log and corrected what fails."""
log = structlog.get_logger(__name__)


def tell_apart(connection: sa.Connection, hooks: Sequence[AtEnd], row: Mapping[str, Any]) -> None:
    """Tell each of the end, whatever the others raise; it is owed to those that fail.

    Raises only what says that the database is away.
    """
    for hook in hooks:
        try:
            with connection.begin_nested():
                hook(connection, row)
        except Exception as error:
            if is_away(error):
                raise
            log.exception("end_not_told", command_id=row["id"], to=_name(hook))
            owed = conflict_insert(connection, owed_ends).values(
                command_id=row["id"], owed_to=_name(hook), since=time.time()
            )
            connection.execute(owed.on_conflict_do_nothing())


async def tell_owed(database: Database, hooks: Sequence[AtEnd]) -> None:
    """Tell the ends that are owed, each in a transaction of its own. Raises `Unavailable`."""
    by_name = {_name(hook): hook for hook in hooks}
    for owed in await database.look_up(_owed):
        try:
            await database.write(partial(_pay, owed, by_name), durable=False)
        except Exception:
            log.exception("end_still_not_told", command_id=owed.command_id, to=owed.owed_to)


def _owed(connection: sa.Connection) -> Sequence[sa.Row[Any]]:
    return connection.execute(sa.select(owed_ends).order_by(owed_ends.c.since).limit(_AT_ONCE)).all()


def _pay(owed: sa.Row[Any], by_name: Mapping[str, AtEnd], connection: sa.Connection) -> None:
    """Tell an end and forget that it was owed; another replica may have done so meanwhile."""
    is_old = owed.since < time.time() - _PATIENCE_SECONDS
    hook = by_name.get(owed.owed_to)
    if hook is None and not is_old:
        return
    this = (owed_ends.c.command_id == owed.command_id) & (owed_ends.c.owed_to == owed.owed_to)
    if connection.execute(sa.delete(owed_ends).where(this)).rowcount == 0:
        return
    if hook is None or is_old:
        log.error("end_never_told", command_id=owed.command_id, to=owed.owed_to)
        return
    row = connection.execute(sa.select(commands).where(commands.c.id == owed.command_id)).mappings().one()
    hook(connection, dict(row))


def _name(hook: AtEnd) -> str:
    return getattr(hook, "__qualname__", type(hook).__qualname__)
