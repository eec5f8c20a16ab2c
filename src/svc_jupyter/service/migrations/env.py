"""Alembic's entry: runs inside the transaction that `upgrade` gives, or offline for a database of its own."""

from __future__ import annotations

from alembic import context

from svc_jupyter.service.access import tables as _access  # noqa: F401  registers its tables
from svc_jupyter.service.audit import tables as _audit  # noqa: F401
from svc_jupyter.service.clusters import tables as _clusters  # noqa: F401
from svc_jupyter.service.commands import tables as _commands  # noqa: F401
from svc_jupyter.service.database import metadata
from svc_jupyter.service.db_taps import tables as _db_taps  # noqa: F401
from svc_jupyter.service.identity import tables as _identity  # noqa: F401
from svc_jupyter.service.notifications import tables as _notifications  # noqa: F401
from svc_jupyter.service.packages import tables as _packages  # noqa: F401
from svc_jupyter.service.pipelines import tables as _pipelines  # noqa: F401
from svc_jupyter.service.schedules import tables as _schedules  # noqa: F401
from svc_jupyter.service.storage import tables as _storage  # noqa: F401
from svc_jupyter.service.workspace import tables as _workspace  # noqa: F401

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
