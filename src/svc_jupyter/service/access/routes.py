"""The account, users, tokens, groups and roles over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Query, Request, Response

from svc_jupyter.api.access import (
    Invitation,
    Invited,
    NewToken,
    TokenChoice,
    TokenCreate,
    TokenList,
    UserChoice,
    UserList,
    UserState,
)
from svc_jupyter.api.account import Account, Features, FeaturesUpdate
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.fields import NAME_LIMIT, Id
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
from svc_jupyter.service.access.access import Access
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource, forbid_in_run, require
from svc_jupyter.service.access.route_rights import NEEDS_ANY_RIGHT, Needs, needs
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router

router = resource_router(tags=["access"])
_Reference = Annotated[str, Path(max_length=NAME_LIMIT, description="an id or a name")]
# The server accepts paths of 64 KiB; longer lists go into the body of `PUT groups/G`.
_Users = Annotated[str, Path(max_length=4000, description="comma-separated ids and e-mail addresses")]


def _token_owner(caller: Caller, request: Request) -> None:
    """One's own tokens are one's own business, but not that of a run in one's name."""
    forbid_in_run(caller, "see, make or delete tokens")
    if request.path_params["user_id"] != str(caller.user_id):
        require(caller, Action.MANAGE, Resource.USER)


AccessDep = Annotated[Access, part(Access)]
NEEDS_OWN_TOKENS = Depends(Needs(_token_owner))


@router.get("/account", dependencies=[NEEDS_ANY_RIGHT])
def get_account(access: AccessDep, caller: CallerDep) -> Account:
    """Return the caller's account and the caller's user in it."""
    return access.accounts.account(caller)


@router.get("/account/features", dependencies=[NEEDS_ANY_RIGHT])
def get_features(access: AccessDep, caller: CallerDep) -> Features:
    """Return which features are enabled."""
    return access.accounts.features(caller.account_id)


@router.put("/account/features", dependencies=[needs(Action.UPDATE, Resource.ACCOUNT)])
def set_features(body: FeaturesUpdate, access: AccessDep, caller: CallerDep) -> Features:
    """Enable or disable features; return all of them. 403 unless the caller is in `system-admin`."""
    return access.accounts.set_features(body, by=caller)


@router.get("/users", dependencies=[needs(Action.READ, Resource.USER)])
def list_users(access: AccessDep, caller: CallerDep, page: PageDep) -> UserList:
    """Return a page of the account's users, newest first."""
    return access.users.list(page, by=caller)


@router.post("/users/invite_new", dependencies=[needs(Action.CREATE, Resource.USER)])
def invite_user(body: Invitation, access: AccessDep, caller: CallerDep) -> Invited:
    """Create a user with an e-mail address.

    422 if the address is taken or a group is unknown. 403 without the permission to create users, and for a group
    with more rights than the caller has.
    """
    return Invited(user=access.users.invite(body, by=caller))


@router.post("/accounts/enable_user", dependencies=[needs(Action.UPDATE, Resource.USER)])
def enable_user(body: UserChoice, access: AccessDep, caller: CallerDep) -> UserState:
    """Enable a user. 403 unless the caller is in `system-admin`."""
    return UserState(status="enabled", user=access.users.enable(body.user_id, by=caller))


@router.post("/accounts/disable_user", dependencies=[needs(Action.UPDATE, Resource.USER)])
def disable_user(body: UserChoice, access: AccessDep, caller: CallerDep) -> UserState:
    """Disable a user: the service refuses the user's calls.

    403 unless the caller is in `system-admin`, 409 for the last enabled administrator.
    """
    return UserState(status="disabled", user=access.users.disable(body.user_id, by=caller))


@router.get("/users/{user_id}/tokens", dependencies=[NEEDS_OWN_TOKENS])
def list_tokens(user_id: Id, access: AccessDep, caller: CallerDep, page: PageDep) -> TokenList:
    """Return a page of a user's tokens, newest first.

    403 for another user's tokens unless the caller is in `system-admin`.
    """
    return access.tokens.list(user_id, page, by=caller)


@router.post("/users/{user_id}/tokens", dependencies=[NEEDS_OWN_TOKENS])
def create_token(user_id: Id, body: TokenCreate, access: AccessDep, caller: CallerDep, response: Response) -> NewToken:
    """Create a token.

    Only this answer shows it. 403 for another user's tokens unless the caller is in `system-admin`.
    """
    response.headers["Cache-Control"] = "no-store"
    return access.tokens.create(user_id, body, by=caller)


@router.delete("/users/{user_id}/tokens", dependencies=[NEEDS_OWN_TOKENS])
def delete_chosen_token(
    user_id: Id,
    access: AccessDep,
    caller: CallerDep,
    body: TokenChoice | None = None,
    token_id: Annotated[Id | None, Query()] = None,
) -> Deleted:
    """Delete the token with the id `token_id`, from the query or the body. The service refuses it from now on."""
    chosen = token_id or (body.token_id if body else None)
    if chosen is None:
        raise Invalid("token_id: must say which token to delete")
    return delete_token(user_id, chosen, access, caller)


@router.delete("/users/{user_id}/tokens/{token_id}", dependencies=[NEEDS_OWN_TOKENS])
def delete_token(user_id: Id, token_id: Id, access: AccessDep, caller: CallerDep) -> Deleted:
    """Delete a token.

    The service refuses it from now on. 403 for another user's tokens unless the caller is in `system-admin`.
    """
    access.tokens.delete(user_id, token_id, by=caller)
    return Deleted(id=token_id)


@router.get("/groups", dependencies=[needs(Action.READ, Resource.GROUP)])
def list_groups(access: AccessDep, caller: CallerDep, page: PageDep) -> GroupList:
    """Return a page of the account's groups, newest first."""
    return access.groups.list(page, by=caller)


@router.post("/groups", dependencies=[needs(Action.CREATE, Resource.GROUP)])
def create_group(body: GroupCreate, access: AccessDep, caller: CallerDep) -> Group:
    """Create a group. 403 if it would give rights that the caller does not have."""
    return access.groups.create(body, by=caller)


@router.get("/groups/{group}", dependencies=[needs(Action.READ, Resource.GROUP)])
def get_group(group: _Reference, access: AccessDep, caller: CallerDep) -> Group:
    """Return a group."""
    return access.groups.get(group, by=caller)


@router.put("/groups/{group}", dependencies=[needs(Action.UPDATE, Resource.GROUP)])
def update_group(group: _Reference, body: GroupUpdate, access: AccessDep, caller: CallerDep) -> Group:
    """Rename a group, add and remove users and roles. Either all of it happens or nothing."""
    return access.groups.update(group, body, by=caller)


@router.delete("/groups/{group}", dependencies=[needs(Action.DELETE, Resource.GROUP)])
def delete_group(group: _Reference, access: AccessDep, caller: CallerDep) -> Deleted:
    """Delete a group. Its members keep the rights from other groups. 409 for a built-in group."""
    return Deleted(id=access.groups.delete(group, by=caller))


@router.post("/groups/{group}/duplicate", dependencies=[needs(Action.CREATE, Resource.GROUP)])
def duplicate_group(group: _Reference, access: AccessDep, caller: CallerDep, body: Duplicate | None = None) -> Group:
    """Create a group with the same members and roles."""
    return access.groups.duplicate(group, body or Duplicate(), by=caller)


@router.put("/groups/{group}/service_users/{users:path}/add", dependencies=[needs(Action.UPDATE, Resource.GROUP)])
def add_users(group: _Reference, users: _Users, access: AccessDep, caller: CallerDep) -> Done:
    """Add users to a group. Either all are added or none."""
    access.groups.add_users(group, users, by=caller)
    return Done()


@router.put("/groups/{group}/service_users/{users:path}/remove", dependencies=[needs(Action.MANAGE, Resource.GROUP)])
def remove_users(group: _Reference, users: _Users, access: AccessDep, caller: CallerDep) -> Done:
    """Remove users from a group. Either all are removed or none. 409 if no enabled administrator would remain."""
    access.groups.remove_users(group, users, by=caller)
    return Done()


@router.put("/groups/{group}/roles/{role}/assign", dependencies=[needs(Action.MANAGE, Resource.GROUP)])
def assign_role(group: _Reference, role: _Reference, access: AccessDep, caller: CallerDep) -> Done:
    """Assign a role to a group."""
    access.groups.assign(group, role, by=caller)
    return Done()


@router.put("/groups/{group}/roles/{role}/unassign", dependencies=[needs(Action.MANAGE, Resource.GROUP)])
def unassign_role(group: _Reference, role: _Reference, access: AccessDep, caller: CallerDep) -> Done:
    """Remove a role from a group."""
    access.groups.unassign(group, role, by=caller)
    return Done()


@router.get("/roles", dependencies=[needs(Action.READ, Resource.ROLE)])
def list_roles(access: AccessDep, caller: CallerDep, page: PageDep) -> RoleList:
    """Return a page of the account's roles, newest first."""
    return access.roles.list(page, by=caller)


@router.post("/roles", dependencies=[needs(Action.CREATE, Resource.ROLE)])
def create_role(body: RoleCreate, access: AccessDep, caller: CallerDep) -> Role:
    """Create a role. 403 if it would give rights that the caller does not have."""
    return access.roles.create(body, by=caller)


@router.get("/roles/{role}", dependencies=[needs(Action.READ, Resource.ROLE)])
def get_role(role: _Reference, access: AccessDep, caller: CallerDep) -> Role:
    """Return a role."""
    return access.roles.get(role, by=caller)


@router.put("/roles/{role}", dependencies=[needs(Action.UPDATE, Resource.ROLE)])
def update_role(role: _Reference, body: RoleUpdate, access: AccessDep, caller: CallerDep) -> Role:
    """Change a role, immediately for all groups that have it."""
    return access.roles.update(role, body, by=caller)


@router.delete("/roles/{role}", dependencies=[needs(Action.DELETE, Resource.ROLE)])
def delete_role(role: _Reference, access: AccessDep, caller: CallerDep) -> Deleted:
    """Delete a role and remove it from its groups."""
    return Deleted(id=access.roles.delete(role, by=caller))


@router.post("/roles/{role}/duplicate", dependencies=[needs(Action.CREATE, Resource.ROLE)])
def duplicate_role(role: _Reference, access: AccessDep, caller: CallerDep, body: Duplicate | None = None) -> Role:
    """Create a role with the same policies. No group has it yet."""
    return access.roles.duplicate(role, body or Duplicate(), by=caller)
