"""Package environments: packages for commands on a cluster."""
# Made from asynchronous/package_environments.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator, Sequence

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.package_environments import (
    ActivityHistory,
    NewPackageEnvironment,
    PackageActivity,
    PackageEnvironment,
    PackageEnvironmentList,
    PackageList,
)
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.package_environments import PYTHON, EnvironmentFlows, creation, restoration
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class PackageEnvironments:
    """Package environments, as `client.package_environments`.

    Changes are asynchronous: a call returns the activity it starts, and `wait` returns it once it is over.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = EnvironmentFlows(performer.link)

    def list(self, *, page: int = 1, per_page: int = 10) -> PackageEnvironmentList:
        """Return one page of environments, newest first; raises Forbidden while package management is off."""
        return self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[PackageEnvironment]:
        """Yield all environments, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE), lambda found: (found.environments, found.paging_info)
        )

    def create(
        self,
        name: str,
        *,
        env_type: str = PYTHON,
        python_version: str | None = None,
        r_version: str | None = None,
        packages: Sequence[str] = (),
    ) -> NewPackageEnvironment:
        """Begin to create an environment, of R with `r_package`; raises Invalid for a taken name or a wrong package."""
        fields = creation(env_type, python_version, r_version, packages)
        return self._performer.run(self._flows.create(name, fields))

    def packages(self, environment_id: int) -> PackageList:
        """Return the current packages."""
        return self._performer.run(self._flows.packages(environment_id))

    def add(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to add packages, such as `six==1.16.0`."""
        return self._performer.run(self._flows.begin(environment_id, "packages", {"packages": list(packages)}))

    def remove(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to remove packages; raises Invalid for a package that was not added."""
        body = {"packages": list(packages)}
        return self._performer.run(self._flows.begin(environment_id, "packages", body, "DELETE"))

    def attach(self, environment_id: int, cluster_id: int) -> PackageActivity:
        """Begin to attach it to a cluster, for later runs; raises Conflict when the cluster has another one."""
        return self._performer.run(self._flows.begin(environment_id, "attach_cluster", {"cluster_id": cluster_id}))

    def detach(self, environment_id: int) -> PackageActivity:
        """Begin to detach it from its cluster, for later runs."""
        return self._performer.run(self._flows.begin(environment_id, "detach_cluster", {}))

    def restore(self, environment_id: int, package_id: int, *, env_type: str = PYTHON) -> PackageActivity:
        """Begin to restore the packages of a successful activity."""
        body = restoration(package_id, env_type)
        return self._performer.run(self._flows.begin(environment_id, "activity_history", body))

    def history(self, environment_id: int, *, page: int = 1, per_page: int = 10) -> ActivityHistory:
        """Return one page of activities, newest first."""
        return self._performer.run(self._flows.history(environment_id, page, per_page))

    def wait(
        self,
        environment_id: int,
        activity_id: int,
        *,
        timeout: float | None = None,
    ) -> PackageActivity:
        """Return an activity once it is over, successful or not; raises WaitTimeout after `timeout` seconds."""
        return self._performer.run(self._flows.wait(environment_id, activity_id, timeout))

    def delete(self, environment_id: int) -> Deleted:
        """Delete an environment; raises Conflict while it is attached to a cluster."""
        return self._performer.run(self._flows.delete(environment_id))
