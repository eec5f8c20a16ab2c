"""Notification channels and digests; the outbox tells of more than commands."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)
_TOLD = (
    *("id", "name", "command_type", "status", "tags", "label", "created_at", "start_time", "end_time"),
    *("message", "attempts", "result", "result_rows"),
)
"""What a message about a command tells of it."""


def upgrade() -> None:
    """Create channels and digest entries, and turn the outbox of commands into one of events."""
    _create_channels()
    _create_digest_entries()
    for column in (
        sa.Column("event", sa.String(length=100)),
        sa.Column("medium", sa.String(length=16)),
        sa.Column("content", _JSON),
    ):
        op.add_column("notification_outbox", column)
    _describe_messages()
    with op.batch_alter_table("notification_outbox", table_kwargs={"sqlite_autoincrement": True}) as table:
        table.alter_column("event", existing_type=sa.String(length=100), nullable=False)
        table.alter_column("medium", existing_type=sa.String(length=16), nullable=False)
        table.alter_column("content", existing_type=_JSON, nullable=False)
        table.drop_index(op.f("ix_notification_outbox_next_attempt_at"))
        table.drop_constraint(op.f("uq_notification_outbox_command_id_recipient"), type_="unique")
        table.drop_constraint(op.f("fk_notification_outbox_command_id_commands"), type_="foreignkey")
        table.drop_column("command_id")
        table.create_unique_constraint(
            op.f("uq_notification_outbox_event_medium_recipient"), ["event", "medium", "recipient"]
        )
        table.create_index("ix_notification_outbox_due", ["medium", "next_attempt_at"], unique=False)


def _create_channels() -> None:
    op.create_table(
        "notification_channels",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("sealed_url", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_notification_channels_account_id_accounts")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_notification_channels_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification_channels")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_notification_channels_account_id_name")),
        sqlite_autoincrement=True,
    )


def _create_digest_entries() -> None:
    table = "notification_digest_entries"
    op.create_table(
        table,
        sa.Column("id", _ID, nullable=False),
        sa.Column("schedule_id", _ID, nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("content", _JSON, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["schedules.id"], name=op.f(f"fk_{table}_schedule_id_schedules"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.UniqueConstraint("event", name=op.f(f"uq_{table}_event")),
    )
    op.create_index(op.f(f"ix_{table}_schedule_id"), table, ["schedule_id"], unique=False)
    op.create_index(op.f(f"ix_{table}_due_at"), table, ["due_at"], unique=False)


def _describe_messages() -> None:
    """Say of each message what it tells of; only one that is still to be sent needs to know the command itself."""
    connection = op.get_bind()
    outbox = sa.table(
        "notification_outbox",
        sa.column("id"),
        sa.column("command_id"),
        sa.column("next_attempt_at"),
        sa.column("event"),
        sa.column("medium"),
        sa.column("content", _JSON),
    )
    commands = sa.table(
        "commands", *(sa.column(name, _JSON if name in ("attempts", "result") else None) for name in _TOLD)
    )
    event = sa.literal("command:") + sa.cast(outbox.c.command_id, sa.String)
    connection.execute(sa.update(outbox).values(event=event, medium="email", content={}))
    waiting = sa.select(outbox.c.id.label("message_id"), *commands.c).join_from(
        outbox, commands, commands.c.id == outbox.c.command_id
    )
    for row in connection.execute(waiting.where(outbox.c.next_attempt_at.is_not(None))).mappings().all():
        content = {"kind": "command"} | {name: row[name] for name in _TOLD}
        connection.execute(sa.update(outbox).where(outbox.c.id == row["message_id"]).values(content=content))
