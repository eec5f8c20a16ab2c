"""Reading a URL: redirects stay on https, faults are told apart into lasting and passing, nothing shows a query."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.failures import StorageFailure, denied, not_found
from svc_jupyter.service.storage.locations import Location, Scheme, parse_location
from svc_jupyter.service.storage.object_stores import CONNECT_SECONDS, READ_SECONDS

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS = 10
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class TransientFailure(StorageFailure):
    """A fault that may be over a moment later."""


@contextmanager
def web_source(
    location: Location, account: AccountStorage, chunk_bytes: int
) -> Iterator[tuple[Iterable[bytes], int | None]]:
    """Open a URL and give its chunks, and its size where the server tells it.

    Raises `StorageFailure`; `TransientFailure` for what a new attempt may mend, also while the chunks are read.
    """
    import httpx

    for name in ("httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)  # they log whole URLs, with what signs them
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    with httpx.Client(timeout=timeout, headers={"Accept-Encoding": "identity", "User-Agent": "svc-jupyter"}) as client:
        response = _answered(client, location)
        try:
            _check(response, location, account)
            encoded = "content-encoding" in response.headers
            length = response.headers.get("content-length", "")
            size = int(length) if length.isdecimal() and not encoded else None
            yield _chunks(response, location, chunk_bytes), size
        finally:
            response.close()


def _answered(client: httpx.Client, location: Location) -> httpx.Response:
    """Return the answer at the end of the redirects, its body still unread."""
    import httpx

    url = location.url
    for _ in range(_MAX_REDIRECTS + 1):
        try:
            response = client.send(client.build_request("GET", url), stream=True)
        except httpx.InvalidURL:
            raise StorageFailure(f"{location} is not a valid URL", may_retry=False) from None
        except httpx.HTTPError as error:
            raise _transport_failure(location, error) from None
        if response.next_request is None:
            return response
        response.close()
        url = _followed(location, response.next_request)
    raise StorageFailure(f"{location}: more than {_MAX_REDIRECTS} redirects", may_retry=False)


def _followed(location: Location, request: httpx.Request) -> str:
    """Return the target of a redirect, held to the same rules as a location."""
    try:
        target = parse_location(str(request.url))
    except Invalid as error:
        raise StorageFailure(f"{location} redirects to a place it may not: {error.message}", may_retry=False) from None
    if location.scheme is Scheme.HTTPS and target.scheme is not Scheme.HTTPS:
        raise StorageFailure(f"{location} redirects away from https, to {target}", may_retry=False)
    return target.url


def _check(response: httpx.Response, location: Location, account: AccountStorage) -> None:
    status = response.status_code
    if status in (404, 410):
        raise not_found(location)
    if status in (401, 403):
        raise denied(location, account, str(status))
    if status in _PASSING:
        raise TransientFailure(f"{location}: the server answered {status}")
    if status != 200:
        raise StorageFailure(f"{location}: the server answered {status}")


def _chunks(response: httpx.Response, location: Location, chunk_bytes: int) -> Iterator[bytes]:
    import httpx

    try:
        yield from response.iter_bytes(chunk_bytes)
    except httpx.HTTPError as error:
        raise _transport_failure(location, error) from None


def _transport_failure(location: Location, error: httpx.HTTPError) -> TransientFailure:
    import httpx

    if isinstance(error, httpx.ConnectTimeout | httpx.ReadTimeout):
        return TransientFailure(f"{location}: the server did not answer in time")
    if isinstance(error, httpx.ConnectError):
        return TransientFailure(f"{location}: cannot connect to {location.store}: {error}")
    return TransientFailure(f"{location}: reading broke off ({type(error).__name__})")
