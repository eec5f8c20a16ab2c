"""`svc-jupyter prune`: the rules by which files of ended commands are deleted, and what they would delete."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from svc_jupyter.api.retention import RetentionRule
from svc_jupyter.cli.access.actions import OperatorError, add_shared_options, confirm, perform
from svc_jupyter.cli.access.printing import as_json, show_list, table
from svc_jupyter.client import Client

_NOTHING = "there is no rule: nothing is deleted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `prune`."""
    add_shared_options(parser, json=True)
    parser.add_argument(
        "--rules",
        metavar="FILE",
        type=Path,
        help="replace the rules by those of this JSON file, - for stdin (docs/operations.md); [] deletes nothing",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show what the rules would delete now")
    parser.add_argument("--yes", action="store_true", help="do it without asking, for scripts")
    parser.set_defaults(act=_prune)


def run(arguments: argparse.Namespace) -> int:
    """Show, try or replace the rules; return the exit code."""
    return perform(arguments)


def _prune(client: Client, arguments: argparse.Namespace) -> None:
    rules = None if arguments.rules is None else _read(arguments.rules)
    if arguments.dry_run:
        _show_plan(client, rules, arguments)
        return
    if rules is not None:
        plan = client.account.preview_retention(rules)
        if plan.bytes or plan.unmeasured:
            confirm(arguments, f"Files of {plan.bytes:,} bytes or more are deleted, and cannot be brought back.")
        client.account.set_retention(rules)
    in_force = client.account.retention().rules
    if arguments.json:
        print(as_json([rule.model_dump(mode="json", exclude_none=True) for rule in in_force]))
        return
    print(table(["files", "days", "bytes"], [_cells(rule) for rule in in_force]) if in_force else _NOTHING)


def _cells(rule: RetentionRule) -> list[str]:
    """Return what a rule is about and its limits."""
    days = "any" if rule.keep_days is None else f"{rule.keep_days:g}"
    return [rule.subject, days, "any" if rule.keep_bytes is None else f"{rule.keep_bytes:,}"]


def _show_plan(client: Client, rules: list[dict[str, Any]] | None, arguments: argparse.Namespace) -> None:
    plan = client.account.preview_retention(rules)
    if arguments.json:
        print(as_json(plan.model_dump(mode="json")))
        return
    columns = {
        "rule": lambda one: one.rule,
        "commands": lambda one: one.commands,
        "bytes": lambda one: f"{one.bytes:,}",
    }
    show_list(arguments, plan.prunable, columns, _NOTHING)
    if plan.prunable:
        print(f"{plan.bytes:,} bytes would be deleted")
    if plan.unmeasured:
        print(f"{plan.unmeasured:,} ended commands are not measured yet, which begins with the first rule")


def _read(file: Path) -> list[dict[str, Any]]:
    """Return the rules in a file. Raises `OperatorError`."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
        found = json.loads(text)
        rules = found["rules"] if isinstance(found, dict) else found
        return [RetentionRule.model_validate(rule).model_dump(mode="json", exclude_none=True) for rule in rules]
    except OSError as error:
        raise OperatorError(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise OperatorError(f"{file}: is not a JSON array of rules: {error}") from None
