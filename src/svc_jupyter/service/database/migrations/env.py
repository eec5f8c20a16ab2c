"""Alembic's entry point: runs in the transaction that `upgrade` gives, or offline for another database."""

from __future__ import annotations

from alembic import context

from svc_jupyter.service.schema import access as _access  # noqa: F401  registers its tables
from svc_jupyter.service.schema import audit as _audit  # noqa: F401
from svc_jupyter.service.schema import clusters as _clusters  # noqa: F401
from svc_jupyter.service.schema import commands as _commands  # noqa: F401
from svc_jupyter.service.schema import db_taps as _db_taps  # noqa: F401
from svc_jupyter.service.schema import identity as _identity  # noqa: F401
from svc_jupyter.service.schema import notifications as _notifications  # noqa: F401
from svc_jupyter.service.schema import packages as _packages  # noqa: F401
from svc_jupyter.service.schema import pipelines as _pipelines  # noqa: F401
from svc_jupyter.service.schema import schedules as _schedules  # noqa: F401
from svc_jupyter.service.schema import storage as _storage  # noqa: F401
from svc_jupyter.service.schema import workspace as _workspace  # noqa: F401
from svc_jupyter.service.schema.metadata import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
