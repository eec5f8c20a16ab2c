"""Notification channels: where schedules report the results of their runs."""

from __future__ import annotations

from collections.abc import AsyncIterator

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.notification_channels import NotificationChannel, NotificationChannelList
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("notification_channels")


class AsyncNotificationChannels:
    """Notification channels, as `client.notification_channels`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(self, *, page: int = 1, per_page: int = 10) -> NotificationChannelList:
        """Return one page of channels, newest first."""
        call = Call("GET", _RESOURCE, {"page": page, "per_page": per_page})
        return await self._sender.fetch(call, NotificationChannelList)

    def iter(self) -> AsyncIterator[NotificationChannel]:
        """Yield all channels, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE),
            lambda found: (found.notification_channels, found.paging_info),
        )

    async def get(self, channel_id: int) -> NotificationChannel:
        """Return a channel; raises NotFound for an unknown id."""
        return await self._sender.fetch(Call("GET", f"{_RESOURCE}/{channel_id}"), NotificationChannel)

    async def create(self, name: str, type: str, target: str) -> NotificationChannel:  # noqa: A002  the field's name
        """Create a channel: `email` with comma-separated addresses, or `webhook` with a URL.

        The service shows only scheme and host of a URL.
        """
        body = {"name": name, "type": type, "target": target}
        return await self._sender.fetch(Call("POST", _RESOURCE, body=body, headers=idempotency()), NotificationChannel)

    async def update(
        self,
        channel_id: int,
        *,
        name: str | None = None,
        type: str | None = None,  # noqa: A002
        target: str | None = None,
    ) -> NotificationChannel:
        """Change the given attributes; the others and the schedules' notifications are unchanged."""
        body = given(name=name, type=type, target=target)
        return await self._sender.fetch(Call("PUT", f"{_RESOURCE}/{channel_id}", body=body), NotificationChannel)

    async def delete(self, channel_id: int) -> Deleted:
        """Delete a channel; raises Conflict, with their names, while unfinished schedules use it."""
        return await self._sender.fetch(Call("DELETE", f"{_RESOURCE}/{channel_id}"), Deleted)
