"""Posts a message to a user's URL: sends nothing but the message, and shows no part of the URL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from svc_jupyter.service.ground.addresses import is_public, keep_urls_out_of_the_log, look_up, trusted
from svc_jupyter.service.notifications.failures import NotDelivered
from svc_jupyter.service.notifications.plain_text import one_line

if TYPE_CHECKING:
    import httpx

DELIVERY_HEADER = "X-Delivery-Id"
EVENT_HEADER = "X-Event"
_CONNECT_SECONDS = 10.0
_PASSING = frozenset({408, 425, 429})
"""The 4xx answers that may be temporary; all 5xx may."""


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
