"""Presto's statement protocol: a client posts a statement; each answer holds the address of the next one.

It uses the standard library's client: a short query is five calls from a worker that has just started, so a library's
setup before its first call would delay every query.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from email.message import Message
from http import HTTPStatus
from http.client import HTTP_PORT, HTTPS_PORT, HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

from svc_jupyter.service.ground.tls import explain, tls_context
from svc_jupyter.service.runtimes.presto.access import (
    LOGIN_REFUSED,
    PRESTO,
    ExternalAccess,
    explain_redirect,
    path_of,
)

_SECONDS: Final = 65.0
"""The coordinator answers within a second even without news; more means that it is gone."""
_PATIENCE_SECONDS: Final = 20.0
"""Patience with a coordinator that is collecting garbage."""
_PAUSE_SECONDS: Final = 0.2
_COME_AGAIN: Final = frozenset({502, 503, 504})
READING: Final = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC"})
"""First words of statements that change nothing: they may run a second time."""


Connect = Callable[[str, int], HTTPConnection]
"""Returns a connection to a host and a port; raises `OSError`."""


def connector(access: ExternalAccess | None) -> Connect:
    """Return what connects to a coordinator."""
    context = None if access is None or not access.is_encrypted else tls_context(access.tls_ca)

    def connect(host: str, port: int) -> HTTPConnection:
        if context is None:
            connection = HTTPConnection(host, port, timeout=_SECONDS)
        else:
            connection = HTTPSConnection(host, port, timeout=_SECONDS, context=context)
        connection.connect()
        return connection

    return connect


class CoordinatorLost(Exception):
    """The coordinator does not answer any more, or has forgotten the query."""


@dataclass
class SessionState:
    """The state that a session's statements leave for the next ones; headers carry it both ways."""

    user: str
    source: str
    catalog: str | None = None
    schema: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    prepared: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    transaction: str = "NONE"
    trace_token: str = ""
    authorization: str = field(default="", repr=False)
    family: str = PRESTO

    def headers(self) -> dict[str, str]:
        """Return the headers to send with a statement."""
        headers = {
            "User": self.user,
            "Source": self.source,
            "Trace-Token": self.trace_token,
            "Catalog": self.catalog,
            "Schema": self.schema,
            "Session": _listed(self.properties),
            "Prepared-Statement": _listed(self.prepared),
            "Role": _listed(self.roles),
            "Session-Function": _listed(self.functions),
            "Transaction-Id": self.transaction,
            "Time-Zone": "UTC",
        }
        named = {self._header(name): value for name, value in headers.items() if value}
        return named | ({"Authorization": self.authorization} if self.authorization else {})

    def learn(self, headers: Message) -> None:
        """Apply a statement's changes from the headers of an answer."""
        self.catalog = headers.get(self._header("Set-Catalog"), self.catalog)
        self.schema = headers.get(self._header("Set-Schema"), self.schema)
        self.transaction = headers.get(self._header("Started-Transaction-Id"), self.transaction)
        if self._header("Clear-Transaction-Id") in headers:
            self.transaction = "NONE"
        for added, removed, known in (
            ("Set-Session", "Clear-Session", self.properties),
            ("Added-Prepare", "Deallocated-Prepare", self.prepared),
            ("Set-Role", None, self.roles),
            ("Added-Session-Functions", "Removed-Session-Function", self.functions),
        ):
            for item in headers.get_all(self._header(added), ()):
                name, _, value = item.partition("=")
                known[name.strip()] = value.strip()
            for name in headers.get_all(self._header(removed), ()) if removed else ():
                known.pop(name.strip(), None)

    def _header(self, name: str) -> str:
        return f"X-{self.family}-{name}"


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send a script's statements, and as which user; a `Connection` holds it as JSON."""

    coordinator: str
    """Its URL."""
    user: str
    source: str
    """The name by which the script's queries are found on the coordinator: their source, or their trace token."""
    access: ExternalAccess | None = None
    """How to log in at a coordinator that others run; None for one of the service's own."""

    def to_json(self) -> str:
        """Return it as the `target` of a connection."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Target:
        """Return the value that `to_json` encoded."""
        value = json.loads(text)
        access = value.pop("access", None)
        return cls(**value, access=None if access is None else ExternalAccess(**access))

    def session(self) -> SessionState:
        """Return the initial session of a script."""
        access = self.access
        if access is None:
            return SessionState(self.user, self.source, catalog="hive", schema="default")
        return SessionState(
            self.user,
            access.source,
            properties={name: quote_plus(value) for name, value in access.session_properties.items()},
            trace_token=self.source,
            authorization=access.authorization,
            family=access.family,
        )


class StatementClient:
    """Talks to one coordinator over a connection that stays open for a statement.

    All requests go to the coordinator's own address, whatever host its answers name: a proxy may stand before it, and
    no other host gets the login.
    """

    def __init__(self, coordinator: str, session: SessionState, connect: Connect | None = None) -> None:
        place = urlsplit(coordinator)
        assert place.hostname is not None
        self._host = place.hostname
        self._port = place.port or (HTTPS_PORT if place.scheme == "https" else HTTP_PORT)
        self._connected = connect or connector(None)
        self.session = session
        self._http: HTTPConnection | None = None
        self._asked: str | None = None
        """The address of the requested answer."""

    def close(self) -> None:
        """Close the connection; this does not end a running query."""
        self._asked = None
        if self._http is not None:
            self._http.close()
            self._http = None

    def post(self, statement: str) -> Mapping[str, Any]:
        """Send a statement; return the first answer. Raises `CoordinatorLost`."""
        self.close()  # a connection that the coordinator has closed would fail only when the statement is sent
        return self._ask("POST", "/v1/statement", statement.encode())

    def ask_ahead(self, uri: str) -> None:
        """Request the answer that `following` is to return, so that it arrives while this one is processed."""
        try:
            self._connect()
            self._send("GET", uri, None)
        except (OSError, HTTPException):
            self.close()  # `following` asks again
        else:
            self._asked = uri

    def following(self, uri: str) -> Mapping[str, Any]:
        """Return the answer at the address from the one before. Raises `CoordinatorLost`."""
        return self._ask("GET", uri)

    def cancel(self, uri: str) -> None:
        """End the query whose next answer is at an address. Raises `CoordinatorLost`."""
        try:
            self._connect()
            self._exchange("DELETE", uri, None)
        except (OSError, HTTPException) as error:
            raise CoordinatorLost(_reason(error)) from None

    def _ask(self, method: str, url: str, content: bytes | None = None) -> Mapping[str, Any]:
        """Send a request; repeat it when no answer came: each answer stays at its address until the next request."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._connect()
            except OSError as error:
                reason = _reason(error)
            else:
                try:
                    status, headers, body = self._exchange(method, url, content)
                except (OSError, HTTPException) as error:
                    self.close()
                    reason = _reason(error)
                    if method == "POST":  # the coordinator may have it: posted again it would run twice
                        raise CoordinatorLost(reason) from None
                else:
                    if status not in _COME_AGAIN:
                        return self._read(status, headers, body)
                    reason = f"it answers {status}"
            if time.monotonic() > deadline:
                raise CoordinatorLost(reason)
            time.sleep(_PAUSE_SECONDS)

    def _connect(self) -> None:
        """Connect to the coordinator unless connected; raises `OSError`."""
        if self._http is None:
            self._http = self._connected(self._host, self._port)

    def _send(self, method: str, url: str, content: bytes | None) -> None:
        assert self._http is not None
        self._http.request(method, path_of(url), content, self.session.headers())

    def _exchange(self, method: str, url: str, content: bytes | None) -> tuple[int, Message, bytes]:
        assert self._http is not None
        asked, self._asked = self._asked, None
        if asked != url:
            self._send(method, url, content)
        answer = self._http.getresponse()
        return answer.status, answer.headers, answer.read()

    def _read(self, status: int, headers: Message, body: bytes) -> Mapping[str, Any]:
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise CoordinatorLost("it does not know the query any more: it was started again meanwhile")
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            raise CoordinatorLost(explain_redirect(headers.get("Location")))
        if status == HTTPStatus.UNAUTHORIZED:
            raise CoordinatorLost(f"it answers {status}: {LOGIN_REFUSED}")
        if status >= HTTPStatus.BAD_REQUEST:
            raise CoordinatorLost(f"it answers {status}: {body.decode(errors='replace')[:200]}")
        self.session.learn(headers)
        answer: Mapping[str, Any] = json.loads(body)
        return answer


def _reason(error: Exception) -> str:
    return explain(str(error) or type(error).__name__)


def _listed(values: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())
