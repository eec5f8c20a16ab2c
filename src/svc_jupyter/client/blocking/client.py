"""The blocking client."""

from __future__ import annotations

from types import TracebackType

import httpx

from svc_jupyter.client.address.config import Settings
from svc_jupyter.client.blocking.account import AccountCalls
from svc_jupyter.client.blocking.audit import Audit
from svc_jupyter.client.blocking.catalogues import Catalogues
from svc_jupyter.client.blocking.clusters import Clusters
from svc_jupyter.client.blocking.commands import Commands
from svc_jupyter.client.blocking.dashboards import Dashboards
from svc_jupyter.client.blocking.db_taps import DbTaps
from svc_jupyter.client.blocking.folders import Folders
from svc_jupyter.client.blocking.groups import Groups
from svc_jupyter.client.blocking.hive import Hive
from svc_jupyter.client.blocking.jupyter_contents import JupyterContents
from svc_jupyter.client.blocking.notes import Notes
from svc_jupyter.client.blocking.notification_channels import NotificationChannels
from svc_jupyter.client.blocking.object_policies import ObjectPolicies
from svc_jupyter.client.blocking.package_environments import PackageEnvironments
from svc_jupyter.client.blocking.pipelines import Pipelines
from svc_jupyter.client.blocking.roles import Roles
from svc_jupyter.client.blocking.schedules import Schedules
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.blocking.sensors import Sensors
from svc_jupyter.client.blocking.users import Users
from svc_jupyter.client.commands.tables import Dtypes
from svc_jupyter.client.transport import wire
from svc_jupyter.client.transport.retries import Retries


class Client:
    """A data-processing service, for synchronous code. Close it or use `with`.

    Without arguments the settings come from the environment, the profile file or the embedded service (config.py).
    Nothing is sent or started before the first call. `timeout` is how many seconds an answer may take, in addition to
    the time the service was asked to hold it; waiting for a command has no limit of its own. `transport` replaces the
    network, for tests. With `dtypes="numpy"` integers and booleans beside a NULL become floats and objects in
    DataFrames, instead of pandas' nullable types. Thread-safe.
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
    catalogues: Catalogues
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
        dtypes: Dtypes = "nullable",
    ) -> None:
        if config is not None and (base_url or token or profile):
            raise TypeError("give either config, or base_url, token and profile")
        self.settings = config or Settings.load(base_url, token, profile=profile)
        self._sender = Sender(self.settings, transport=transport, timeout=timeout, retries=retries, dtypes=dtypes)
        self.commands = Commands(self._sender)
        self.db_taps = DbTaps(self._sender)
        self.account = AccountCalls(self._sender)
        self.users = Users(self._sender)
        self.groups = Groups(self._sender)
        self.roles = Roles(self._sender)
        self.object_policies = ObjectPolicies(self._sender)
        self.audit = Audit(self._sender)
        self.notification_channels = NotificationChannels(self._sender)
        self.jupyter_contents = JupyterContents(self._sender)
        self.folders = Folders(self._sender)
        self.notes = Notes(self._sender)
        self.dashboards = Dashboards(self._sender)
        self.schedules = Schedules(self._sender)
        self.clusters = Clusters(self._sender)
        self.catalogues = Catalogues(self._sender)
        self.hive = Hive(self._sender)
        self.sensors = Sensors(self._sender)
        self.package_environments = PackageEnvironments(self._sender)
        self.pipelines = Pipelines(self._sender)

    @property
    def base_url(self) -> str:
        """The service's address; finds or starts the embedded service."""
        return self._sender.link.locate().base_url

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

    def close(self) -> None:
        """Close the connections; the embedded service continues to run."""
        self._sender.http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client {self._sender.link.address}>"
