"""Tables of commands, of the replicas that run them, and of idempotency keys. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.metadata import BigId, Json, metadata

replicas = sa.Table(
    "replicas",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("host", sa.String(255), nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    # Empty where the system has none.
    sa.Column("boot_id", sa.String(36), nullable=False),
    sa.Column("start_ticks", sa.BigInteger, nullable=False),
    sa.Column("lease_until", sa.Double, nullable=False),
)

commands = sa.Table(
    "commands",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("command_type", sa.String(64), nullable=False),
    sa.Column("command_source", sa.String(16), nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("command", Json, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("start_time", sa.Double),
    sa.Column("end_time", sa.Double),
    sa.Column("name", sa.String(255)),
    sa.Column("tags", sa.String(255)),
    sa.Column("label", sa.String(255)),
    sa.Column("pool", sa.String(255)),
    sa.Column("timeout", sa.BigInteger),
    sa.Column("retry", sa.Integer, nullable=False, server_default="0"),
    sa.Column("retry_delay", sa.Integer),
    sa.Column("can_notify", sa.Boolean, nullable=False),
    sa.Column("resolved_macros", Json),
    sa.Column("progress", sa.Integer, nullable=False, server_default="0"),
    sa.Column("result_rows", sa.BigInteger),
    sa.Column("pid", sa.Integer),
    sa.Column("message", sa.Text),
    sa.Column("attempts", Json),
    sa.Column("next_attempt_at", sa.Double),
    sa.Column("replica_id", sa.String(32)),
    sa.Column("stop_reason", sa.Text),
    sa.Column("result", Json),
    # Results besides the main one: the dumps and stores of a Pig script.
    sa.Column("outputs", Json),
    sa.Column("nominal_time", sa.String(32)),
    sa.Column("sequence_id", BigId),
    # For a child: its composite, and the number of its sub-command, from 1.
    sa.Column("parent_id", BigId),
    sa.Column("child_number", sa.Integer),
    # The cluster that must be UP before the command begins; null where none is needed.
    sa.Column("cluster_id", BigId),
    # Part of the name of the command's folder.
    sa.Column("folder_key", sa.String(16), nullable=False),
    # For a schedule's command: the user besides its owner who is responsible; both must have the rights.
    sa.Column("edited_by", BigId),
    # The name of the notebook whose cell submitted it; null for any other, empty where it is not known.
    sa.Column("notebook", sa.String(255)),
    sa.Index("ix_commands_status", "status", "account_id", "id"),
    sa.Index("ix_commands_user", "user_id", "id"),
    sa.Index("ix_commands_account", "account_id", "id"),
    sa.Index("ix_commands_replica", "replica_id", "status"),
    sa.Index("ix_commands_parent", "parent_id", "child_number", unique=True),
    # An id is never reused, even after the newest row is deleted: folders and links are named by it.
    sqlite_autoincrement=True,
)

owed_ends = sa.Table(
    "owed_ends",
    metadata,
    sa.Column("command_id", BigId, sa.ForeignKey(commands.c.id, ondelete="CASCADE"), primary_key=True),
    # The hook that failed at the command's end and is to be called again.
    sa.Column("owed_to", sa.String(100), primary_key=True),
    sa.Column("since", sa.Double, nullable=False),
)

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("key", sa.String(255), primary_key=True),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False, index=True),
    # Null while the first call is under way.
    sa.Column("status", sa.Integer),
    sa.Column("answer", sa.Text),
)

NEW_ROW: dict[str, object] = {column.name: None for column in commands.columns} | {
    "retry": 0,
    "progress": 0,
    "can_notify": False,
}
"""All columns of a new command, empty."""
