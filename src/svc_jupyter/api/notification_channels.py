"""Notification channels: where the messages of schedules go."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, SecretStr

from svc_jupyter.api.fields import Name, PagingInfo, Record, Request


class ChannelType(StrEnum):
    """What a channel's target is: e-mail addresses, or a URL to which messages are posted."""

    EMAIL = "email"
    WEBHOOK = "webhook"


_Type = Annotated[ChannelType, Field(strict=False)]


class ChannelCreate(Request):
    """A new channel: `target` is one or several comma-separated addresses, or an http(s) URL, which may be a secret."""

    name: Name = Field(min_length=1)
    type: _Type
    target: SecretStr = Field(strict=False)


class ChannelUpdate(Request):
    """The attributes to change; the others stay. A new type needs a new target."""

    name: Name | None = Field(default=None, min_length=1)
    type: _Type | None = None
    target: SecretStr | None = Field(default=None, strict=False)


class NotificationChannel(Record):
    """A channel. Of a webhook's URL `target` shows scheme and host alone."""

    id: int
    name: str
    type: str
    target: str
    # Extensions that another service may lack.
    account_id: int | None = None
    user_id: int | None = None
    created_at: str | None = None
    warning: str | None = Field(default=None, description="Why nothing can arrive there as things stand")


class NotificationChannelList(Record):
    """One page of channels, newest first."""

    notification_channels: list[NotificationChannel]
    paging_info: PagingInfo
