"""Reads a URL: redirects stay on https, failures are permanent or transient, and no message shows a query.

A command's user chooses the URL, but the service reads it from its own network. So the host is resolved once, its
addresses are checked, and the connection goes to a checked one, also after each redirect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from svc_jupyter.service.ground.addresses import is_public, keep_urls_out_of_the_log, look_up_here, trusted
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.failures import StorageFailure, denied, not_found
from svc_jupyter.service.storage.locations import Location, Scheme, parse_location
from svc_jupyter.service.storage.object_stores import CONNECT_SECONDS, READ_SECONDS

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS = 10
_trusted = cache(trusted)
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class TransientFailure(StorageFailure):
    """A failure that may pass soon."""


@contextmanager
def web_source(
    location: Location, account: AccountStorage, chunk_bytes: int
) -> Iterator[tuple[Iterable[bytes], int | None]]:
    """Open a URL and return its chunks, and its size if the server reports it.

    Raises `StorageFailure`; `TransientFailure` for what a new attempt may solve, also while the chunks are read.
    """
    keep_urls_out_of_the_log()
    with _client() as client:
        response = _answered(client, location, account)
        try:
            _check(response, location, account)
            encoded = "content-encoding" in response.headers
            length = response.headers.get("content-length", "")
            size = int(length) if length.isdecimal() and not encoded else None
            yield _chunks(response, location, chunk_bytes), size
        finally:
            response.close()


def _client() -> httpx.Client:
    """Return a client without a proxy, which would resolve hosts again, and without kept connections to other hosts."""
    import httpx

    return httpx.Client(
        verify=_trusted(),
        trust_env=False,
        timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        limits=httpx.Limits(max_keepalive_connections=0),
        headers={"Accept-Encoding": "identity", "User-Agent": "svc-jupyter"},
    )


def _answered(client: httpx.Client, location: Location, account: AccountStorage) -> httpx.Response:
    """Return the answer after all redirects, with its body still unread."""
    import httpx

    target = location
    for _ in range(_MAX_REDIRECTS + 1):
        try:
            url = httpx.URL(target.url)
            response = _sent(client, url, location, _addresses(url, target, account))
            if not response.has_redirect_location:
                return response
            response.close()
            target = _followed(location, str(url.join(response.headers["Location"])))
        except httpx.InvalidURL:
            raise StorageFailure(f"{location} is not a valid URL, or leads to none", may_retry=False) from None
        except httpx.HTTPError as error:
            raise _transport_failure(location, error) from None
    raise StorageFailure(f"{location}: more than {_MAX_REDIRECTS} redirects", may_retry=False)


def _sent(client: httpx.Client, url: httpx.URL, location: Location, addresses: Iterable[str]) -> httpx.Response:
    """Return the answer of the first address that accepts a connection."""
    import httpx

    refused = f"{location}: cannot connect to {url.host}"
    for address in addresses:
        request = client.build_request(
            "GET",
            url.copy_with(host=address),
            headers={"Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        )
        try:
            return client.send(request, stream=True)
        except httpx.ConnectTimeout:
            refused = f"{location}: the server did not answer in time"
        except httpx.ConnectError as error:
            refused = f"{location}: cannot connect to {url.netloc.decode('ascii')}: {error}"
    raise TransientFailure(refused)


def _addresses(url: httpx.URL, target: Location, account: AccountStorage) -> list[str]:
    """Return the addresses from which a URL may be read: public ones, unless an administrator chose the URL."""
    try:
        found = look_up_here(url.raw_host.decode("ascii"), url.port or (443 if url.scheme == "https" else 80))
    except (OSError, UnicodeError) as error:
        raise TransientFailure(f"{target}: cannot connect to {target.store}: {error}") from None
    if account.may_be_private or account.opens(target):
        return found
    public = [address for address in found if is_public(address)]
    if not public:
        raise StorageFailure(
            f"{target}: {url.host} is not a public address, and this service reads from no other; put the file into "
            "the account's storage, or ask an administrator (setting SVC_WEBHOOK_PRIVATE_ADDRESSES)",
            may_retry=False,
        )
    return public


def _followed(location: Location, url: str) -> Location:
    """Return the target of a redirect, checked by the same rules as a location."""
    try:
        target = parse_location(url)
    except Invalid as error:
        raise StorageFailure(f"{location} redirects to a place it may not: {error.message}", may_retry=False) from None
    if not target.is_http or (location.scheme is Scheme.HTTPS and target.scheme is not Scheme.HTTPS):
        raise StorageFailure(f"{location} redirects away from {location.scheme}, to {target}", may_retry=False)
    return target


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

    if isinstance(error, httpx.ReadTimeout):
        return TransientFailure(f"{location}: the server did not answer in time")
    return TransientFailure(f"{location}: reading broke off ({type(error).__name__})")
