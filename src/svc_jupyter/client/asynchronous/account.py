"""The account: the caller, features, storage."""

from __future__ import annotations

from svc_jupyter.api.account import Account, Features, Storage
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
