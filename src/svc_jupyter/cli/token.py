"""`svc-jupyter token`: API tokens of the caller or another user.

A new token is shown once: on stdout, or in a file that only its owner can read. It appears in no argument, log or
error.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from svc_jupyter.api.access import NewToken
from svc_jupyter.cli.access.actions import Actions, OperatorError, confirm, perform
from svc_jupyter.cli.access.lookup import find_token, user_id_of
from svc_jupyter.cli.access.moments import from_now, moment_option
from svc_jupyter.cli.access.printing import as_json, fact_lines, show_list
from svc_jupyter.client import Client


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `token`."""
    actions = Actions(parser)
    _of_a_user(actions.add("list", _list, "list tokens, without their secrets", json=True))
    create = _of_a_user(actions.add("create", _create, "make a token, which is shown this once", json=True))
    create.add_argument("name", help="what it is for")
    create.add_argument(
        "--expires",
        metavar="WHEN",
        type=moment_option(from_now),
        help="when it ends: 2031-05-31T18:00:00Z, or after a span such as 90d, 12h (never)",
    )
    create.add_argument("--file", type=Path, help="write it to this new file, which only you can read")
    create.add_argument("--quiet", action="store_true", help="print the token alone, or nothing with --file")
    revoke = _of_a_user(actions.add("revoke", _revoke, "delete a token: it is refused from now on", destructive=True))
    revoke.add_argument("token_id", type=int, metavar="ID", help="id of the token")


run = perform


def _of_a_user(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--user", help="id or e-mail address of whose it is (yours)")
    return parser


def _list(client: Client, arguments: argparse.Namespace) -> None:
    user_id, email = user_id_of(client, arguments.user)
    columns = {
        "id": lambda token: token.id,
        "name": lambda token: token.name,
        "created": lambda token: token.created_at,
        "expires": lambda token: token.expires_at or "never",
    }
    tokens = sorted(client.users.tokens.iter(user_id), key=lambda token: token.id)
    show_list(arguments, tokens, columns, f"{email} has no tokens")


def _create(client: Client, arguments: argparse.Namespace) -> None:
    user_id, email = user_id_of(client, arguments.user)
    if arguments.file is None:
        _print(arguments, client.users.tokens.create(user_id, arguments.name, expires_at=arguments.expires), email)
        return
    with new_token_file(arguments.file) as file:
        token = client.users.tokens.create(user_id, arguments.name, expires_at=arguments.expires)
        try:
            write_token(file, token.token)
        except OSError as error:
            client.users.tokens.delete(user_id, token.id)
            raise OperatorError(f"{arguments.file}: {error.strerror}; the token was deleted again") from None
    _print(arguments, token, email)


def _revoke(client: Client, arguments: argparse.Namespace) -> None:
    user_id, email = user_id_of(client, arguments.user)
    token = find_token(client, user_id, arguments.token_id)
    confirm(arguments, f"Delete the token {token.name} (id {token.id}) of {email}?")
    client.users.tokens.delete(user_id, token.id)
    print(f"deleted the token {token.name} (id {token.id}) of {email}")


def _print(arguments: argparse.Namespace, token: NewToken, email: str) -> None:
    in_file = arguments.file is not None
    if arguments.json:
        hidden = {"token"} if in_file else set()
        print(as_json(token.model_dump(mode="json", exclude=hidden)))
    elif not arguments.quiet:
        facts = {"id": token.id, "name": token.name, "user": email, "expires": token.expires_at or "never"}
        where = f"in {arguments.file}" if in_file else f"{token.token}  (it is not shown again)"
        print(fact_lines({**facts, "token": where}))
    elif not in_file:
        print(token.token)


_MODE = 0o600


@contextmanager
def new_token_file(path: Path) -> Iterator[TextIO]:
    """Yield a new file of mode 0600, created before the token and removed if no token is created.

    Raises `OperatorError` for an existing file, and when it cannot be created.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    except FileExistsError:
        raise OperatorError(f"{path} is there already; name another file, or remove it") from None
    except OSError as error:
        raise OperatorError(f"{path}: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, _MODE)  # independent of the umask
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_token(file: TextIO, token: str) -> None:
    """Write the token and flush it to disk. Raises `OSError`, for example when the disk is full."""
    file.write(f"{token}\n")
    file.flush()
    os.fsync(file.fileno())
