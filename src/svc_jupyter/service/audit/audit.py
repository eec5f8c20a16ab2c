"""Reading the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Resource
from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, require
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.audit import audit_entries


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """The wanted entries; None does not filter. `start` is inclusive, `end` exclusive."""

    user_id: int | None = None
    action: str | None = None
    resource: Resource | None = None
    object_id: str | None = None
    trace_id: str | None = None
    start: datetime | None = None
    end: datetime | None = None

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        """Return the filter as conditions of a query."""
        c = audit_entries.c
        wanted = {
            c.user_id: self.user_id,
            c.action: self.action,
            c.resource: self.resource,
            c.object_id: self.object_id,
            c.trace_id: self.trace_id,
        }
        conditions = [column == value for column, value in wanted.items() if value is not None]
        if self.start is not None:
            conditions.append(c.created_at >= self.start.timestamp())
        if self.end is not None:
            conditions.append(c.created_at < self.end.timestamp())
        return conditions


class Audit:
    """The log of changes; `days` is how long entries are kept."""

    def __init__(self, database: Database, days: int) -> None:
        self._database = database
        self._days = days

    def list(self, wanted: AuditFilter, page: Page, *, by: Caller) -> AuditLog:
        """Return a page of the account's changes, newest first. Raises `Forbidden` without permission to read audit."""
        require(by, Action.READ, Resource.AUDIT)
        with self._database.connect() as connection:
            shown, paging_info = page.read(
                connection,
                sa.select(audit_entries)
                .where(audit_entries.c.account_id == by.account_id, *wanted.conditions())
                .order_by(audit_entries.c.id.desc()),
            )
        return AuditLog(audit=[_entry(row) for row in shown], paging_info=paging_info)

    async def forget_old(self) -> None:
        """Delete the expired entries."""
        await self._database.write(partial(trail.forget_old, days=self._days))


def _entry(row: sa.Row[Any]) -> AuditEntry:
    return AuditEntry(
        id=row.id,
        created_at=iso_time(row.created_at),
        user_id=row.user_id,
        email=row.email,
        token_id=row.token_id,
        address=row.address,
        trace_id=row.trace_id,
        action=row.action,
        resource=row.resource,
        object_id=row.object_id,
        detail=row.detail or {},
    )
