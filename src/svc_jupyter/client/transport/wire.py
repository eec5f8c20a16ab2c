"""Convert calls to httpx: the request and the connection options."""

from __future__ import annotations

import json
import os
import ssl
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx

from svc_jupyter.api import paths
from svc_jupyter.client.address.config import Settings, is_loopback
from svc_jupyter.client.errors import ConfigurationError
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.link import Connection

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0
"""Time limit for an answer, in addition to the time the service was asked to hold it."""
Headers = tuple[tuple[str, str], ...]
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=30)


class PrivateHeaders(httpx.Headers):
    """Headers whose repr shows only their names: debuggers and tracebacks with variables print it."""

    def __repr__(self) -> str:
        return f"<headers {', '.join(self)}>"


def request(connection: Connection, call: Call, answer_seconds: float = ANSWER_SECONDS) -> httpx.Request:
    """Return the request of a call. It is built by hand: `httpx.Client.build_request` takes twice the time."""
    headers = [*connection.headers, ("Accept", call.accept), *call.headers]
    content: bytes | None = None
    if call.body is not None:
        content = json.dumps(call.body, separators=(",", ":")).encode()
        headers.append(("Content-Type", "application/json"))
    built = httpx.Request(
        call.method,
        connection.base_url + call.target,
        headers=headers,
        content=content,
        extensions={"timeout": _timeouts(call, answer_seconds)},
    )
    built.headers = PrivateHeaders(built.headers)
    return built


def options(settings: Settings) -> dict[str, Any]:
    """Return the arguments for `httpx.Client` and `httpx.AsyncClient`.

    Redirects are not followed: they would send the token to another address. A loopback address, and that of a
    run's service, bypass the environment's proxies.
    """
    of_this_machine = settings.embedded or settings.connection_file is not None
    own_machine = of_this_machine or is_loopback(settings.base_url or "")
    return {
        "trust_env": not own_machine,
        "verify": _verification(settings),
        "limits": _LIMITS,
        "follow_redirects": False,
    }


def certificates() -> ssl.SSLContext:
    """Return the TLS context, with the authorities of SSL_CERT_FILE or SSL_CERT_DIR if one of them is set.

    Raises `ConfigurationError` when they cannot be read.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        name = "SSL_CERT_FILE" if os.environ.get("SSL_CERT_FILE") else "SSL_CERT_DIR"
        raise ConfigurationError(
            f"the certificates of {name}={os.environ.get(name)} cannot be read: {error.strerror or error}"
        ) from error


def _verification(settings: Settings) -> ssl.SSLContext:
    """Return the TLS context; over plain http without the authorities, which load in 20 ms."""
    if settings.base_url is None or settings.base_url.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return certificates()


def _timeouts(call: Call, answer_seconds: float) -> dict[str, float | None]:
    return {
        "connect": CONNECT_SECONDS,
        "read": answer_seconds + call.hold,
        "write": answer_seconds,
        "pool": answer_seconds,
    }


def idempotency(key: str | None = None) -> Headers:
    """Return the header that identifies a repeated POST, by default with a new key."""
    return ((paths.IDEMPOTENCY_HEADER, key or str(uuid4())),)


def if_match(version: int | None) -> Headers:
    """Return the header that refuses a change unless the current version is this one."""
    return () if version is None else (("If-Match", f'"{version}"'),)


def of_notebook(name: str | None) -> Headers:
    """Return the header that names the notebook of a submission; none where it comes from no notebook."""
    return () if name is None else ((paths.NOTEBOOK_HEADER, quote(name)),)
