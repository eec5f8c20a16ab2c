"""Declare and run subcommands with actions, such as `group add`.

An action is a function of a client and the parsed arguments. It finds its service as every client does: by `--profile`,
the environment, the profile file, or else the embedded service.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from svc_jupyter.cli.access.printing import printable
from svc_jupyter.client import Client, NotFound, SvcError

FAILED = 1
"""Exit code when the service refuses or does not answer, or a file cannot be read or written."""
NOT_FOUND = 4
"""Exit code for an unknown user, group, role or token. (2 is a wrong command line.)"""
NOT_CONFIRMED = 5
"""Exit code when a step was not confirmed: nothing was changed."""
_INTERRUPTED = 130
"""The shell convention for a program ended by Ctrl-C."""
Act = Callable[[Client, argparse.Namespace], None]


class OperatorError(Exception):
    """An action cannot be performed for a local reason; `code` is the exit code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class Actions:
    """The actions of one subcommand, on its parser."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._subparsers = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(
        self, name: str, act: Act, text: str, *, json: bool = False, destructive: bool = False
    ) -> argparse.ArgumentParser:
        """Add an action and return its parser; `json` gives it `--json`, `destructive` gives it `--yes`."""
        parser = self._subparsers.add_parser(name, help=text, description=text)
        add_shared_options(parser, json=json)
        if destructive:
            parser.add_argument("--yes", action="store_true", help="do it without asking, for scripts")
        parser.set_defaults(act=act)
        return parser


def add_shared_options(parser: argparse.ArgumentParser, *, json: bool) -> None:
    """Add the options for the service and, with `json`, for the output format."""
    parser.add_argument("--profile", metavar="NAME", help="service of this profile of the profile file")
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def perform(arguments: argparse.Namespace) -> int:
    """Perform the chosen action; return the exit code. Errors are printed to stderr in the service's words."""
    try:
        with Client(profile=arguments.profile) as client:
            arguments.act(client, arguments)
        sys.stdout.flush()
    except OperatorError as error:
        return _fail(arguments, error.message, error.code)
    except NotFound as error:
        return _fail(arguments, error.message, NOT_FOUND)
    except SvcError as error:
        return _fail(arguments, error.message, FAILED)
    except BrokenPipeError:
        # The reader closed the pipe; redirect stdout, so that the interpreter's flush at exit does not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return _INTERRUPTED
    return 0


def _fail(arguments: argparse.Namespace, message: str, code: int) -> int:
    action: Any = getattr(arguments, "action", None)
    name = " ".join(word for word in ("svc-jupyter", arguments.subcommand, action) if word)
    print(f"{name}: {message}", file=sys.stderr)
    return code


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
