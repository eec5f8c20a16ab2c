"""Tables of package environments, of what was done to them, and of who uses which version. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.access.tables import accounts, users
from svc_jupyter.service.clusters.tables import clusters
from svc_jupyter.service.database import BigId, Json, metadata

environments = sa.Table(
    "package_environments",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False, index=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    # Unique among those that are not deleted; whoever gives a name locks the account.
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("env_type", sa.String(32), nullable=False),
    # Of Python or R.
    sa.Column("language_version", sa.String(32), nullable=False),
    # The cluster whose runs use it.
    sa.Column("cluster_id", BigId, sa.ForeignKey(clusters.c.id, ondelete="SET NULL"), index=True),
    # The activity that built what is in force: changing it is the swap. Null before the first success.
    sa.Column("package_id", BigId),
    sa.Column("created_at", sa.Double, nullable=False),
    # A deleted one stays as long as something that began with it runs.
    sa.Column("deleted_at", sa.Double),
    # Policies and the audit log name it by its id.
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
    # What was asked for with this row.
    sa.Column("packages", Json, nullable=False),
    # All that is asked for of the environment after it, as requirements.
    sa.Column("requested", Json, nullable=False),
    # Every package at its exact version with its hashes, once it succeeded.
    sa.Column("lock", sa.Text),
    sa.Column("message", sa.Text),
    # Where it was built, in the environment's folder; null once that is gone.
    sa.Column("folder", sa.String(64)),
    sa.Column("restored_id", BigId),
    sa.Column("cluster_id", BigId),
    # The replica that works on it; a replica that is gone leaves it to another.
    sa.Column("replica_id", sa.String(32)),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("started_at", sa.Double),
    sa.Column("finished_at", sa.Double),
    # Restores name it by its id.
    sqlite_autoincrement=True,
)

uses = sa.Table(
    "package_uses",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    # The activity that built what is used.
    sa.Column("activity_id", BigId, sa.ForeignKey(activities.c.id, ondelete="CASCADE"), nullable=False, index=True),
    # Who uses it: a command, or an instance of a cluster.
    sa.Column("command_id", BigId),
    sa.Column("instance_id", BigId),
)
