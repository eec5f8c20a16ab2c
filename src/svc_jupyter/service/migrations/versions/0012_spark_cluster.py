"""A Spark cluster for accounts that have clusters of before there was Spark; new accounts begin with one."""

from __future__ import annotations

from alembic import op

from svc_jupyter.service.migrations.cluster_of_a_new_engine import add_where_missing

revision = "0012"
down_revision = "0011"

_CONFIGURATION = {
    "hadoop_settings": {"use_spark": True},
    "node_configuration": {"initial_nodes": 2, "max_nodes": 2},
}


def upgrade() -> None:
    """Add the cluster, DOWN, where no other has its label, nor is one."""
    add_where_missing(op.get_bind(), "spark", _CONFIGURATION, ("hadoop_settings", "use_spark"))
