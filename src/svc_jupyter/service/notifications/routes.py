"""Notification channels over HTTP."""

from __future__ import annotations

from typing import Annotated

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.fields import Id
from svc_jupyter.api.notification_channels import (
    ChannelCreate,
    ChannelUpdate,
    NotificationChannel,
    NotificationChannelList,
)
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.notifications.channels import Channels

router = resource_router(tags=["notification channels"])


ChannelsDep = Annotated[Channels, part(Channels)]


@router.get("/notification_channels", dependencies=[needs(Action.READ, Resource.NOTIFICATION_CHANNEL)])
def list_notification_channels(channels: ChannelsDep, caller: CallerDep, page: PageDep) -> NotificationChannelList:
    """Return a page of the account's channels, newest first. Of a webhook's URL, only scheme and host are shown."""
    return channels.list(page, by=caller)


@router.post("/notification_channels", dependencies=[needs(Action.CREATE, Resource.NOTIFICATION_CHANNEL)])
def create_notification_channel(body: ChannelCreate, channels: ChannelsDep, caller: CallerDep) -> NotificationChannel:
    """Create a channel. 422 for an invalid address or http(s) URL, and for a taken name."""
    return channels.create(body, by=caller)


@router.get("/notification_channels/{channel_id}", dependencies=[needs(Action.READ, Resource.NOTIFICATION_CHANNEL)])
def get_notification_channel(channel_id: Id, channels: ChannelsDep, caller: CallerDep) -> NotificationChannel:
    """Return a channel."""
    return channels.get(channel_id, by=caller)


@router.put("/notification_channels/{channel_id}", dependencies=[needs(Action.UPDATE, Resource.NOTIFICATION_CHANNEL)])
def update_notification_channel(
    channel_id: Id, body: ChannelUpdate, channels: ChannelsDep, caller: CallerDep
) -> NotificationChannel:
    """Change the given attributes of a channel. Schedules that use it keep using it."""
    return channels.update(channel_id, body, by=caller)


@router.delete(
    "/notification_channels/{channel_id}", dependencies=[needs(Action.DELETE, Resource.NOTIFICATION_CHANNEL)]
)
def delete_notification_channel(channel_id: Id, channels: ChannelsDep, caller: CallerDep) -> Deleted:
    """Delete a channel. 409, naming them, if schedules that have not ended use it."""
    channels.delete(channel_id, by=caller)
    return Deleted(id=channel_id)
