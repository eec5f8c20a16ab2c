"""Package environments: packages for commands on a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.package_environments import (
    ActivityBegun,
    ActivityHistory,
    ActivityStatus,
    NewPackageEnvironment,
    PackageActivity,
    PackageEnvironmentList,
    PackageList,
)
from svc_jupyter.client.errors import UnexpectedAnswer, WaitTimeout
from svc_jupyter.client.transport.calls import Call, Flow, Pause, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

PYTHON = "python_package"
_OVER = (ActivityStatus.SUCCESS.value, ActivityStatus.FAILED.value)
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 1.0


class EnvironmentFlows:
    """Requests about environments, for both clients."""

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
        """Poll the history, which every service has."""
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


def creation(
    env_type: str, python_version: str | None, r_version: str | None, packages: Sequence[str]
) -> dict[str, Any]:
    return {
        "env_type": env_type,
        "python_version": python_version,
        "r_version": r_version,
        "packages": list(packages) or None,
    }


def restoration(package_id: int, env_type: str) -> dict[str, Any]:
    return {"env_type": env_type, "package_id": package_id}
