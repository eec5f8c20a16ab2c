"""Policies of single objects."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from svc_jupyter.api.access import ALL, Access, Action
from svc_jupyter.api.fields import MAX_ID, Id, PagingInfo, Record, Request
from svc_jupyter.api.policy_text import JSON_TEXT, ONE_OR_MANY

MAX_POLICY_ENTRIES = 100
MAX_PATH_LENGTH = 4096
MAX_NAMED = 1000
"""Users, and groups, that one entry names at most."""


class SourceType(StrEnum):
    """The kinds of object that can have a policy; the words are those of the resources."""

    CLUSTER = "cluster"
    NOTE = "note"
    ENVIRONMENT = "environment"
    SCHEDULER = "scheduler"
    JUPYTER_NOTEBOOK = "jupyter_notebook"
    FOLDER = "folder"
    PIPELINE = "pipeline"


OBJECT_ACTIONS = (Action.READ, Action.UPDATE, Action.DELETE, Action.MANAGE)
CLUSTER_ACTIONS = (*OBJECT_ACTIONS, Action.START, Action.TERMINATE, Action.CLONE)


def actions_of(source_type: SourceType) -> tuple[Action, ...]:
    """Return the actions that a policy of an object of this kind may name, besides `all`."""
    return CLUSTER_ACTIONS if source_type is SourceType.CLUSTER else OBJECT_ACTIONS


def _known_action(word: str) -> str:
    known = [*CLUSTER_ACTIONS, ALL]
    if word not in known:
        raise ValueError(f"{word[:40]!r} is unknown; it must be one of {', '.join(known)}")
    return word


def _source_id(value: Any) -> Any:
    """Return an id as an integer, a path as it is: a path has a slash."""
    if isinstance(value, str) and "/" in value:
        if len(value) > MAX_PATH_LENGTH:
            raise ValueError(f"a path has at most {MAX_PATH_LENGTH} characters")
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(MAX_ID)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_ID:
        raise ValueError("must be an id: an integer, or the same as a string of digits; or the path of a notebook")
    return value


SourceId = Annotated[int | str, BeforeValidator(_source_id)]
"""The id of an object; of a Jupyter notebook also its path in the service, as in `Common/report.ipynb`."""
_Ids = Annotated[list[Id], Field(max_length=MAX_NAMED)]
_ActionWord = Annotated[str, Field(json_schema_extra={"enum": [*CLUSTER_ACTIONS, ALL]}), AfterValidator(_known_action)]


class Condition(Request):
    """Whom an entry is about: users, groups, or both, by their ids."""

    service_users: _Ids = Field(default_factory=list)
    service_groups: _Ids = Field(default_factory=list)

    @model_validator(mode="after")
    def _names_somebody(self) -> Condition:
        if not self.service_users and not self.service_groups:
            raise ValueError("must name somebody: ids in service_users, in service_groups, or in both")
        return self


class PolicyEntry(Request):
    """One entry of a policy."""

    access: Annotated[Access, Field(strict=False)]
    condition: Condition
    action: Annotated[list[_ActionWord], Field(min_length=1, max_length=len(CLUSTER_ACTIONS) + 1), *ONE_OR_MANY]


class ObjectChoice(Request):
    """The object whose policy is asked for."""

    source_id: SourceId
    source_type: Annotated[SourceType, Field(strict=False)]

    @model_validator(mode="after")
    def _only_notebooks_have_paths(self) -> ObjectChoice:
        if isinstance(self.source_id, str) and self.source_type is not SourceType.JUPYTER_NOTEBOOK:
            raise ValueError(f"source_id: a {self.source_type} is named by its id, not by a path")
        return self


class PolicyUpdate(ObjectChoice):
    """A policy in place of the one that is there; an empty array leaves the object to the roles."""

    policy: Annotated[list[PolicyEntry], Field(max_length=MAX_POLICY_ENTRIES), *JSON_TEXT]


class ObjectPolicy(Record):
    """The policy of an object: the first entry that matches wins, those that name a user before those of groups."""

    policies: list[PolicyEntry]
    source_id: int | str = Field(description="The id; the path of a Jupyter notebook whose policy was never set")
    source_type: SourceType
    # Extensions that another service may lack.
    path: str | None = Field(default=None, description="Of a Jupyter notebook")
    updated_at: str | None = Field(default=None, description="When it was set, ISO 8601 UTC")
    updated_by: str | None = Field(default=None, description="The e-mail address of who set it")
    warning: str | None = Field(default=None, description="That who set it can no longer reach the object")


class PolicyVersion(Record):
    """A policy as it was from `created_at` on."""

    id: int
    policies: list[PolicyEntry]
    user_id: int
    email: str
    created_at: str
    trace_id: str | None = None


class PolicyHistory(Record):
    """One page of an object's policies, newest first."""

    history: list[PolicyVersion]
    paging_info: PagingInfo


class ObjectDecision(Record):
    """Whether a user may do an action to an object; `because` names the membership, role or entry, or what lacks."""

    action: Action
    allowed: bool
    because: str


class ObjectDecisions(Record):
    """What a user may do to an object, action by action, and why (our extension)."""

    source_id: int | str
    source_type: SourceType
    user_id: int
    email: str
    decisions: list[ObjectDecision]
