"""The account's users and their tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.access import Invited, NewToken, Token, TokenList, User, UserList, UserState
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client


class _UserFlows:
    """What both kinds of client say to the service about users."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int) -> Flow[UserList]:
        return fetch(self.link, Call("GET", paths.api("users"), {"page": page, "per_page": per_page}), UserList)

    def invite(self, email: str, groups: str | Sequence[str] | None) -> Flow[Invited]:
        body = {"invitee_email": email}
        if groups:
            body["groups"] = groups if isinstance(groups, str) else ",".join(groups)
        call = Call("POST", paths.api("users/invite_new"), body=body, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, Invited)

    def switch(self, verb: str, user_id: int) -> Flow[UserState]:
        return fetch(self.link, Call("POST", paths.api(f"accounts/{verb}_user"), body={"user_id": user_id}), UserState)


class _TokenFlows:
    """What both kinds of client say to the service about tokens."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, user_id: int, page: int, per_page: int) -> Flow[TokenList]:
        call = Call("GET", paths.api(f"users/{user_id}/tokens"), {"page": page, "per_page": per_page})
        return fetch(self.link, call, TokenList)

    def create(self, user_id: int, name: str, expires_at: str | None) -> Flow[NewToken]:
        body = {"name": name, **({"expires_at": expires_at} if expires_at else {})}
        path = paths.api(f"users/{user_id}/tokens")
        return fetch(self.link, Call("POST", path, body=body, headers=idempotency(str(uuid4()))), NewToken)

    def delete(self, user_id: int, token_id: int) -> Flow[Deleted]:
        return fetch(self.link, Call("DELETE", paths.api(f"users/{user_id}/tokens"), {"token_id": token_id}), Deleted)


class Tokens:
    """Users' tokens, as `client.users.tokens`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _TokenFlows(client._link)

    def list(self, user_id: int, *, page: int = 1, per_page: int = 10) -> TokenList:
        """Return one page of a user's tokens, newest first, without their secrets."""
        return self._client._run(self._flows.page(user_id, page, per_page))

    def iter(self, user_id: int) -> Iterator[Token]:
        """Yield all tokens of a user, newest first."""
        pages: Pages[Token] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(user_id, page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.tokens, listing.paging_info)

    def create(self, user_id: int, name: str, *, expires_at: str | None = None) -> NewToken:
        """Make a token (`expires_at` ISO 8601); the answer's `token` is the only time that it is shown."""
        return self._client._run(self._flows.create(user_id, name, expires_at))

    def delete(self, user_id: int, token_id: int) -> Deleted:
        """Delete a token, so that it is refused from now on."""
        return self._client._run(self._flows.delete(user_id, token_id))


class Users:
    """The account's users, as `client.users`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _UserFlows(client._link)
        self.tokens = Tokens(client)

    def list(self, *, page: int = 1, per_page: int = 10) -> UserList:
        """Return one page of users, newest first."""
        return self._client._run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[User]:
        """Yield all users, newest first."""
        pages: Pages[User] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE)
            yield from pages.take(listing.users, listing.paging_info)

    def invite(self, email: str, *, groups: str | Sequence[str] | None = None) -> User:
        """Make a user of an e-mail address; `groups` are ids or names, `system-user` without them."""
        return self._client._run(self._flows.invite(email, groups)).user

    def enable(self, user_id: int) -> UserState:
        """Let a user make calls again."""
        return self._client._run(self._flows.switch("enable", user_id))

    def disable(self, user_id: int) -> UserState:
        """Refuse a user's calls from now on."""
        return self._client._run(self._flows.switch("disable", user_id))


class AsyncTokens:
    """Users' tokens, as `client.users.tokens`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _TokenFlows(client._link)

    async def list(self, user_id: int, *, page: int = 1, per_page: int = 10) -> TokenList:
        """Return one page of a user's tokens, newest first, without their secrets."""
        return await self._client._run(self._flows.page(user_id, page, per_page))

    async def iter(self, user_id: int) -> AsyncIterator[Token]:
        """Yield all tokens of a user, newest first."""
        pages: Pages[Token] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(user_id, page=pages.page, per_page=WHOLE_PAGE)
            for token in pages.take(listing.tokens, listing.paging_info):
                yield token

    async def create(self, user_id: int, name: str, *, expires_at: str | None = None) -> NewToken:
        """Make a token (`expires_at` ISO 8601); the answer's `token` is the only time that it is shown."""
        return await self._client._run(self._flows.create(user_id, name, expires_at))

    async def delete(self, user_id: int, token_id: int) -> Deleted:
        """Delete a token, so that it is refused from now on."""
        return await self._client._run(self._flows.delete(user_id, token_id))


class AsyncUsers:
    """The account's users, as `client.users`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _UserFlows(client._link)
        self.tokens = AsyncTokens(client)

    async def list(self, *, page: int = 1, per_page: int = 10) -> UserList:
        """Return one page of users, newest first."""
        return await self._client._run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[User]:
        """Yield all users, newest first."""
        pages: Pages[User] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE)
            for user in pages.take(listing.users, listing.paging_info):
                yield user

    async def invite(self, email: str, *, groups: str | Sequence[str] | None = None) -> User:
        """Make a user of an e-mail address; `groups` are ids or names, `system-user` without them."""
        return (await self._client._run(self._flows.invite(email, groups))).user

    async def enable(self, user_id: int) -> UserState:
        """Let a user make calls again."""
        return await self._client._run(self._flows.switch("enable", user_id))

    async def disable(self, user_id: int) -> UserState:
        """Refuse a user's calls from now on."""
        return await self._client._run(self._flows.switch("disable", user_id))
