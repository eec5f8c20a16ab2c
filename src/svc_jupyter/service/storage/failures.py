"""Failures of locations, with what a user can do. Never the store's raw text: it contains signed URLs."""

from __future__ import annotations

import errno
import re

from svc_jupyter.api.text import HIDDEN
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.locations import Location, Scheme

_STATUS = re.compile(r"non-2xx status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z0-9._-]{1,80})</Code>")
_MESSAGE = re.compile(r"<Message>([^<]{1,300})</Message>")
_TRANSPORT = re.compile(r"kind: (Connect|Timeout)\b")
_SYSTEM_TEXT = re.compile(r'(?:message|error): "([^"]{1,200})"')


class StorageFailure(Invalid):
    """A location that cannot be read. The message names it and says what to do."""

    def __init__(self, message: str, *, may_retry: bool = True) -> None:
        super().__init__(message)
        self.may_retry = may_retry
        """Whether the same location may be readable later without a change of the request."""


class NothingThere(StorageFailure):
    """The store answered that nothing exists at the location."""


def not_found(location: Location) -> NothingThere:
    """Return the failure for a location without an object."""
    return NothingThere(f"{location} does not exist")


def file_failure(location: Location, error: OSError) -> StorageFailure:
    """Return the failure for an error of this machine's file system."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return not_found(location)
    return StorageFailure(f"{location} cannot be read: {error.strerror}")


def denied(location: Location, account: AccountStorage, reason: str = "") -> StorageFailure:
    """Return the failure for a location to which the store denies access."""
    because = f" ({reason})" if reason else ""
    if location.is_http:
        hint = "the URL needs a signature, or its signature is no longer valid"
    elif not account.opens(location):
        hint = f"no credentials were sent, since it is not under the account's storage {account.base}"
    elif not account.has_credentials:
        hint = "the account's storage has no credentials; an administrator stores them with PUT account/storage"
    else:
        hint = "an administrator checks the credentials with PUT account/storage"
    return StorageFailure(f"{location}: access denied{because}; {hint}")


def object_failure(error: BaseException, location: Location, account: AccountStorage) -> StorageFailure:
    """Return the failure for an error of the object store's client."""
    text = str(error)
    status = _found(_STATUS, text)
    code, message = _found(_CODE, text), _found(_MESSAGE, text)
    reason = _without_secrets(": ".join(part for part in (code, message) if part), account)
    if code == "NoSuchBucket":
        return StorageFailure(f"{location} does not exist: there is no bucket {location.store}")
    if isinstance(error, FileNotFoundError):
        return not_found(location)
    if status in ("401", "403") or type(error).__name__ in ("PermissionDeniedError", "UnauthenticatedError"):
        return denied(location, account, reason)
    if "BareRedirect" in text or code in ("PermanentRedirect", "AuthorizationHeaderMalformed"):
        return StorageFailure(
            f"{location}: the bucket is in another region than {account.region or 'the default one'}; "
            "an administrator sets the region with PUT account/storage",
            may_retry=False,
        )
    if status is None:
        return _transport_failure(text, location, account)
    return StorageFailure(f"{location}: the store answered {status}{f' ({reason})' if reason else ''}")


def _transport_failure(text: str, location: Location, account: AccountStorage) -> StorageFailure:
    at = f" at {account.endpoint}" if account.endpoint and account.opens(location) else ""
    kind = _found(_TRANSPORT, text)
    if kind == "Timeout":
        return StorageFailure(f"{location}: the store{at} did not answer in time")
    if kind == "Connect":
        return StorageFailure(
            f"{location}: cannot connect to the store{at}: {_found(_SYSTEM_TEXT, text) or 'no answer'}"
        )
    if location.scheme is Scheme.GS and "redential" in text:
        return StorageFailure(
            f"{location}: the stored secret_key is not a service account key that works", may_retry=False
        )
    return StorageFailure(f"{location}: reading from the store{at} broke off")


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return None if match is None else match[1]


def _without_secrets(text: str, account: AccountStorage) -> str:
    for secret in (account.secret_key, account.access_key):
        if secret:
            text = text.replace(secret, HIDDEN)
    return " ".join(text.split())
