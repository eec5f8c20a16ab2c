"""A yes before what cannot be undone by the same command the other way round."""

from __future__ import annotations

import argparse
import sys

from svc_jupyter.cli.access.actions import NOT_CONFIRMED, OperatorError
from svc_jupyter.cli.access.printing import printable


def confirm(arguments: argparse.Namespace, question: str) -> None:
    """Return after a yes, or at once with `--yes`. Raises `OperatorError`; also where there is nobody to be asked."""
    if arguments.yes:
        return
    if not sys.stdin.isatty():
        raise OperatorError("nothing was changed: there is no terminal to ask for a yes; give --yes", NOT_CONFIRMED)
    # On stderr: what is printed on stdout may be read by a program.
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise OperatorError("nothing was changed", NOT_CONFIRMED)
