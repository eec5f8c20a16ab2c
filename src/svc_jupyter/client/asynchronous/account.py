"""The account: who the caller is, features, storage."""

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
        """Return the account and who the caller is in it."""
        return await self._performer.run(self._flows.get())

    async def features(self) -> Features:
        """Return which features are switched on."""
        return await self._performer.run(self._flows.features())

    async def set_features(self, **features: bool) -> Features:
        """Switch features on or off, as in `set_features(jupyter_notebooks=True)`; the others stay."""
        return await self._performer.run(self._flows.set_features(features))

    async def storage(self) -> Storage:
        """Return where the account's data lies; secrets are hidden."""
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
        """Set where the account's data lies and the credentials to reach it."""
        return await self._performer.run(
            self._flows.set_storage(
                url=url, access_key=access_key, secret_key=secret_key, region=region, endpoint=endpoint
            )
        )
