"""What follows from the end of a command: e-mails, the state of a pipeline, the next action of a schedule.

Each hook writes what it needs in the transaction that ends the command. A hook that fails stops neither the end nor the
other hooks: its call is stored in `owed_ends` and repeated later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
import structlog

from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.database.errors import is_away
from svc_jupyter.service.schema.commands import commands, owed_ends

AtEnd = Callable[[sa.Connection, Mapping[str, Any]], None]
"""Called with the finished row inside the transaction that ends a command."""
_AT_ONCE: Final = 200
_PATIENCE_SECONDS: Final = 7 * 24 * 3600.0
"""How long a failed hook is repeated; by then, a maintainer has read the log and corrected the cause."""
log = structlog.get_logger(__name__)


def tell_apart(connection: sa.Connection, hooks: Sequence[AtEnd], row: Mapping[str, Any]) -> None:
    """Call each hook with the ended row. A call that fails is stored and repeated later.

    Raises only errors that mean that the database is away.
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
    """Repeat the stored calls, each in a transaction of its own. Raises `Unavailable`."""
    by_name = {_name(hook): hook for hook in hooks}
    for owed in await database.look_up(_owed):
        try:
            await database.write(partial(_pay, owed, by_name), durable=False)
        except Exception:
            log.exception("end_still_not_told", command_id=owed.command_id, to=owed.owed_to)


def _owed(connection: sa.Connection) -> Sequence[sa.Row[Any]]:
    return connection.execute(sa.select(owed_ends).order_by(owed_ends.c.since).limit(_AT_ONCE)).all()


def _pay(owed: sa.Row[Any], by_name: Mapping[str, AtEnd], connection: sa.Connection) -> None:
    """Repeat one stored call and delete its row; another replica may already have done so."""
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
