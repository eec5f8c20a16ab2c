"""Notification channels: where schedules report the results of their runs."""
# Made from asynchronous/notification_channels.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.notification_channels import NotificationChannel, NotificationChannelList
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.notification_channels import ChannelFlows
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class NotificationChannels:
    """Notification channels, as `client.notification_channels`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = ChannelFlows(performer.link)

    def list(self, *, page: int = 1, per_page: int = 10) -> NotificationChannelList:
        """Return one page of channels, newest first."""
        return self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[NotificationChannel]:
        """Yield all channels, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE),
            lambda found: (found.notification_channels, found.paging_info),
        )

    def get(self, channel_id: int) -> NotificationChannel:
        """Return a channel; raises NotFound for an unknown id."""
        return self._performer.run(self._flows.get(channel_id))

    def create(self, name: str, type: str, target: str) -> NotificationChannel:  # noqa: A002  the field's name
        """Create a channel: `email` with comma-separated addresses, or `webhook` with a URL.

        The service shows only scheme and host of a URL.
        """
        return self._performer.run(self._flows.create(name, type, target))

    def update(
        self,
        channel_id: int,
        *,
        name: str | None = None,
        type: str | None = None,  # noqa: A002
        target: str | None = None,
    ) -> NotificationChannel:
        """Change the given attributes; the others and the schedules' notifications are unchanged."""
        return self._performer.run(self._flows.update(channel_id, name, type, target))

    def delete(self, channel_id: int) -> Deleted:
        """Delete a channel; raises Conflict, with their names, while unfinished schedules use it."""
        return self._performer.run(self._flows.delete(channel_id))
