"""From a parsed cell to its value: what every magic that submits a command does the same way."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics

from svc_jupyter.magics.arguments.options import MagicMethod, submission_fields
from svc_jupyter.magics.cells.definitions import Definition
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.running import Outcome, Reader, Run
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.progress import done_line, line_for
from svc_jupyter.magics.display.rendering import limit_display, size_text
from svc_jupyter.magics.session.session import Session

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Command


V = TypeVar("V")


class SvcFamily(Magics):
    """Base of the magic families: a shell and the notebook's session."""

    shell: InteractiveShell
    actions: ClassVar[Mapping[str, Mapping[str, MagicMethod]]] = {}
    """Of the magics that have actions with options of their own: the actions by their names."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self.session = session

    def run_definition(
        self,
        values: argparse.Namespace,
        definition: Definition,
        when_done: Callable[[Command], None] = lambda _command: None,
    ) -> pd.DataFrame | CommandHandle | None:
        """Run the command of a cell with the options every submission has; return the value of the cell.

        `when_done` is called with a command that is done, below its last line and above the value.
        """
        common = submission_fields(values, self.shell.user_ns, self.session.settings.default_label)

        def start() -> Command:
            from svc_jupyter.client.errors import Invalid, NotFound

            fields = definition.fields()
            try:
                return self.session.client().commands.submit(definition.command_type, **common, **fields)
            except (Invalid, NotFound):
                definition.refused()
                raise

        return self.submit(values, start, definition.read, definition.origin, when_done)

    def submit(
        self,
        values: argparse.Namespace,
        start: Callable[[], Command],
        read: Reader,
        origin: Origin,
        when_done: Callable[[Command], None],
    ) -> pd.DataFrame | CommandHandle | None:
        """Run a command as the options say; return the value of the cell.

        That is the DataFrame, limited in its display; the handle with `--no-wait`; nothing with `--quiet`.
        """
        line = line_for(self.shell, quiet=values.quiet)
        run = Run(start, read, origin, line)
        if values.no_wait:
            handle = self.keep(values, CommandHandle(run.submitted(), self.shell, read, origin))
            return None if values.quiet else handle
        outcome = run.to_frame()
        self.keep(values, outcome.frame)
        if not values.quiet:
            line.finish(done_line(outcome.command.id, outcome.seconds, self.described(outcome, values)))
        when_done(outcome.command)
        return None if values.quiet else outcome.frame

    def described(self, outcome: Outcome, values: argparse.Namespace) -> list[str]:
        """Limit the display of a result, and return what the last line says about it."""
        frame = outcome.frame
        shown = limit_display(frame, values.rows, self.session.settings.rows_shown, self.shell)
        parts = [size_text(frame)]
        if shown is not None and shown < len(frame):
            parts.append(f"showing {shown:,} (-n to change)")
        if values.out:
            parts.append(values.out)
        return parts

    def keep(self, values: argparse.Namespace, value: V) -> V:
        """Assign a value to the variable of `-o`, where there is one, and return it."""
        if values.out:
            self.shell.user_ns[values.out] = value
        return value


def text_or_location(cell: str | None, location: str | None, magic: str, noun: str) -> str | None:
    """Return the cell's text, or None when the command is read from a location; exactly one of them must be there."""
    text = cell if cell and cell.strip() else None
    if text and location:
        raise SvcUsageError(f"{magic}: give the {noun} in the cell or by --script-location, not both")
    if not text and not location:
        raise SvcUsageError(f"{magic}: there is no {noun}. Write it below %{magic}, or name its --script-location")
    return text
