"""The account's users and their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.access import Invited, NewToken, TokenList, UserList, UserState
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency


class UserFlows:
    """Requests about users, for both clients."""

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


class TokenFlows:
    """Requests about tokens, for both clients."""

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
