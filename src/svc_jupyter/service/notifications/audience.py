"""The recipients of notifications about a schedule or a pipeline, and the outcomes to which they subscribe.

If channels are enabled but none is listed or left, the owner gets an e-mail. A disabled owner gets nothing, since they
may no longer see the account's work.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.api.states import ActionStatus, CommandStatus
from svc_jupyter.service.notifications.channels import addresses_of
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.notifications import channels
from svc_jupyter.service.schema.schedules import Schedule


class Outcome(StrEnum):
    """The outcomes that a schedule can report: `notify_failure` and `notify_success`."""

    FAILURE = "failure"
    SUCCESS = "success"


_OUTCOMES: Mapping[str, Outcome] = {
    CommandStatus.DONE.value: Outcome.SUCCESS,
    CommandStatus.ERROR.value: Outcome.FAILURE,
    ActionStatus.NOT_FOUND.value: Outcome.FAILURE,
}


def outcome_of(status: str) -> Outcome | None:
    """Return the outcome of an action's final status; None for `cancelled`, since the user who cancelled it knows."""
    return _OUTCOMES.get(status)


@dataclass(frozen=True, slots=True)
class Recipient:
    """A message's destination: `address` is an e-mail address, or the id of a webhook channel."""

    medium: ChannelType
    address: str


def schedule_audience(connection: sa.Connection, schedule: Schedule, outcomes: Collection[Outcome]) -> list[Recipient]:
    """Return the recipients that a schedule names for some outcomes.

    `notify_failure` and `notify_success` enable the channels, `can_notify` failures to the owner.
    """
    channels = (Outcome.FAILURE in outcomes and schedule.notify_failure) or (
        Outcome.SUCCESS in outcomes and schedule.notify_success
    )
    listed = _listed(connection, schedule.account_id, schedule.notification_channels) if channels else []
    if (Outcome.FAILURE in outcomes and schedule.can_notify) or (channels and not listed):
        listed += _owner(connection, schedule.user_id)
    return _unique(listed)


def alert_audience(connection: sa.Connection, schedule: Schedule) -> list[Recipient]:
    """Return the recipients of a schedule's alerts: its channels, and the owner with `can_notify` or without any."""
    listed = _listed(connection, schedule.account_id, schedule.notification_channels)
    if schedule.can_notify or not listed:
        listed += _owner(connection, schedule.user_id)
    return _unique(listed)


def pipeline_audience(connection: sa.Connection, pipeline: Mapping[str, Any]) -> list[Recipient]:
    """Return the recipients of a pipeline's failures."""
    listed = _listed(connection, pipeline["account_id"], pipeline["notification_channels"])
    return _unique(listed or _owner(connection, pipeline["user_id"]))


def _unique(recipients: Sequence[Recipient]) -> list[Recipient]:
    """Return each recipient once; addresses are case-insensitive."""
    unique: dict[tuple[ChannelType, str], Recipient] = {}
    for recipient in recipients:
        unique.setdefault((recipient.medium, recipient.address.lower()), recipient)
    return list(unique.values())


def _listed(connection: sa.Connection, account_id: int, ids: Sequence[int] | None) -> list[Recipient]:
    if not ids:
        return []
    query = sa.select(channels.c.id, channels.c.type, channels.c.target).where(
        channels.c.account_id == account_id, channels.c.id.in_(ids)
    )
    found: list[Recipient] = []
    for row in connection.execute(query.order_by(channels.c.id)):
        addresses = addresses_of(row.target) if row.type == ChannelType.EMAIL else [str(row.id)]
        found += [Recipient(ChannelType(row.type), address) for address in addresses]
    return found


def _owner(connection: sa.Connection, user_id: int) -> list[Recipient]:
    email = connection.execute(sa.select(users.c.email).where(users.c.id == user_id, users.c.enabled)).scalar()
    return [] if email is None else [Recipient(ChannelType.EMAIL, email)]
