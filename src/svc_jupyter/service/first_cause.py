"""What is told of steps that were done side by side and failed together."""

from __future__ import annotations


def first_of(error: BaseException) -> BaseException:
    """Return what went wrong first in a group of tasks: that is what the user is told."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
