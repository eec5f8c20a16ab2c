"""Notifications: written in the transaction that ends a command or an action, sent afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa
import structlog

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.commands.logs import append_line
from svc_jupyter.service.commands.rows import CommandRow, RootName, command_root
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications import digests, outbox
from svc_jupyter.service.notifications.alerts import ALERTS, Alerts, open_alerts
from svc_jupyter.service.notifications.audience import (
    Outcome,
    Recipient,
    outcome_of,
    pipeline_audience,
    schedule_audience,
)
from svc_jupyter.service.notifications.channels import check_channels
from svc_jupyter.service.notifications.digests import DIGESTS, Digests
from svc_jupyter.service.notifications.due_work import NOTIFY, DueWork
from svc_jupyter.service.notifications.events import Event, action_event, command_event, pipeline_event
from svc_jupyter.service.notifications.mail import MailSender
from svc_jupyter.service.notifications.webhooks import WebhookSender
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import Action, Schedule

NO_SERVER = "no e-mail is sent about this command: the service has no mail server (setting SVC_SMTP_HOST)"
Row = Mapping[str, Any]
log = structlog.get_logger(__name__)


class Notifications:
    """Writes and sends the notifications that users requested."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        bus: Bus,
        secrets: SecretBox,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._database = database
        self._bus = bus
        self._clock = clock
        self._has_server = bool(settings.smtp_host)
        self._said_no_server = False
        mail = [MailSender(settings, database, bus, clock)] if self._has_server else []
        self._alerts = Alerts(database, bus, clock, deliverable=self._deliverable)
        self._rounds: list[DueWork] = [
            *mail,
            self._alerts,
            WebhookSender(settings, database, bus, secrets, clock),
            Digests(database, bus, clock, deliverable=self._deliverable),
        ]

    def on_command_end(self, connection: sa.Connection, row: CommandRow) -> None:
        """Write, in the transaction that ends the command of `row`, a message to its user if they want one.

        Without a mail server no message is written, and the command's log says so: a message from days before would
        only confuse. A disabled user gets nothing: they may no longer see the command.
        """
        if not row.can_notify:
            return
        if not self._has_server:
            self._database.after_commit(connection, partial(self._say_no_server, RootName(row.id, row.folder_key)))
            return
        query = sa.select(commands, users.c.email).join_from(commands, users, users.c.id == commands.c.user_id)
        ended = connection.execute(query.where(commands.c.id == row.id, users.c.enabled)).mappings().one_or_none()
        if ended is not None:
            self._put(connection, command_event(dict(ended)), [Recipient(ChannelType.EMAIL, ended["email"])])

    def on_pipeline_failure(self, connection: sa.Connection, pipeline: Row, command: Row) -> None:
        """Write, in the transaction that ends the command of a pipeline's run, a message to each of its channels."""
        recipients = pipeline_audience(connection, pipeline)
        self._put(connection, pipeline_event(pipeline, command), self._deliverable(recipients))

    def on_action_end(self, connection: sa.Connection, schedule: Schedule, action: Action) -> None:
        """Write, in the transaction that ends an action of a schedule, a message to each recipient of the schedule.

        `error` and `not_found` are failures, `done` a success, `cancelled` neither. With `is_digest` the end is stored
        for the digest instead.
        """
        outcome = outcome_of(action.status)
        if outcome is None:
            return
        if schedule.has_alerts:
            self._alerts.on_action_end(connection, schedule, action)
        recipients = schedule_audience(connection, schedule, {outcome})
        if not recipients:
            return
        if not self._has_server and any(recipient.medium is ChannelType.EMAIL for recipient in recipients):
            query = sa.select(commands.c.id, commands.c.folder_key).where(commands.c.id == action.command_id)
            command = connection.execute(query).one_or_none()
            self._database.after_commit(connection, partial(self._say_no_server, command and RootName(*command)))
        event = action_event(schedule, action, outcome)
        if schedule.is_digest:
            ended_at = self._clock() if action.ended_at is None else action.ended_at
            digests.gather(connection, schedule, event, outcome, ended_at=ended_at)
            self._bus.publish(connection, NOTIFY, DIGESTS)
        else:
            self._put(connection, event, self._deliverable(recipients))

    def on_schedule_change(self, connection: sa.Connection, schedule: Schedule) -> None:
        """Apply the alerts of a new or edited schedule, and its digest's time to the rows already collected.

        `schedule` is the row as the transaction of `connection` wrote it.
        """
        if schedule.has_alerts:
            self._bus.publish(connection, NOTIFY, ALERTS)
        if digests.reschedule(connection, schedule, now=self._clock()):
            self._bus.publish(connection, NOTIFY, DIGESTS)

    def open_alerts(self, connection: sa.Connection, schedules: Sequence[Schedule]) -> dict[int, list[dict[str, Any]]]:
        """Return what schedules' alerts say of runs under way, by schedule id, in the shape of `RunAlert`."""
        return open_alerts(connection, schedules, self._clock())

    def recipients(self, connection: sa.Connection, schedule: Schedule) -> list[str]:
        """Return the e-mail addresses of the recipients of a schedule."""
        return [
            recipient.address
            for recipient in schedule_audience(connection, schedule, set(Outcome))
            if recipient.medium is ChannelType.EMAIL
        ]

    def check_channels(self, connection: sa.Connection, account_id: int, ids: Sequence[int]) -> None:
        """Raise `Invalid` for an id that is not a channel of the account.

        In a write transaction none of them can be deleted before its end.
        """
        check_channels(connection, account_id, ids)

    async def forget_old(self) -> None:
        """Delete messages sent long ago."""
        await self._database.write(partial(outbox.forget_old, now=self._clock()))

    async def start(self) -> None:
        """Start sending, first what an earlier service left."""
        for rounds in self._rounds:
            await rounds.start()

    async def stop(self) -> None:
        """Send no further message; one in progress has a few seconds, otherwise the next service retries it."""
        await asyncio.gather(*(rounds.stop() for rounds in self._rounds))

    def _put(self, connection: sa.Connection, event: Event, recipients: Sequence[Recipient]) -> None:
        for medium in outbox.put(connection, event, recipients, now=self._clock()):
            self._bus.publish(connection, NOTIFY, medium.value)

    def _deliverable(self, recipients: Sequence[Recipient]) -> list[Recipient]:
        if self._has_server:
            return list(recipients)
        return [recipient for recipient in recipients if recipient.medium is not ChannelType.EMAIL]

    def _say_no_server(self, command: RootName | None) -> None:
        """Report it once to the operator, and to the user in the command's log."""
        if not self._said_no_server:
            self._said_no_server = True
            log.warning("notifications_off", reason=NO_SERVER, command_id=command and command.command_id)
        if command is None:
            return
        with contextlib.suppress(OSError):  # no log if cancelled before its start; a full disk is reported elsewhere
            append_line(command_root(self._settings.commands_dir, *command) / "log", NO_SERVER)
