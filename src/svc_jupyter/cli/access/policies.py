"""A role's policies as options such as `--allow scheduler:read,update`, or as a file."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from svc_jupyter.api.access import Access
from svc_jupyter.api.groups import RolePolicies, RolePolicy
from svc_jupyter.cli.access.actions import OperatorError

Entry = dict[str, Any]
_STDIN = "-"


class _PolicyFile(BaseModel):
    """The schema of a policy file; `role show --json` also prints it."""

    model_config = ConfigDict(extra="ignore")
    policies: RolePolicies


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """Add `--allow`, `--deny` and `--policies`."""
    for access in Access:
        parser.add_argument(
            f"--{access}",
            metavar="RESOURCE:ACTION,…",
            action="append",
            default=[],
            type=_entry_option(access),
            help=f"{access} actions on a resource, as in scheduler:read,update; may be given again; `all` is every one",
        )
    parser.add_argument(
        "--policies",
        metavar="FILE",
        help="JSON (an array of {access, resource, action}, or an object with `policies`) or, when its name ends in "
        ".toml, TOML with [[policies]]; - reads JSON from stdin",
    )


def given_policies(arguments: argparse.Namespace) -> list[Entry] | None:
    """Return the entries of the options, those of a file first; None when there are none.

    Raises `OperatorError` for a file that cannot be read or is not a policy file.
    """
    entries = [*arguments.allow, *arguments.deny]
    if arguments.policies is None:
        return entries or None
    return policies_of(_read(arguments.policies), arguments.policies) + entries


def policies_of(text: str, name: str) -> list[Entry]:
    """Return the entries in a file's text; its name says whether it is TOML. Raises `OperatorError`."""
    try:
        content: Any = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except ValueError as error:
        raise OperatorError(f"{name}: {error}") from None
    try:
        found = _PolicyFile.model_validate({"policies": content} if isinstance(content, list) else content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"])
        raise OperatorError(f"{name}: {place or 'the file'}: {first['msg']}") from None
    return [entry.model_dump(mode="json") for entry in found.policies]


def entry_text(entry: RolePolicy) -> str:
    """Return an entry in the form of the options."""
    return f"{entry.access.value} {entry.resource}:{','.join(entry.action)}"


def merged(there: Sequence[RolePolicy], new: Sequence[Entry]) -> list[Entry]:
    """Return the entries of a role with new ones appended, without duplicates."""
    entries = [entry.model_dump(mode="json") for entry in there]
    return entries + [entry for entry in new if entry not in entries]


def _entry_option(access: Access) -> Any:
    def entry(text: str) -> Entry:
        resource, colon, actions = text.partition(":")
        words = [word.strip() for word in actions.split(",") if word.strip()]
        if not (resource.strip() and colon and words):
            raise argparse.ArgumentTypeError(f"{text!r} must be such as scheduler:read,update")
        return {"access": access.value, "resource": resource.strip(), "action": words}

    return entry


def _read(name: str) -> str:
    try:
        return sys.stdin.read() if name == _STDIN else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise OperatorError(f"{name}: is not text in UTF-8") from None
