"""The account's users and their tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from svc_jupyter.api import paths
from svc_jupyter.api.access import Invited, NewToken, Token, TokenList, User, UserList, UserState
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency


class AsyncTokens:
    """Users' tokens, as `client.users.tokens`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(self, user_id: int, *, page: int = 1, per_page: int = 10) -> TokenList:
        """Return one page of a user's tokens, newest first, without their secrets."""
        return await self._sender.fetch(Call("GET", _tokens(user_id), {"page": page, "per_page": per_page}), TokenList)

    def iter(self, user_id: int) -> AsyncIterator[Token]:
        """Yield all tokens of a user, newest first."""
        return self._sender.every(
            lambda page: self.list(user_id, page=page, per_page=WHOLE_PAGE),
            lambda found: (found.tokens, found.paging_info),
        )

    async def create(self, user_id: int, name: str, *, expires_at: str | None = None) -> NewToken:
        """Create a token (`expires_at` in ISO 8601); the answer's `token` is shown only once."""
        body = given(name=name, expires_at=expires_at or None)
        return await self._sender.fetch(Call("POST", _tokens(user_id), body=body, headers=idempotency()), NewToken)

    async def delete(self, user_id: int, token_id: int) -> Deleted:
        """Delete a token; the service refuses it from now on."""
        return await self._sender.fetch(Call("DELETE", _tokens(user_id), {"token_id": token_id}), Deleted)


class AsyncUsers:
    """The account's users, as `client.users`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender
        self.tokens = AsyncTokens(sender)

    async def list(self, *, page: int = 1, per_page: int = 10) -> UserList:
        """Return one page of users, newest first."""
        call = Call("GET", paths.api("users"), {"page": page, "per_page": per_page})
        return await self._sender.fetch(call, UserList)

    def iter(self) -> AsyncIterator[User]:
        """Yield all users, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE), lambda found: (found.users, found.paging_info)
        )

    async def invite(self, email: str, *, groups: str | Sequence[str] | None = None) -> User:
        """Invite a user by e-mail address; `groups` are ids or names, by default `system-user`."""
        names = groups if groups is None or isinstance(groups, str) else ",".join(groups)
        body = given(invitee_email=email, groups=names or None)
        call = Call("POST", paths.api("users/invite_new"), body=body, headers=idempotency())
        answer = await self._sender.fetch(call, Invited)
        return answer.user

    async def enable(self, user_id: int) -> UserState:
        """Enable a user's calls again."""
        return await self._switch("enable", user_id)

    async def disable(self, user_id: int) -> UserState:
        """Disable a user: the service refuses their calls from now on."""
        return await self._switch("disable", user_id)

    async def _switch(self, verb: str, user_id: int) -> UserState:
        call = Call("POST", paths.api(f"accounts/{verb}_user"), body={"user_id": user_id})
        return await self._sender.fetch(call, UserState)


def _tokens(user_id: int) -> str:
    return paths.api(f"users/{user_id}/tokens")
