"""The client for asyncio."""

from __future__ import annotations

from types import TracebackType

import httpx

from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.asynchronous.account import AsyncAccountCalls
from svc_jupyter.client.asynchronous.audit import AsyncAudit
from svc_jupyter.client.asynchronous.catalogues import AsyncCatalogues
from svc_jupyter.client.asynchronous.clusters import AsyncClusters
from svc_jupyter.client.asynchronous.commands import AsyncCommands
from svc_jupyter.client.asynchronous.dashboards import AsyncDashboards
from svc_jupyter.client.asynchronous.db_taps import AsyncDbTaps
from svc_jupyter.client.asynchronous.folders import AsyncFolders
from svc_jupyter.client.asynchronous.groups import AsyncGroups
from svc_jupyter.client.asynchronous.hive import AsyncHive
from svc_jupyter.client.asynchronous.jupyter_contents import AsyncJupyterContents
from svc_jupyter.client.asynchronous.notes import AsyncNotes
from svc_jupyter.client.asynchronous.notification_channels import AsyncNotificationChannels
from svc_jupyter.client.asynchronous.object_policies import AsyncObjectPolicies
from svc_jupyter.client.asynchronous.package_environments import AsyncPackageEnvironments
from svc_jupyter.client.asynchronous.pipelines import AsyncPipelines
from svc_jupyter.client.asynchronous.roles import AsyncRoles
from svc_jupyter.client.asynchronous.schedules import AsyncSchedules
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.asynchronous.sensors import AsyncSensors
from svc_jupyter.client.asynchronous.users import AsyncUsers
from svc_jupyter.client.commands.tables import Dtypes
from svc_jupyter.client.transport import wire
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.retries import Retries


class AsyncClient:
    """A data-processing service, for asyncio code. Close it with `await client.aclose()` or use `async with`.

    The arguments are those of `Client`; the embedded service is found and started in a thread.
    """

    commands: AsyncCommands
    db_taps: AsyncDbTaps
    account: AsyncAccountCalls
    users: AsyncUsers
    groups: AsyncGroups
    roles: AsyncRoles
    object_policies: AsyncObjectPolicies
    audit: AsyncAudit
    notification_channels: AsyncNotificationChannels
    jupyter_contents: AsyncJupyterContents
    folders: AsyncFolders
    notes: AsyncNotes
    dashboards: AsyncDashboards
    schedules: AsyncSchedules
    clusters: AsyncClusters
    hive: AsyncHive
    sensors: AsyncSensors
    package_environments: AsyncPackageEnvironments
    pipelines: AsyncPipelines

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        profile: str | None = None,
        config: Settings | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout: float = wire.ANSWER_SECONDS,
        retries: Retries | None = None,
        dtypes: Dtypes = "nullable",
    ) -> None:
        if config is not None and (base_url or token or profile):
            raise TypeError("give either config, or base_url, token and profile")
        self.settings = config or Settings.load(base_url, token, profile=profile)
        self._sender = AsyncSender(self.settings, transport=transport, timeout=timeout, retries=retries, dtypes=dtypes)
        self.commands = AsyncCommands(self._sender)
        self.db_taps = AsyncDbTaps(self._sender)
        self.account = AsyncAccountCalls(self._sender)
        self.users = AsyncUsers(self._sender)
        self.groups = AsyncGroups(self._sender)
        self.roles = AsyncRoles(self._sender)
        self.object_policies = AsyncObjectPolicies(self._sender)
        self.audit = AsyncAudit(self._sender)
        self.notification_channels = AsyncNotificationChannels(self._sender)
        self.jupyter_contents = AsyncJupyterContents(self._sender)
        self.folders = AsyncFolders(self._sender)
        self.notes = AsyncNotes(self._sender)
        self.dashboards = AsyncDashboards(self._sender)
        self.schedules = AsyncSchedules(self._sender)
        self.clusters = AsyncClusters(self._sender)
        self.catalogues = AsyncCatalogues(self._sender)
        self.hive = AsyncHive(self._sender)
        self.sensors = AsyncSensors(self._sender)
        self.package_environments = AsyncPackageEnvironments(self._sender)
        self.pipelines = AsyncPipelines(self._sender)

    @property
    def extended(self) -> bool:
        """Whether the service is known to have the extensions (held answers, events, Arrow results)."""
        return self._sender.link.extended

    @property
    def dtypes(self) -> Dtypes:
        """What columns of integers and booleans with a NULL become in DataFrames: `nullable` or `numpy`."""
        return self._sender.dtypes

    @dtypes.setter
    def dtypes(self, dtypes: Dtypes) -> None:
        self._sender.dtypes = dtypes

    async def answer(self, call: Call) -> httpx.Response:
        """Return the service's successful response to a call unchanged, after the usual retries; else raise `SvcError`.

        For proxies. A call with `stream` leaves the body unread: the caller closes the response.
        """
        return await self._sender.send(call)

    async def aclose(self) -> None:
        """Close the connections; the embedded service continues to run."""
        await self._sender.http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<AsyncClient {self._sender.link.address}>"
