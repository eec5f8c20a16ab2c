"""Groups and roles over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.fields import NAME_LIMIT
from svc_jupyter.api.groups import (
    Done,
    Duplicate,
    Group,
    GroupCreate,
    GroupList,
    GroupUpdate,
    Role,
    RoleCreate,
    RoleList,
    RoleUpdate,
)
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.access.routes import AccessDep
from svc_jupyter.service.http.bodies import JsonRoute

router = APIRouter(tags=["access"], route_class=JsonRoute)
_Reference = Annotated[str, Path(max_length=NAME_LIMIT, description="an id or a name")]
# The server accepts paths of 64 KiB; longer lists go into the body of `PUT groups/G`.
_Users = Annotated[str, Path(max_length=4000, description="comma-separated ids and e-mail addresses")]


@router.get("/groups", dependencies=[needs(Action.READ, Resource.GROUP)])
def list_groups(access: AccessDep, caller: CallerDep, page: PageDep) -> GroupList:
    """Return a page of the account's groups, newest first."""
    return access.groups.list(page, by=caller)


@router.post("/groups", dependencies=[needs(Action.CREATE, Resource.GROUP)])
def create_group(body: GroupCreate, access: AccessDep, caller: CallerDep) -> Group:
    """Make a group. 403 when it would give rights that the caller does not have."""
    return access.groups.create(body, by=caller)


@router.get("/groups/{group}", dependencies=[needs(Action.READ, Resource.GROUP)])
def get_group(group: _Reference, access: AccessDep, caller: CallerDep) -> Group:
    """Return a group."""
    return access.groups.get(group, by=caller)


@router.put("/groups/{group}", dependencies=[needs(Action.UPDATE, Resource.GROUP)])
def update_group(group: _Reference, body: GroupUpdate, access: AccessDep, caller: CallerDep) -> Group:
    """Rename a group, put users and roles in, take others out: all of it, or nothing."""
    return access.groups.update(group, body, by=caller)


@router.delete("/groups/{group}", dependencies=[needs(Action.DELETE, Resource.GROUP)])
def delete_group(group: _Reference, access: AccessDep, caller: CallerDep) -> Deleted:
    """Delete a group; its members keep what other groups give them. 409 for a built-in one."""
    return Deleted(id=access.groups.delete(group, by=caller))


@router.post("/groups/{group}/duplicate", dependencies=[needs(Action.CREATE, Resource.GROUP)])
def duplicate_group(group: _Reference, access: AccessDep, caller: CallerDep, body: Duplicate | None = None) -> Group:
    """Make a group with the same members and roles."""
    return access.groups.duplicate(group, body or Duplicate(), by=caller)


@router.put("/groups/{group}/service_users/{users:path}/add", dependencies=[needs(Action.UPDATE, Resource.GROUP)])
def add_users(group: _Reference, users: _Users, access: AccessDep, caller: CallerDep) -> Done:
    """Add members of the account to a group: all of them, or nobody."""
    access.groups.add_users(group, users, by=caller)
    return Done()


@router.put("/groups/{group}/service_users/{users:path}/remove", dependencies=[needs(Action.MANAGE, Resource.GROUP)])
def remove_users(group: _Reference, users: _Users, access: AccessDep, caller: CallerDep) -> Done:
    """Take users out of a group: all of them, or nobody. 409 when no enabled administrator would be left."""
    access.groups.remove_users(group, users, by=caller)
    return Done()


@router.put("/groups/{group}/roles/{role}/assign", dependencies=[needs(Action.MANAGE, Resource.GROUP)])
def assign_role(group: _Reference, role: _Reference, access: AccessDep, caller: CallerDep) -> Done:
    """Give a group a role."""
    access.groups.assign(group, role, by=caller)
    return Done()


@router.put("/groups/{group}/roles/{role}/unassign", dependencies=[needs(Action.MANAGE, Resource.GROUP)])
def unassign_role(group: _Reference, role: _Reference, access: AccessDep, caller: CallerDep) -> Done:
    """Take a role from a group."""
    access.groups.unassign(group, role, by=caller)
    return Done()


@router.get("/roles", dependencies=[needs(Action.READ, Resource.ROLE)])
def list_roles(access: AccessDep, caller: CallerDep, page: PageDep) -> RoleList:
    """Return a page of the account's roles, newest first."""
    return access.roles.list(page, by=caller)


@router.post("/roles", dependencies=[needs(Action.CREATE, Resource.ROLE)])
def create_role(body: RoleCreate, access: AccessDep, caller: CallerDep) -> Role:
    """Make a role. 403 when it would give rights that the caller does not have."""
    return access.roles.create(body, by=caller)


@router.get("/roles/{role}", dependencies=[needs(Action.READ, Resource.ROLE)])
def get_role(role: _Reference, access: AccessDep, caller: CallerDep) -> Role:
    """Return a role."""
    return access.roles.get(role, by=caller)


@router.put("/roles/{role}", dependencies=[needs(Action.UPDATE, Resource.ROLE)])
def update_role(role: _Reference, body: RoleUpdate, access: AccessDep, caller: CallerDep) -> Role:
    """Change a role, at once for all groups that have it."""
    return access.roles.update(role, body, by=caller)


@router.delete("/roles/{role}", dependencies=[needs(Action.DELETE, Resource.ROLE)])
def delete_role(role: _Reference, access: AccessDep, caller: CallerDep) -> Deleted:
    """Delete a role, also for the groups that have it."""
    return Deleted(id=access.roles.delete(role, by=caller))


@router.post("/roles/{role}/duplicate", dependencies=[needs(Action.CREATE, Resource.ROLE)])
def duplicate_role(role: _Reference, access: AccessDep, caller: CallerDep, body: Duplicate | None = None) -> Role:
    """Make a role that allows the same; no group has it yet."""
    return access.roles.duplicate(role, body or Duplicate(), by=caller)
