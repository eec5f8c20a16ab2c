"""The account: who the caller is, features, storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svc_jupyter.api import paths
from svc_jupyter.api.account import Account, Features, Storage
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client


class _AccountFlows:
    """What both kinds of client say to the service about the account."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def get(self) -> Flow[Account]:
        return fetch(self.link, Call("GET", paths.api("account")), Account)

    def features(self) -> Flow[Features]:
        return fetch(self.link, Call("GET", paths.api("account/features")), Features)

    def set_features(self, changes: dict[str, bool]) -> Flow[Features]:
        return fetch(self.link, Call("PUT", paths.api("account/features"), body=changes), Features)

    def storage(self) -> Flow[Storage]:
        return fetch(self.link, Call("GET", paths.api("account/storage")), Storage)

    def set_storage(self, **values: str | None) -> Flow[Storage]:
        body: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
        return fetch(self.link, Call("PUT", paths.api("account/storage"), body=body), Storage)


class AccountCalls:
    """The account of the caller, as `client.account`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _AccountFlows(client._link)

    def get(self) -> Account:
        """Return the account and who the caller is in it."""
        return self._client._run(self._flows.get())

    def features(self) -> Features:
        """Return which features are switched on."""
        return self._client._run(self._flows.features())

    def set_features(self, **features: bool) -> Features:
        """Switch features on or off, as in `set_features(jupyter_notebooks=True)`; the others stay."""
        return self._client._run(self._flows.set_features(features))

    def storage(self) -> Storage:
        """Return where the account's data lies; secrets are hidden."""
        return self._client._run(self._flows.storage())

    def set_storage(
        self,
        url: str,
        *,
        access_key: str | None = None,
        secret_key: str | None = None,
        region: str | None = None,
        endpoint: str | None = None,
    ) -> Storage:
        """Set where the account's data lies and the credentials to reach it."""
        return self._client._run(
            self._flows.set_storage(
                url=url, access_key=access_key, secret_key=secret_key, region=region, endpoint=endpoint
            )
        )


class AsyncAccountCalls:
    """The account of the caller, as `client.account`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _AccountFlows(client._link)

    async def get(self) -> Account:
        """Return the account and who the caller is in it."""
        return await self._client._run(self._flows.get())

    async def features(self) -> Features:
        """Return which features are switched on."""
        return await self._client._run(self._flows.features())

    async def set_features(self, **features: bool) -> Features:
        """Switch features on or off, as in `set_features(jupyter_notebooks=True)`; the others stay."""
        return await self._client._run(self._flows.set_features(features))

    async def storage(self) -> Storage:
        """Return where the account's data lies; secrets are hidden."""
        return await self._client._run(self._flows.storage())

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
        return await self._client._run(
            self._flows.set_storage(
                url=url, access_key=access_key, secret_key=secret_key, region=region, endpoint=endpoint
            )
        )
