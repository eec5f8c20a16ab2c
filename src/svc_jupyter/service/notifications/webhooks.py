"""Sends webhooks: several channels concurrently, each channel's messages one after the other.

A body is JSON of one stable shape for each event (docs/notifications.md). Nothing but the message is sent, and no part
of the URL is shown.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import structlog

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.addresses import is_public, keep_urls_out_of_the_log, look_up, trusted
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.due_work import NotDelivered, Sender
from svc_jupyter.service.notifications.events import Alert, EventKind
from svc_jupyter.service.notifications.outbox import QueuedMessage
from svc_jupyter.service.notifications.rendering import action_links, command_links, schedule_links, title_of
from svc_jupyter.service.notifications.texts import one_line
from svc_jupyter.service.schema.notifications import channels

if TYPE_CHECKING:
    import httpx

_AT_ONCE = 8
_REST_SECONDS = 60.0
"""How long a channel is on hold after its server failed, whatever else waits for it."""
_LONGEST_REST_SECONDS = 3600.0
"""Upper limit for a server's Retry-After: an edit may change the server."""
log = structlog.get_logger(__name__)
DIGEST_EVENT = "schedule.digest"
PIPELINE_EVENT = "pipeline.failure"
_NAME_LIMIT = 200
DELIVERY_HEADER = "X-Delivery-Id"
EVENT_HEADER = "X-Event"
_CONNECT_SECONDS = 10.0
_PASSING = frozenset({408, 425, 429})
"""The 4xx answers that may be temporary; all 5xx may."""


class WebhookSender(Sender):
    """Posts the outbox's messages to webhook channels. A slow or dead server delays only its own channel."""

    def __init__(
        self, settings: Settings, database: Database, bus: Bus, secrets: SecretBox, clock: Callable[[], float]
    ) -> None:
        attempt_seconds = settings.webhook_timeout_seconds
        super().__init__(ChannelType.WEBHOOK, database, bus, clock, attempt_seconds=attempt_seconds)
        self._public_url = settings.public_url
        self._secrets = secrets
        self._webhooks = Webhooks(within=attempt_seconds, may_be_private=settings.addresses_may_be_private, clock=clock)
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._rests_until: dict[str, float] = {}

    async def _round(self) -> None:
        """Start sending what is due now; a message's end starts the next round."""
        while not self._stopping and len(self._under_way) < _AT_ONCE:
            queued = await self._claim(due_by=self._clock(), apart_from=self._left_alone())
            if queued is None:
                return
            task = asyncio.create_task(self._post_one(queued), name=f"webhook {queued.recipient}")
            self._under_way[queued.recipient] = task

    async def _next_time(self) -> float | None:
        left_alone = self._left_alone()
        due = await self._database.read(partial(outbox.next_time, medium=self._medium, apart_from=left_alone))
        if len(self._under_way) >= _AT_ONCE:
            due = None  # the end of one of them wakes it
        return min((moment for moment in (due, *self._rests_until.values()) if moment is not None), default=None)

    def _tasks(self) -> set[asyncio.Task[None]]:
        return super()._tasks() | set(self._under_way.values())

    def _left_alone(self) -> list[str]:
        now = self._clock()
        self._rests_until = {channel: until for channel, until in self._rests_until.items() if until > now}
        return [*self._under_way, *self._rests_until]

    async def _post_one(self, queued: QueuedMessage) -> None:
        try:
            await self._send(queued, self._post(queued))
        except Exception:
            log.exception("notifications_interrupted", of=self.name)
        finally:
            del self._under_way[queued.recipient]
            self._wake.set()

    async def _post(self, queued: QueuedMessage) -> None:
        url = await self._url(int(queued.recipient))
        body = webhook_body(queued.content, delivery_id=queued.delivery_id, public_url=self._public_url)
        try:
            await self._webhooks.post(url, body, delivery_id=queued.delivery_id, event=body["event"])
        except NotDelivered as failure:
            if failure.may_retry:
                rest = min(max(_REST_SECONDS, failure.retry_after), _LONGEST_REST_SECONDS)
                self._rests_until[queued.recipient] = self._clock() + rest
            raise

    async def _url(self, channel_id: int) -> str:
        """Return the channel's current URL; an edit applies to waiting messages, too."""
        row: Any = await self._database.read(
            lambda connection: connection.execute(
                sa.select(channels.c.sealed_url).where(channels.c.id == channel_id)
            ).one_or_none()
        )
        if row is None:
            raise NotDelivered(f"notification channel {channel_id} was deleted", may_retry=False)
        if row.sealed_url is None:
            raise NotDelivered(f"notification channel {channel_id} is not a webhook any more", may_retry=False)
        try:
            return self._secrets.open(row.sealed_url)
        except ValueError as error:
            raise NotDelivered(str(error)) from error


def webhook_body(content: Mapping[str, Any], *, delivery_id: str, public_url: str | None) -> dict[str, Any]:
    """Return the JSON to post for an action, an alert, a digest's actions, or a failed run of a pipeline.

    Times are ISO 8601 UTC.
    """
    if content["kind"] == EventKind.COMMAND:
        return _pipeline_failure(content, delivery_id, public_url)
    schedule = content["schedule"]
    about = {
        "delivery_id": delivery_id,
        "text": title_of(content),
        "schedule_id": schedule["id"],
        "name": schedule["name"],
        "time_zone": schedule["time_zone"],
    }
    if content["kind"] == EventKind.ACTION:
        action = content["action"]
        event = {"event": f"schedule.{action['outcome']}"}
        return event | about | _action(action) | {"links": action_links(content, public_url)}
    if content["kind"] == EventKind.ALERT:
        return {"event": f"schedule.{content['alert']}"} | about | _alert(content, public_url)
    return (
        {"event": DIGEST_EVENT}
        | about
        | {
            "due_at": iso_time(content["due_at"]),
            "failures": content["failures"],
            "successes": content["successes"],
            "actions": [_action(action) for action in content["actions"]],
            "links": schedule_links(schedule["id"], public_url),
        }
    )


def _pipeline_failure(content: Mapping[str, Any], delivery_id: str, public_url: str | None) -> dict[str, Any]:
    pipeline, command_id = content["pipeline"], content["id"]
    return {
        "event": PIPELINE_EVENT,
        "delivery_id": delivery_id,
        "text": f"Pipeline {one_line(pipeline['name'], _NAME_LIMIT)} failed",
        "pipeline_id": pipeline["id"],
        "name": pipeline["name"],
        "status": content["status"],
        "message": content["message"],
        "command_id": command_id,
        "ended_at": iso_time(content["end_time"]),
        "links": command_links(content, public_url),
    }


def _action(action: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "action_id": action["id"],
        "sequence_id": action["sequence_id"],
        "nominal_time": iso_time(action["nominal_time"]),
        "status": action["status"],
        "message": action["message"],
        "command_id": action["command_id"],
        "not_found": action["not_found"],
        "ended_at": None if action["ended_at"] is None else iso_time(action["ended_at"]),
    }


def _alert(content: Mapping[str, Any], public_url: str | None) -> dict[str, Any]:
    started_at = content["action"]["started_at"]
    body = _action(content["action"]) | {"started_at": None if started_at is None else iso_time(started_at)}
    if content["alert"] == Alert.LATE:
        body["due_at"] = iso_time(content["due_at"])
    else:
        body |= {"median_seconds": content["median"], "longer_than": content["longer_than"]}
    return body | {"links": action_links(content, public_url)}


class Webhooks:
    """Posts JSON within a time limit, only to the public internet unless private addresses are allowed.

    The host is resolved once and the connection goes to the checked address, so that the name cannot point elsewhere in
    between. It follows no redirects, uses no proxy of the environment, and keeps no cookie.
    """

    def __init__(self, *, within: float, may_be_private: bool, clock: Callable[[], float]) -> None:
        self._within = within
        self._may_be_private = may_be_private
        self._clock = clock
        self._trusted = cache(trusted)

    async def post(self, url: str, body: Mapping[str, Any], *, delivery_id: str, event: str) -> None:
        """Return once the server answered 2xx. Raises `NotDelivered`, without the URL and the answer's text."""
        import httpx

        keep_urls_out_of_the_log()
        try:
            target = httpx.URL(url)
        except httpx.InvalidURL:
            raise NotDelivered("the channel's URL is not valid", may_retry=False) from None
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "svc-jupyter",
            "Host": target.netloc.decode("ascii"),
            DELIVERY_HEADER: delivery_id,
            EVENT_HEADER: event,
        }
        try:
            async with asyncio.timeout(self._within):
                await self._post(target, json.dumps(body).encode(), headers)
        except TimeoutError:
            raise NotDelivered(f"{target.host} did not answer within {self._within:g} s") from None

    async def _post(self, target: httpx.URL, content: bytes, headers: dict[str, str]) -> None:
        import httpx

        refused = f"cannot connect to {target.host}"
        verify = await asyncio.to_thread(self._trusted)
        for address in await self._addresses(target):
            try:
                async with (
                    httpx.AsyncClient(verify=verify, trust_env=False, timeout=self._timeout) as client,
                    client.stream(
                        "POST",
                        target.copy_with(host=address),
                        content=content,
                        headers=headers,
                        extensions={"sni_hostname": target.raw_host.decode("ascii")},
                    ) as response,
                ):
                    _check(target.host, response, self._clock())
                    return
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                refused = f"cannot connect to {target.host}: {one_line(str(error), 200) or type(error).__name__}"
            except httpx.HTTPError as error:
                raise NotDelivered(f"{target.host} broke off ({type(error).__name__})") from None
        raise NotDelivered(refused)

    async def _addresses(self, target: httpx.URL) -> list[str]:
        try:
            found = await look_up(target.raw_host.decode("ascii"), target.port or _port_of(target.scheme))
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise NotDelivered(f"{target.host} cannot be found: {reason}") from None
        if self._may_be_private:
            return found
        public = [address for address in found if is_public(address)]
        if not public:
            raise NotDelivered(
                f"{target.host} is not a public address, and this service posts to no other (setting "
                "SVC_WEBHOOK_PRIVATE_ADDRESSES)",
                may_retry=False,
            )
        return public

    @property
    def _timeout(self) -> httpx.Timeout:
        import httpx

        return httpx.Timeout(self._within, connect=min(self._within, _CONNECT_SECONDS))


def retry_after_seconds(value: str | None, now: float) -> float:
    """Return the seconds in a Retry-After header (seconds, or a date); 0 for none or an invalid one."""
    if not value:
        return 0.0
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _check(host: str, response: httpx.Response, now: float) -> None:
    status = response.status_code
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise NotDelivered(
            f"{host} answered {status}: redirects are not followed, enter the address it leads to", may_retry=False
        )
    may_retry = status >= 500 or status in _PASSING
    retry_after = retry_after_seconds(response.headers.get("Retry-After"), now)
    raise NotDelivered(f"{host} answered {status}", may_retry=may_retry, retry_after=retry_after)


def _port_of(scheme: str) -> int:
    return 443 if scheme == "https" else 80
