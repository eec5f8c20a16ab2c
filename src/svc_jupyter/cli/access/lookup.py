"""Find users and their tokens by an operator's reference."""

from __future__ import annotations

from svc_jupyter.api.access import Token, User
from svc_jupyter.cli.access.actions import NOT_FOUND, OperatorError
from svc_jupyter.client import Client


def find_user(client: Client, reference: str) -> User:
    """Return the user with an id or an e-mail address, ignoring case. Raises `OperatorError`."""
    wanted = reference.strip().lower()
    found = next((user for user in client.users.iter() if wanted in (str(user.id), user.email.lower())), None)
    if found is None:
        raise OperatorError(f"there is no user {reference!r} in this account", NOT_FOUND)
    return found


def user_id_of(client: Client, reference: str | None) -> tuple[int, str]:
    """Return the id and e-mail address of a user, by default of the caller. Raises `OperatorError`."""
    if reference is None:
        account = client.account.get()
        return account.user_id, account.email
    user = find_user(client, reference)
    return user.id, user.email


def find_token(client: Client, user_id: int, token_id: int) -> Token:
    """Return a user's token, without its secret. Raises `OperatorError`."""
    found = next((token for token in client.users.tokens.iter(user_id) if token.id == token_id), None)
    if found is None:
        raise OperatorError(f"user {user_id} has no token {token_id}", NOT_FOUND)
    return found
