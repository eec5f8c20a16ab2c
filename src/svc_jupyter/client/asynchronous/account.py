"""The account: the caller, features, storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.account import Account, Features, Storage
from svc_jupyter.api.retention import PrunePlan, RetentionRules
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.transport.calls import Call, given

_RESOURCE = paths.api("account")


class AsyncAccountCalls:
    """The account of the caller, as `client.account`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def get(self) -> Account:
        """Return the account and the caller's user."""
        return await self._sender.fetch(Call("GET", _RESOURCE), Account)

    async def features(self) -> Features:
        """Return which features are enabled."""
        return await self._sender.fetch(Call("GET", f"{_RESOURCE}/features"), Features)

    async def set_features(self, **features: bool) -> Features:
        """Enable or disable features, as in `set_features(jupyter_notebooks=True)`; the others are unchanged."""
        return await self._sender.fetch(Call("PUT", f"{_RESOURCE}/features", body=features), Features)

    async def storage(self) -> Storage:
        """Return the account's storage location; secrets are hidden."""
        return await self._sender.fetch(Call("GET", f"{_RESOURCE}/storage"), Storage)

    async def set_storage(
        self,
        url: str,
        *,
        access_key: str | None = None,
        secret_key: str | None = None,
        region: str | None = None,
        endpoint: str | None = None,
    ) -> Storage:
        """Set the account's storage location and its credentials."""
        body = given(url=url, access_key=access_key, secret_key=secret_key, region=region, endpoint=endpoint)
        return await self._sender.fetch(Call("PUT", f"{_RESOURCE}/storage", body=body), Storage)

    async def retention(self) -> RetentionRules:
        """Return the rules by which files of ended commands are deleted."""
        return await self._sender.fetch(Call("GET", f"{_RESOURCE}/retention"), RetentionRules)

    async def set_retention(self, rules: Sequence[Mapping[str, Any]]) -> RetentionRules:
        """Replace the rules, as in `set_retention([{"what": "results", "keep_days": 90}])`; an empty list keeps all."""
        return await self._sender.fetch(Call("PUT", f"{_RESOURCE}/retention", body={"rules": [*rules]}), RetentionRules)

    async def preview_retention(self, rules: Sequence[Mapping[str, Any]] | None = None) -> PrunePlan:
        """Return what rules would delete now, by default those in force."""
        body = {} if rules is None else {"rules": [*rules]}
        return await self._sender.fetch(Call("POST", f"{_RESOURCE}/retention/preview", body=body), PrunePlan)
