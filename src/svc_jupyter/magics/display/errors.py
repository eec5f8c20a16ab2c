"""The errors of cells. Each is shown as one readable error instead of a traceback.

::

    SvcMagicError
    ├── SvcUsageError          the line or the cell was not understood (also IPython's UsageError)
    ├── SvcServiceError        the service could not be reached or refused
    └── SvcCommandFailed       the command ended in `error` (with its facts: failures.py)
        └── SvcCommandCancelled    it was cancelled
    SvcInterrupted             the cell was interrupted (a KeyboardInterrupt)

Each stops "Run All". The client's error is the `__cause__`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell


class OneError:
    """Mixin: IPython shows the error's name and text, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class SvcMagicError(OneError, Exception):
    """Base of the magics' errors; the text says what happened and what to do next."""


class SvcUsageError(SvcMagicError, UsageError):
    """The line or the cell was not understood; nothing was submitted."""


class SvcServiceError(SvcMagicError):
    """The service could not be reached or refused the request."""


class SvcInterrupted(OneError, KeyboardInterrupt):
    """The cell was interrupted; the text says what happened to its command.

    With `is_shown` the cell's output already says it, and no error is shown.
    """

    def __init__(self, text: str, *, is_shown: bool = False) -> None:
        super().__init__(text)
        self.is_shown = is_shown


def tell_interrupts_once(shell: InteractiveShell) -> None:
    """Show no error for an interrupt of which the cell's output tells; the cell still counts as failed.

    A shell has one handler of this kind: one that the user has set stays.
    """

    def show(
        shell: InteractiveShell,
        kind: type[SvcInterrupted],
        error: SvcInterrupted,
        traceback: TracebackType,
        tb_offset: int | None = None,
    ) -> None:
        if error.is_shown:
            vars(shell)["_last_traceback"] = []  # a kernel's answer would have that of an earlier error
        else:
            shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)

    if not shell.custom_exceptions:
        shell.set_custom_exc((SvcInterrupted,), show)  # type: ignore[no-untyped-call]


def tell_interrupts_as_before(shell: InteractiveShell) -> None:
    """Take back `tell_interrupts_once`."""
    if shell.custom_exceptions == (SvcInterrupted,):
        shell.set_custom_exc((), None)  # type: ignore[no-untyped-call]


@contextmanager
def translated_errors() -> Iterator[None]:
    """Convert the client's errors to those of a cell; except how a command ended, which the caller handles."""
    from svc_jupyter.client import errors

    try:
        yield
    except errors.CommandEnded:
        raise
    except errors.SvcError as error:
        raise SvcServiceError(f"{error.message}{_next_step(error)}") from error


def _next_step(error: Exception) -> str:
    """Return the line that says what to do, if the client's message does not."""
    from svc_jupyter.client import errors

    match error:
        case errors.Unauthorized():
            return "\n  Set SVC_API_TOKEN, or the token in the profile; %svc_status shows which one is used."
        case errors.ConnectionFailed() | errors.ConfigurationError() | errors.UnexpectedAnswer():
            return "\n  %svc_config shows where the address and the token come from."
        case errors.ServerError(trace_id=str(trace_id)):
            return f"\n  The service's log has it under trace id {trace_id}."
        case _:
            return ""
