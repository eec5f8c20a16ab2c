"""Notification channels: where schedules report the results of their runs."""

from __future__ import annotations

from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.notification_channels import NotificationChannel, NotificationChannelList
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("notification_channels")


class ChannelFlows:
    """Requests about channels, for both clients."""

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
