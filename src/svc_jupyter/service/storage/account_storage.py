"""An account's storage as the service uses it: its location and credentials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.storage.locations import Location


@dataclass(frozen=True, slots=True)
class AccountStorage:
    """Base of locations without a scheme, and the credentials for everything under it.

    `access_key` is the name of the storage account for `az://`; `secret_key` is the service account's JSON key for
    `gs://`. Its repr shows no secrets.
    """

    base: Location
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    region: str | None = None
    endpoint: str | None = None
    may_be_private: bool = False
    """Whether any URL may lead to this machine and private networks, not only those under `base`."""

    @property
    def has_credentials(self) -> bool:
        """Whether there are credentials to sign requests with."""
        return self.secret_key is not None

    def opens(self, location: Location) -> bool:
        """Return whether the stored endpoint and credentials are for `location`."""
        return self.base.covers(location)

    def is_same_store(self, other: AccountStorage) -> bool:
        """Return whether secrets entered for `other` may be used here: same store, same endpoint."""
        mine, theirs = self.base, other.base
        return (mine.scheme, mine.store, mine.account_name, self.endpoint) == (
            theirs.scheme,
            theirs.store,
            theirs.account_name,
            other.endpoint,
        )


def resolve_under(path: Path, roots: Iterable[Path]) -> Path:
    """Return `path` with every symbolic link resolved; trailing parts may not exist yet.

    Raises `Invalid` when the result is under none of the `roots`, or cannot be resolved (a loop of links).
    """
    try:
        resolved = path.resolve()
        allowed = any(resolved.is_relative_to(root.resolve()) for root in roots)
    except (OSError, RuntimeError, ValueError) as error:
        raise Invalid(f"file://{path} cannot be resolved: {getattr(error, 'strerror', None) or error}") from error
    if not allowed:
        raise Invalid(
            f"file://{path} is outside the folders that this service may read; "
            "put the file into the account's storage, or have the operator add its folder to file_roots"
        )
    return resolved
