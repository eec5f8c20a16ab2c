"""The account: features and the stored storage credentials."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from svc_jupyter.api.fields import Record, Request


class Features(Record):
    """What an administrator switched on; by default all of it is off."""

    jupyter_notebooks: bool = False
    package_management: bool = False


class FeaturesUpdate(Request):
    """The features to change; the others stay."""

    jupyter_notebooks: bool | None = None
    package_management: bool | None = None


class Account(Record):
    """The caller's account and who the caller is in it."""

    id: int
    name: str
    user_id: int
    email: str
    groups: list[str]
    features: Features
    storage_url: str
    concurrent_command_limit: int
    isolation: Literal["on", "off"] = "off"
    """Whether the service runs users' programs in sandboxes; docs/security.md lists which ones."""


class StorageUpdate(Request):
    """Where the account's data lies and the credentials to reach it; the secrets are write-only."""

    url: str = Field(min_length=1, max_length=2048)
    access_key: SecretStr | None = Field(default=None, strict=False)
    secret_key: SecretStr | None = Field(default=None, strict=False)
    region: str | None = Field(default=None, max_length=255)
    endpoint: str | None = Field(default=None, max_length=2048)


class Storage(Record):
    """The account's storage; secrets are shown as `<hidden>` when set."""

    url: str
    access_key: str | None = None
    secret_key: str | None = None
    region: str | None = None
    endpoint: str | None = None
