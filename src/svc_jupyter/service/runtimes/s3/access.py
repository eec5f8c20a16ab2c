"""An account's S3 store as settings of Hadoop's S3 client, and the secrets that those settings refer to.

The settings contain no secret: they refer to the user's credentials (`user:///`), which Hadoop carries with each job in
a file that only the job's user can read. So no setting, argument, page or log of a job holds one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.locations import Scheme
from svc_jupyter.service.storage.object_stores import DEFAULT_REGION

_CLIENT: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_KEYS: Final = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
_NO_KEYS: Final = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
_ALWAYS: Final = {
    "fs.s3.impl": _CLIENT,
    "fs.s3n.impl": _CLIENT,
    "fs.s3a.impl": _CLIENT,
    "hadoop.security.credential.provider.path": "user:///",
    # Other buckets get none of the account's secrets, and none that this machine may have.
    "fs.s3a.aws.credentials.provider": _NO_KEYS,
    "fs.s3a.path.style.access": "true",
    # An unreachable store is reported soon; the defaults retry for minutes.
    "fs.s3a.connection.establish.timeout": "15s",
    "fs.s3a.attempts.maximum": "3",
    "fs.s3a.retry.limit": "3",
}


@dataclass(frozen=True, slots=True)
class S3Access:
    """What a Hadoop program gets: `settings`, which are public, and `secrets` by the names it asks for.

    Both are empty if the account's storage is not an S3 store.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_needed(self) -> bool:
        """Whether there is a store to open: then the program needs the client's jars, too."""
        return bool(self.settings)

    @property
    def digest(self) -> str:
        """A digest that distinguishes this access from others, such as one with new keys."""
        return hashlib.sha256(repr((sorted(self.settings.items()), sorted(self.secrets.items()))).encode()).hexdigest()


def s3_access(account: AccountStorage) -> S3Access:
    """Return the access to the account's storage; empty if that is not an S3 store."""
    if account.base.scheme is not Scheme.S3:
        return S3Access()
    bucket = f"fs.s3a.bucket.{account.base.store}"
    settings = {
        **_ALWAYS,
        "fs.s3a.endpoint.region": account.region or DEFAULT_REGION,
        f"{bucket}.aws.credentials.provider": _KEYS if account.has_credentials else _NO_KEYS,
    }
    if account.endpoint is not None:
        settings[f"{bucket}.endpoint"] = account.endpoint
    secrets = {f"{bucket}.access.key": account.access_key, f"{bucket}.secret.key": account.secret_key}
    return S3Access(settings, {name: value for name, value in secrets.items() if value is not None})


def opens(file: Path, access: S3Access) -> bool:
    """Return whether the daemon with this file opens the store with this access; a daemon without a file opens none."""
    try:
        return file.read_text("ascii") == access.digest
    except FileNotFoundError:
        return not access.is_needed


def note_opened(file: Path, access: S3Access) -> None:
    """Record the access with which a daemon is started; raises `OSError`."""
    file.write_text(access.digest, "ascii")
