"""Explains why a user may or may not do something to an object, without making the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.object_policies import (
    ObjectChoice,
    ObjectDecision,
    ObjectDecisions,
    SourceType,
    actions_of,
)
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.naming import find_user
from svc_jupyter.service.access.object_policies import ObjectPolicies
from svc_jupyter.service.access.permissions import Decision, decision, require
from svc_jupyter.service.access.policy_objects import PolicyObject
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid, NotFound

Decide = Callable[[sa.Connection, Caller, Action, int], Decision]
"""Decides about the object with an id like the calls of its kind."""
Deciding = Mapping[SourceType, Decide]
"""The kinds that need more than the object's own policy and the caller's groups."""


class Explanations:
    """Reports what a user of the account may do to an object, as their next call would be decided."""

    def __init__(self, database: Database, tokens: Tokens, policies: ObjectPolicies, deciding: Deciding) -> None:
        self._database = database
        self._tokens = tokens
        self._policies = policies
        self._deciding = deciding

    def explain(self, choice: ObjectChoice, user: str | None, action: Action | None, *, by: Caller) -> ObjectDecisions:
        """Return what a user, given by id or e-mail address, may do to an object; by default the caller.

        Without `action`, reports all actions that its policy can name. Raises `Forbidden` for a caller who may not view
        the object's policy or, for another user, users; `NotFound` for an unknown object; and `Invalid` for an unknown
        user or action.
        """
        source_type = choice.source_type
        known = actions_of(source_type)
        if action is not None and action not in known:
            raise Invalid(f"action: a {source_type} has no action {action}; it has: {', '.join(known)}")
        with self._database.connect() as connection:
            about = self._policies.admit(connection, Action.READ, choice, by)
            who, is_enabled = self._who(connection, user, by)
            asked = known if action is None else (action,)
            found = [(one, self._decision(connection, who, one, about, is_enabled=is_enabled)) for one in asked]
        return ObjectDecisions(
            source_id=about.source_id,
            source_type=source_type,
            user_id=who.user_id,
            email=who.email,
            decisions=[ObjectDecision(action=one, allowed=it.allowed, because=it.because) for one, it in found],
        )

    def _who(self, connection: sa.Connection, user: str | None, by: Caller) -> tuple[Caller, bool]:
        if user is None:
            return by, True
        if user not in (str(by.user_id), by.email):
            require(by, Action.READ, Resource.USER)
        try:
            user_id = find_user(connection, by.account_id, user).id
        except NotFound as error:
            raise Invalid(f"user: {error}") from None
        found = self._tokens.reader.user(connection, by.account_id, user_id)
        if found is None:
            raise Invalid(f"user: there is no user {user_id} in this account")
        return found

    def _decision(
        self, connection: sa.Connection, who: Caller, action: Action, about: PolicyObject, *, is_enabled: bool
    ) -> Decision:
        if not is_enabled:
            return Decision(False, f"{who.email} is disabled; an administrator can enable them")
        by_path = self._policies.decide(who, action, about)
        if by_path is not None:
            return by_path
        decide = self._deciding.get(about.source_type)
        if decide is not None and about.id is not None:
            return decide(connection, who, action, about.id)
        return decision(who, action, Resource(about.source_type), about.id)
