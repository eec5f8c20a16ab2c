"""Stores the policies of objects: the newest version is in force, older ones are the history."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.schema.access import object_policy_versions as versions

HISTORY_LIMIT = 100
"""Most versions of an object's policy."""
Policy = Sequence[Mapping[str, Any]]


def in_force(connection: sa.Connection, source_type: SourceType, source_id: int) -> sa.Row[Any] | None:
    """Return the row of the current version of an object's policy; None without any."""
    this = _of_object(source_type, [source_id])
    return connection.execute(sa.select(versions).where(*this, sa.not_(versions.c.replaced))).one_or_none()


def put(
    connection: sa.Connection, by: Caller, source_type: SourceType, source_id: int, policy: Policy, now: float
) -> None:
    """Store the current policy; `now` is Unix seconds. Call it while the account is locked, in `changing_access`."""
    this = _of_object(source_type, [source_id])
    connection.execute(sa.update(versions).where(*this, sa.not_(versions.c.replaced)).values(replaced=True))
    connection.execute(
        sa.insert(versions).values(
            account_id=by.account_id,
            source_type=source_type.value,
            source_id=source_id,
            policy=list(policy),
            user_id=by.user_id,
            created_at=now,
            trace_id=None if by.origin is None else by.origin.trace_id,
            replaced=False,
        )
    )
    kept = sa.select(versions.c.id).where(*this).order_by(versions.c.id.desc()).limit(HISTORY_LIMIT)
    connection.execute(sa.delete(versions).where(*this, versions.c.id.not_in(kept)))


def forget(
    connection: sa.Connection, source_type: SourceType, source_ids: Collection[int] | sa.Select[tuple[int]]
) -> None:
    """Delete the policies, with their history, of objects that this transaction deletes.

    `source_ids` may be a query of the ids, which runs before the objects are deleted.
    """
    if isinstance(source_ids, sa.Select):
        these = [versions.c.source_type == source_type.value, versions.c.source_id.in_(source_ids)]
    else:
        these = _of_object(source_type, source_ids)
    connection.execute(sa.delete(versions).where(*these))


def take_group_out(connection: sa.Connection, by: Caller, group_id: int, now: float) -> list[str]:
    """Store policies without a group that is being deleted; return the changed objects, such as `scheduler 7`.

    Ids of groups may be reused: an old policy must not apply to another group.
    """
    rows = connection.execute(
        sa.select(versions).where(versions.c.account_id == by.account_id, sa.not_(versions.c.replaced))
    ).all()
    changed = []
    for row in rows:
        policy = _without_group(row.policy, group_id)
        if policy != row.policy:
            put(connection, by, SourceType(row.source_type), row.source_id, policy, now)
            changed.append(f"{row.source_type} {row.source_id}")
    return changed


def _without_group(policy: Policy, group_id: int) -> list[dict[str, Any]]:
    kept = []
    for entry in policy:
        condition = {key: list(ids) for key, ids in entry["condition"].items()}
        condition["service_groups"] = [other for other in condition.get("service_groups", ()) if other != group_id]
        condition = {key: ids for key, ids in condition.items() if ids or key in entry["condition"]}
        if any(condition.values()):
            kept.append({**entry, "condition": condition})
    return kept


def _of_object(source_type: SourceType, source_ids: Collection[int]) -> list[sa.ColumnElement[bool]]:
    named = sa.bindparam(None, list(source_ids), expanding=True, literal_execute=True, type_=sa.BigInteger())
    return [versions.c.source_type == source_type.value, versions.c.source_id.in_(named)]
