"""Finds groups, roles and users by ids, names or e-mail addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.fields import MAX_ID, NAME_LIMIT
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.schema.access import groups, roles, users

MAX_NAMED_AT_ONCE = 1000
_SHOWN = 5
_ROOM = 16
"""Characters reserved for the suffix of a copy's name."""


def find_group(connection: sa.Connection, account_id: int, reference: str) -> sa.Row[Any]:
    """Return the row of a group by id or name. Raises `NotFound`."""
    return _find(connection, groups, groups.c.name, account_id, reference, "group")


def find_role(connection: sa.Connection, account_id: int, reference: str) -> sa.Row[Any]:
    """Return the row of a role by id or name. Raises `NotFound`."""
    return _find(connection, roles, roles.c.name, account_id, reference, "role")


def find_user(connection: sa.Connection, account_id: int, reference: str) -> sa.Row[Any]:
    """Return the row of a member of the account by id or e-mail address, case-insensitively.

    Raises `NotFound`.
    """
    return _find(connection, users, users.c.email, account_id, reference.lower(), "user")


def find_roles(connection: sa.Connection, account_id: int, words: Iterable[str], field: str) -> Sequence[sa.Row[Any]]:
    """Return the rows of the roles with these ids or names. Raises `Invalid`, naming the unknown ones."""
    return _find_all(connection, roles, roles.c.name, account_id, words, field, "role")


def find_users(connection: sa.Connection, account_id: int, words: Iterable[str], field: str) -> Sequence[sa.Row[Any]]:
    """Return the rows of members of the account by ids or e-mail addresses, case-insensitively, each once.

    Raises `Invalid`, naming those that are not in the account.
    """
    lowered = [word.lower() for word in words]
    return _find_all(connection, users, users.c.email, account_id, lowered, field, "user")


def _find(
    connection: sa.Connection, table: sa.Table, name: sa.Column[str], account_id: int, reference: str, noun: str
) -> sa.Row[Any]:
    number = _number(reference)
    this = name == reference if number is None else table.c.id == number
    row = None
    if "\x00" not in reference:  # PostgreSQL allows none in texts
        row = connection.execute(sa.select(table).where(table.c.account_id == account_id, this)).one_or_none()
    if row is None:
        raise NotFound(f"there is no {noun} {reference[:80]!r} in this account")
    return row


def _find_all(
    connection: sa.Connection,
    table: sa.Table,
    name: sa.Column[str],
    account_id: int,
    words: Iterable[str],
    field: str,
    noun: str,
) -> Sequence[sa.Row[Any]]:
    wanted = dict.fromkeys(words)
    if len(wanted) > MAX_NAMED_AT_ONCE:
        raise Invalid(f"{field}: names {len(wanted)} {noun}s; at most {MAX_NAMED_AT_ONCE} at once")
    numbers = {word: number for word in wanted if (number := _number(word)) is not None}
    names = [word for word in wanted if word not in numbers and "\x00" not in word]
    rows = connection.execute(
        sa.select(table)
        .where(table.c.account_id == account_id, sa.or_(table.c.id.in_(list(numbers.values())), name.in_(names)))
        .order_by(table.c.id)
    ).all()
    there = {row.id for row in rows} | {row._mapping[name] for row in rows}
    unknown = [word for word in wanted if numbers.get(word, word) not in there]
    if unknown:
        shown = ", ".join(word[:80] for word in unknown[:_SHOWN]) + (", …" if len(unknown) > _SHOWN else "")
        raise Invalid(f"{field}: {shown}: no such {noun} in this account; nothing was changed")
    return rows


def _number(word: str) -> int | None:
    """Return a word as an id, None where it is none; names of groups and roles are never numbers."""
    if word.isascii() and word.isdigit() and len(word) <= len(str(MAX_ID)):
        return min(int(word), MAX_ID)
    return None


def copy_name(connection: sa.Connection, table: sa.Table, account_id: int, name: str) -> str:
    """Return the first of `name copy`, `name copy 2` … that the account does not have yet."""
    begin = f"{name[: NAME_LIMIT - _ROOM].rstrip()} copy"
    query = sa.select(table.c.name).where(
        table.c.account_id == account_id, table.c.name.startswith(begin, autoescape=True)
    )
    taken = set(connection.execute(query).scalars())
    candidates = chain([begin], (f"{begin} {number}" for number in count(2)))
    return next(candidate for candidate in candidates if candidate not in taken)
