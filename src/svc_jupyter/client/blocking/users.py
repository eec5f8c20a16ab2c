"""The account's users and their tokens."""
# Made from asynchronous/users.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from svc_jupyter.api.access import NewToken, Token, TokenList, User, UserList, UserState
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.users import TokenFlows, UserFlows
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


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
        pages: Pages[Token] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(user_id, page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.tokens, listing.paging_info)

    def create(self, user_id: int, name: str, *, expires_at: str | None = None) -> NewToken:
        """Make a token (`expires_at` ISO 8601); the answer's `token` is the only time that it is shown."""
        return self._performer.run(self._flows.create(user_id, name, expires_at))

    def delete(self, user_id: int, token_id: int) -> Deleted:
        """Delete a token, so that it is refused from now on."""
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
        pages: Pages[User] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.users, listing.paging_info)

    def invite(self, email: str, *, groups: str | Sequence[str] | None = None) -> User:
        """Make a user of an e-mail address; `groups` are ids or names, `system-user` without them."""
        return (self._performer.run(self._flows.invite(email, groups))).user

    def enable(self, user_id: int) -> UserState:
        """Let a user make calls again."""
        return self._performer.run(self._flows.switch("enable", user_id))

    def disable(self, user_id: int) -> UserState:
        """Refuse a user's calls from now on."""
        return self._performer.run(self._flows.switch("disable", user_id))
