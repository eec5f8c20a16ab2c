"""`svc-jupyter audit`: who changed what, when and from where, for an administrator."""

from __future__ import annotations

import argparse
import json
from itertools import islice

from svc_jupyter.api.access import Resource
from svc_jupyter.api.audit import AuditEntry
from svc_jupyter.cli.access.actions import add_shared_options, perform
from svc_jupyter.cli.access.lookup import find_user
from svc_jupyter.cli.access.moments import before_now, moment_option
from svc_jupyter.cli.access.printing import show_list
from svc_jupyter.client import Client

_SHOWN = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the filters of `audit`."""
    add_shared_options(parser, json=True)
    parser.add_argument("--user", help="changes by this user, an id or e-mail address")
    parser.add_argument("--resource", metavar="KIND", choices=[*Resource], help=f"of what: {', '.join(Resource)}")
    parser.add_argument("--object", metavar="ID", help="of this object, with --resource")
    parser.add_argument("--action", metavar="WORD", help="what was done, such as create, update, delete, disable")
    parser.add_argument("--trace", metavar="ID", help="by the call with this X-Trace-Id")
    for option, text in (("--since", "not before"), ("--until", "before")):
        parser.add_argument(
            option,
            metavar="WHEN",
            type=moment_option(before_now),
            help=f"{text} this moment: 2031-05-31, 2031-05-31T18:00:00Z, or so long ago: 24h, 7d",
        )
    parser.add_argument(
        "--limit", metavar="N", type=_count, default=_SHOWN, help=f"how many at most, 0 for all ({_SHOWN})"
    )
    parser.set_defaults(act=_list)


def run(arguments: argparse.Namespace) -> int:
    """Print the changes, newest first; return the exit code (docs/access.md)."""
    return perform(arguments)


def _list(client: Client, arguments: argparse.Namespace) -> None:
    user_id = None if arguments.user is None else find_user(client, arguments.user).id
    filters = {
        "user_id": user_id,
        "action": arguments.action,
        "resource": arguments.resource,
        "object_id": arguments.object,
        "trace_id": arguments.trace,
        "start_date": arguments.since,
        "end_date": arguments.until,
    }
    found = client.audit.iter(**{name: value for name, value in filters.items() if value is not None})
    columns = {
        "when": lambda entry: entry.created_at,
        "who": lambda entry: entry.email,
        "did": lambda entry: entry.action,
        "to": _object,
        "from": lambda entry: entry.address or "the service",
        "detail": _detail,
    }
    show_list(arguments, list(islice(found, arguments.limit or None)), columns, "no such change is in the log")


def _object(entry: AuditEntry) -> str:
    return entry.resource if entry.object_id is None else f"{entry.resource} {entry.object_id}"


def _detail(entry: AuditEntry) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in entry.detail.items())


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} must be a number, 0 for all")
    return int(text)
