"""IPython's decorators for magics, with type annotations, which the originals lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from IPython.core import magic, magic_arguments
from IPython.core.completer import context_matcher

F = TypeVar("F", bound=Callable[..., Any])
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
    """Make a method a `%magic`, with the options of the `argument`s below this decorator."""
    magic.line_magic(method)  # registers the method
    return _with_parser(method)


def cell_magic(method: F) -> F:
    """Make a method a `%%magic`, with its options."""
    magic.cell_magic(method)  # registers the method
    return _with_parser(method)


def line_cell_magic(method: F) -> F:
    """Make a method a `%magic` and a `%%magic`, with its options."""
    magic.line_cell_magic(method)  # registers the method
    return _with_parser(method)


def _with_parser(method: F) -> F:
    """Add the options. `$x$` and `{x}` of a line are not expanded: they belong to macros and to the engines."""
    marked: F = magic.no_var_expand(with_options()(method))
    return marked


def matcher(identifier: str, priority: float) -> Decorator[Any]:
    """Return the decorator that makes a completion matcher; a higher priority runs first."""
    decorator: Decorator[Any] = context_matcher(identifier=identifier, priority=priority)
    return decorator
