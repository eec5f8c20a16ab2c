"""What a version that brings an engine adds for accounts of before: a cluster of it, as new accounts begin with.

It knows the tables as they have been since clusters came; a migration that changes them leaves this one behind.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa

_ID: Final = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_USERS: Final = sa.table("users", sa.column("id", _ID), sa.column("account_id", _ID))
_CLUSTERS: Final = sa.table(
    "clusters",
    sa.column("id", _ID),
    sa.column("account_id", _ID),
    sa.column("user_id", _ID),
    sa.column("created_at", sa.Double()),
    sa.column("configuration", sa.JSON(none_as_null=True)),
    sa.column("state", sa.String()),
)
_LABELS: Final = sa.table(
    "cluster_labels",
    sa.column("account_id", _ID),
    sa.column("label", sa.String()),
    sa.column("cluster_id", _ID),
    sa.column("position", sa.Integer()),
)


def add_where_missing(
    connection: sa.Connection, label: str, configuration: Mapping[str, Any], chosen_by: tuple[str, str]
) -> None:
    """Add the cluster, DOWN, where no other has its label, nor is one; `chosen_by` is the setting that makes one."""
    found = connection.execute(sa.select(_CLUSTERS.c.account_id, _CLUSTERS.c.configuration)).all()
    labelled = set(connection.execute(sa.select(_LABELS.c.account_id).where(_LABELS.c.label == label)).scalars())
    part, setting = chosen_by
    have_one = {row.account_id for row in found if row.configuration.get(part, {}).get(setting)}
    for account_id in sorted({row.account_id for row in found} - labelled - have_one):
        _add(connection, account_id, label, configuration)


def _add(connection: sa.Connection, account_id: int, label: str, configuration: Mapping[str, Any]) -> None:
    owner = sa.select(sa.func.min(_USERS.c.id)).where(_USERS.c.account_id == account_id).scalar_subquery()
    values = {
        "account_id": account_id,
        "user_id": owner,
        "created_at": time.time(),
        "configuration": configuration,
        "state": "DOWN",
    }
    cluster_id = connection.execute(sa.insert(_CLUSTERS).values(**values).returning(_CLUSTERS.c.id)).scalar_one()
    named = {"account_id": account_id, "label": label, "cluster_id": cluster_id, "position": 0}
    connection.execute(sa.insert(_LABELS).values(**named))
