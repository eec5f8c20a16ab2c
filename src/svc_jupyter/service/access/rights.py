"""What groups and roles give: sets of permissions, computed once per caller. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

from svc_jupyter.api.access import ALL, Access, Action, Resource

Permission = tuple[Action, Resource]
Rights = Mapping[Permission, str]
"""The permissions that roles give, each with the name of a role that gives it."""
NO_RIGHTS: Rights = MappingProxyType({})
EVERYTHING = frozenset(product(Action, Resource))
RESERVED: frozenset[Permission] = frozenset(
    {
        *product([Action.CREATE, Action.UPDATE, Action.DELETE, Action.MANAGE], [Resource.ACCOUNT]),
        *product([Action.CREATE, Action.UPDATE, Action.DELETE, Action.MANAGE], [Resource.USER, Resource.ROLE]),
        *product([Action.CREATE, Action.UPDATE, Action.DELETE, Action.MANAGE], [Resource.OBJECT_POLICY]),
        # Users may be added to a group; taking them out and giving roles is managing users.
        *product([Action.DELETE, Action.MANAGE], [Resource.GROUP]),
        *product(Action, [Resource.AUDIT]),
        # Adding and removing nodes.
        (Action.MANAGE, Resource.CLUSTER),
        # Other people's folders and what is in them.
        *product(
            [Action.MANAGE],
            [Resource.JUPYTER_NOTEBOOK, Resource.FOLDER, Resource.NOTE, Resource.NOTEBOOK_DASHBOARD],
        ),
    }
)
"""What membership of `system-user` does not give; a role can."""
NOT_OF_OWNERS: frozenset[Permission] = frozenset({(Action.MANAGE, Resource.CLUSTER)})
"""What an object's policy gives only where it says so by name, and who set it has it: owning a cluster does not."""
MEMBERS_RIGHTS = EVERYTHING - RESERVED
"""What membership of `system-user` gives."""


def permissions_of(policies: Iterable[Mapping[str, Any]]) -> frozenset[Permission]:
    """Return what the entries of one role give: what any of them allows, without what any of them denies.

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
    """Return what roles give together, each a name with its entries: a further role never takes a right away."""
    rights: dict[Permission, str] = {}
    for name, policies in roles:
        for permission in permissions_of(policies):
            rights.setdefault(permission, name)
    return MappingProxyType(rights) if rights else NO_RIGHTS


def _meant(words: Iterable[str], kind: type[Action] | type[Resource]) -> list[Any]:
    given = set(words)
    return [member for member in kind if ALL in given or member.value in given]
