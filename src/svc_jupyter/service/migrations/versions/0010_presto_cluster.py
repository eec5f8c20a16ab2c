"""A Presto cluster for accounts that have clusters of before there was Presto; new accounts begin with one."""

from __future__ import annotations

from alembic import op

from svc_jupyter.service.migrations.cluster_of_a_new_engine import add_where_missing

revision = "0010"
down_revision = "0009"

_CONFIGURATION = {
    "presto_settings": {"enable_presto": True},
    "node_configuration": {"initial_nodes": 1, "max_nodes": 3},
}


def upgrade() -> None:
    """Add the cluster, DOWN, where no other has its label, nor is one."""
    add_where_missing(op.get_bind(), "presto", _CONFIGURATION, ("presto_settings", "enable_presto"))
