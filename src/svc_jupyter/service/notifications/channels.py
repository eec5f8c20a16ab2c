"""The account's notification channels: their valid targets, and the part of them that may be shown."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from svc_jupyter.api.notification_channels import (
    ChannelCreate,
    ChannelType,
    ChannelUpdate,
    NotificationChannel,
    NotificationChannelList,
)
from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid, NotFound, StateConflict
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.notifications import channels
from svc_jupyter.service.schema.pipelines import pipelines
from svc_jupyter.service.schema.schedules import schedules

HIDDEN_PART = "…"
"""Stands for every part of a URL that may be a secret."""
_ADDRESSES_LIMIT = 50
_ADDRESS_LIMIT = 254
_URL_LIMIT = 2048
_NOT_IN_ADDRESS = r"@\s,;:<>()\[\]\\\"\x00-\x20\x7f\ud800-\udfff"
_ADDRESS = re.compile(rf"[^{_NOT_IN_ADDRESS}]+@[^{_NOT_IN_ADDRESS}.]+(\.[^{_NOT_IN_ADDRESS}.]+)*")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\ud800-\udfff]")
_NAMED_USERS = 5
_NO_MAIL_SERVER = "the service has no mail server (setting SVC_SMTP_HOST): no e-mail is sent"


@dataclass(frozen=True, slots=True)
class Target:
    """A channel's target: the part to show, and the whole URL of a webhook."""

    shown: str
    url: str | None = None

    def __repr__(self) -> str:
        return f"<Target {self.shown}>"


def parse_target(kind: ChannelType, text: str) -> Target:
    """Return the parsed target; raises `Invalid`, which never repeats the text: it may be a secret."""
    if kind is ChannelType.EMAIL:
        return Target(", ".join(_addresses(text)))
    return Target(_shown(text), text)


def addresses_of(shown: str) -> list[str]:
    """Return the addresses of an e-mail channel from its stored target."""
    return shown.split(", ")


def _addresses(text: str) -> list[str]:
    found: dict[str, str] = {}
    for number, item in enumerate(text.split(","), start=1):
        address = item.strip()
        if not _is_address(address):
            # Not repeated: it may be a URL entered with the wrong type.
            raise Invalid(
                f"target: address {number} is not an e-mail address; write one, or several separated by commas"
            )
        found.setdefault(address.lower(), address)
    if len(found) > _ADDRESSES_LIMIT:
        raise Invalid(f"target: at most {_ADDRESSES_LIMIT} addresses, {len(found)} were given")
    return list(found.values())


def _is_address(text: str) -> bool:
    # Refuse here, rather than at each sending, what the mail program would parse differently.
    return len(text) <= _ADDRESS_LIMIT and bool(_ADDRESS.fullmatch(text)) and parseaddr(text) == ("", text)


def _shown(url: str) -> str:
    import httpx

    if HIDDEN_PART in url:
        raise Invalid(f"target: give the whole URL; what holds {HIDDEN_PART} is how it is shown")
    if len(url) > _URL_LIMIT:
        raise Invalid(f"target: a URL may have at most {_URL_LIMIT} characters")
    wrong = Invalid("target: must be a URL such as https://hooks.example.com/path")
    if _UNPRINTABLE.search(url):
        raise wrong
    try:
        parts = urlsplit(url)
        port = parts.port
        sent = httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        raise wrong from None  # the cause may hold the URL
    if parts.scheme not in ("http", "https") or not parts.hostname or sent.host != parts.hostname or port == 0:
        raise wrong
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{HIDDEN_PART}"


class Channels:
    """Stores the channels. A webhook's URL is sealed, and no answer, log or error shows more of it than its host."""

    def __init__(
        self, settings: Settings, database: Database, secrets: SecretBox, clock: Callable[[], float] = time.time
    ) -> None:
        self._has_mail_server = bool(settings.smtp_host)
        self._database = database
        self._secrets = secrets
        self._clock = clock

    def list(self, page: Page, *, by: Caller) -> NotificationChannelList:
        """Return a page of the account's channels, newest first."""
        require(by, Action.READ, Resource.NOTIFICATION_CHANNEL)
        with self._database.connect() as connection:
            shown, paging_info = page.read(
                connection,
                sa.select(channels).where(channels.c.account_id == by.account_id).order_by(channels.c.id.desc()),
            )
        return NotificationChannelList(
            notification_channels=[self._record(row) for row in shown], paging_info=paging_info
        )

    def get(self, channel_id: int, *, by: Caller) -> NotificationChannel:
        """Return a channel. Raises `NotFound`."""
        require(by, Action.READ, Resource.NOTIFICATION_CHANNEL)
        with self._database.connect() as connection:
            return self._record(_row(connection, by.account_id, channel_id))

    def create(self, body: ChannelCreate, *, by: Caller) -> NotificationChannel:
        """Store a new channel and return it, without sending anything.

        Raises `Invalid` for an invalid target, and for another channel's name.
        """
        require(by, Action.CREATE, Resource.NOTIFICATION_CHANNEL)
        values = self._sealed(parse_target(body.type, body.target.get_secret_value()))
        with self._writing(by.account_id, body.name, apart_from=None) as connection:
            row = connection.execute(
                sa.insert(channels)
                .values(
                    account_id=by.account_id,
                    user_id=by.user_id,
                    name=body.name,
                    type=body.type.value,
                    created_at=self._clock(),
                    **values,
                )
                .returning(channels)
            ).one()
            channel = {"name": row.name, "type": row.type}
            trail.record(connection, by, "create", Resource.NOTIFICATION_CHANNEL, row.id, **channel)
        return self._record(row)

    def update(self, channel_id: int, body: ChannelUpdate, *, by: Caller) -> NotificationChannel:
        """Change the given attributes and return the channel; waiting messages go to its new URL.

        A target given in its shown form stays unchanged. Raises `NotFound` and `Invalid`.
        """
        require(by, Action.UPDATE, Resource.NOTIFICATION_CHANNEL)
        with self._database.connect() as connection:
            before = _row(connection, by.account_id, channel_id)
        values = self._changes(body, before)
        with self._writing(by.account_id, values["name"], apart_from=channel_id) as connection:
            row = connection.execute(
                sa.update(channels)
                .where(channels.c.id == channel_id, channels.c.account_id == by.account_id)
                .values(**values)
                .returning(channels)
            ).one_or_none()
            if row is None:
                raise _not_found(channel_id)
            changed = sorted(body.model_fields_set)
            trail.record(connection, by, "update", Resource.NOTIFICATION_CHANNEL, channel_id, changed=changed)
        return self._record(row)

    def delete(self, channel_id: int, *, by: Caller) -> None:
        """Delete a channel; messages that wait for it are not sent any more.

        Raises `NotFound`, and `StateConflict` while an unfinished schedule or a pipeline uses it: otherwise a later
        failure could go unnoticed.
        """
        require(by, Action.DELETE, Resource.NOTIFICATION_CHANNEL)
        with self._database.begin() as connection:
            # Locked against a schedule that starts to use it at this moment (`check_channels` waits for it).
            _row(connection, by.account_id, channel_id, lock=True)
            uses = {
                "schedule(s)": _schedules_with(connection, by.account_id, channel_id),
                "pipeline(s)": _pipelines_with(connection, by.account_id, channel_id),
            }
            if named := " and ".join(_named(what, users) for what, users in uses.items() if users):
                raise StateConflict(
                    f"notification channel {channel_id} is used by {named}; "
                    "take it out of their notification_channels first"
                )
            connection.execute(sa.delete(channels).where(channels.c.id == channel_id))
            trail.record(connection, by, "delete", Resource.NOTIFICATION_CHANNEL, channel_id)

    def _changes(self, body: ChannelUpdate, before: sa.Row[Any]) -> dict[str, Any]:
        values: dict[str, Any] = {"name": body.name or before.name}
        kind = body.type or ChannelType(before.type)
        text = None if body.target is None else body.target.get_secret_value()
        if kind == before.type and text in (None, before.target):
            return values
        if text is None:
            raise Invalid(f"target: give the one of the new type, {kind}")
        return values | {"type": kind.value} | self._sealed(parse_target(kind, text))

    def _sealed(self, target: Target) -> dict[str, str | None]:
        sealed = None if target.url is None else self._secrets.seal(target.url)
        return {"target": target.shown, "sealed_url": sealed}

    def _record(self, row: sa.Row[Any]) -> NotificationChannel:
        cannot_mail = row.type == ChannelType.EMAIL and not self._has_mail_server
        return NotificationChannel(
            id=row.id,
            name=row.name,
            type=row.type,
            target=row.target,
            account_id=row.account_id,
            user_id=row.user_id,
            created_at=iso_time(row.created_at),
            warning=_NO_MAIL_SERVER if cannot_mail else None,
        )

    @contextmanager
    def _writing(self, account_id: int, name: str, *, apart_from: int | None) -> Iterator[sa.Connection]:
        """Yield a write transaction that sets a channel's name, which is unique in its account."""
        same_name = sa.select(channels.c.id).where(channels.c.account_id == account_id, channels.c.name == name)
        if apart_from is not None:
            same_name = same_name.where(channels.c.id != apart_from)
        try:
            with self._database.begin() as connection:
                known = connection.execute(same_name).scalar()
                if known is not None:
                    raise Invalid(f"name: notification channel {known} is called {name} already")
                yield connection
        except IntegrityError as error:  # another call was faster
            raise Invalid(f"name: another notification channel is called {name} already") from error


def check_channels(connection: sa.Connection, account_id: int, ids: Sequence[int]) -> None:
    """Raise `Invalid` for an id that is not a channel of the account.

    In a write transaction none of them can be deleted before its end.
    """
    wanted = set(ids)
    if not wanted:
        return
    query = sa.select(channels.c.id).where(channels.c.account_id == account_id, channels.c.id.in_(wanted))
    unknown = wanted - set(connection.execute(query.with_for_update(read=True)).scalars())
    if unknown:
        named = ", ".join(str(channel_id) for channel_id in sorted(unknown))
        raise Invalid(f"notification_channels: there is no notification channel {named} in this account")


def _schedules_with(connection: sa.Connection, account_id: int, channel_id: int) -> list[str]:
    """Return the account's unfinished schedules that name a channel, as in `7 (Daily sales)`."""
    final = [status.value for status in ScheduleStatus if status.is_final]
    query = _notifying(schedules, account_id, channel_id).where(schedules.c.status.not_in(final))
    return _named_with(connection, query, channel_id)


def _pipelines_with(connection: sa.Connection, account_id: int, channel_id: int) -> list[str]:
    """Return the account's pipelines that name a channel, including archived ones, which may be started again."""
    return _named_with(connection, _notifying(pipelines, account_id, channel_id), channel_id)


def _notifying(table: sa.Table, account_id: int, channel_id: int) -> sa.Select[Any]:
    listed = sa.cast(table.c.notification_channels, sa.Text)
    return (
        sa.select(table.c.id, table.c.name, table.c.notification_channels)
        .where(table.c.account_id == account_id, listed.contains(str(channel_id)))  # a coarse filter: 3 is in 13, too
        .order_by(table.c.id)
    )


def _named_with(connection: sa.Connection, query: sa.Select[Any], channel_id: int) -> list[str]:
    return [
        f"{row.id} ({row.name})" if row.name else str(row.id)
        for row in connection.execute(query)
        if channel_id in row.notification_channels
    ]


def _named(what: str, users: Sequence[str]) -> str:
    return f"{len(users)} {what}: {', '.join(users[:_NAMED_USERS])}" + (", …" if len(users) > _NAMED_USERS else "")


def _row(connection: sa.Connection, account_id: int, channel_id: int, *, lock: bool = False) -> sa.Row[Any]:
    query = sa.select(channels).where(channels.c.id == channel_id, channels.c.account_id == account_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise _not_found(channel_id)
    return row


def _not_found(channel_id: int) -> NotFound:
    return NotFound(f"there is no notification channel {channel_id} in this account")
