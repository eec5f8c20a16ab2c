"""The stored storage of an account: checked on input, sealed in the database, hidden on output."""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import sqlalchemy as sa
from pydantic import SecretStr

from svc_jupyter.api.account import Storage as StorageRecord
from svc_jupyter.api.account import StorageUpdate
from svc_jupyter.api.text import HIDDEN
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Resource
from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.storage import account_storage
from svc_jupyter.service.storage.account_storage import AccountStorage, resolve_under
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.locations import Location, Scheme, parse_location
from svc_jupyter.service.storage.object_stores import object_store

_MAX_SECRET = 16_384
_REGION = re.compile(r"[A-Za-z0-9-]{1,64}")
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_JSON_SPACES = str.maketrans("\n\r\t", "   ")
_OBJECT_STORES = frozenset({Scheme.S3, Scheme.GS, Scheme.AZ})


class Credentials:
    """Reads and replaces an account's stored storage."""

    def __init__(self, settings: Settings, database: Database, secrets: SecretBox) -> None:
        self._database = database
        self._settings = settings
        self._secrets = secrets

    def of(self, account_id: int) -> AccountStorage:
        """Return the account's storage; the service's own folder by default."""
        with self._database.connect() as connection:
            return self.read(account_id, connection)

    def read(self, account_id: int, connection: sa.Connection) -> AccountStorage:
        """Return the account's storage as this transaction sees it.

        Raises `StorageFailure` when the key that sealed its secrets is missing.
        """
        row = connection.execute(
            sa.select(account_storage).where(account_storage.c.account_id == account_id)
        ).one_or_none()
        if row is None:
            base = parse_location(f"file://{self._settings.storage_dir.absolute()}")
            return AccountStorage(base, may_be_private=self._settings.addresses_may_be_private)
        try:
            access_key, secret_key = (
                None if sealed is None else self._secrets.open(sealed)
                for sealed in (row.sealed_access_key, row.sealed_secret_key)
            )
        except ValueError as error:
            raise StorageFailure(f"account/storage: {error}", may_retry=False) from error
        base = _with_account_name(parse_location(row.url), access_key)
        may_be_private = self._settings.addresses_may_be_private
        return AccountStorage(base, access_key, secret_key, row.region, row.endpoint, may_be_private)

    def replace(self, update: StorageUpdate, by: Caller) -> AccountStorage:
        """Store and return the storage of the caller's account.

        Raises `Invalid` for invalid or inconsistent values.
        """
        base = parse_location(update.url)
        if base.scheme is Scheme.FILE:
            resolve_under(Path(base.path), self._settings.allowed_file_roots)
        with self._database.begin() as connection:
            wanted = AccountStorage(
                base,
                access_key=_given(update.access_key, "access_key"),
                secret_key=_given(update.secret_key, "secret_key"),
                region=update.region or None,
                endpoint=_checked_endpoint(update.endpoint) if update.endpoint else None,
            )
            if HIDDEN in (wanted.access_key, wanted.secret_key):
                wanted = _with_kept_secrets(wanted, self.read(by.account_id, connection))
            wanted = replace(wanted, base=_with_account_name(wanted.base, wanted.access_key))
            check(wanted)
            self._store(by.account_id, wanted, connection)
            changed = sorted(update.model_fields_set)
            trail.record(connection, by, "update", Resource.ACCOUNT, by.account_id, storage=str(base), changed=changed)
        return wanted

    def _store(self, account_id: int, account: AccountStorage, connection: sa.Connection) -> None:
        values = {
            "url": str(account.base),
            "sealed_access_key": None if account.access_key is None else self._secrets.seal(account.access_key),
            "sealed_secret_key": None if account.secret_key is None else self._secrets.seal(account.secret_key),
            "region": account.region,
            "endpoint": account.endpoint,
        }
        connection.execute(
            conflict_insert(connection, account_storage)
            .values(account_id=account_id, **values)
            .on_conflict_do_update(index_elements=["account_id"], set_=values)
        )


def shown(account: AccountStorage) -> StorageRecord:
    """Return the record of an account's storage, without its secrets."""
    return StorageRecord(
        url=str(account.base),
        access_key=None if account.access_key is None else HIDDEN,
        secret_key=None if account.secret_key is None else HIDDEN,
        region=account.region,
        endpoint=account.endpoint,
    )


def check(account: AccountStorage) -> None:
    """Raise `Invalid` when url, credentials, region and endpoint are inconsistent."""
    base = account.base
    if base.query:
        raise Invalid("url must not have a query")
    if base.scheme not in _OBJECT_STORES:
        for key in ("access_key", "secret_key", "region", "endpoint"):
            if getattr(account, key) is not None:
                raise Invalid(f"{key} does not belong to a {base.scheme}:// url")
        return
    if account.region is not None and not _REGION.fullmatch(account.region):
        raise Invalid("region must be a name such as eu-west-1")
    if base.scheme is Scheme.GS:
        _check_service_account(account)
    elif (account.access_key is None) != (account.secret_key is None):
        raise Invalid("give both access_key and secret_key, or neither")
    if base.scheme is Scheme.AZ and account.access_key not in (None, base.account_name):
        raise Invalid(f"access_key must be the name of the storage account in url, {base.account_name}")
    try:
        object_store(base, account)
    except StorageFailure as error:
        raise Invalid("secret_key is not of the form that this kind of storage needs") from error


def _check_service_account(account: AccountStorage) -> None:
    if account.access_key is not None:
        raise Invalid("access_key does not belong to a gs:// url; secret_key is the service account's JSON key")
    if account.secret_key is None:
        return
    try:
        is_object = isinstance(json.loads(account.secret_key), dict)
    except ValueError:
        is_object = False
    if not is_object:
        raise Invalid("secret_key must be the service account's JSON key, as downloaded")


def _given(secret: SecretStr | None, key: str) -> str | None:
    text = "" if secret is None else secret.get_secret_value()
    if len(text) > _MAX_SECRET:
        raise Invalid(f"{key} is longer than {_MAX_SECRET} characters")
    if _UNPRINTABLE.search(text if key == "access_key" else text.translate(_JSON_SPACES)):
        raise Invalid(f"{key} holds a control character")
    return text or None


def _with_kept_secrets(wanted: AccountStorage, stored: AccountStorage) -> AccountStorage:
    """Replace `<hidden>` by the stored secrets, but only for the store for which they were entered."""
    if not wanted.is_same_store(stored):
        raise Invalid("enter access_key and secret_key again: they were stored for another url or endpoint")
    kept = {key: getattr(stored, key) for key in ("access_key", "secret_key") if getattr(wanted, key) == HIDDEN}
    return replace(wanted, **kept)


def _with_account_name(base: Location, access_key: str | None) -> Location:
    """Add the storage account to an `az://` base, so that both forms of a location are under it."""
    if base.scheme is Scheme.AZ and base.account_name is None:
        return replace(base, account_name=access_key)
    return base


def _checked_endpoint(endpoint: str) -> str:
    """Return the endpoint without a trailing slash. The store's client panics on anything but a URL."""
    try:
        parts = urlsplit(endpoint)
        _ = parts.port
    except ValueError as error:
        raise Invalid("endpoint is not a valid URL") from error
    plain = parts.scheme in ("http", "https") and _HOST.fullmatch(parts.netloc) and _is_host(parts.hostname or "")
    if not plain or parts.query or parts.fragment or not re.fullmatch(r"[A-Za-z0-9/._~-]*", parts.path):
        raise Invalid("endpoint must be a URL such as https://storage.example.com, without user, password and query")
    return endpoint.rstrip("/")


def _is_host(host: str) -> bool:
    """Return whether a host that looks like a number is an IPv4 address."""
    if not host.rstrip(".").rpartition(".")[2].isdecimal():
        return True
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return True
