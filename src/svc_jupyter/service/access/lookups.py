"""Finds groups, roles and users by name, id or membership."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import BuiltinGroup
from svc_jupyter.api.fields import MAX_ID, NAME_LIMIT
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.schema.access import group_roles, groups, memberships, roles, users

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


def check_free(connection: sa.Connection, table: sa.Table, account_id: int, name: str, noun: str) -> None:
    """Raise `Invalid` for a name that the account has already."""
    same = sa.select(table.c.id).where(table.c.account_id == account_id, table.c.name == name)
    known = connection.execute(same).scalar()
    if known is not None:
        raise Invalid(f"name: {noun} {known} is called {name} already")


def group_ids(connection: sa.Connection, account_id: int) -> dict[str, int]:
    """Return the id of each of the account's groups by its name."""
    rows = connection.execute(sa.select(groups.c.name, groups.c.id).where(groups.c.account_id == account_id))
    return {row.name: row.id for row in rows}


def chosen_groups(text: str | None, ids: Mapping[str, int]) -> list[str]:
    """Return the group names for a comma-separated text of ids or names; `system-user` when it is blank.

    `ids` are the account's groups. Raises `Invalid` naming the first unknown group.
    """
    words = [word for word in (part.strip() for part in (text or "").split(",")) if word]
    names_by_id = {str(number): name for name, number in ids.items()}
    chosen: dict[str, None] = {}
    for word in words or [BuiltinGroup.USER.value]:
        name = word if word in ids else names_by_id.get(word)
        if name is None:
            raise Invalid(f"groups: there is no group {word[:80]!r} in this account; it has {', '.join(sorted(ids))}")
        chosen[name] = None
    return list(chosen)


def groups_of(connection: sa.Connection, user_ids: Collection[int]) -> Mapping[int, list[str]]:
    """Return the names of each user's groups, sorted; an empty list for a user without groups."""
    rows = connection.execute(
        sa.select(memberships.c.user_id, groups.c.name)
        .join(groups, groups.c.id == memberships.c.group_id)
        .where(memberships.c.user_id.in_(user_ids))
        .order_by(groups.c.name)
    )
    found: defaultdict[int, list[str]] = defaultdict(list)
    for row in rows:
        found[row.user_id].append(row.name)
    return found


def enabled_administrators(account_id: int) -> sa.Select[int]:
    """Return a query of the ids of the account's enabled members of `system-admin`, the oldest first."""
    return (
        sa.select(users.c.id)
        .join(memberships, memberships.c.user_id == users.c.id)
        .join(groups, groups.c.id == memberships.c.group_id)
        .where(users.c.account_id == account_id, users.c.enabled, groups.c.name == BuiltinGroup.ADMIN.value)
        .order_by(users.c.id)
    )


def members_of(connection: sa.Connection, group_ids: Collection[int]) -> Mapping[int, list[sa.Row[Any]]]:
    """Return the members of each group, with their `id` and `email`, the oldest first; no key for an empty group."""
    query: sa.Select[Any] = (
        sa.select(memberships.c.group_id, users.c.id, users.c.email)
        .join(users, users.c.id == memberships.c.user_id)
        .where(memberships.c.group_id.in_(group_ids))
        .order_by(users.c.id)
    )
    return _by_group(connection.execute(query))


def roles_by_group(connection: sa.Connection, group_ids: Collection[int]) -> Mapping[int, list[sa.Row[Any]]]:
    """Return the roles of each group, with their `id`, `name` and `policies`, the oldest first."""
    query: sa.Select[Any] = (
        sa.select(group_roles.c.group_id, roles.c.id, roles.c.name, roles.c.policies)
        .join(roles, roles.c.id == group_roles.c.role_id)
        .where(group_roles.c.group_id.in_(group_ids))
        .order_by(roles.c.id)
    )
    return _by_group(connection.execute(query))


def _by_group(rows: Iterable[sa.Row[Any]]) -> Mapping[int, list[sa.Row[Any]]]:
    found: defaultdict[int, list[sa.Row[Any]]] = defaultdict(list)
    for row in rows:
        found[row.group_id].append(row)
    return found
