"""Names for copies of groups and roles."""

from __future__ import annotations

from itertools import chain, count

import sqlalchemy as sa

from svc_jupyter.api.fields import NAME_LIMIT

_ROOM = 16
"""Characters kept free for what makes the name of a copy another one."""


def copy_name(connection: sa.Connection, table: sa.Table, account_id: int, name: str) -> str:
    """Return the first of `name copy`, `name copy 2` … that no row of the account has."""
    begin = f"{name[: NAME_LIMIT - _ROOM].rstrip()} copy"
    query = sa.select(table.c.name).where(
        table.c.account_id == account_id, table.c.name.startswith(begin, autoescape=True)
    )
    taken = set(connection.execute(query).scalars())
    candidates = chain([begin], (f"{begin} {number}" for number in count(2)))
    return next(candidate for candidate in candidates if candidate not in taken)
