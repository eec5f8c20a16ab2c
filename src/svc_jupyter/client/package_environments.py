"""Package environments: packages for what runs on a cluster."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.package_environments import (
    ActivityBegun,
    ActivityHistory,
    ActivityStatus,
    NewPackageEnvironment,
    PackageActivity,
    PackageEnvironment,
    PackageEnvironmentList,
    PackageList,
)
from svc_jupyter.client.calls import Call, Flow, Pause, fetch
from svc_jupyter.client.errors import UnexpectedAnswer, WaitTimeout
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

_PYTHON = "python_package"
_OVER = (ActivityStatus.SUCCESS.value, ActivityStatus.FAILED.value)
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 1.0


class _EnvironmentFlows:
    """What both kinds of client say to the service about environments."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int) -> Flow[PackageEnvironmentList]:
        call = Call("GET", _path("list_environments"), {"page": page, "per_page": per_page})
        return fetch(self.link, call, PackageEnvironmentList)

    def create(self, name: str, fields: dict[str, Any]) -> Flow[NewPackageEnvironment]:
        body = {"name": name, **{key: value for key, value in fields.items() if value is not None}}
        call = Call("POST", paths.api("package"), body=body, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, NewPackageEnvironment)

    def packages(self, environment_id: int) -> Flow[PackageList]:
        return fetch(self.link, Call("GET", _path(environment_id, "list_packages")), PackageList)

    def begin(
        self, environment_id: int, what: str, body: dict[str, Any], method: str = "POST"
    ) -> Flow[PackageActivity]:
        call = Call(method, _path(environment_id, what), body=body, headers=idempotency(str(uuid4())))
        answer = yield from fetch(self.link, call, ActivityBegun)
        return answer.activity

    def history(self, environment_id: int, page: int, per_page: int) -> Flow[ActivityHistory]:
        call = Call("GET", _path(environment_id, "activity_history"), {"page": page, "per_page": per_page})
        return fetch(self.link, call, ActivityHistory)

    def wait(self, environment_id: int, activity_id: int, timeout: float | None) -> Flow[PackageActivity]:
        """Look at the history again and again: any service of this kind has it."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE_SECONDS
        while True:
            rows = (yield from self.history(environment_id, 1, WHOLE_PAGE)).activity_history
            row = next((row for row in rows if row.id == activity_id), None)
            if row is None:
                raise UnexpectedAnswer(f"environment {environment_id} has no recent activity {activity_id}")
            if row.status in _OVER:
                return row
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeout(f"activity {activity_id} is still {row.status} after {timeout:g} s")
            yield Pause(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def delete(self, environment_id: int) -> Flow[Deleted]:
        return fetch(self.link, Call("DELETE", _path(environment_id)), Deleted)


def _path(*parts: str | int) -> str:
    return paths.api("/".join(["package", *map(str, parts)]))


def _creation(
    env_type: str, python_version: str | None, r_version: str | None, packages: Sequence[str]
) -> dict[str, Any]:
    return {
        "env_type": env_type,
        "python_version": python_version,
        "r_version": r_version,
        "packages": list(packages) or None,
    }


def _restoration(package_id: int, env_type: str) -> dict[str, Any]:
    return {"env_type": env_type, "package_id": package_id}


class PackageEnvironments:
    """Package environments, as `client.package_environments`.

    A change is done later: what begins it returns its row in the history, and `wait` the row once it is over.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _EnvironmentFlows(client._link)

    def list(self, *, page: int = 1, per_page: int = 10) -> PackageEnvironmentList:
        """Return one page of environments, newest first; Forbidden while package management is off."""
        return self._client._run(self._flows.page(page, per_page))

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
        env_type: str = _PYTHON,
        python_version: str | None = None,
        r_version: str | None = None,
        packages: Sequence[str] = (),
    ) -> NewPackageEnvironment:
        """Begin to make an environment, of R with `r_package`; Invalid for a taken name or what is no package."""
        fields = _creation(env_type, python_version, r_version, packages)
        return self._client._run(self._flows.create(name, fields))

    def packages(self, environment_id: int) -> PackageList:
        """Return the packages in force."""
        return self._client._run(self._flows.packages(environment_id))

    def add(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to add packages, such as `six==1.16.0`."""
        return self._client._run(self._flows.begin(environment_id, "packages", {"packages": list(packages)}))

    def remove(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to remove packages; Invalid for one that was not added."""
        body = {"packages": list(packages)}
        return self._client._run(self._flows.begin(environment_id, "packages", body, "DELETE"))

    def attach(self, environment_id: int, cluster_id: int) -> PackageActivity:
        """Begin to let a cluster's runs use it; Conflict when the cluster has another environment."""
        return self._client._run(self._flows.begin(environment_id, "attach_cluster", {"cluster_id": cluster_id}))

    def detach(self, environment_id: int) -> PackageActivity:
        """Begin to let its cluster's runs go on without it."""
        return self._client._run(self._flows.begin(environment_id, "detach_cluster", {}))

    def restore(self, environment_id: int, package_id: int, *, env_type: str = _PYTHON) -> PackageActivity:
        """Begin to go back to the packages of a successful activity."""
        body = _restoration(package_id, env_type)
        return self._client._run(self._flows.begin(environment_id, "activity_history", body))

    def history(self, environment_id: int, *, page: int = 1, per_page: int = 10) -> ActivityHistory:
        """Return one page of what was done, newest first."""
        return self._client._run(self._flows.history(environment_id, page, per_page))

    def wait(self, environment_id: int, activity_id: int, *, timeout: float | None = None) -> PackageActivity:
        """Return an activity once it is over, however it ended; WaitTimeout after `timeout` seconds."""
        return self._client._run(self._flows.wait(environment_id, activity_id, timeout))

    def delete(self, environment_id: int) -> Deleted:
        """Delete an environment; Conflict while it is attached to a cluster."""
        return self._client._run(self._flows.delete(environment_id))


class AsyncPackageEnvironments:
    """Package environments, as `client.package_environments`.

    A change is done later: what begins it returns its row in the history, and `wait` the row once it is over.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _EnvironmentFlows(client._link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> PackageEnvironmentList:
        """Return one page of environments, newest first; Forbidden while package management is off."""
        return await self._client._run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[PackageEnvironment]:
        """Yield all environments, newest first."""
        pages: Pages[PackageEnvironment] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE)
            for environment in pages.take(listing.environments, listing.paging_info):
                yield environment

    async def create(
        self,
        name: str,
        *,
        env_type: str = _PYTHON,
        python_version: str | None = None,
        r_version: str | None = None,
        packages: Sequence[str] = (),
    ) -> NewPackageEnvironment:
        """Begin to make an environment, of R with `r_package`; Invalid for a taken name or what is no package."""
        fields = _creation(env_type, python_version, r_version, packages)
        return await self._client._run(self._flows.create(name, fields))

    async def packages(self, environment_id: int) -> PackageList:
        """Return the packages in force."""
        return await self._client._run(self._flows.packages(environment_id))

    async def add(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to add packages, such as `six==1.16.0`."""
        return await self._client._run(self._flows.begin(environment_id, "packages", {"packages": list(packages)}))

    async def remove(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to remove packages; Invalid for one that was not added."""
        body = {"packages": list(packages)}
        return await self._client._run(self._flows.begin(environment_id, "packages", body, "DELETE"))

    async def attach(self, environment_id: int, cluster_id: int) -> PackageActivity:
        """Begin to let a cluster's runs use it; Conflict when the cluster has another environment."""
        return await self._client._run(self._flows.begin(environment_id, "attach_cluster", {"cluster_id": cluster_id}))

    async def detach(self, environment_id: int) -> PackageActivity:
        """Begin to let its cluster's runs go on without it."""
        return await self._client._run(self._flows.begin(environment_id, "detach_cluster", {}))

    async def restore(self, environment_id: int, package_id: int, *, env_type: str = _PYTHON) -> PackageActivity:
        """Begin to go back to the packages of a successful activity."""
        body = _restoration(package_id, env_type)
        return await self._client._run(self._flows.begin(environment_id, "activity_history", body))

    async def history(self, environment_id: int, *, page: int = 1, per_page: int = 10) -> ActivityHistory:
        """Return one page of what was done, newest first."""
        return await self._client._run(self._flows.history(environment_id, page, per_page))

    async def wait(
        self,
        environment_id: int,
        activity_id: int,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> PackageActivity:
        """Return an activity once it is over, however it ended; WaitTimeout after `timeout` seconds."""
        return await self._client._run(self._flows.wait(environment_id, activity_id, timeout))

    async def delete(self, environment_id: int) -> Deleted:
        """Delete an environment; Conflict while it is attached to a cluster."""
        return await self._client._run(self._flows.delete(environment_id))
