"""The clusters of a fresh service."""

from __future__ import annotations

import time
from collections.abc import Sequence

import sqlalchemy as sa

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.clusters.cluster_rows import set_labels, to_json
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import clusters

DEFAULT = ClusterConfiguration.model_validate(
    {
        "label": ["default"],
        # Pig then needs no daemon and works at once, also on a laptop.
        "hadoop_settings": {"custom_config": "pig.exectype=local"},
        "node_configuration": {"initial_nodes": 2, "max_nodes": 4},
    }
)
"""Hadoop, DOWN until a command needs it."""
PRESTO = ClusterConfiguration.model_validate(
    {
        "label": ["presto"],
        "presto_settings": {"enable_presto": True},
        "node_configuration": {"initial_nodes": 1, "max_nodes": 3},
    }
)
"""Presto, the only cluster of its type: the default for Presto commands without a label."""
SPARK = ClusterConfiguration.model_validate(
    {
        "label": ["spark"],
        "hadoop_settings": {"use_spark": True},
        "provider": "local",  # also where the service's default is another one, on which Spark cannot run yet
        "node_configuration": {"initial_nodes": 2, "max_nodes": 2},
    }
)
"""Spark on YARN, the only cluster of its type."""
FIRST = (DEFAULT, PRESTO, SPARK)


def ensure_clusters(connection: sa.Connection, account_id: int, first: Sequence[ClusterConfiguration] = FIRST) -> None:
    """Create the account's first clusters where there is none; call it while the account is locked."""
    if connection.execute(sa.select(clusters.c.id).where(clusters.c.account_id == account_id).limit(1)).first():
        return
    owner = sa.select(sa.func.min(users.c.id)).where(users.c.account_id == account_id).scalar_subquery()
    for configuration in first:
        values = {"account_id": account_id, "created_at": time.time(), "configuration": to_json(configuration)}
        cluster_id = connection.execute(
            sa.insert(clusters).values(user_id=owner, **values).returning(clusters.c.id)
        ).scalar_one()
        set_labels(connection, account_id, cluster_id, configuration.label)
