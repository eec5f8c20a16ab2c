"""The client that blocks."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TypeVar

import httpx

from svc_jupyter.client import wire
from svc_jupyter.client.account import AccountCalls
from svc_jupyter.client.audit import Audit
from svc_jupyter.client.calls import Call, Flow, Pause, Relocate, Send, Step, exchange
from svc_jupyter.client.clusters import Clusters
from svc_jupyter.client.commands import Commands
from svc_jupyter.client.config import Settings
from svc_jupyter.client.connections import KeptConnections
from svc_jupyter.client.dashboards import Dashboards
from svc_jupyter.client.db_taps import DbTaps
from svc_jupyter.client.folders import Folders
from svc_jupyter.client.groups import Groups
from svc_jupyter.client.hive import Hive
from svc_jupyter.client.jupyter_contents import JupyterContents
from svc_jupyter.client.link import Link
from svc_jupyter.client.notes import Notes
from svc_jupyter.client.notification_channels import NotificationChannels
from svc_jupyter.client.object_policies import ObjectPolicies
from svc_jupyter.client.package_environments import PackageEnvironments
from svc_jupyter.client.pipelines import Pipelines
from svc_jupyter.client.retries import Retries
from svc_jupyter.client.roles import Roles
from svc_jupyter.client.schedules import Schedules
from svc_jupyter.client.sensors import Sensors
from svc_jupyter.client.users import Users

T = TypeVar("T")


class Client:
    """A data-processing service, from synchronous code; close it or use it in a `with`.

    Without arguments the settings come from the environment, the profile file or the embedded service (config.py);
    nothing is sent, nor the embedded service started, before the first call. `timeout` is how many seconds an answer
    may take, on top of the time the service was asked to hold it; waiting for a command has no limit of its own.
    `transport` replaces the network, for tests. Safe to use from several threads.
    """

    commands: Commands
    db_taps: DbTaps
    account: AccountCalls
    users: Users
    groups: Groups
    roles: Roles
    object_policies: ObjectPolicies
    audit: Audit
    notification_channels: NotificationChannels
    jupyter_contents: JupyterContents
    folders: Folders
    notes: Notes
    dashboards: Dashboards
    schedules: Schedules
    clusters: Clusters
    hive: Hive
    sensors: Sensors
    package_environments: PackageEnvironments
    pipelines: Pipelines

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        profile: str | None = None,
        config: Settings | None = None,
        transport: httpx.BaseTransport | None = None,
        timeout: float = wire.ANSWER_SECONDS,
        retries: Retries | None = None,
    ) -> None:
        if config is not None and (base_url or token or profile):
            raise TypeError("give either config, or base_url, token and profile")
        self.settings = config or Settings.load(base_url, token, profile=profile)
        self._link = Link(self.settings, retries or Retries())
        self._answer_seconds = timeout
        self._http = httpx.Client(**wire.options(self.settings, transport, KeptConnections))
        self.commands = Commands(self)
        self.db_taps = DbTaps(self)
        self.account = AccountCalls(self)
        self.users = Users(self)
        self.groups = Groups(self)
        self.roles = Roles(self)
        self.object_policies = ObjectPolicies(self)
        self.audit = Audit(self)
        self.notification_channels = NotificationChannels(self)
        self.jupyter_contents = JupyterContents(self)
        self.folders = Folders(self)
        self.notes = Notes(self)
        self.dashboards = Dashboards(self)
        self.schedules = Schedules(self)
        self.clusters = Clusters(self)
        self.hive = Hive(self)
        self.sensors = Sensors(self)
        self.package_environments = PackageEnvironments(self)
        self.pipelines = Pipelines(self)

    @property
    def base_url(self) -> str:
        """The service's address; with the embedded service this finds it or starts it."""
        return self._link.locate().base_url

    @property
    def extended(self) -> bool:
        """Whether the service is known to have the extensions (held answers, events, Arrow results)."""
        return self._link.extended

    def close(self) -> None:
        """Close the connections; the embedded service goes on."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client {self._link.address}>"

    def _run(self, flow: Flow[T]) -> T:
        """Perform the steps of a conversation and return what it comes to."""
        try:
            step = next(flow)
            while True:
                try:
                    reply = self._perform(step)
                except httpx.RequestError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as end:
            result: T = end.value
            return result

    def _open(self, call: Call) -> httpx.Response:
        """Return a successful answer whose body is not read yet; the caller closes it."""
        return self._run(exchange(self._link, call))

    def _perform(self, step: Step) -> httpx.Response | bool | None:
        match step:
            case Send(call):
                return self._send(call)
            case Pause(seconds):
                time.sleep(seconds)
                return None
            case Relocate(failed, start):
                return self._link.relocate(failed, start=start)

    def _send(self, call: Call) -> httpx.Response:
        request = wire.request(self._link.locate(), call, self._answer_seconds)
        response = self._http.send(request, stream=call.stream)
        if call.stream and not response.is_success:
            response.read()
        return response
