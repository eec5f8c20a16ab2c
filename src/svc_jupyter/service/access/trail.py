"""Writes the audit log in the transaction of the change itself, so that neither exists without the other."""

from __future__ import annotations

import time
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Resource
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.schema.audit import audit_entries

_INSERT = sa.insert(audit_entries)
_DAY = 86_400


def record(
    connection: sa.Connection,
    by: Caller,
    action: str,
    resource: Resource,
    object_id: int | str | None = None,
    /,
    **detail: Any,
) -> None:
    """Add an entry that `by` did `action` to an object; call it in the write transaction of the change.

    `detail` is JSON for readers of the log. It names the changed fields and holds no value that may be a secret. A
    change by a notebook run also has the run's command there, as `run`.
    """
    origin = by.origin
    values = {
        "account_id": by.account_id,
        "created_at": time.time(),
        "user_id": by.user_id,
        "email": by.email,
        "token_id": by.token_id or None,
        "address": None if origin is None else origin.address,
        "trace_id": None if origin is None else origin.trace_id,
        "action": action,
        "resource": resource.value,
        "object_id": None if object_id is None else str(object_id),
        "detail": (detail if by.command_id is None else {**detail, "run": by.command_id}) or None,
    }
    connection.execute(_INSERT, values)


def forget_old(connection: sa.Connection, days: int) -> None:
    """Delete the entries that are older than `days`."""
    before = time.time() - days * _DAY
    connection.execute(sa.delete(audit_entries).where(audit_entries.c.created_at < before))
