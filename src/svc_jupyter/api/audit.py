"""The audit log: who changed what, when, and from where."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from svc_jupyter.api.fields import PagingInfo, Record


class AuditEntry(Record):
    """One change. `detail` says what may be shown of it: names of fields, never a secret."""

    id: int
    created_at: str
    user_id: int
    email: str
    token_id: int | None = Field(default=None, description="Which token of the user's; null for the service itself")
    address: str | None = Field(default=None, description="The network address that the call came from")
    trace_id: str | None = Field(default=None, description="The X-Trace-Id of the call")
    action: str
    resource: str
    object_id: str | None = None
    detail: dict[str, Any] = Field(default_factory=dict)


class AuditLog(Record):
    """One page of changes, newest first."""

    audit: list[AuditEntry]
    paging_info: PagingInfo
