"""Calls without a socket: a request before it is sent, and the error for an answer that is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import httpx

from svc_jupyter.api import paths
from svc_jupyter.client.errors import ConnectionFailed, SvcError, UnexpectedAnswer, status_error
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import place
from svc_jupyter.client.transport.retries import Reach, reach_of_failure, retry_after

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


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed: how far it came, and the error for those who do not send it again."""

    reach: Reach
    error: SvcError


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


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
