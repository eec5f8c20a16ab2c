"""Magics with several actions (`%svc_schedule list`, `%svc_schedule suspend report`): each has options of its own."""

from __future__ import annotations

from collections.abc import Mapping

from svc_jupyter.magics.arguments.options import MagicMethod, nearest, parser_of
from svc_jupyter.magics.display.errors import SvcUsageError

_HELP = ("-h", "--help")


def split_action(magic: str, line: str, actions: Mapping[str, MagicMethod], default: str) -> tuple[str, str]:
    """Return the action that a line begins with, and the rest of the line; `default` when it begins with an option.

    Raises SvcUsageError, naming the nearest action.
    """
    first, _, rest = line.strip().partition(" ")
    if not first or (first.startswith("-") and first not in _HELP):
        return default, line
    if first in _HELP:
        return default, "--help"
    if first not in actions:
        names = ", ".join(actions)
        raise SvcUsageError(f"{magic}: there is no action {first!r}.{nearest(first, list(actions))} Actions: {names}")
    return first, rest


def help_of(action: MagicMethod, line: str) -> str | None:
    """Return the help of an action when its line asks for it."""
    return parser_of(action).format_help() if set(line.split()) & set(_HELP) else None
