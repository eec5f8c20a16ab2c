"""IPython's decorators for magics, with type annotations, which the originals lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from IPython.core import magic, magic_arguments
from IPython.core.completer import context_matcher

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
Decorator = Callable[[F], F]


def with_options(name: str | None = None) -> Decorator[Any]:
    """Return the decorator that builds a magic's parser and help from its docstring and the `argument`s below it.

    `name` is that of an action of a magic, such as `svc_schedule list`; by default the method's.
    """
    decorator: Decorator[Any] = magic_arguments.magic_arguments(name)  # type: ignore[no-untyped-call]
    return decorator


def argument(*spellings: str, **how: Any) -> Decorator[Any]:
    """Return the decorator that adds an argument to a magic; takes the parameters of argparse."""
    decorator: Decorator[Any] = magic_arguments.argument(*spellings, **how)  # type: ignore[no-untyped-call]
    return decorator


def line_magic(method: F) -> F:
    """Mark a method as a `%magic`."""
    magic.line_magic(method)  # registers the method and returns it unchanged
    return method


def cell_magic(method: F) -> F:
    """Mark a method as a `%%magic`."""
    magic.cell_magic(method)
    return method


def line_cell_magic(method: F) -> F:
    """Mark a method as a `%magic` and a `%%magic`."""
    magic.line_cell_magic(method)
    return method


def no_var_expand(method: F) -> F:
    """Do not expand `$x$` and `{x}` in a magic's line: they belong to the service's macros and to the engines."""
    marked: F = magic.no_var_expand(method)
    return marked


def matcher(identifier: str, priority: float) -> Decorator[Any]:
    """Return the decorator that makes a completion matcher; a higher priority runs first."""
    decorator: Decorator[Any] = context_matcher(identifier=identifier, priority=priority)
    return decorator


def magics_class(family: C) -> C:
    """Register the decorated methods of a class as its magics."""
    registered: C = magic.magics_class(family)
    return registered
