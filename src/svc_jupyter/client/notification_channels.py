"""Notification channels: where schedules tell what became of their runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.notification_channels import NotificationChannel, NotificationChannelList
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

_RESOURCE = paths.api("notification_channels")


class _ChannelFlows:
    """What both kinds of client say to the service about channels."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int) -> Flow[NotificationChannelList]:
        call = Call("GET", _RESOURCE, {"page": page, "per_page": per_page})
        return fetch(self.link, call, NotificationChannelList)

    def get(self, channel_id: int) -> Flow[NotificationChannel]:
        return fetch(self.link, Call("GET", f"{_RESOURCE}/{channel_id}"), NotificationChannel)

    def create(self, name: str, kind: str, target: str) -> Flow[NotificationChannel]:
        body = {"name": name, "type": kind, "target": target}
        call = Call("POST", _RESOURCE, body=body, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, NotificationChannel)

    def update(
        self, channel_id: int, name: str | None, kind: str | None, target: str | None
    ) -> Flow[NotificationChannel]:
        given = {"name": name, "type": kind, "target": target}
        body = {key: value for key, value in given.items() if value is not None}
        return fetch(self.link, Call("PUT", f"{_RESOURCE}/{channel_id}", body=body), NotificationChannel)

    def delete(self, channel_id: int) -> Flow[Deleted]:
        return fetch(self.link, Call("DELETE", f"{_RESOURCE}/{channel_id}"), Deleted)


class NotificationChannels:
    """Notification channels, as `client.notification_channels`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _ChannelFlows(client._link)

    def list(self, *, page: int = 1, per_page: int = 10) -> NotificationChannelList:
        """Return one page of channels, newest first."""
        return self._client._run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[NotificationChannel]:
        """Yield all channels, newest first."""
        pages: Pages[NotificationChannel] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.notification_channels, listing.paging_info)

    def get(self, channel_id: int) -> NotificationChannel:
        """Return a channel; NotFound when there is none with this id."""
        return self._client._run(self._flows.get(channel_id))

    def create(self, name: str, type: str, target: str) -> NotificationChannel:  # noqa: A002  the field's name
        """Make a channel: of type `email` with one or several comma-separated addresses, of type `webhook` with a URL.

        Of a URL the service shows scheme and host alone.
        """
        return self._client._run(self._flows.create(name, type, target))

    def update(
        self,
        channel_id: int,
        *,
        name: str | None = None,
        type: str | None = None,  # noqa: A002
        target: str | None = None,
    ) -> NotificationChannel:
        """Change the given attributes; the others stay, and so does what schedules tell the channel."""
        return self._client._run(self._flows.update(channel_id, name, type, target))

    def delete(self, channel_id: int) -> Deleted:
        """Delete a channel; Conflict, naming them, while schedules that are not over use it."""
        return self._client._run(self._flows.delete(channel_id))


class AsyncNotificationChannels:
    """Notification channels, as `client.notification_channels`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _ChannelFlows(client._link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> NotificationChannelList:
        """Return one page of channels, newest first."""
        return await self._client._run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[NotificationChannel]:
        """Yield all channels, newest first."""
        pages: Pages[NotificationChannel] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE)
            for channel in pages.take(listing.notification_channels, listing.paging_info):
                yield channel

    async def get(self, channel_id: int) -> NotificationChannel:
        """Return a channel; NotFound when there is none with this id."""
        return await self._client._run(self._flows.get(channel_id))

    async def create(self, name: str, type: str, target: str) -> NotificationChannel:  # noqa: A002  the field's name
        """Make a channel: of type `email` with one or several comma-separated addresses, of type `webhook` with a URL.

        Of a URL the service shows scheme and host alone.
        """
        return await self._client._run(self._flows.create(name, type, target))

    async def update(
        self,
        channel_id: int,
        *,
        name: str | None = None,
        type: str | None = None,  # noqa: A002
        target: str | None = None,
    ) -> NotificationChannel:
        """Change the given attributes; the others stay, and so does what schedules tell the channel."""
        return await self._client._run(self._flows.update(channel_id, name, type, target))

    async def delete(self, channel_id: int) -> Deleted:
        """Delete a channel; Conflict, naming them, while schedules that are not over use it."""
        return await self._client._run(self._flows.delete(channel_id))
