"""The client for asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TypeVar

import httpx

from svc_jupyter.client import wire
from svc_jupyter.client.account import AsyncAccountCalls
from svc_jupyter.client.audit import AsyncAudit
from svc_jupyter.client.calls import Call, Flow, Pause, Relocate, Send, Step, exchange
from svc_jupyter.client.clusters import AsyncClusters
from svc_jupyter.client.commands import AsyncCommands
from svc_jupyter.client.config import Settings
from svc_jupyter.client.connections import AsyncKeptConnections
from svc_jupyter.client.dashboards import AsyncDashboards
from svc_jupyter.client.db_taps import AsyncDbTaps
from svc_jupyter.client.folders import AsyncFolders
from svc_jupyter.client.groups import AsyncGroups
from svc_jupyter.client.hive import AsyncHive
from svc_jupyter.client.jupyter_contents import AsyncJupyterContents
from svc_jupyter.client.link import Link
from svc_jupyter.client.notes import AsyncNotes
from svc_jupyter.client.notification_channels import AsyncNotificationChannels
from svc_jupyter.client.object_policies import AsyncObjectPolicies
from svc_jupyter.client.package_environments import AsyncPackageEnvironments
from svc_jupyter.client.pipelines import AsyncPipelines
from svc_jupyter.client.retries import Retries
from svc_jupyter.client.roles import AsyncRoles
from svc_jupyter.client.schedules import AsyncSchedules
from svc_jupyter.client.sensors import AsyncSensors
from svc_jupyter.client.users import AsyncUsers

T = TypeVar("T")


class AsyncClient:
    """A data-processing service, from asyncio; close it by `await client.aclose()` or use it in an `async with`.

    The arguments are those of `Client`; finding and starting the embedded service happens in a thread.
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
    ) -> None:
        if config is not None and (base_url or token or profile):
            raise TypeError("give either config, or base_url, token and profile")
        self.settings = config or Settings.load(base_url, token, profile=profile)
        self._link = Link(self.settings, retries or Retries())
        self._answer_seconds = timeout
        self._http = httpx.AsyncClient(**wire.options(self.settings, transport, AsyncKeptConnections))
        self.commands = AsyncCommands(self)
        self.db_taps = AsyncDbTaps(self)
        self.account = AsyncAccountCalls(self)
        self.users = AsyncUsers(self)
        self.groups = AsyncGroups(self)
        self.roles = AsyncRoles(self)
        self.object_policies = AsyncObjectPolicies(self)
        self.audit = AsyncAudit(self)
        self.notification_channels = AsyncNotificationChannels(self)
        self.jupyter_contents = AsyncJupyterContents(self)
        self.folders = AsyncFolders(self)
        self.notes = AsyncNotes(self)
        self.dashboards = AsyncDashboards(self)
        self.schedules = AsyncSchedules(self)
        self.clusters = AsyncClusters(self)
        self.hive = AsyncHive(self)
        self.sensors = AsyncSensors(self)
        self.package_environments = AsyncPackageEnvironments(self)
        self.pipelines = AsyncPipelines(self)

    @property
    def extended(self) -> bool:
        """Whether the service is known to have the extensions (held answers, events, Arrow results)."""
        return self._link.extended

    async def answer(self, call: Call) -> httpx.Response:
        """Return the service's successful answer to a call as it came, after the usual retries; else raise `SvcError`.

        For those who pass answers on. A call with `stream` leaves the body unread: the caller closes the answer.
        """
        return await self._run(exchange(self._link, call))

    async def aclose(self) -> None:
        """Close the connections; the embedded service goes on."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<AsyncClient {self._link.address}>"

    async def _run(self, flow: Flow[T]) -> T:
        """Perform the steps of a conversation and return what it comes to."""
        try:
            step = next(flow)
            while True:
                try:
                    reply = await self._perform(step)
                except httpx.RequestError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _open(self, call: Call) -> httpx.Response:
        """Return a successful answer whose body is not read yet; the caller closes it."""
        return await self.answer(call)

    async def _perform(self, step: Step) -> httpx.Response | bool | None:
        match step:
            case Send(call):
                return await self._send(call)
            case Pause(seconds):
                await asyncio.sleep(seconds)
                return None
            case Relocate(failed, start):
                return await asyncio.to_thread(self._link.relocate, failed, start=start)

    async def _send(self, call: Call) -> httpx.Response:
        connection = self._link.connection
        if connection is None:
            connection = await asyncio.to_thread(self._link.locate)
        request = wire.request(connection, call, self._answer_seconds)
        response = await self._http.send(request, stream=call.stream)
        if call.stream and not response.is_success:
            await response.aread()
        return response
