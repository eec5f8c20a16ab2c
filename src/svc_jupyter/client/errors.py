"""What can go wrong, as one tree.

::

    SvcError
    ├── ConfigurationError              the settings are missing, contradict each other or are unsafe
    ├── ConnectionFailed                no answer: refused, broken off, timed out
    │   └── EmbeddedServiceFailed       the service of this machine did not start
    ├── UnexpectedAnswer                an answer that is not of the contract (a proxy's page, a redirect)
    ├── StatusError                     the service said no; one class per HTTP status
    │   ├── BadRequest            400   ├── NotFound         404   ├── Invalid             422
    │   ├── Unauthorized          401   ├── Conflict         409   ├── TooManyRequests     429
    │   ├── Forbidden             403   ├── PayloadTooLarge  413   └── ServerError         5xx
    │                                                                  └── ServiceUnavailable 503
    ├── CommandEnded                    the command did not end in `done`
    │   ├── CommandFailed
    │   └── CommandCancelled
    ├── ClusterFailed                   the cluster does not come to the state that was waited for
    ├── WaitTimeout                     the command goes on, the wait is over (also a TimeoutError)
    ├── ResultUnavailable               there is no result, or it lies where this client cannot read it
    └── NotUnique                       a name stands for several objects

No text, repr or attribute of these holds a token or a password.
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
    """Base of everything this client raises by itself; `message` is the text a user can act on."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConfigurationError(SvcError):
    """The settings are missing, contradict each other or are unsafe."""


class ConnectionFailed(SvcError):
    """The service gave no answer: refused, broken off or timed out.

    `maybe_sent` tells whether the request can have reached the service before the connection broke.
    """

    def __init__(self, message: str, *, maybe_sent: bool = False) -> None:
        super().__init__(message)
        self.maybe_sent = maybe_sent


class EmbeddedServiceFailed(ConnectionFailed):
    """The service of this machine could not be started; the text says what to do."""


class UnexpectedAnswer(SvcError):
    """The answer is not one of the contract: most often the address is not that of a service."""


class StatusError(SvcError):
    """The service refused or failed.

    `status` is the HTTP status, `trace_id` finds the call in the service's log, `retry_after` is how many seconds the
    service asked to wait, or None. `fields` says what is wrong with each field, by its path as in `command.inline`;
    it is empty where the service named none.
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
    """403: a known user without the permission that the text names."""


class NotFound(StatusError):
    """404: no such object, or none that the caller may see."""


class Conflict(StatusError):
    """409: the object's state forbids it."""


class PayloadTooLarge(StatusError):
    """413: the request's body is too large."""


class Invalid(StatusError):
    """422: a field is invalid, or the command cannot be created; the text names the field or the reason."""


class TooManyRequests(StatusError):
    """429: still so after the retries that Retry-After asked for."""


class ServerError(StatusError):
    """5xx: the fault is the service's."""


class ServiceUnavailable(ServerError):
    """503: the service is stopping or its database is away, still so after the retries."""


class CommandEnded(SvcError):
    """A command ended otherwise than in `done`.

    `command` is its handle, `record` its record as last seen.
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
        """Return the last lines of the command's log, fetched now; with an `AsyncClient` an awaitable of them."""
        return "" if self.command is None else self.command.log_tail(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the handle behind when sent to another process: a connection does not travel."""
        return type(self), (self.message,), {"message": self.message, "record": self.record, "command": None}


class CommandFailed(CommandEnded):
    """The command ended in `error`."""


class CommandCancelled(CommandEnded):
    """The command was cancelled."""


class ClusterFailed(SvcError):
    """The cluster does not come to the state that was waited for; the text says why."""


class WaitTimeout(SvcError, TimeoutError):
    """The command had not ended when the given time was over; it goes on."""


class ResultUnavailable(SvcError):
    """There is no result to read, or it lies where this client cannot read it; the text names the place."""


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
"""The class of each status that has one of its own; others are `ServerError` (5xx) or `StatusError`."""


def status_error(
    status: int,
    message: str,
    trace_id: str | None = None,
    retry_after: float | None = None,
    fields: Mapping[str, str] | None = None,
) -> StatusError:
    """Return the error that stands for an HTTP status."""
    kind = STATUS_ERRORS.get(status) or (ServerError if status >= 500 else StatusError)
    return kind(message, status=status, trace_id=trace_id, retry_after=retry_after, fields=fields)
