"""The ids by which policies name Jupyter notebooks: assigned when a policy is first set, never reused.

A notebook is identified by its place on disk, in parts relative to the account's folder. Every function takes a
connection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access import policy_versions
from svc_jupyter.service.schema.workspace import jupyter_notebooks

Parts = Sequence[str]
_C = jupyter_notebooks.c


def find(connection: sa.Connection, account_id: int, parts: Parts) -> int | None:
    """Return the id of the object at a place, None if no policy was ever set."""
    found: int | None = connection.execute(
        sa.select(_C.id).where(_C.account_id == account_id, _C.digest == _digest("/".join(parts)))
    ).scalar()
    return found


def ensure(connection: sa.Connection, account_id: int, parts: Parts, owner_id: int | None) -> int:
    """Return the id of a notebook, a new one if it has none. Call it while the account is locked."""
    known = find(connection, account_id, parts)
    if known is not None:
        return known
    path = "/".join(parts)
    values = {"account_id": account_id, "user_id": owner_id, "path": path, "digest": _digest(path)}
    made = connection.execute(sa.insert(jupyter_notebooks).values(**values).returning(_C.id))
    return int(made.scalar_one())


def row_of(connection: sa.Connection, account_id: int, notebook_id: int) -> sa.Row[Any] | None:
    """Return the row of an id of the account; None if there is none."""
    return connection.execute(
        sa.select(jupyter_notebooks).where(_C.id == notebook_id, _C.account_id == account_id)
    ).one_or_none()


def below(connection: sa.Connection, account_id: int, folder: Parts) -> Mapping[str, int]:
    """Return the ids of everything below a folder, by relative path."""
    prefix = "/".join(folder) + "/"
    rows = connection.execute(sa.select(_C.id, _C.path).where(_C.account_id == account_id, _begins_with(prefix)))
    return {row.path.removeprefix(prefix): row.id for row in rows}


def rows_at(connection: sa.Connection, account_id: int, parts: Parts) -> Sequence[sa.Row[Any]]:
    """Return the rows of the object at a place and, if it is a folder, of its contents."""
    path = "/".join(parts)
    here = (_C.path == path) | _begins_with(f"{path}/")
    return connection.execute(sa.select(jupyter_notebooks).where(_C.account_id == account_id, here)).all()


def move(
    connection: sa.Connection, account_id: int, source: Parts, target: Parts, owner_id: int | None
) -> Sequence[sa.Row[Any]]:
    """Move ids and policies from one place to another, free one; return the rows as they were.

    `owner_id` is the owner of the target folder. Entries of a former file at the target are deleted.
    """
    forget(connection, account_id, target)
    rows = rows_at(connection, account_id, source)
    begin, end = "/".join(source), "/".join(target)
    for row in rows:
        path = end + row.path.removeprefix(begin)
        values = {"path": path, "digest": _digest(path), "user_id": owner_id}
        connection.execute(sa.update(jupyter_notebooks).where(_C.id == row.id).values(**values))
    return rows


def forget(connection: sa.Connection, account_id: int, parts: Parts) -> None:
    """Delete the ids, policies and their history of the former object at a place and, for a folder, of its contents."""
    ids = [row.id for row in rows_at(connection, account_id, parts)]
    if ids:
        policy_versions.forget(connection, SourceType.JUPYTER_NOTEBOOK, ids)
        named = sa.bindparam(None, ids, expanding=True, literal_execute=True, type_=sa.BigInteger())
        connection.execute(sa.delete(jupyter_notebooks).where(_C.id.in_(named)))


def _begins_with(prefix: str) -> sa.ColumnElement[bool]:
    """Compare a prefix; LIKE is case-insensitive on SQLite."""
    return sa.func.substr(_C.path, 1, len(prefix)) == prefix


def _digest(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()
