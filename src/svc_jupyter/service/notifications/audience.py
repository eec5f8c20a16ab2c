"""Who is told of what a schedule does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.access.tables import users
from svc_jupyter.service.notifications.channel_targets import addresses_of
from svc_jupyter.service.notifications.outcomes import Outcome
from svc_jupyter.service.notifications.tables import channels


@dataclass(frozen=True, slots=True)
class Recipient:
    """Where a message goes: `address` is an e-mail address, or the id of a webhook channel."""

    medium: ChannelType
    address: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """Whom a schedule wants told of one outcome."""

    channels: bool
    owner: bool


def wishes_of(schedule: Mapping[str, Any], outcome: Outcome) -> Wishes:
    """Return whom a schedule's row wants told of an outcome.

    `notify_failure` and `notify_success` speak of the channels, `can_notify` of failures to the owner.
    """
    if outcome is Outcome.FAILURE:
        return Wishes(channels=schedule["notify_failure"], owner=schedule["can_notify"])
    return Wishes(channels=schedule["notify_success"], owner=False)


def audience(connection: sa.Connection, schedule: Mapping[str, Any], wishes: Wishes) -> list[Recipient]:
    """Return who of a schedule's channels and owner is told, each once, whatever the case an address is written in.

    Where channels are wanted and none is listed, or none of them is left, the owner is told by e-mail. A disabled owner
    may not know of the account's work any more.
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
