"""Package environments: packages for commands on a cluster."""
# Made from asynchronous/package_environments.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

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
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.errors import UnexpectedAnswer, WaitTimeout
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_PYTHON = "python_package"
_OVER = (ActivityStatus.SUCCESS.value, ActivityStatus.FAILED.value)
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 1.0


class PackageEnvironments:
    """Package environments, as `client.package_environments`.

    Changes are asynchronous: a call returns the activity it starts, and `wait` returns it once it is over.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, *, page: int = 1, per_page: int = 10) -> PackageEnvironmentList:
        """Return one page of environments, newest first; raises Forbidden while package management is off."""
        call = Call("GET", _path("list_environments"), {"page": page, "per_page": per_page})
        return self._sender.fetch(call, PackageEnvironmentList)

    def iter(self) -> Iterator[PackageEnvironment]:
        """Yield all environments, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE),
            lambda found: (found.environments, found.paging_info),
        )

    def create(
        self,
        name: str,
        *,
        env_type: str = _PYTHON,
        python_version: str | None = None,
        r_version: str | None = None,
        packages: Sequence[str] = (),
    ) -> NewPackageEnvironment:
        """Begin to create an environment, of R with `r_package`; raises Invalid for a taken name or a wrong package."""
        body = given(
            name=name,
            env_type=env_type,
            python_version=python_version,
            r_version=r_version,
            packages=[*packages] or None,
        )
        call = Call("POST", paths.api("package"), body=body, headers=idempotency())
        return self._sender.fetch(call, NewPackageEnvironment)

    def packages(self, environment_id: int) -> PackageList:
        """Return the current packages."""
        return self._sender.fetch(Call("GET", _path(environment_id, "list_packages")), PackageList)

    def add(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to add packages, such as `six==1.16.0`."""
        return self._begin(environment_id, "packages", {"packages": [*packages]})

    def remove(self, environment_id: int, *packages: str) -> PackageActivity:
        """Begin to remove packages; raises Invalid for a package that was not added."""
        return self._begin(environment_id, "packages", {"packages": [*packages]}, method="DELETE")

    def attach(self, environment_id: int, cluster_id: int) -> PackageActivity:
        """Begin to attach it to a cluster, for later runs; raises Conflict when the cluster has another one."""
        return self._begin(environment_id, "attach_cluster", {"cluster_id": cluster_id})

    def detach(self, environment_id: int) -> PackageActivity:
        """Begin to detach it from its cluster, for later runs."""
        return self._begin(environment_id, "detach_cluster", {})

    def restore(self, environment_id: int, package_id: int, *, env_type: str = _PYTHON) -> PackageActivity:
        """Begin to restore the packages of a successful activity."""
        return self._begin(environment_id, "activity_history", {"env_type": env_type, "package_id": package_id})

    def history(self, environment_id: int, *, page: int = 1, per_page: int = 10) -> ActivityHistory:
        """Return one page of activities, newest first."""
        call = Call("GET", _path(environment_id, "activity_history"), {"page": page, "per_page": per_page})
        return self._sender.fetch(call, ActivityHistory)

    def wait(
        self,
        environment_id: int,
        activity_id: int,
        *,
        timeout: float | None = None,
    ) -> PackageActivity:
        """Return an activity once it is over, successful or not; raises WaitTimeout after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _FIRST_PAUSE_SECONDS
        while True:  # it polls the history, which every service has
            rows = (self.history(environment_id, per_page=WHOLE_PAGE)).activity_history
            row = next((row for row in rows if row.id == activity_id), None)
            if row is None:
                raise UnexpectedAnswer(f"environment {environment_id} has no recent activity {activity_id}")
            if row.status in _OVER:
                return row
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeout(f"activity {activity_id} is still {row.status} after {timeout:g} s")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def delete(self, environment_id: int) -> Deleted:
        """Delete an environment; raises Conflict while it is attached to a cluster."""
        return self._sender.fetch(Call("DELETE", _path(environment_id)), Deleted)

    def _begin(self, environment_id: int, what: str, body: dict[str, Any], *, method: str = "POST") -> PackageActivity:
        call = Call(method, _path(environment_id, what), body=body, headers=idempotency())
        answer = self._sender.fetch(call, ActivityBegun)
        return answer.activity


def _path(*parts: str | int) -> str:
    return paths.api("/".join(["package", *map(str, parts)]))
