"""The account's users and their tokens."""
# Made from asynchronous/users.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator, Sequence

from svc_jupyter.api.access import NewToken, Token, TokenList, User, UserList, UserState
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.users import TokenFlows, UserFlows
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class Tokens:
    """Users' tokens, as `client.users.tokens`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = TokenFlows(performer.link)

    def list(self, user_id: int, *, page: int = 1, per_page: int = 10) -> TokenList:
        """Return one page of a user's tokens, newest first, without their secrets."""
        return self._performer.run(self._flows.page(user_id, page, per_page))

    def iter(self, user_id: int) -> Iterator[Token]:
        """Yield all tokens of a user, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(user_id, page, WHOLE_PAGE), lambda found: (found.tokens, found.paging_info)
        )

    def create(self, user_id: int, name: str, *, expires_at: str | None = None) -> NewToken:
        """Create a token (`expires_at` in ISO 8601); the answer's `token` is shown only once."""
        return self._performer.run(self._flows.create(user_id, name, expires_at))

    def delete(self, user_id: int, token_id: int) -> Deleted:
        """Delete a token; the service refuses it from now on."""
        return self._performer.run(self._flows.delete(user_id, token_id))


class Users:
    """The account's users, as `client.users`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = UserFlows(performer.link)
        self.tokens = Tokens(performer)

    def list(self, *, page: int = 1, per_page: int = 10) -> UserList:
        """Return one page of users, newest first."""
        return self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[User]:
        """Yield all users, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE), lambda found: (found.users, found.paging_info)
        )

    def invite(self, email: str, *, groups: str | Sequence[str] | None = None) -> User:
        """Invite a user by e-mail address; `groups` are ids or names, by default `system-user`."""
        return (self._performer.run(self._flows.invite(email, groups))).user

    def enable(self, user_id: int) -> UserState:
        """Enable a user's calls again."""
        return self._performer.run(self._flows.switch("enable", user_id))

    def disable(self, user_id: int) -> UserState:
        """Disable a user: the service refuses their calls from now on."""
        return self._performer.run(self._flows.switch("disable", user_id))
