"""Failures with a text for the user, in one tree.

Failure                   work failed; the rooms have their own: ClusterFailure, EngineFailure, QueryFailure …
└── ServiceError          a request failed: each knows its HTTP status, and `app.py` makes the envelope once

ServiceError
├── BadRequest           400  the body is not JSON
├── Unauthorized         401  token missing or wrong
├── Forbidden            403  known user, not allowed
├── NotFound             404  no such object
├── StateConflict        409  the object's state forbids it
├── TooLarge             413  the body is larger than the operator allows
├── UnsupportedMedia     415  the body is in a form that is not taken
├── Invalid              422  a field is invalid, or a command cannot be created
├── TooManyRequests      429  over the operator's rate limit; with Retry-After
└── Unavailable          503  the service is stopping or cannot do it now; with Retry-After
    └── DatabaseAway     503  its database is away, or others held a statement up
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

_ABOUT_A_FIELD = re.compile(r"([a-z_]+(?:\.[\w-]+)*): (.+)", re.DOTALL)


class Failure(Exception):
    """Something failed; the message tells the user what happened, to which object, and what to do."""

    may_retry: bool = True
    """Whether another attempt may succeed without a change by the user."""

    def __init__(self, message: str, *, may_retry: bool | None = None) -> None:
        super().__init__(message)
        self.message = message
        if may_retry is not None:
            self.may_retry = may_retry


class ServiceError(Failure):
    """A request failed; the message is for the caller."""

    may_retry = False
    status: ClassVar[int] = 500
    retry_after: int | None = None
    """Seconds after which the same call may succeed."""
    fields: Mapping[str, str] | None = None
    """The errors of fields as text for users, by the path of the field."""


class BadRequest(ServiceError):
    """The body cannot be read."""

    status = 400


class Unauthorized(ServiceError):
    """The token is missing or wrong."""

    status = 401


class Forbidden(ServiceError):
    """The caller is known but not permitted; the message names the missing permission."""

    status = 403


class NotFound(ServiceError):
    """There is no such object, or it is hidden from the caller."""

    status = 404


class StateConflict(ServiceError):
    """The object's state forbids the operation."""

    status = 409


class TooLarge(ServiceError):
    """The body is larger than the operator allows."""

    status = 413


class UnsupportedMedia(ServiceError):
    """The body's content type is not supported; the message names the supported ones."""

    status = 415


class Invalid(ServiceError):
    """A field of the request is invalid; the message names it.

    `fields` has the error of each wrong field; without it, a message of the form `path: reason` is about the field at
    that path.
    """

    status = 422

    def __init__(self, message: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        if fields is None and (about := _ABOUT_A_FIELD.match(message)):
            fields = {about[1]: about[2]}
        self.fields = fields


class TooManyRequests(ServiceError):
    """The caller exceeds the operator's rate limit."""

    status = 429
    may_retry = True

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(ServiceError):
    """The service is stopping, or cannot do it now."""

    status = 503
    may_retry = True
    retry_after = 2


class DatabaseAway(Unavailable):
    """The service cannot use its database now. Commands wait for it; see `Job`."""


@contextmanager
def translated(*kinds: type[Exception], to: type[Failure], about: str = "") -> Iterator[None]:
    """Raise errors of these kinds inside the block as another kind; `about` precedes the message."""
    try:
        yield
    except kinds as error:
        raise to(f"{about}: {error}" if about else str(error)) from error


def first_of(error: BaseException) -> BaseException:
    """Return the first failure of a task group, whose message the user reads."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
