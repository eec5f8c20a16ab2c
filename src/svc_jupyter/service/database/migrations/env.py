"""Alembic's entry point: runs in the transaction that `upgrade` gives, or offline for another database."""

from __future__ import annotations

from alembic import context

from svc_jupyter.service.schema.metadata import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
