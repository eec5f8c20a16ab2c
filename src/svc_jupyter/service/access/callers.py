"""The caller of a request, with all that is needed to decide about permissions without a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Any

from svc_jupyter.api.access import ALL, Access, Action, BuiltinGroup, Resource
from svc_jupyter.service.access.policy_book import NO_POLICIES, PolicyBook

Permission = tuple[Action, Resource]
Rights = Mapping[Permission, str]
"""The permissions of roles, each with the name of a role that gives it."""
NO_RIGHTS: Rights = MappingProxyType({})
EVERYTHING = frozenset(product(Action, Resource))
RESERVED: frozenset[Permission] = frozenset(
    {
        *product([Action.CREATE, Action.UPDATE, Action.DELETE, Action.MANAGE], [Resource.ACCOUNT]),
        *product([Action.CREATE, Action.UPDATE, Action.DELETE, Action.MANAGE], [Resource.USER, Resource.ROLE]),
        *product([Action.CREATE, Action.UPDATE, Action.DELETE, Action.MANAGE], [Resource.OBJECT_POLICY]),
        # Members may add users to a group; removing users and assigning roles requires this permission.
        *product([Action.DELETE, Action.MANAGE], [Resource.GROUP]),
        *product(Action, [Resource.AUDIT]),
        # Adding and removing nodes.
        (Action.MANAGE, Resource.CLUSTER),
        # Folders of other users and their contents.
        *product(
            [Action.MANAGE],
            [Resource.JUPYTER_NOTEBOOK, Resource.FOLDER, Resource.NOTE, Resource.NOTEBOOK_DASHBOARD],
        ),
    }
)
"""Permissions that `system-user` does not give; a role can."""
NOT_OF_OWNERS: frozenset[Permission] = frozenset({(Action.MANAGE, Resource.CLUSTER)})
"""Permissions that an object's policy gives only by name, set by a user who has them; ownership does not give them."""
MEMBERS_RIGHTS = EVERYTHING - RESERVED
"""The permissions of `system-user`."""
NOT_IN_RUNS: frozenset[Permission] = frozenset(
    {
        *product(
            set(Action) - {Action.READ},
            [Resource.ACCOUNT, Resource.USER, Resource.GROUP, Resource.ROLE, Resource.OBJECT_POLICY],
        ),
        *product(Action, [Resource.AUDIT]),
        (Action.CREATE, Resource.SCHEDULER),
    }
)
"""Permissions that a notebook run never has: what they make would outlive the run and its token."""


def permissions_of(policies: Iterable[Mapping[str, Any]]) -> frozenset[Permission]:
    """Return the permissions of one role's entries: all allowed ones without the denied ones.

    Words that this version does not know give nothing.
    """
    allowed: set[Permission] = set()
    denied: set[Permission] = set()
    for entry in policies:
        actions = _meant(entry["action"], Action)
        resources = _meant([entry["resource"]], Resource)
        if Resource.COMMAND in resources:
            resources.append(Resource.JUPYTER_NOTEBOOK_COMMAND)
        (allowed if entry["access"] == Access.ALLOW else denied).update(product(actions, resources))
    return frozenset(allowed - denied)


def rights_of(roles: Iterable[tuple[str, Iterable[Mapping[str, Any]]]]) -> Rights:
    """Return the combined permissions of roles, each a name with its entries; an additional role never removes any."""
    rights: dict[Permission, str] = {}
    for name, policies in roles:
        for permission in permissions_of(policies):
            rights.setdefault(permission, name)
    return MappingProxyType(rights) if rights else NO_RIGHTS


def _meant(words: Iterable[str], kind: type[Action] | type[Resource]) -> list[Any]:
    given = set(words)
    return [member for member in kind if ALL in given or member.value in given]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a call, for the audit log."""

    address: str | None
    trace_id: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of a call's token."""

    user_id: int
    account_id: int
    email: str
    groups: frozenset[str]
    token_id: int
    """0 for work of the service in a user's name without a call."""
    group_ids: frozenset[int] = frozenset()
    rights: Rights = field(default_factory=lambda: NO_RIGHTS, hash=False, repr=False)
    """The permissions of the roles of their groups."""
    policies: PolicyBook = field(default=NO_POLICIES, hash=False, repr=False)
    """The policies of the account's objects."""
    exceptions: dict[Resource, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    """Results of `listing.readable`, kept for the next call with this token."""
    generation: int = field(default=0, compare=False, repr=False)
    """The state of users, groups and tokens when this was read (`CallerCache.generation`)."""
    valid_until: float | None = field(default=None, compare=False, repr=False)
    """When the token expires, in Unix seconds; None for one that never does."""
    origin: Origin | None = field(default=None, compare=False, repr=False)
    """None for work of the service itself."""
    command_id: int | None = None
    """The notebook run that alone has the token; None for a user's own token."""

    @property
    def is_admin(self) -> bool:
        """Whether the caller is in the group `system-admin`."""
        return BuiltinGroup.ADMIN in self.groups

    @property
    def is_member(self) -> bool:
        """Whether the caller is in the group `system-user`."""
        return BuiltinGroup.USER in self.groups

    def in_run(self, command_id: int) -> Caller:
        """Return the caller of a notebook run of this user: the same user with at most the rights of `system-user`.

        Nobody watches a run, and any user who may change the notebook decides what it does.
        """
        groups = self.groups
        if self.is_admin:
            groups = groups - {BuiltinGroup.ADMIN} | {BuiltinGroup.USER}
        rights = {permission: role for permission, role in self.rights.items() if permission in MEMBERS_RIGHTS}
        return replace(self, groups=groups, rights=MappingProxyType(rights), command_id=command_id)
