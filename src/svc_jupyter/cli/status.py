"""`svc-jupyter status`: whether the embedded service runs, and its current work."""

from __future__ import annotations

import argparse
import os
import sys

from svc_jupyter.api.commands import CommandList
from svc_jupyter.cli.embedded import embedded_service, where_it_stands
from svc_jupyter.client import Client, SvcError

NOT_RUNNING = 3
"""Exit code when the service does not run, as in service managers."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`status` has no options."""


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  the interface of all subcommands
    """Print the address, process and work of the service; return 0, 3 when it does not run, 1 without answer."""
    service = embedded_service()
    try:
        found = service.find()
        if found is None:
            print(where_it_stands(service))
            return NOT_RUNNING
        with Client(found.base_url, found.token) as client:
            running = client.commands.list(status="running", all_users=True, per_page=100)
            waiting = client.commands.list(status="waiting", all_users=True, per_page=100)
    except SvcError as error:
        print(f"svc-jupyter status: {error.message}", file=sys.stderr)
        return 1
    print(f"running at {found.base_url}, process {found.pid}, version {found.version}")
    print(f"data folder {service.data_dir}, log {service.log}")
    if os.geteuid() == 0:
        print("it runs as root: every user's commands may do anything on this machine; give it a user of its own")
    print(f"commands: {_count(running)} running, {_count(waiting)} waiting")
    return 0


def _count(page: CommandList) -> str:
    return f"{len(page.commands)}{'+' if page.paging_info.next_page else ''}"
