"""A command as described by its cell, before anything is sent: to run at once, in a composite or by a schedule."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from svc_jupyter.magics.cells.running import Reader
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.session.session import Session


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Context:
    """The notebook's context of a definition: the session, and the namespace for `--var`."""

    session: Session
    variables: Mapping[str, Any]


@dataclass(frozen=True)
class Definition:
    """The command of a cell.

    `fields` returns the fields of its type and may ask the service (for the id of a tap), so it is called outside the
    cell's thread. `refused` clears cached answers when the service refuses the command.
    """

    command_type: str
    fields: Callable[[], dict[str, Any]]
    read: Reader
    origin: Origin
    refused: Callable[[], None] = _nothing


Define = Callable[[argparse.Namespace, str | None, Context], Definition]
"""Builds a definition from a cell's options and text."""
