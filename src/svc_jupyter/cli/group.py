"""`svc-jupyter group`: groups, their members and their roles."""

from __future__ import annotations

import argparse

from svc_jupyter.api.groups import Group
from svc_jupyter.cli.access.actions import Actions, confirm, perform
from svc_jupyter.cli.access.printing import show, show_list
from svc_jupyter.client import Client

_USERS = "ids or e-mail addresses: all of them, or nobody"
_ROLE = "id or name of the role"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `group`."""
    actions = Actions(parser)
    actions.add("list", _list, "list the account's groups", json=True)
    _of_a_group(actions.add("show", _show, "show a group with its members and roles", json=True))
    create = actions.add("create", _create, "make a group", json=True)
    create.add_argument("name", help="its name")
    create.add_argument("--member", dest="members", action="append", default=[], metavar="USER", help=_USERS)
    create.add_argument("--role", dest="roles", action="append", default=[], metavar="ROLE", help=_ROLE)
    _of_a_group(actions.add("rename", _rename, "give a group another name")).add_argument("name", help="its new name")
    _of_a_group(actions.add("delete", _delete, "delete a group; its members stay users", destructive=True))
    copy = _of_a_group(actions.add("duplicate", _duplicate, "make a group with the same members and roles", json=True))
    copy.add_argument("--name", help="name of the copy (made of the name of the original)")
    add = _of_a_group(actions.add("add", _add, "add users to a group"))
    add.add_argument("users", nargs="+", metavar="USER", help=_USERS)
    remove = _of_a_group(actions.add("remove", _remove, "take users out of a group", destructive=True))
    remove.add_argument("users", nargs="+", metavar="USER", help=_USERS)
    _of_a_group(actions.add("assign-role", _assign, "give a group a role")).add_argument("role", help=_ROLE)
    unassign = _of_a_group(actions.add("unassign-role", _unassign, "take a role from a group", destructive=True))
    unassign.add_argument("role", help=_ROLE)


run = perform


def _of_a_group(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("group", help="id or name of the group")
    return parser


def _list(client: Client, arguments: argparse.Namespace) -> None:
    columns = {
        "id": lambda group: group.id,
        "name": lambda group: group.name,
        "members": lambda group: len(group.members),
        "roles": lambda group: ", ".join(_roles(group)),
    }
    show_list(arguments, sorted(client.groups.iter(), key=lambda group: group.id), columns, "there are no groups")


def _show(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, client.groups.get(arguments.group))


def _create(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, client.groups.create(arguments.name, members=arguments.members, roles=arguments.roles))


def _rename(client: Client, arguments: argparse.Namespace) -> None:
    group = client.groups.rename(arguments.group, arguments.name)
    print(f"group {group.id} is called {group.name}")


def _delete(client: Client, arguments: argparse.Namespace) -> None:
    group = client.groups.get(arguments.group)
    confirm(arguments, f"Delete the group {group.name} (id {group.id}, {len(group.members)} members)?")
    client.groups.delete(group.id)
    print(f"deleted the group {group.name} (id {group.id})")


def _duplicate(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, client.groups.duplicate(arguments.group, name=arguments.name))


def _add(client: Client, arguments: argparse.Namespace) -> None:
    client.groups.add_users(arguments.group, arguments.users)
    print(f"{', '.join(arguments.users)} in the group {arguments.group}")


def _remove(client: Client, arguments: argparse.Namespace) -> None:
    named = ", ".join(arguments.users)
    confirm(arguments, f"Take {named} out of the group {arguments.group}?")
    client.groups.remove_users(arguments.group, arguments.users)
    print(f"{named} no longer in the group {arguments.group}")


def _assign(client: Client, arguments: argparse.Namespace) -> None:
    client.groups.assign(arguments.group, arguments.role)
    print(f"the group {arguments.group} has the role {arguments.role}")


def _unassign(client: Client, arguments: argparse.Namespace) -> None:
    confirm(arguments, f"Take the role {arguments.role} from the group {arguments.group}?")
    client.groups.unassign(arguments.group, arguments.role)
    print(f"the group {arguments.group} no longer has the role {arguments.role}")


def _print(arguments: argparse.Namespace, group: Group) -> None:
    facts = {
        "id": group.id,
        "name": group.name,
        "members": _with_ids(group.members, group.member_emails),
        "roles": _with_ids(group.roles, group.role_names),
    }
    show(arguments, group, facts)


def _roles(group: Group) -> list[str]:
    return group.role_names or [str(role_id) for role_id in group.roles]


def _with_ids(ids: list[int], names: list[str]) -> list[str]:
    """Return names with their ids; names are an extension that another service may lack."""
    return [f"{name} (id {number})" for number, name in zip(ids, names, strict=True)] if names else list(map(str, ids))
