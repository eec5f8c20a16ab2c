"""The recipients of a schedule's notifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.notifications.channel_targets import addresses_of
from svc_jupyter.service.notifications.outcomes import Outcome
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.notifications import channels


@dataclass(frozen=True, slots=True)
class Recipient:
    """A message's destination: `address` is an e-mail address, or the id of a webhook channel."""

    medium: ChannelType
    address: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """The recipients that a schedule names for one outcome."""

    channels: bool
    owner: bool


def wishes_of(schedule: Mapping[str, Any], outcome: Outcome) -> Wishes:
    """Return the recipients in a schedule's row for an outcome.

    `notify_failure` and `notify_success` enable the channels, `can_notify` failures to the owner.
    """
    if outcome is Outcome.FAILURE:
        return Wishes(channels=schedule["notify_failure"], owner=schedule["can_notify"])
    return Wishes(channels=schedule["notify_success"], owner=False)


def audience(connection: sa.Connection, schedule: Mapping[str, Any], wishes: Wishes) -> list[Recipient]:
    """Return the recipients among a schedule's channels and its owner, each once; addresses are case-insensitive.

    If channels are enabled but none is listed or left, the owner gets an e-mail. A disabled owner gets nothing, since
    they may no longer see the account's work.
    """
    listed = _listed(connection, schedule["account_id"], schedule["notification_channels"]) if wishes.channels else []
    if wishes.owner or (wishes.channels and not listed):
        listed += _owner(connection, schedule["user_id"])
    unique: dict[tuple[ChannelType, str], Recipient] = {}
    for recipient in listed:
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
