"""Ask for confirmation before a change that no reverse command can undo."""

from __future__ import annotations

import argparse
import sys

from svc_jupyter.cli.access.actions import NOT_CONFIRMED, OperatorError
from svc_jupyter.cli.access.printing import printable


def confirm(arguments: argparse.Namespace, question: str) -> None:
    """Return after a confirmation, or at once with `--yes`. Raises `OperatorError`, also without a terminal."""
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise OperatorError("nothing was changed: there is no terminal to ask for a yes; give --yes", NOT_CONFIRMED)
    # On stderr: a program may read stdout.
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise OperatorError("nothing was changed", NOT_CONFIRMED)
