"""Posting a message to a URL that a user chose: nothing but the message is sent, and nothing of the URL is told."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from svc_jupyter.service.addresses import is_public, look_up
from svc_jupyter.service.notifications.failures import NotDelivered
from svc_jupyter.service.notifications.plain_text import one_line

if TYPE_CHECKING:
    import ssl

    import httpx

DELIVERY_HEADER = "X-Delivery-Id"
EVENT_HEADER = "X-Event"
_CONNECT_SECONDS = 10.0
_PASSING = frozenset({408, 425, 429})
"""Of the answers 4xx those that may be others a moment later; 5xx all may."""


class Webhooks:
    """Posts JSON within a time, to the public internet alone unless private addresses are allowed.

    The host is looked up once and the address that was judged is the one connected to, so that a name cannot lead
    elsewhere in between. Redirects are not followed, no proxy of the environment is asked, and no cookie is kept.
    """

    def __init__(self, *, within: float, may_be_private: bool, clock: Callable[[], float]) -> None:
        self._within = within
        self._may_be_private = may_be_private
        self._clock = clock

    async def post(self, url: str, body: Mapping[str, Any], *, delivery_id: str, event: str) -> None:
        """Return once the server answered 2xx. Raises `NotDelivered`, without the URL and the answer's text."""
        import httpx

        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)  # they log whole URLs, which may be secrets
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
        # Reading the authorities, the first time, takes longer than the event loop should stand still.
        verify = await asyncio.to_thread(lambda: self._trust)
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

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """The authorities of the package that httpx brings, and those that the machine trusts besides."""
        import httpx

        context = httpx.create_ssl_context()
        context.load_default_certs()
        return context


def retry_after_seconds(value: str | None, now: float) -> float:
    """Return for how long a header Retry-After (seconds, or a date) asks to be left alone; 0 for none or nonsense."""
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
