"""The account's users: invited, enabled and disabled by its administrators."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import BuiltinGroup, Invitation, User, UserList
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.accounts import lock_account
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.giving import check_group
from svc_jupyter.service.access.groups import chosen_groups, enabled_administrators, group_ids, groups_of
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.access.tokens import Tokens
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.ids import next_id
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import memberships, users


class Users:
    """Lists, invites, enables and disables the users of the caller's account."""

    def __init__(self, database: Database, tokens: Tokens, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._tokens = tokens
        self._clock = clock

    def list(self, page: Page, *, by: Caller) -> UserList:
        """Return a page of the account's users, newest first."""
        require(by, Action.READ, Resource.USER)
        with self._database.connect() as connection:
            rows = connection.execute(
                sa.select(users)
                .where(users.c.account_id == by.account_id)
                .order_by(users.c.id.desc())
                .offset(page.offset)
                .limit(page.fetch)
            ).all()
            shown, paging_info = page.cut(rows)
            memberships_of = groups_of(connection, [row.id for row in shown])
        return UserList(
            users=[_user(row, memberships_of.get(row.id, [])) for row in shown],
            paging_info=paging_info,
        )

    def invite(self, invitation: Invitation, *, by: Caller) -> User:
        """Create a user with an e-mail address and return it; their token is created separately.

        Raises `Invalid` for an unknown group, and for an address that the account already has (case-insensitively), and
        `Forbidden` for a group with more rights than the caller has.
        """
        require(by, Action.CREATE, Resource.USER)
        email = _normalised(invitation.invitee_email)
        with self._tokens.changing_access() as connection:
            lock_account(connection, by.account_id)
            ids = group_ids(connection, by.account_id)
            chosen = chosen_groups(invitation.groups, ids)
            for name in chosen:
                check_group(connection, by, ids[name], name)
            same_email = sa.select(users.c.id).where(users.c.account_id == by.account_id, users.c.email == email)
            known = connection.execute(same_email).scalar()
            if known is not None:
                raise Invalid(f"invitee_email: {email} is in this account already, as user {known}")
            row = connection.execute(
                sa.insert(users)
                .values(
                    **next_id(connection, users),
                    account_id=by.account_id,
                    email=email,
                    name=email.partition("@")[0],
                    enabled=True,
                    created_at=self._clock(),
                )
                .returning(users)
            ).one()
            connection.execute(sa.insert(memberships), [{"group_id": ids[name], "user_id": row.id} for name in chosen])
            trail.record(connection, by, "invite", Resource.USER, row.id, email=email, groups=sorted(chosen))
        return _user(row, sorted(chosen))

    def enable(self, user_id: int, *, by: Caller) -> User:
        """Let a user make calls again, and return the user. Raises `Forbidden` like `disable`."""
        require(by, Action.UPDATE, Resource.USER)
        return self._set_enabled(user_id, enabled=True, by=by)

    def disable(self, user_id: int, *, by: Caller) -> User:
        """Refuse all calls of a user from now on, and return the user; their commands continue to their end.

        Raises `Forbidden` for an administrator unless the caller is one, `StateConflict` for the last enabled one,
        since that could not be undone.
        """
        require(by, Action.UPDATE, Resource.USER)
        return self._set_enabled(user_id, enabled=False, by=by)

    def _set_enabled(self, user_id: int, *, enabled: bool, by: Caller) -> User:
        with self._tokens.changing_access() as connection:
            lock_account(connection, by.account_id)
            row = connection.execute(
                sa.update(users)
                .where(users.c.id == user_id, users.c.account_id == by.account_id)
                .values(enabled=enabled)
                .returning(users)
            ).one_or_none()
            if row is None:
                raise NotFound(f"there is no user {user_id} in this account")
            in_groups = groups_of(connection, [user_id]).get(user_id, [])
            if BuiltinGroup.ADMIN in in_groups and not by.is_admin:
                verb = "enable" if enabled else "disable"
                raise Forbidden(f"{row.email} is in {BuiltinGroup.ADMIN}: only a member of it may {verb} them")
            if not enabled and connection.execute(enabled_administrators(by.account_id)).first() is None:
                raise StateConflict(
                    f"{row.email} is the last enabled member of {BuiltinGroup.ADMIN}; enable or invite another first"
                )
            trail.record(connection, by, "enable" if enabled else "disable", Resource.USER, user_id, email=row.email)
            return _user(row, in_groups)


def _normalised(email: str) -> str:
    """Return an address in the form in which it is compared and stored, without regard to case."""
    lowered = email.lower()
    limit = users.c.email.type.length  # type: ignore[attr-defined]
    if len(lowered) > limit:  # some letters become two in lower case
        raise Invalid(f"invitee_email: must have at most {limit} characters in lower case")
    return lowered


def _user(row: sa.Row[Any], in_groups: list[str]) -> User:
    return User(id=row.id, email=row.email, name=row.name, groups=in_groups, enabled=row.enabled)
