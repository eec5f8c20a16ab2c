"""The command line `svc-jupyter`: each subcommand is a separate module, imported when it is called."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version

SUBCOMMANDS = {
    "serve": "run the service in the foreground",
    "init": "prepare the data folder and its service, with --demo also public data to try things on",
    "status": "show whether the embedded service runs",
    "stop": "end the embedded service; running commands go on",
    "lab": "start JupyterLab and the embedded service",
    "run-notebook": "execute a notebook and print its outputs in the terminal",
    "docs": "open the documentation in the browser",
    "doctor": "show what is missing, and how to get it",
    "engines": "list, install and remove the engines that commands run on",
    "hosts": "list and check the machines of the inventory that clusters run on",
    "user": "list, invite, enable and disable users",
    "group": "groups, their members and their roles",
    "role": "roles: what the members of groups are allowed",
    "token": "make, list and revoke API tokens",
    "database": "copy the service's database from SQLite to PostgreSQL",
    "backup": "copy database, files and key of a service to a folder or an object store, while it works",
    "restore": "fill an empty data folder from a backup",
    "prune": "rules by which results and logs of ended commands are deleted, and what they would delete",
    "audit": "who changed what, when, and from where",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="svc-jupyter", description="A notebook front end to a data-processing service, and the service itself."
    )
    parser.add_argument("--version", action="version", version=version("svc-jupyter"))
    subparsers = parser.add_subparsers(dest="subcommand", required=True, metavar="COMMAND")
    chosen = next((word for word in words if word in SUBCOMMANDS), None)
    for name, help_text in SUBCOMMANDS.items():
        subparser = subparsers.add_parser(name, help=help_text, description=help_text)
        if name == chosen:
            module = importlib.import_module(f"svc_jupyter.cli.{name.replace('-', '_')}")
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    parsed = parser.parse_args(words)
    code: int = parsed.run(parsed)
    return code
