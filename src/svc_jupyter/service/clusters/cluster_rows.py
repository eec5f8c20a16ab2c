"""Clusters in the database, found by id or label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.cluster_texts import is_label
from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.fields import MAX_ID
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.schema.clusters import cluster_labels, clusters

# Statements for submissions are built once: building one takes longer than running it.
_BY_ID = sa.select(clusters).where(clusters.c.id == sa.bindparam("cluster"))
_LOCKED = _BY_ID.with_for_update()
_LABELS = (
    sa.select(cluster_labels.c.label)
    .where(cluster_labels.c.cluster_id == sa.bindparam("cluster"))
    .order_by(cluster_labels.c.position)
)
_BY_LABEL = (
    sa.select(clusters)
    .join(cluster_labels, cluster_labels.c.cluster_id == clusters.c.id)
    .where(cluster_labels.c.account_id == sa.bindparam("account"), cluster_labels.c.label == sa.bindparam("wanted"))
)


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster. `configuration` is the wanted one, with labels and without secrets."""

    id: int
    account_id: int
    user_id: int
    labels: tuple[str, ...]
    configuration: ClusterConfiguration
    state: ClusterState
    instance_id: int | None
    """The running instance, or the last one; None when it never ran."""
    sealed_secrets: str | None = field(default=None, repr=False)

    @property
    def type(self) -> ClusterType:
        """What the cluster runs."""
        return self.configuration.cluster_type

    @property
    def name(self) -> str:
        """The name in texts: the first label, else the id."""
        return self.labels[0] if self.labels else str(self.id)


def find_cluster(connection: sa.Connection, account_id: int, label_or_id: str | int) -> ClusterRow | None:
    """Return the account's cluster with an id or a label, None when there is none."""
    text = str(label_or_id)
    if text.isascii() and text.isdigit():
        number = int(text)
        cluster = None if number > MAX_ID else cluster_by_id(connection, number)
        return cluster if cluster is not None and cluster.account_id == account_id else None
    return find_labelled(connection, account_id, text)


def find_labelled(connection: sa.Connection, account_id: int, label: str) -> ClusterRow | None:
    """Return the account's cluster with a label, None when there is none."""
    if not is_label(label):  # databases refuse some characters
        return None
    row = connection.execute(_BY_LABEL, {"account": account_id, "wanted": label}).mappings().one_or_none()
    return None if row is None else cluster_row(row, labels_of(connection, row["id"]))


def lock_cluster(connection: sa.Connection, cluster_id: int) -> ClusterRow | None:
    """Lock a cluster's row until the end of the transaction; return the cluster, None when it is deleted."""
    row = connection.execute(_LOCKED, {"cluster": cluster_id}).mappings().one_or_none()
    return None if row is None else cluster_row(row, labels_of(connection, cluster_id))


def cluster_by_id(connection: sa.Connection, cluster_id: int) -> ClusterRow | None:
    """Return a cluster, None when it is deleted."""
    row = connection.execute(_BY_ID, {"cluster": cluster_id}).mappings().one_or_none()
    return None if row is None else cluster_row(row, labels_of(connection, cluster_id))


def labels_of(connection: sa.Connection, cluster_id: int) -> tuple[str, ...]:
    """Return a cluster's labels in their order."""
    return tuple(connection.execute(_LABELS, {"cluster": cluster_id}).scalars())


def cluster_row(row: Mapping[Any, Any], labels: tuple[str, ...]) -> ClusterRow:
    """Return the cluster of a row."""
    return ClusterRow(
        id=row["id"],
        account_id=row["account_id"],
        user_id=row["user_id"],
        labels=labels,
        configuration=ClusterConfiguration.model_validate({**row["configuration"], "label": list(labels)}),
        state=ClusterState(row["state"]),
        instance_id=row["instance_id"],
        sealed_secrets=row["secrets"],
    )
