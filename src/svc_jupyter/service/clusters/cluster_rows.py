"""Clusters in the database: found by id or label, with their labels and configurations.

Secrets of a configuration are sealed separately and write-only: what is stored, shown, logged or given to an instance
has `<hidden>` in their place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import sqlalchemy as sa

from svc_jupyter.api.cluster_texts import is_label
from svc_jupyter.api.clusters import ADDRESSES, ClusterChanges, ClusterConfiguration, ClusterType
from svc_jupyter.api.fields import MAX_ID
from svc_jupyter.api.states import ClusterState
from svc_jupyter.api.text import HIDDEN
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
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

EXTERNAL_PASSWORD: Final = "external_password"  # noqa: S105  a name
"""The name of an external cluster's password among the sealed secrets."""


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


_SECRETS: Final[Mapping[str, tuple[str, str]]] = {
    "compute_access_key": ("cloud_settings", "compute_access_key"),
    "compute_secret_key": ("cloud_settings", "compute_secret_key"),
    EXTERNAL_PASSWORD: ("external", "password"),
}
"""The names of sealed secrets, with the object and the field of each."""
_DESTINATION: Final = (*ADDRESSES, "user", "tls_ca")
"""The destination of an external cluster's password: a stored one is never sent to another."""


def to_json(configuration: ClusterConfiguration, *, with_labels: bool = False) -> dict[str, Any]:
    """Return a configuration for storage, without labels, which have their own table."""
    return configuration.model_dump(mode="json", exclude=None if with_labels else {"label"})


def merged(before: ClusterConfiguration, changes: ClusterChanges) -> dict[str, Any]:
    """Return a configuration's body with changes applied: objects are merged deeply, lists and texts replaced."""
    return _merged(before.model_dump(mode="json"), changes.model_dump(mode="json", exclude_unset=True))


def changed_fields(changes: ClusterChanges) -> list[str]:
    """Return the names of a body's fields, such as `hadoop_settings.custom_config`, for the audit log."""
    return sorted(_paths(changes.model_dump(mode="json", exclude_unset=True)))


def take_secrets(
    box: SecretBox, configuration: ClusterConfiguration, given: ClusterChanges, sealed: str | None
) -> str | None:
    """Return the sealed secrets of a merged configuration, and replace them there with `<hidden>`.

    `sealed` are the previous ones. `<hidden>` or a missing value keeps a secret, an empty text deletes it. Raises
    `ValueError` when they were sealed with another key.
    """
    values = {name: getattr(getattr(given, part), key) for name, (part, key) in _SECRETS.items()}
    secrets: dict[str, str] = {}
    if any(value not in (None, HIDDEN) for value in values.values()) and sealed is not None:
        secrets = json.loads(box.open(sealed))
    elif sealed is not None:
        return sealed
    for name, value in values.items():
        if value == "":
            secrets.pop(name, None)
        elif value not in (None, HIDDEN):
            secrets[name] = value
        part, key = _SECRETS[name]
        setattr(getattr(configuration, part), key, HIDDEN if name in secrets else None)
    return box.seal(json.dumps(secrets)) if secrets else None


def check_destination(before: ClusterConfiguration, after: ClusterConfiguration, given: ClusterChanges) -> None:
    """Raise `Invalid` when a password that is not given again would be sent to another server."""
    changed = [name for name in _DESTINATION if getattr(before.external, name) != getattr(after.external, name)]
    if before.external.password == HIDDEN and given.external.password in (None, HIDDEN) and changed:
        raise Invalid(
            f"external.password: {' and '.join(changed)} changed: give the password again, or an empty one for none; "
            "the one that is stored was entered for another connection"
        )


def cluster_record(cluster: ClusterRow, *, provider: str) -> dict[str, Any]:
    """Return the record of a cluster whose next start is on `provider`."""
    return {
        "id": cluster.id,
        "label": list(cluster.labels),
        "state": cluster.state.value,
        **to_json(cluster.configuration),
        "provider": provider,
    }


def _merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    after = dict(before)
    for key, value in given.items():
        known = after.get(key)
        after[key] = _merged(known, value) if isinstance(value, dict) and isinstance(known, dict) else value
    return after


def _paths(given: Mapping[str, Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for key, value in given.items():
        found += _paths(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}"]
    return found
