"""Magics with several actions (`%svc_schedule list`, `%svc_schedule suspend report`), each with its own options."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from svc_jupyter.magics.arguments.decorators import Decorator, with_options
from svc_jupyter.magics.arguments.options import MagicMethod, nearest, parse, parser_of
from svc_jupyter.magics.display.errors import SvcUsageError

_HELP = ("-h", "--help")


def action(name: str) -> Decorator[Any]:
    """Return the decorator that makes a method the action of this name, such as `svc_schedule list`.

    The method receives the parsed values of its line; callers pass the line itself.
    """

    def decorate(method: MagicMethod) -> MagicMethod:
        method = with_options(name)(method)

        @functools.wraps(method)
        def perform(family: Any, line: str, *cell: str) -> Any:
            return method(family, parse(perform, line), *cell)

        perform.action_of = name.split()  # type: ignore[attr-defined]
        return perform

    return decorate


def actions_of(family: type) -> dict[str, dict[str, MagicMethod]]:
    """Return the actions of a class by magic and name, in order of definition."""
    found: dict[str, dict[str, MagicMethod]] = {}
    for one in reversed(family.__mro__):
        for method in vars(one).values():
            if isinstance(named := getattr(method, "action_of", None), list):
                magic, name = named
                found.setdefault(magic, {})[name] = method
    return found


def split_action(magic: str, line: str, actions: Mapping[str, MagicMethod], default: str) -> tuple[str, str]:
    """Return the action at the start of a line and the rest of the line; `default` when it starts with an option.

    Raises SvcUsageError with the nearest action.
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
    """Return the help of an action when its line asks for it, else None."""
    return parser_of(action).format_help() if set(line.split()) & set(_HELP) else None
