"""Errors of the service. Each knows the HTTP status it is answered with; `app.py` turns it into the envelope once.

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
└── Unavailable          503  the service is stopping or its database is away; with Retry-After
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

_ABOUT_A_FIELD = re.compile(r"([a-z_]+(?:\.[\w-]+)*): (.+)", re.DOTALL)


class ServiceError(Exception):
    """An error whose text is for the caller: what happened, to which object, what to do."""

    status: ClassVar[int] = 500
    retry_after: int | None = None
    """Seconds after which the same call may succeed."""
    fields: Mapping[str, str] | None = None
    """What is wrong, in words for people, by the path of the field."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadRequest(ServiceError):
    """The body cannot be read."""

    status = 400


class Unauthorized(ServiceError):
    """The token is missing or wrong."""

    status = 401


class Forbidden(ServiceError):
    """The caller is known and may not do this; the message says which permission is missing."""

    status = 403


class NotFound(ServiceError):
    """There is no such object, or the caller may not know of it."""

    status = 404


class StateConflict(ServiceError):
    """The object's state forbids the operation."""

    status = 409


class TooLarge(ServiceError):
    """The body is larger than the operator allows."""

    status = 413


class UnsupportedMedia(ServiceError):
    """The body is in a form that is not taken; the message names those that are."""

    status = 415


class Invalid(ServiceError):
    """A field of the request is invalid; the message names it.

    `fields` says for each wrong field what is wrong; without it a message of the form `path: reason` is about the field
    at that path.
    """

    status = 422

    def __init__(self, message: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        if fields is None and (about := _ABOUT_A_FIELD.match(message)):
            fields = {about[1]: about[2]}
        self.fields = fields


class TooManyRequests(ServiceError):
    """The caller is over the rate limit that the operator set."""

    status = 429

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(ServiceError):
    """The service is stopping or cannot reach its database."""

    status = 503
    retry_after = 2
