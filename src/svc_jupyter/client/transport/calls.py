"""Calls without a socket: requests, the steps of a conversation, and the reading of answers.

A conversation is a generator (a `Flow`): it yields steps, which `Client` or `AsyncClient` performs. So each rule
(retries, waiting, paging) is written once for both clients and can be tested without a network.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel

from svc_jupyter.api import paths
from svc_jupyter.client.errors import ConnectionFailed, StatusError, SvcError, UnexpectedAnswer, status_error
from svc_jupyter.client.transport.link import Connection, Link
from svc_jupyter.client.transport.reading import place, read
from svc_jupyter.client.transport.retries import (
    Reach,
    Retries,
    may_repeat,
    reach_of_failure,
    reach_of_status,
    retry_after,
)

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
_MESSAGE_LIMIT = 500


@dataclass(slots=True)
class Call:
    """One request to the service. `hold` is how many seconds the service may delay its answer.

    With `stream` the response body is left unread for the caller, who must close it.
    """

    method: str
    path: str
    params: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    accept: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    hold: float = 0.0
    stream: bool = False

    @property
    def target(self) -> str:
        """The path with its query; parameters that are None are omitted, booleans are `true` and `false`.

        A tuple is a parameter that is repeated.
        """
        if not self.params:
            return self.path
        pairs = [
            (key, _text(one))
            for key, value in self.params.items()
            for one in (value if isinstance(value, tuple) else [value])
            if one is not None
        ]
        return f"{self.path}?{urlencode(pairs)}" if pairs else self.path


@dataclass(slots=True)
class Send:
    """Step: send the call. The reply is the `httpx.Response`; an `httpx.RequestError` is thrown into the flow."""

    call: Call


@dataclass(slots=True)
class Pause:
    """Step: pause for some seconds."""

    seconds: float


@dataclass(slots=True)
class Relocate:
    """Step: find a service again that may have moved. The reply is whether it has.

    With `start`, an embedded service that is gone is started.
    """

    failed: Connection | None
    start: bool


Step = Send | Pause | Relocate
Flow = Generator[Step, Any, T]


def exchange(link: Link, call: Call, retries: Retries | None = None) -> Flow[httpx.Response]:
    """Send a call until it succeeds; raise the error of its last answer."""
    retries = retries or link.retries
    started = time.monotonic()
    attempt = 0
    relocated = False
    while True:
        attempt += 1
        wanted: float | None = None
        error: SvcError
        used = link.connection
        try:
            response: httpx.Response = yield Send(call)
        except httpx.RequestError as failure:
            reach, error = reach_of_failure(failure), connection_failed(link, failure)
            error.__cause__ = failure
            if reach is Reach.NOT_SENT and link.embedded and not relocated:
                relocated = True
                yield Relocate(used or link.connection, start=True)
                continue
            # The next service has another address: look before each attempt.
            if reach is Reach.NOT_SENT and link.of_run and (yield Relocate(used, start=False)):
                continue
        else:
            if response.is_success:
                return response
            reach, error = reach_of_status(response.status_code), error_of(response)
            wanted = error.retry_after if isinstance(error, StatusError) else None
            if response.status_code == 401 and link.may_move and not relocated:
                relocated = True
                if (yield Relocate(used or link.connection, start=False)):
                    continue
        harmless = may_repeat(
            call.method, reach, idempotent_post=link.honours_idempotency_keys, has_retry_after=wanted is not None
        )
        pause = retries.pause(attempt, time.monotonic() - started, wanted) if harmless else None
        if pause is None:
            raise error
        yield Pause(pause)


def fetch(link: Link, call: Call, model: type[M], retries: Retries | None = None) -> Flow[M]:
    """Send a call and return its answer as a model of the contract."""
    response = yield from exchange(link, call, retries)
    return read(model, response)


def answer_if_known(flow: Flow[T]) -> Flow[T | None]:
    """Return the answer to a call of the extensions; None if the service lacks it or the object does not exist."""
    try:
        return (yield from flow)
    except StatusError as error:
        if error.status not in (404, 405):
            raise
        return None


def error_of(response: httpx.Response) -> SvcError:
    """Return the error for an answer, with the service's message."""
    if response.is_redirect:
        target = response.headers.get("Location", "elsewhere").split("?")[0]
        return UnexpectedAnswer(
            f"{place(response)} redirects to {target}; set base_url to the service itself (a token is never sent on)"
        )
    status = response.status_code
    message, trace_id, fields = _words_of(response)
    return status_error(
        status,
        message or f"{place(response)} answered {status} {response.reason_phrase}",
        response.headers.get(paths.TRACE_HEADER) or trace_id,
        retry_after(response.headers.get("Retry-After"), datetime.now(UTC)),
        fields,
    )


def _words_of(response: httpx.Response) -> tuple[str | None, str | None, dict[str, str]]:
    """Return message, trace id and fields of an error's body; a gateway's page has none."""
    try:
        body = json.loads(response.content)
    except ValueError:
        return None, None, {}
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        message, trace_id = error.get("error_message"), error.get("trace_id")
        fields = error.get("fields")
        of_fields = {name: str(text) for name, text in fields.items()} if isinstance(fields, dict) else {}
        return (str(message) if message else None), (str(trace_id) if trace_id else None), of_fields
    return (error if isinstance(error, str) and error else None), None, {}


def connection_failed(link: Link, failure: httpx.RequestError) -> ConnectionFailed:
    """Return the error for a call without an answer; httpx's messages contain hosts and causes, never headers."""
    reach = reach_of_failure(failure)
    what = {Reach.NOT_SENT: "cannot be reached", Reach.MAYBE_DONE: "broke the connection off"}.get(reach, "failed")
    if isinstance(failure, httpx.ReadTimeout):
        what = "did not answer in time"
    cause = f" ({str(failure)[:_MESSAGE_LIMIT]})" if str(failure) else ""
    return ConnectionFailed(f"the service at {link.address} {what}{cause}", maybe_sent=reach is not Reach.NOT_SENT)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(_text(item) for item in value)
    return str(value)
