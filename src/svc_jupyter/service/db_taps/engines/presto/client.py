"""Presto's statement protocol: a statement is posted, then the address of each answer is in the one before."""

from __future__ import annotations

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

_SECONDS: Final = 65.0
"""The coordinator answers within a second even when nothing happened; more means that it is gone."""
_PATIENCE_SECONDS: Final = 20.0
"""How long an answer is asked for again that did not come: a coordinator may be collecting its memory."""
_PAUSE_SECONDS: Final = 0.2
_COME_AGAIN: Final = frozenset({502, 503, 504})


class CoordinatorLost(Exception):
    """The coordinator does not answer any more, or has forgotten the query."""


@dataclass
class SessionState:
    """What statements of one session leave for the next ones; it travels in headers, both ways."""

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
        """Return what is sent with a statement."""
        told = {
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
        return {name: value for name, value in told.items() if value}

    def learn(self, headers: httpx.Headers) -> None:
        """Take over what a statement has changed, as the headers of an answer tell it."""
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
            for item in headers.get_list(added):
                name, _, value = item.partition("=")
                known[name.strip()] = value.strip()
            for name in headers.get_list(removed) if removed else ():
                known.pop(name.strip(), None)


class StatementClient:
    """Talks to one coordinator, `http://host:port`, over a connection that is kept open."""

    def __init__(self, coordinator: str, session: SessionState) -> None:
        self._coordinator = coordinator
        self.session = session
        # The coordinator speaks plain HTTP: a context without certificates saves reading the system's.
        nothing = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._http = httpx.Client(timeout=_SECONDS, trust_env=False, verify=nothing)

    def close(self) -> None:
        """Close the connection; what runs is not ended by it."""
        self._http.close()

    def post(self, statement: str) -> Mapping[str, Any]:
        """Send a statement; return the first answer. Raises `CoordinatorLost`."""
        return self._ask("POST", f"{self._coordinator}/v1/statement", content=statement.encode())

    def following(self, uri: str) -> Mapping[str, Any]:
        """Return the answer at the address that the one before named. Raises `CoordinatorLost`."""
        return self._ask("GET", uri)

    def cancel(self, uri: str) -> None:
        """End the query whose next answer is at an address. Raises `CoordinatorLost`."""
        try:
            self._http.delete(uri, headers=self.session.headers())
        except httpx.HTTPError as error:
            raise CoordinatorLost(str(error) or type(error).__name__) from None

    def _ask(self, method: str, url: str, content: bytes | None = None) -> Mapping[str, Any]:
        """Ask, again where no answer came: each stays at its address until the next one is asked for."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                answer = self._http.request(method, url, content=content, headers=self.session.headers())
            except httpx.ConnectError as error:
                reason = str(error) or "no connection"
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
                if method == "POST":  # it may have been taken: posted again it would run twice
                    raise CoordinatorLost(reason) from None
            else:
                if answer.status_code not in _COME_AGAIN:
                    return self._read(answer)
                reason = f"it answers {answer.status_code}"
            if time.monotonic() > deadline:
                raise CoordinatorLost(reason)
            time.sleep(_PAUSE_SECONDS)

    def _read(self, answer: httpx.Response) -> Mapping[str, Any]:
        if answer.status_code in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
            raise CoordinatorLost("it does not know the query any more: it was started again meanwhile")
        if answer.is_error:
            raise CoordinatorLost(f"it answers {answer.status_code}: {answer.text[:200]}")
        self.session.learn(answer.headers)
        told: Mapping[str, Any] = answer.json()
        return told


def _listed(values: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in values.items())
