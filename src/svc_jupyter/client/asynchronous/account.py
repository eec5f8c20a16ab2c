"""The account: the caller, features, storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api.account import Account, Features, Storage
from svc_jupyter.api.retention import PrunePlan, RetentionRules
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.account import AccountFlows


class AsyncAccountCalls:
    """The account of the caller, as `client.account`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = AccountFlows(performer.link)

    async def get(self) -> Account:
        """Return the account and the caller's user."""
        return await self._performer.run(self._flows.get())

    async def features(self) -> Features:
        """Return which features are enabled."""
        return await self._performer.run(self._flows.features())

    async def set_features(self, **features: bool) -> Features:
        """Enable or disable features, as in `set_features(jupyter_notebooks=True)`; the others are unchanged."""
        return await self._performer.run(self._flows.set_features(features))

    async def storage(self) -> Storage:
        """Return the account's storage location; secrets are hidden."""
        return await self._performer.run(self._flows.storage())

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
        return await self._performer.run(
            self._flows.set_storage(
                url=url, access_key=access_key, secret_key=secret_key, region=region, endpoint=endpoint
            )
        )

    async def retention(self) -> RetentionRules:
        """Return the rules by which files of ended commands are deleted."""
        return await self._performer.run(self._flows.retention())

    async def set_retention(self, rules: Sequence[Mapping[str, Any]]) -> RetentionRules:
        """Replace the rules, as in `set_retention([{"what": "results", "keep_days": 90}])`; an empty list keeps all."""
        return await self._performer.run(self._flows.set_retention(rules))

    async def preview_retention(self, rules: Sequence[Mapping[str, Any]] | None = None) -> PrunePlan:
        """Return what rules would delete now, by default those in force."""
        return await self._performer.run(self._flows.preview_retention(rules))
