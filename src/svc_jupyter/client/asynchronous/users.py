"""The account's users and their tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from operator import attrgetter

from svc_jupyter.api.access import NewToken, Token, TokenList, User, UserList, UserState
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.users import TokenFlows, UserFlows
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


class AsyncTokens:
    """Users' tokens, as `client.users.tokens`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = TokenFlows(performer.link)

    async def list(self, user_id: int, *, page: int = 1, per_page: int = 10) -> TokenList:
        """Return one page of a user's tokens, newest first, without their secrets."""
        return await self._performer.run(self._flows.page(user_id, page, per_page))

    async def iter(self, user_id: int) -> AsyncIterator[Token]:
        """Yield all tokens of a user, newest first."""
        pages: Pages[Token] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(user_id, page=pages.page, per_page=WHOLE_PAGE)
            for token in pages.take(listing.tokens, listing.paging_info):
                yield token

    async def create(self, user_id: int, name: str, *, expires_at: str | None = None) -> NewToken:
        """Make a token (`expires_at` ISO 8601); the answer's `token` is the only time that it is shown."""
        return await self._performer.run(self._flows.create(user_id, name, expires_at))

    async def delete(self, user_id: int, token_id: int) -> Deleted:
        """Delete a token, so that it is refused from now on."""
        return await self._performer.run(self._flows.delete(user_id, token_id))


class AsyncUsers:
    """The account's users, as `client.users`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = UserFlows(performer.link)
        self.tokens = AsyncTokens(performer)

    async def list(self, *, page: int = 1, per_page: int = 10) -> UserList:
        """Return one page of users, newest first."""
        return await self._performer.run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[User]:
        """Yield all users, newest first."""
        pages: Pages[User] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE)
            for user in pages.take(listing.users, listing.paging_info):
                yield user

    async def invite(self, email: str, *, groups: str | Sequence[str] | None = None) -> User:
        """Make a user of an e-mail address; `groups` are ids or names, `system-user` without them."""
        return (await self._performer.run(self._flows.invite(email, groups))).user

    async def enable(self, user_id: int) -> UserState:
        """Let a user make calls again."""
        return await self._performer.run(self._flows.switch("enable", user_id))

    async def disable(self, user_id: int) -> UserState:
        """Refuse a user's calls from now on."""
        return await self._performer.run(self._flows.switch("disable", user_id))
