"""`svc-jupyter user`: the account's users, for an operator."""

from __future__ import annotations

import argparse

from svc_jupyter.api.access import User
from svc_jupyter.cli.access.actions import Actions, confirm, perform
from svc_jupyter.cli.access.lookup import find_user
from svc_jupyter.cli.access.printing import show, show_list
from svc_jupyter.client import Client

_USER = "id or e-mail address"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `user`."""
    actions = Actions(parser)
    actions.add("list", _list, "list the account's users", json=True)
    actions.add("show", _show, "show a user with their groups", json=True).add_argument("user", help=_USER)
    invite = actions.add("invite", _invite, "make a user of an e-mail address", json=True)
    invite.add_argument("email", help="their e-mail address")
    invite.add_argument(
        "--group",
        dest="groups",
        action="append",
        metavar="GROUP",
        help="id or name of a group to put them into; may be given again (system-user)",
    )
    actions.add("enable", _enable, "let a user make calls again").add_argument("user", help=_USER)
    disable = actions.add("disable", _disable, "refuse a user's calls from now on", destructive=True)
    disable.add_argument("user", help=_USER)


run = perform


def _list(client: Client, arguments: argparse.Namespace) -> None:
    columns = {
        "id": lambda user: user.id,
        "e-mail": lambda user: user.email,
        "state": _state,
        "groups": lambda user: ", ".join(user.groups),
    }
    show_list(arguments, sorted(client.users.iter(), key=lambda user: user.id), columns, "there are no users")


def _show(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, find_user(client, arguments.user))


def _invite(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, client.users.invite(arguments.email, groups=arguments.groups))


def _enable(client: Client, arguments: argparse.Namespace) -> None:
    user = client.users.enable(find_user(client, arguments.user).id).user
    print(f"{user.email} is enabled")


def _disable(client: Client, arguments: argparse.Namespace) -> None:
    user = find_user(client, arguments.user)
    confirm(arguments, f"Disable {user.email}? Their calls are refused and their schedules end in error.")
    print(f"{client.users.disable(user.id).user.email} is disabled")


def _print(arguments: argparse.Namespace, user: User) -> None:
    facts = {"id": user.id, "e-mail": user.email, "name": user.name, "state": _state(user), "groups": user.groups}
    show(arguments, user, facts)


def _state(user: User) -> str:
    return "enabled" if user.enabled else "disabled"
