"""Clients of object stores, configured only from the account's stored values.

The client library also reads its provider's environment variables; address, region and keys, which they could change,
are therefore always set here. Only its blocking calls are used, from worker threads: the asynchronous ones end on
threads of their own, which abort an interpreter that exits at that moment (4 of 8 runs of a download and an exit).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.failures import StorageFailure, object_failure
from svc_jupyter.service.storage.locations import Location, Scheme

if TYPE_CHECKING:
    from obstore.store import AzureConfig, ClientConfig, GCSConfig, ObjectStore, RetryConfig, S3Config, S3Credential

DEFAULT_REGION = "us-east-1"
CONNECT_SECONDS = 5
READ_SECONDS = 30
"""Seconds without a byte after which a transfer counts as stalled."""
_WHOLE_TRANSFER = timedelta(days=1)
_RETRIES: RetryConfig = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
}
LOOK_UP_RETRIES: RetryConfig = {**_RETRIES, "max_retries": 1, "retry_timeout": timedelta(seconds=10)}
"""For requests that are repeated soon anyway."""


def object_store(location: Location, account: AccountStorage, retries: RetryConfig = _RETRIES) -> ObjectStore:
    """Return a client for the store of `location`, with the account's credentials if they are for it.

    Raises `StorageFailure` when the stored credentials do not fit such a store.
    """
    from obstore.exceptions import BaseError

    try:
        return _MAKERS[location.scheme](location, _for_location(location, account), retries)
    except (BaseError, ValueError) as error:
        raise StorageFailure(
            f"{location}: the credentials in account/storage are not of the form that {location.scheme}:// needs",
            may_retry=False,
        ) from error


@contextmanager
def client_faults(location: Location, account: AccountStorage) -> Iterator[None]:
    """Turn the exceptions of the object store's client into a failure; its panic is not an `Exception`."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise object_failure(error, location, account) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise StorageFailure(f"{location}: the store's client broke off; check endpoint in account/storage") from error


def _for_location(location: Location, account: AccountStorage) -> AccountStorage:
    """Keep only the region of the account's storage for a location in another store."""
    return account if account.opens(location) else AccountStorage(account.base, region=account.region)


def _s3(location: Location, account: AccountStorage, retries: RetryConfig) -> ObjectStore:
    from obstore.store import S3Store

    region = account.region or DEFAULT_REGION

    def keys() -> S3Credential:
        return {
            "access_key_id": account.access_key or "",
            "secret_access_key": account.secret_key or "",
            "token": None,
            "expires_at": None,
        }

    endpoint = account.endpoint or _s3_endpoint(region)
    config = {
        "region": region,
        "endpoint": endpoint,
        "aws_endpoint_url_s3": endpoint,  # a variable of this name would override `endpoint`
        "virtual_hosted_style_request": False,
        "skip_signature": not account.has_credentials,
    }
    return S3Store(
        location.store,
        config=cast("S3Config", config),
        credential_provider=keys,
        client_options=_client_options(account),
        retry_config=retries,
    )


def _s3_endpoint(region: str) -> str:
    return f"https://s3.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def _gs(location: Location, account: AccountStorage, retries: RetryConfig) -> ObjectStore:
    from obstore.store import GCSStore

    config: GCSConfig = {
        "base_url": account.endpoint or "https://storage.googleapis.com",
        "skip_signature": account.secret_key is None,
    }
    if account.secret_key is not None:
        config["service_account_key"] = account.secret_key
    return GCSStore(
        location.store,
        config=config,
        client_options=_client_options(account),
        retry_config=retries,
    )


def _az(location: Location, account: AccountStorage, retries: RetryConfig) -> ObjectStore:
    from obstore.store import AzureStore

    name = location.account_name or account.base.account_name or account.access_key
    if name is None:
        raise StorageFailure(
            f"{location} names no storage account; write abfss://container@account.dfs.core.windows.net/path",
            may_retry=False,
        )
    config: AzureConfig = {
        "account_name": name,
        "endpoint": account.endpoint or f"https://{name}.blob.core.windows.net",
        "skip_signature": account.secret_key is None,
    }
    if account.secret_key is not None:
        config["account_key"] = account.secret_key
    return AzureStore(
        location.store,
        config=config,
        client_options=_client_options(account),
        retry_config=retries,
    )


def _client_options(account: AccountStorage) -> ClientConfig:
    plain = account.endpoint is not None and urlsplit(account.endpoint).scheme == "http"
    return {
        "allow_http": plain,
        "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
        "read_timeout": timedelta(seconds=READ_SECONDS),
        "timeout": _WHOLE_TRANSFER,
        "user_agent": "svc-jupyter",
    }


_MAKERS = {Scheme.S3: _s3, Scheme.GS: _gs, Scheme.AZ: _az}
