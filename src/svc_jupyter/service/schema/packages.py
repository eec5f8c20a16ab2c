"""Tables of package environments, their activities, and the users of each version. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.clusters import clusters
from svc_jupyter.service.schema.metadata import BigId, Json, metadata

environments = sa.Table(
    "package_environments",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False, index=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    # Unique among those that are not deleted; naming one locks the account.
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("env_type", sa.String(32), nullable=False),
    # Of Python or R.
    sa.Column("language_version", sa.String(32), nullable=False),
    # The cluster whose commands use it.
    sa.Column("cluster_id", BigId, sa.ForeignKey(clusters.c.id, ondelete="SET NULL"), index=True),
    # The activity that built the current version: a change replaces it. Null before the first success.
    sa.Column("package_id", BigId),
    sa.Column("created_at", sa.Double, nullable=False),
    # A deleted one is kept while anything that started with it runs.
    sa.Column("deleted_at", sa.Double),
    # Policies and the audit log refer to its id.
    sqlite_autoincrement=True,
)

activities = sa.Table(
    "package_activities",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column(
        "environment_id", BigId, sa.ForeignKey(environments.c.id, ondelete="CASCADE"), nullable=False, index=True
    ),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("action", sa.String(16), nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    # The packages requested by this row.
    sa.Column("packages", Json, nullable=False),
    # All requested packages of the environment afterwards, as requirements.
    sa.Column("requested", Json, nullable=False),
    # Every package with its exact version and hashes, after a success.
    sa.Column("lock", sa.Text),
    sa.Column("message", sa.Text),
    # The folder of the build, in the environment's folder; null after it is deleted.
    sa.Column("folder", sa.String(64)),
    sa.Column("restored_id", BigId),
    sa.Column("cluster_id", BigId),
    # The replica that works on it; when the replica is gone, another one takes it.
    sa.Column("replica_id", sa.String(32)),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("started_at", sa.Double),
    sa.Column("finished_at", sa.Double),
    # Restores refer to its id.
    sqlite_autoincrement=True,
)

uses = sa.Table(
    "package_uses",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    # The activity that built the used version.
    sa.Column("activity_id", BigId, sa.ForeignKey(activities.c.id, ondelete="CASCADE"), nullable=False, index=True),
    # The user of the version: a command, or an instance of a cluster.
    sa.Column("command_id", BigId),
    sa.Column("instance_id", BigId),
)
