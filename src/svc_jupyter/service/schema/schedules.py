"""Tables of schedules, their actions, and of the lease under which one replica is the ticker. Times: Unix seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.metadata import BigId, Json, metadata

AT_ONCE = 0.0
"""In `schedules.due_at`: the ticker checks the schedule now, whatever the clock shows."""
schedules = sa.Table(
    "schedules",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("name", sa.String(255)),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("command_type", sa.String(64), nullable=False),
    sa.Column("command", Json, nullable=False),
    sa.Column("macros", Json),
    sa.Column("label", sa.String(255)),
    sa.Column("pool", sa.String(255)),
    sa.Column("tags", sa.String(255)),
    # The timetable
    sa.Column("start_time", sa.Double, nullable=False),
    sa.Column("end_time", sa.Double),
    sa.Column("time_zone", sa.String(64), nullable=False),
    sa.Column("frequency", sa.Integer),
    sa.Column("time_unit", sa.String(16)),
    sa.Column("cron_expression", sa.String(255)),
    # How its actions run
    sa.Column("concurrency", sa.Integer, nullable=False),
    sa.Column("no_catch_up", sa.Boolean, nullable=False),
    sa.Column("time_out", sa.Integer, nullable=False),
    sa.Column("command_timeout", sa.Integer, nullable=False),
    sa.Column("retry", sa.Integer, nullable=False),
    sa.Column("retry_delay", sa.Integer, nullable=False),
    sa.Column("dependency_info", Json),
    # Notifications
    sa.Column("can_notify", sa.Boolean, nullable=False),
    sa.Column("is_digest", sa.Boolean, nullable=False),
    sa.Column("digest_time_hour", sa.Integer, nullable=False),
    sa.Column("digest_time_minute", sa.Integer, nullable=False),
    sa.Column("notify_failure", sa.Boolean, nullable=False),
    sa.Column("notify_success", sa.Boolean, nullable=False),
    sa.Column("notification_channels", Json),
    sa.Column("due_by", sa.String(5)),
    sa.Column("longer_than", sa.Double),
    # The last editor of what it runs, if not its owner.
    sa.Column("edited_by", BigId),
    # The state of materialisation
    sa.Column("next_nominal", sa.Double),
    sa.Column("last_nominal", sa.Double),
    sa.Column("last_sequence", BigId, nullable=False, server_default="0"),
    sa.Column("resumed_at", sa.Double),
    # When the ticker checks the schedule next; null: after an event (an action's end, a resume).
    sa.Column("due_at", sa.Double),
    sa.Index("ix_schedules_due", "due_at"),
    sa.Index("ix_schedules_account", "account_id", "id"),
    sqlite_autoincrement=True,
)

actions = sa.Table(
    "actions",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("schedule_id", BigId, sa.ForeignKey(schedules.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("sequence_id", BigId, nullable=False),
    sa.Column("nominal_time", sa.Double, nullable=False),
    sa.Column("rerun_number", sa.Integer, nullable=False, server_default="0"),
    sa.Column("is_rerun_of", BigId, sa.ForeignKey("actions.id", ondelete="CASCADE")),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("done", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("ended_at", sa.Double),
    sa.Column("command_id", BigId, sa.ForeignKey(commands.c.id)),
    sa.Column("message", sa.Text),
    sa.Column("dependencies", Json),
    # When its dependencies are checked next; null for never.
    sa.Column("look_at", sa.Double),
    sa.UniqueConstraint("schedule_id", "nominal_time", "rerun_number"),
    sa.Index("ix_actions_command", "command_id"),
    sa.Index("ix_actions_account", "account_id", "id"),
    sa.Index("ix_actions_schedule", "schedule_id", "sequence_id"),
    sa.Index("ix_actions_newest", "schedule_id", "id"),
    # Few actions are open, however many there were. SQLite needs the words of the queries in the condition, and
    # `done` among the columns to prefer it to the longer indexes.
    sa.Index(
        "ix_actions_open",
        "done",
        "schedule_id",
        sqlite_where=sa.text("done = 0"),
        postgresql_where=sa.text("NOT done"),
    ),
    sa.Index(
        "ix_actions_look",
        "look_at",
        sqlite_where=sa.text("look_at IS NOT NULL"),
        postgresql_where=sa.text("look_at IS NOT NULL"),
    ),
    sqlite_autoincrement=True,
)

service_leases = sa.Table(
    "service_leases",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("replica_id", sa.String(32), nullable=False),
    sa.Column("until", sa.Double, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A row of `schedules`: its columns, in their order."""

    id: int
    account_id: int
    user_id: int
    name: str | None
    status: str
    created_at: float
    command_type: str
    command: dict[str, Any]
    macros: list[dict[str, Any]] | None
    label: str | None
    pool: str | None
    tags: str | None
    start_time: float
    end_time: float | None
    time_zone: str
    frequency: int | None
    time_unit: str | None
    cron_expression: str | None
    concurrency: int
    no_catch_up: bool
    time_out: int
    command_timeout: int
    retry: int
    retry_delay: int
    dependency_info: dict[str, Any] | None
    can_notify: bool
    is_digest: bool
    digest_time_hour: int
    digest_time_minute: int
    notify_failure: bool
    notify_success: bool
    notification_channels: list[int] | None
    due_by: str | None
    longer_than: float | None
    edited_by: int | None
    next_nominal: float | None
    last_nominal: float | None
    last_sequence: int
    resumed_at: float | None
    due_at: float | None

    @property
    def shown_name(self) -> str:
        """Its name; without one, its id as text."""
        return self.name or str(self.id)

    @property
    def has_alerts(self) -> bool:
        """Whether its runs are reported before they have ended."""
        return self.due_by is not None or self.longer_than is not None

    @classmethod
    def of(cls, row: Iterable[Any]) -> Self:
        """Return the schedule of a row with all columns."""
        return cls(*row)


@dataclass(frozen=True, slots=True)
class Action:
    """A row of `actions`: its columns, in their order."""

    id: int
    account_id: int
    schedule_id: int
    sequence_id: int
    nominal_time: float
    rerun_number: int
    is_rerun_of: int | None
    status: str
    done: bool
    created_at: float
    ended_at: float | None
    command_id: int | None
    message: str | None
    dependencies: dict[str, list[str]] | None
    look_at: float | None

    @classmethod
    def of(cls, row: Iterable[Any]) -> Self:
        """Return the action of a row with all columns."""
        return cls(*row)
