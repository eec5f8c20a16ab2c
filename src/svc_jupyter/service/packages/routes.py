"""Package environments over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.fields import Id
from svc_jupyter.api.package_environments import (
    ActivityAction,
    ActivityBegun,
    ActivityHistory,
    ClusterAttachment,
    EnvironmentCreate,
    EnvironmentType,
    NewPackageEnvironment,
    PackageEnvironment,
    PackageEnvironmentList,
    PackageList,
    PackagesChange,
    Restoration,
)
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.packages.environments import PackageEnvironments

router = resource_router(prefix="/package", tags=["package environments"])


async def _to_remove(
    body: PackagesChange | None = None,
    packages: Annotated[str | None, Query(max_length=4096, description="names separated by commas")] = None,
) -> list[str]:
    """Return the packages that are given in the query or in the body."""
    in_query = [name.strip() for name in (packages or "").split(",") if name.strip()]
    names = [*in_query, *(body.packages if body else ())]
    if not names:
        raise Invalid("packages: name those that are to be removed")
    return names


EnvironmentsDep = Annotated[PackageEnvironments, part(PackageEnvironments)]
RemovedDep = Annotated[list[str], Depends(_to_remove)]


@router.get("/list_environments", dependencies=[needs(Action.READ, Resource.ENVIRONMENT)])
def list_environments(environments: EnvironmentsDep, caller: CallerDep, page: PageDep) -> PackageEnvironmentList:
    """Return a page of the environments that the caller may read, newest first."""
    return environments.list(page, by=caller)


@router.post("", dependencies=[needs(Action.CREATE, Resource.ENVIRONMENT)])
def create_environment(
    body: EnvironmentCreate, environments: EnvironmentsDep, caller: CallerDep
) -> NewPackageEnvironment:
    """Start building an environment.

    422 for a taken name, an invalid package, or a version of R that is not installed.
    """
    return environments.create(body, by=caller)


@router.get("/{env_id}", dependencies=[needs(Action.READ, Resource.ENVIRONMENT)])
def get_environment(env_id: Id, environments: EnvironmentsDep, caller: CallerDep) -> PackageEnvironment:
    """Return an environment."""
    return environments.get(env_id, by=caller)


@router.delete("/{env_id}", dependencies=[needs(Action.DELETE, Resource.ENVIRONMENT)])
def delete_environment(env_id: Id, environments: EnvironmentsDep, caller: CallerDep) -> Deleted:
    """Delete an environment. Runs that started with it keep it. 409 while it is attached to a cluster."""
    environments.delete(env_id, by=caller)
    return Deleted(id=env_id)


@router.get("/{env_id}/list_packages", dependencies=[needs(Action.READ, Resource.ENVIRONMENT)])
def list_packages(env_id: Id, environments: EnvironmentsDep, caller: CallerDep) -> PackageList:
    """Return the installed packages."""
    return environments.packages(env_id, by=caller)


@router.post("/{env_id}/packages", dependencies=[needs(Action.UPDATE, Resource.ENVIRONMENT)])
def add_packages(env_id: Id, body: PackagesChange, environments: EnvironmentsDep, caller: CallerDep) -> ActivityBegun:
    """Start adding packages. An installed package is changed to the requested version."""
    return environments.change(env_id, ActivityAction.ADD, body.packages, by=caller)


@router.delete("/{env_id}/packages", dependencies=[needs(Action.UPDATE, Resource.ENVIRONMENT)])
def remove_packages(
    env_id: Id, packages: RemovedDep, environments: EnvironmentsDep, caller: CallerDep
) -> ActivityBegun:
    """Start removing packages and the dependencies that only they have. 422 for a package that was never added."""
    return environments.change(env_id, ActivityAction.REMOVE, packages, by=caller)


@router.post("/{env_id}/attach_cluster", dependencies=[needs(Action.UPDATE, Resource.ENVIRONMENT)])
def attach_cluster(
    env_id: Id, body: ClusterAttachment, environments: EnvironmentsDep, caller: CallerDep
) -> ActivityBegun:
    """Start attaching the environment to a cluster. 409 if the cluster has another one, 422 if it supports none."""
    return environments.attach(env_id, body.cluster_id, by=caller)


@router.post("/{env_id}/detach_cluster", dependencies=[needs(Action.UPDATE, Resource.ENVIRONMENT)])
def detach_cluster(env_id: Id, environments: EnvironmentsDep, caller: CallerDep) -> ActivityBegun:
    """Start detaching the environment from its cluster. 409 if it is not attached."""
    return environments.detach(env_id, by=caller)


@router.get("/{env_id}/activity_history", dependencies=[needs(Action.READ, Resource.ENVIRONMENT)])
def list_activities(
    env_id: Id,
    environments: EnvironmentsDep,
    caller: CallerDep,
    page: PageDep,
    env_type: EnvironmentType | None = None,
) -> ActivityHistory:
    """Return a page of the environment's activities, newest first."""
    return environments.history(env_id, env_type, page, by=caller)


@router.post("/{env_id}/activity_history", dependencies=[needs(Action.UPDATE, Resource.ENVIRONMENT)])
def restore_environment(
    env_id: Id, body: Restoration, environments: EnvironmentsDep, caller: CallerDep
) -> ActivityBegun:
    """Start restoring the packages of a successful activity.

    422 for an activity that failed or has not ended, for one of another environment, and for another `env_type`.
    """
    return environments.restore(env_id, body, by=caller)
