"""Package environments: packages for what runs on a cluster."""
# Made from asynchronous/package_environments.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

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
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


class PackageEnvironments:
    """Package environments, as `client.package_environments`.

    A change is done later: what begins it returns its row in the history, and `wait` the row once it is over.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = EnvironmentFlows(performer.link)

    def list(self, *, page: int = 1, per_page: int = 10) -> PackageEnvironmentList:
        """Return one page of environments, newest first; Forbidden while package management is off."""
        return self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[PackageEnvironment]:
        """Yield all environments, newest first."""
        pages: Pages[PackageEnvironment] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.environments, listing.paging_info)

    def create(
        self,
        name: str,
        *,
        env_type: str = PYTHON,
        python_version: str | None = None,
        r_version: str | None = None,
        packages: Sequence[str] = (),
    ) -> NewPackageEnvironment:
        """Begin to make an environment, of R with `r_package`; Invalid for a taken name or what is no package."""
        fields = creation(env_type, python_version, r_version, packages)
        return self._performer.run(self._flows.create(name, fields))

    def packages(self, environment_id: int) -> PackageList:
        """Return the packages in force."""
        return self._performer.run(self._flows.packages(environment_id))

    def add(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to add packages, such as `six==1.16.0`."""
        return self._performer.run(self._flows.begin(environment_id, "packages", {"packages": list(packages)}))

    def remove(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to remove packages; Invalid for one that was not added."""
        body = {"packages": list(packages)}
        return self._performer.run(self._flows.begin(environment_id, "packages", body, "DELETE"))

    def attach(self, environment_id: int, cluster_id: int) -> PackageActivity:
        """Begin to let a cluster's runs use it; Conflict when the cluster has another environment."""
        return self._performer.run(self._flows.begin(environment_id, "attach_cluster", {"cluster_id": cluster_id}))

    def detach(self, environment_id: int) -> PackageActivity:
        """Begin to let its cluster's runs go on without it."""
        return self._performer.run(self._flows.begin(environment_id, "detach_cluster", {}))

    def restore(self, environment_id: int, package_id: int, *, env_type: str = PYTHON) -> PackageActivity:
        """Begin to go back to the packages of a successful activity."""
        body = restoration(package_id, env_type)
        return self._performer.run(self._flows.begin(environment_id, "activity_history", body))

    def history(self, environment_id: int, *, page: int = 1, per_page: int = 10) -> ActivityHistory:
        """Return one page of what was done, newest first."""
        return self._performer.run(self._flows.history(environment_id, page, per_page))

    def wait(
        self,
        environment_id: int,
        activity_id: int,
        *,
        timeout: float | None = None,
    ) -> PackageActivity:
        """Return an activity once it is over, however it ended; WaitTimeout after `timeout` seconds."""
        return self._performer.run(self._flows.wait(environment_id, activity_id, timeout))

    def delete(self, environment_id: int) -> Deleted:
        """Delete an environment; Conflict while it is attached to a cluster."""
        return self._performer.run(self._flows.delete(environment_id))
