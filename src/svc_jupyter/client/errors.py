"""The errors of the client, as one tree.

::

    SvcError
    ├── ConfigurationError              the settings are missing, contradict each other or are unsafe
    ├── ConnectionFailed                no answer: refused, interrupted, timed out
    │   └── EmbeddedServiceFailed       the service of this machine did not start
    ├── UnexpectedAnswer                an answer that does not follow the contract (a proxy's page, a redirect)
    ├── StatusError                     the service refused or failed; one class per HTTP status
    │   ├── BadRequest            400   ├── NotFound         404   ├── Invalid             422
    │   ├── Unauthorized          401   ├── Conflict         409   ├── TooManyRequests     429
    │   ├── Forbidden             403   ├── PayloadTooLarge  413   └── ServerError         5xx
    │                                                                  └── ServiceUnavailable 503
    ├── CommandEnded                    the command did not end in `done`
    │   ├── CommandFailed
    │   └── CommandCancelled
    ├── ClusterFailed                   the cluster will not reach the awaited state
    ├── WaitTimeout                     the wait timed out, the command continues (also a TimeoutError)
    ├── ResultUnavailable               there is no result, or this client cannot read its location
    ├── NotKnown                        the service would run all of a query whose plan or first rows are wanted
    └── NotUnique                       several objects have the same name

Their text, repr and attributes never contain a token or a password.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from svc_jupyter.api.commands import CommandRecord


class Handle(Protocol):
    """A command's handle, of either client."""

    def log_tail(self, lines: int = 20) -> str | Coroutine[Any, Any, str]:
        """Return the last lines of the log, or an awaitable of them."""
        ...


class SvcError(Exception):
    """Base of all errors that this client raises; `message` says what the user can do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConfigurationError(SvcError):
    """The settings are missing, contradict each other or are unsafe."""


class ConnectionFailed(SvcError):
    """The service gave no answer: refused, interrupted or timed out.

    `maybe_sent` says whether the request may have reached the service.
    """

    def __init__(self, message: str, *, maybe_sent: bool = False) -> None:
        super().__init__(message)
        self.maybe_sent = maybe_sent


class EmbeddedServiceFailed(ConnectionFailed):
    """The embedded service could not be started; the text says what to do."""


class UnexpectedAnswer(SvcError):
    """The answer does not follow the contract: most often the address is not that of a service."""


class StatusError(SvcError):
    """The service refused or failed.

    `status` is the HTTP status, `trace_id` finds the call in the service's log, `retry_after` is how many seconds the
    service asked to wait, or None. `fields` maps the path of each invalid field, as in `command.inline`, to its
    problem; it may be empty.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        trace_id: str | None = None,
        retry_after: float | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.trace_id = trace_id
        self.retry_after = retry_after
        self.fields = dict(fields or {})


class BadRequest(StatusError):
    """400: the request could not be read."""


class Unauthorized(StatusError):
    """401: the token is missing, wrong or no longer valid."""


class Forbidden(StatusError):
    """403: the user lacks the permission that the text names."""


class NotFound(StatusError):
    """404: the object does not exist or the caller may not see it."""


class Conflict(StatusError):
    """409: the object's state forbids it."""


class PayloadTooLarge(StatusError):
    """413: the request's body is too large."""


class Invalid(StatusError):
    """422: a field is invalid, or the command cannot be created; the text names the field or the reason."""


class TooManyRequests(StatusError):
    """429: still rate-limited after the retries."""


class ServerError(StatusError):
    """5xx: the service failed."""


class ServiceUnavailable(ServerError):
    """503: the service is stopping or its database is unavailable, after the retries."""


class CommandEnded(SvcError):
    """A command did not end in `done`.

    `command` is its handle, `record` its last known record.
    """

    def __init__(
        self,
        message: str,
        *,
        command: Handle | None = None,
        record: CommandRecord | None = None,
    ) -> None:
        super().__init__(message)
        self.command = command
        self.record = record

    @property
    def command_id(self) -> int | None:
        """The command's id."""
        return None if self.record is None else self.record.id

    def log_tail(self, lines: int = 20) -> Any:
        """Fetch and return the last lines of the command's log; with an `AsyncClient`, an awaitable of them."""
        return "" if self.command is None else self.command.log_tail(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        """Omit the handle when pickled: a connection cannot be pickled."""
        return type(self), (self.message,), {"message": self.message, "record": self.record, "command": None}


class CommandFailed(CommandEnded):
    """The command ended in `error`."""


class CommandCancelled(CommandEnded):
    """The command was cancelled."""


class ClusterFailed(SvcError):
    """The cluster will not reach the awaited state; the text says why."""


class WaitTimeout(SvcError, TimeoutError):
    """The wait timed out; the command continues."""


class ResultUnavailable(SvcError):
    """There is no result, or this client cannot read its location, which the text names."""


class NotKnown(SvcError):
    """The service ignores a field, so that it would run all of the query; nothing was sent."""


class NotUnique(SvcError):
    """Several objects have the name; the text lists their ids."""


STATUS_ERRORS: dict[int, type[StatusError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: PayloadTooLarge,
    422: Invalid,
    429: TooManyRequests,
    503: ServiceUnavailable,
}
"""The class for each status that has its own; others are `ServerError` (5xx) or `StatusError`."""


def status_error(
    status: int,
    message: str,
    trace_id: str | None = None,
    retry_after: float | None = None,
    fields: Mapping[str, str] | None = None,
) -> StatusError:
    """Return the error for an HTTP status."""
    kind = STATUS_ERRORS.get(status) or (ServerError if status >= 500 else StatusError)
    return kind(message, status=status, trace_id=trace_id, retry_after=retry_after, fields=fields)
