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
from http.client import HTTPConnection, HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

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


def connected(host: str, port: int) -> HTTPConnection:
    """Return a connection over the network. Raises `OSError`."""
    connection = HTTPConnection(host, port, timeout=_SECONDS)
    connection.connect()
    return connection


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

    def headers(self) -> dict[str, str]:
        """Return the headers to send with a statement."""
        headers = {
            "X-Presto-User": self.user,
            "X-Presto-Source": self.source,
            "X-Presto-Catalog": self.catalog,
            "X-Presto-Schema": self.schema,
            "X-Presto-Session": _listed(self.properties),
            "X-Presto-Prepared-Statement": _listed(self.prepared),
            "X-Presto-Role": _listed(self.roles),
            "X-Presto-Session-Function": _listed(self.functions),
            "X-Presto-Transaction-Id": self.transaction,
            "X-Presto-Time-Zone": "UTC",
        }
        return {name: value for name, value in headers.items() if value}

    def learn(self, headers: Message) -> None:
        """Apply a statement's changes from the headers of an answer."""
        self.catalog = headers.get("X-Presto-Set-Catalog", self.catalog)
        self.schema = headers.get("X-Presto-Set-Schema", self.schema)
        self.transaction = headers.get("X-Presto-Started-Transaction-Id", self.transaction)
        if "X-Presto-Clear-Transaction-Id" in headers:
            self.transaction = "NONE"
        for added, removed, known in (
            ("X-Presto-Set-Session", "X-Presto-Clear-Session", self.properties),
            ("X-Presto-Added-Prepare", "X-Presto-Deallocated-Prepare", self.prepared),
            ("X-Presto-Set-Role", None, self.roles),
            ("X-Presto-Added-Session-Functions", "X-Presto-Removed-Session-Function", self.functions),
        ):
            for item in headers.get_all(added, ()):
                name, _, value = item.partition("=")
                known[name.strip()] = value.strip()
            for name in headers.get_all(removed, ()) if removed else ():
                known.pop(name.strip(), None)


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send a script's statements, and as which user; a `Connection` holds it as JSON."""

    coordinator: str
    """Its URL."""
    user: str
    source: str
    """The source name of the script's queries on the coordinator."""

    def to_json(self) -> str:
        """Return it as the `target` of a connection."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Target:
        """Return the value that `to_json` encoded."""
        return cls(**json.loads(text))

    def session(self) -> SessionState:
        """Return the initial session of a script."""
        return SessionState(self.user, self.source, catalog="hive", schema="default")


class StatementClient:
    """Talks to one coordinator, `http://host:port`, over a connection that stays open for a statement."""

    def __init__(
        self,
        coordinator: str,
        session: SessionState,
        connect: Connect = connected,
        *,
        patience: float = _PATIENCE_SECONDS,
    ) -> None:
        """`patience` is the number of seconds for which a missing answer is requested again."""
        self._coordinator = coordinator
        self._patience = patience
        self._connected = connect
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
        return self._ask("POST", f"{self._coordinator}/v1/statement", statement.encode())

    def ask_ahead(self, uri: str) -> None:
        """Request the answer that `following` is to return, so that it arrives while this one is processed."""
        try:
            self._connect(uri)
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
            self._connect(uri)
            self._exchange("DELETE", uri, None)
        except (OSError, HTTPException) as error:
            raise CoordinatorLost(_reason(error)) from None

    def _ask(self, method: str, url: str, content: bytes | None = None) -> Mapping[str, Any]:
        """Send a request; repeat it when no answer came: each answer stays at its address until the next request."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                self._connect(url)
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

    def _connect(self, url: str) -> None:
        """Connect to the server of an address unless connected; raises `OSError`."""
        place = urlsplit(url)
        assert place.hostname is not None
        if self._http is not None and (self._http.host, self._http.port) == (place.hostname, place.port):
            return
        self.close()
        assert place.port is not None
        self._http = self._connected(place.hostname, place.port)

    def _send(self, method: str, url: str, content: bytes | None) -> None:
        assert self._http is not None
        path = url[url.index("/", url.index("//") + 2) :]
        self._http.request(method, path, content, self.session.headers())

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
        if status >= HTTPStatus.BAD_REQUEST:
            raise CoordinatorLost(f"it answers {status}: {body.decode(errors='replace')[:200]}")
        self.session.learn(headers)
        answer: Mapping[str, Any] = json.loads(body)
        return answer


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _listed(values: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())
