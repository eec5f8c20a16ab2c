"""`svc-jupyter role`: the permissions of groups."""

from __future__ import annotations

import argparse

from svc_jupyter.api.groups import Role
from svc_jupyter.cli.access.actions import Actions, OperatorError, confirm, perform
from svc_jupyter.cli.access.policies import add_policy_options, entry_text, given_policies, merged
from svc_jupyter.cli.access.printing import show, show_list
from svc_jupyter.client import Client


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `role`."""
    actions = Actions(parser)
    actions.add("list", _list, "list the account's roles", json=True)
    _of_a_role(actions.add("show", _show, "show a role, what it allows, and which groups have it", json=True))
    create = actions.add("create", _create, "make a role; nobody has it before a group does", json=True)
    create.add_argument("name", help="its name")
    add_policy_options(create)
    edit = _of_a_role(
        actions.add("edit", _edit, "change a role for all groups that have it", json=True, destructive=True)
    )
    edit.add_argument("--name", help="its new name")
    edit.add_argument("--add", action="store_true", help="add to the entries that are there, do not replace them")
    add_policy_options(edit)
    _of_a_role(actions.add("delete", _delete, "delete a role, also for the groups that have it", destructive=True))
    copy = _of_a_role(actions.add("duplicate", _duplicate, "make a role that allows the same", json=True))
    copy.add_argument("--name", help="name of the copy (made of the name of the original)")


run = perform


def _of_a_role(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("role", help="id or name of the role")
    return parser


def _list(client: Client, arguments: argparse.Namespace) -> None:
    columns = {
        "id": lambda role: role.id,
        "name": lambda role: role.name,
        "groups": lambda role: ", ".join(_groups(role)),
        "entries": lambda role: "; ".join(map(entry_text, role.policies)),
    }
    show_list(arguments, sorted(client.roles.iter(), key=lambda role: role.id), columns, "there are no roles")


def _show(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, client.roles.get(arguments.role))


def _create(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, client.roles.create(arguments.name, given_policies(arguments) or []))


def _edit(client: Client, arguments: argparse.Namespace) -> None:
    policies = given_policies(arguments)
    if policies is None and not arguments.name:
        raise OperatorError("there is nothing to change: give --name, --allow, --deny or --policies")
    role = client.roles.get(arguments.role)
    if policies is not None:
        if arguments.add:
            policies = merged(role.policies, policies)
        else:
            what = f"its {len(role.policies)} entries are replaced by {len(policies)}"
            confirm(arguments, f"Change the role {role.name} for {len(role.groups)} groups: {what}?")
    _print(arguments, client.roles.update(role.id, name=arguments.name, policies=policies))


def _delete(client: Client, arguments: argparse.Namespace) -> None:
    role = client.roles.get(arguments.role)
    having = f"; these groups lose it: {', '.join(_groups(role))}" if role.groups else ""
    confirm(arguments, f"Delete the role {role.name} (id {role.id}){having}?")
    client.roles.delete(role.id)
    print(f"deleted the role {role.name} (id {role.id})")


def _duplicate(client: Client, arguments: argparse.Namespace) -> None:
    _print(arguments, client.roles.duplicate(arguments.role, name=arguments.name))


def _print(arguments: argparse.Namespace, role: Role) -> None:
    facts = {
        "id": role.id,
        "name": role.name,
        "entries": [entry_text(entry) for entry in role.policies],
        "groups": _groups(role),
    }
    show(arguments, role, facts)


def _groups(role: Role) -> list[str]:
    """Return the groups' names; names are an extension that another service may lack."""
    return role.group_names or [str(group_id) for group_id in role.groups]
