"""Groups and roles."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from svc_jupyter.api.access import ALL, Access, Action, Resource
from svc_jupyter.api.fields import Name, PagingInfo, Record, Request
from svc_jupyter.api.policy_text import JSON_TEXT, ONE_OR_MANY, Words

MAX_ROLE_ENTRIES = 100


def _check_reference(name: str) -> str:
    """Groups and roles are named in paths and in comma-separated texts, beside ids."""
    if "," in name or "/" in name or name != name.strip():
        raise ValueError("must not hold a comma or a slash, nor begin or end with a blank")
    if name.isdigit():
        raise ValueError("must not be a number, which would be an id")
    return name


_GroupName = Annotated[Name, Field(min_length=1), AfterValidator(_check_reference)]
_ResourceWord = Annotated[str, Field(json_schema_extra={"enum": [*Resource, ALL]})]
_ActionWord = Annotated[str, Field(json_schema_extra={"enum": [*Action, ALL]})]


def _known_resource(word: str) -> str:
    return _known(word, [*Resource, ALL])


def _known_action(word: str) -> str:
    return _known(word, [*Action, ALL])


def _known(word: str, words: list[str]) -> str:
    if word not in words:
        raise ValueError(f"{word[:40]!r} is unknown; it must be one of {', '.join(words)}")
    return word


class RolePolicy(Request):
    """An entry of a role: what it allows, or takes from what its other entries allow."""

    access: Annotated[Access, Field(strict=False)]
    resource: Annotated[_ResourceWord, AfterValidator(_known_resource)]
    action: Annotated[
        list[Annotated[_ActionWord, AfterValidator(_known_action)]],
        Field(min_length=1, max_length=len(Action) + 1),
        *ONE_OR_MANY,
    ]


RolePolicies = Annotated[list[RolePolicy], Field(max_length=MAX_ROLE_ENTRIES), *JSON_TEXT]


class GroupCreate(Request):
    """A new group; `members` are ids or e-mail addresses, `roles` ids or names."""

    name: _GroupName
    members: Words = Field(default_factory=list)
    roles: Words = Field(default_factory=list)


class GroupUpdate(Request):
    """What changes: a new name, who and what comes in, who and what goes."""

    name: _GroupName | None = None
    members: Words = Field(default_factory=list)
    roles: Words = Field(default_factory=list)
    removed_members: Words = Field(default_factory=list)
    removed_roles: Words = Field(default_factory=list)


class Duplicate(Request):
    """The name of the copy of a group or a role; without one it is made of the name of the original."""

    name: _GroupName | None = None


class Group(Record):
    """A group: `members` and `roles` are ids, in the order of `member_emails` and `role_names`."""

    id: int
    name: str
    members: list[int]
    roles: list[int]
    # Extensions that another service may lack.
    member_emails: list[str] = Field(default_factory=list)
    role_names: list[str] = Field(default_factory=list)


class GroupList(Record):
    """One page of groups, newest first."""

    groups: list[Group]
    paging_info: PagingInfo


class RoleCreate(Request):
    """A new role, which nobody has until it is assigned to a group."""

    name: _GroupName
    policies: RolePolicies = Field(default_factory=list)


class RoleUpdate(Request):
    """The attributes to change; the others stay."""

    name: _GroupName | None = None
    policies: RolePolicies | None = None


class Role(Record):
    """A role: what it allows, and the ids of the groups that have it, in the order of `group_names`."""

    id: int
    name: str
    policies: list[RolePolicy]
    # Extensions that another service may lack.
    groups: list[int] = Field(default_factory=list)
    group_names: list[str] = Field(default_factory=list)


class RoleList(Record):
    """One page of roles, newest first."""

    roles: list[Role]
    paging_info: PagingInfo


class Done(Record):
    """The change was made."""

    status: str = "done"
