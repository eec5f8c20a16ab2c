"""Lists without the objects that their caller may not read: as a condition of the query, so that pages stay full."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, decide, decision, require


def readable(caller: Caller, resource: Resource, id_column: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Return the condition that is true for the objects that the caller may read; `id_column` holds their ids.

    It lists the objects whose policies differ from the caller's groups, so that it needs no query, also per row.
    Raises `Forbidden` for a caller who may read none of them.
    """
    if caller.is_admin:
        return sa.true()
    by_groups = decide(caller, Action.READ, resource).allowed
    otherwise = caller.exceptions.get(resource)
    if otherwise is None:
        otherwise = caller.exceptions[resource] = _exceptions(caller, resource, by_groups=by_groups)
    if not otherwise:
        require(caller, Action.READ, resource)
        return sa.true()
    # Inlined into the statement: databases limit the number of parameters.
    named = sa.bindparam(None, otherwise, expanding=True, literal_execute=True, type_=sa.BigInteger())
    return id_column.not_in(named) if by_groups else id_column.in_(named)


def _exceptions(caller: Caller, resource: Resource, *, by_groups: bool) -> tuple[int, ...]:
    """Return the objects whose policies decide differently from the caller's groups, in order."""
    named = caller.policies.about(caller.user_id, caller.group_ids)
    ids = sorted(object_id for kind, object_id in named if kind is resource)
    return tuple(
        object_id for object_id in ids if decision(caller, Action.READ, resource, object_id).allowed is not by_groups
    )
