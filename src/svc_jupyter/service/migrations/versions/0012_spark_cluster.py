"""A Spark cluster for accounts that have clusters of before there was Spark; new accounts begin with one."""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_LABEL = "spark"
_CONFIGURATION = {
    "hadoop_settings": {"use_spark": True},
    "node_configuration": {"initial_nodes": 2, "max_nodes": 2},
}
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_USERS = sa.table("users", sa.column("id", _ID), sa.column("account_id", _ID))
_CLUSTERS = sa.table(
    "clusters",
    sa.column("id", _ID),
    sa.column("account_id", _ID),
    sa.column("user_id", _ID),
    sa.column("created_at", sa.Double()),
    sa.column("configuration", sa.JSON(none_as_null=True)),
    sa.column("state", sa.String()),
)
_LABELS = sa.table(
    "cluster_labels",
    sa.column("account_id", _ID),
    sa.column("label", sa.String()),
    sa.column("cluster_id", _ID),
    sa.column("position", sa.Integer()),
)


def upgrade() -> None:
    """Add the cluster, DOWN, where no other has its label, nor is one."""
    connection = op.get_bind()
    found = connection.execute(sa.select(_CLUSTERS.c.account_id, _CLUSTERS.c.configuration)).all()
    labelled = set(connection.execute(sa.select(_LABELS.c.account_id).where(_LABELS.c.label == _LABEL)).scalars())
    have_one = {row.account_id for row in found if row.configuration.get("hadoop_settings", {}).get("use_spark")}
    for account_id in sorted({row.account_id for row in found} - labelled - have_one):
        _add(connection, account_id)


def _add(connection: sa.Connection, account_id: int) -> None:
    owner = sa.select(sa.func.min(_USERS.c.id)).where(_USERS.c.account_id == account_id).scalar_subquery()
    values = {
        "account_id": account_id,
        "user_id": owner,
        "created_at": time.time(),
        "configuration": _CONFIGURATION,
        "state": "DOWN",
    }
    cluster_id = connection.execute(sa.insert(_CLUSTERS).values(**values).returning(_CLUSTERS.c.id)).scalar_one()
    label = {"account_id": account_id, "label": _LABEL, "cluster_id": cluster_id, "position": 0}
    connection.execute(sa.insert(_LABELS).values(**label))
