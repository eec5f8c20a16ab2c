"""Labels of clusters: each belongs to one cluster of its account."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schema.clusters import cluster_labels


def set_labels(connection: sa.Connection, account_id: int, cluster_id: int, labels: Sequence[str]) -> None:
    """Give a cluster exactly these labels. Raises `Invalid` for a label of another cluster.

    Call it while the account is locked, so that two clusters cannot take the same label.
    """
    taken = connection.execute(
        sa.select(cluster_labels.c.label, cluster_labels.c.cluster_id)
        .where(
            cluster_labels.c.account_id == account_id,
            cluster_labels.c.label.in_(labels),
            cluster_labels.c.cluster_id != cluster_id,
        )
        .order_by(cluster_labels.c.label)
    ).first()
    if taken is not None:
        raise Invalid(
            f"label: {taken.label!r} is a label of cluster {taken.cluster_id}; choose another one, or move it with "
            "PUT clusters/reassign-label"
        )
    connection.execute(sa.delete(cluster_labels).where(cluster_labels.c.cluster_id == cluster_id))
    if labels:
        rows = [
            {"account_id": account_id, "label": label, "cluster_id": cluster_id, "position": position}
            for position, label in enumerate(labels)
        ]
        connection.execute(sa.insert(cluster_labels), rows)


def move_label(connection: sa.Connection, account_id: int, label: str, cluster_id: int) -> None:
    """Move a label to a cluster, as its last one; call it while the account is locked."""
    connection.execute(
        sa.delete(cluster_labels).where(cluster_labels.c.account_id == account_id, cluster_labels.c.label == label)
    )
    last = sa.select(sa.func.max(cluster_labels.c.position)).where(cluster_labels.c.cluster_id == cluster_id)
    position = connection.execute(last).scalar()
    connection.execute(
        sa.insert(cluster_labels).values(
            account_id=account_id, label=label, cluster_id=cluster_id, position=0 if position is None else position + 1
        )
    )
