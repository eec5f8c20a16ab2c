"""Whether the owners of schedules may still have them run (SPEC: Authentication 2).

What a schedule runs, it runs in its owner's name. Who is disabled, or has lost the right that creating it took, runs
nothing any more: their actions end in `error` and say so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.owners import enabled_owners
from svc_jupyter.service.access.permissions import Action, Resource, decide

_DISABLED = "not run: the schedule's owner is disabled; enable the user, or let somebody else create the schedule"


def refusals(connection: sa.Connection, user_ids: Collection[int]) -> Mapping[int, str]:
    """Return why nothing is run in the name of a user, by user; who may run schedules is not among them."""
    owners = enabled_owners(connection, user_ids)
    found = {user_id: refusal(owners.get(user_id)) for user_id in user_ids}
    return {user_id: reason for user_id, reason in found.items() if reason is not None}


def refusal(owner: Caller | None) -> str | None:
    """Return why an owner runs nothing, None for one who may; `owner` is None for a disabled one. Pure."""
    if owner is None:
        return _DISABLED
    decision = decide(owner, Action.CREATE, Resource.SCHEDULER)
    if decision.allowed:
        return None
    return (
        f"not run: the schedule's owner {owner.email} may not run schedules any more; {decision.because} "
        f"(permission to {Action.CREATE} {Resource.SCHEDULER}). Give it back, or let somebody else create the schedule"
    )
