"""Users, their tokens, and what may be done to what."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AliasChoices, Field

from svc_jupyter.api.fields import Id, Name, PagingInfo, Record, Request
from svc_jupyter.api.text import UNREADABLE


class Action(StrEnum):
    """What is done to a resource."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    MANAGE = "manage"
    """Act in another's place or on what others depend: tokens and folders of theirs, a group's roles, cluster nodes."""
    START = "start"
    TERMINATE = "terminate"
    CLONE = "clone"


class Resource(StrEnum):
    """To what it is done."""

    ACCOUNT = "account"
    AUDIT = "audit"
    CLUSTER = "cluster"
    COMMAND = "command"
    DB_TAP = "db_tap"
    ENVIRONMENT = "environment"
    FOLDER = "folder"
    GROUP = "group"
    HIVE = "hive"
    JUPYTER_NOTEBOOK = "jupyter_notebook"
    JUPYTER_NOTEBOOK_COMMAND = "jupyter_notebook_command"
    """Commands that run a Jupyter notebook; what a role says of `command` it says of these, too."""
    NOTE = "note"
    NOTEBOOK_DASHBOARD = "notebook_dashboard"
    NOTIFICATION_CHANNEL = "notification_channel"
    OBJECT_POLICY = "object_policy"
    PIPELINE = "pipeline"
    ROLE = "role"
    SCHEDULER = "scheduler"
    SENSOR = "sensor"
    USER = "user"


class Access(StrEnum):
    """What an entry of a policy says about its actions."""

    ALLOW = "allow"
    DENY = "deny"


ALL = "all"
"""In a policy: every action, and in a role's also every resource."""


_EMAIL = rf"^[^@\s,<>\"'&{UNREADABLE}]+@[^@\s,<>\"'&{UNREADABLE}]+$"


class BuiltinGroup(StrEnum):
    """The two groups every account has."""

    ADMIN = "system-admin"
    USER = "system-user"


class User(Record):
    """A member of the account."""

    id: int
    email: str
    name: str
    groups: list[str]
    enabled: bool


class UserList(Record):
    """One page of users, newest first."""

    users: list[User]
    paging_info: PagingInfo


class Invitation(Request):
    """Invite a user; `groups` is a comma-separated text of group ids or names, default `system-user`."""

    invitee_email: str = Field(min_length=3, max_length=254, pattern=_EMAIL)
    groups: str | None = None


class Invited(Record):
    """The user that the invitation made."""

    user: User


class UserChoice(Request):
    """The user to enable or disable."""

    user_id: Id


class UserState(Record):
    """What became of the user."""

    status: str
    user: User


class TokenCreate(Request):
    """A new token; `expires_at` is ISO 8601."""

    name: Name = Field(min_length=1)
    expires_at: Annotated[str, Field(json_schema_extra={"format": "date-time"})] | None = None


class TokenChoice(Request):
    """The token to delete, where its path does not say it."""

    token_id: Annotated[Id | None, Field(validation_alias=AliasChoices("token_id", "id"))] = None


class Token(Record):
    """A token without its secret."""

    id: int
    name: str
    created_at: str
    expires_at: str | None = None


class NewToken(Token):
    """A token as its creation returns it: the only time `token` is shown."""

    token: str = Field(repr=False)


class TokenList(Record):
    """A user's tokens, newest first."""

    tokens: list[Token]
    paging_info: PagingInfo
