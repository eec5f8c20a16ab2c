"""The command of a cell, and how it runs: shared by all magics that submit a command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, magics_class

from svc_jupyter.magics.arguments.actions import actions_of, help_of, split_action
from svc_jupyter.magics.arguments.options import MagicMethod, continued, parse, submission_fields
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.running import Outcome, Reader, Reading, Run, Value
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.grid import ResultOf
from svc_jupyter.magics.display.progress import Line, done_line, in_kernel, line_for
from svc_jupyter.magics.display.rendering import is_kept, kept_text, limit_display, publish, shape_of, size_text
from svc_jupyter.magics.display.status import STATUS, Use, status_data
from svc_jupyter.magics.session.session import Session
from svc_jupyter.widgets.panels.frame import PanelText, PartOfPanel

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.client import Command, Result


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


V = TypeVar("V")
P = TypeVar("P", bound=PartOfPanel)


class SvcFamily(Magics):
    """Base of the magic families: a shell and the notebook's session."""

    shell: InteractiveShell
    actions: ClassVar[Mapping[str, Mapping[str, MagicMethod]]] = {}
    """The actions by magic and name, for magics whose actions have their own options."""

    def __init__(self, shell: InteractiveShell, session: Session) -> None:
        super().__init__(shell)
        self.session = session

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        magics_class(cls)
        cls.actions = actions_of(cls)

    def act(self, magic: str, line: str, default: str) -> Any:
        """Perform the action at the start of a magic's line, or print its help."""
        actions = self.actions[magic]
        name, rest = split_action(magic, line, actions, default)
        if text := help_of(actions[name], rest):
            return print(text)  # noqa: T201  the help is the output
        return actions[name](self, rest)

    def run_cell(self, magic: MagicMethod, define: Define, line: str, cell: str | None) -> Value | CommandHandle | None:
        """Run the command of a cell of a magic; return the value of the cell."""
        line, cell = continued(line, cell)
        values = parse(magic, line)
        return self.run_definition(values, define(values, cell, Context(self.session, self.shell.user_ns)))

    def run_definition(
        self,
        values: argparse.Namespace,
        definition: Definition,
        when_done: Callable[[Command], None] = lambda _command: None,
    ) -> Value | CommandHandle | None:
        """Run a cell's command with the options of every submission; return the value of the cell.

        `when_done` is called with the finished command, below its last line and above the value.
        """
        common = submission_fields(values, self.shell.user_ns, self.session.settings.default_label)

        def start() -> Command:
            from svc_jupyter.client.errors import Invalid, NotFound

            fields = definition.fields()
            try:
                return self.session.submit(definition.command_type, **common, **fields)
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
    ) -> Value | CommandHandle | None:
        """Run a command according to the options; return the value of the cell.

        This is the DataFrame, limited in its display, or the unloaded result; the handle with `--no-wait`; None with
        `--quiet`.
        """
        line = line_for(self.shell, quiet=values.quiet)
        limit = self.load_limit(values)
        run = Run(start, read, origin, line, limit, Use.of(values))
        if values.no_wait:
            handle = self.keep(values, CommandHandle(run.submitted(), self.shell, read, origin, limit))
            return None if values.quiet else handle
        outcome = run.to_value()
        self.keep(values, outcome.value)
        if not values.quiet:
            self.finish(line, outcome, values)
        elif is_kept(outcome.value):  # the variable has no rows: that is not kept quiet
            self.finish(line_for(self.shell), outcome, values)
        else:
            self.remember(outcome)
        when_done(outcome.command)
        return None if values.quiet else outcome.value

    def load_limit(self, values: argparse.Namespace) -> int:
        """Return the bytes up to which a cell's result is loaded; 0 is no limit."""
        return 0 if getattr(values, "load_all", False) else self.session.settings.load_limit

    def finish(self, line: Line, outcome: Outcome, values: argparse.Namespace, *, ended_before: bool = False) -> None:
        """Show a result as a grid at its next display, and write the last line of its command above it.

        With `ended_before` the command had ended before the cell asked for it.
        """
        from svc_jupyter.client.commands.tables import messages

        self.remember(outcome)
        record, value = outcome.command.record, outcome.value
        seconds = None if ended_before else outcome.seconds
        result = None
        if outcome.result is not None:
            rounded = None if seconds is None else round(seconds, 3)
            result = replace(result_of(outcome.result), name=values.out, seconds=rounded)
        limit_display(value, values.rows, self.session.settings.rows_shown, self.shell, result)
        told = (record.message or "").partition("\n")[0] if not shape_of(value)[1] else ""
        parts = [told or size_text(value), *([values.out] if values.out else []), *messages(record.qlog)]
        if is_kept(value):
            parts.append(kept_text(values.out, in_grid=result is not None and in_kernel(self.shell)))
        data = status_data(record, "done", seconds, shape=shape_of(value), use=Use.of(values))
        line.finish(done_line(record.id, seconds, parts), {STATUS: data}, outcome.log)

    def remember(self, outcome: Outcome) -> None:
        """Keep in mind which stored result a cell has, for `%svc_plot`."""
        if outcome.result is not None:
            self.session.remember(outcome.value, outcome.result, is_last=True)

    def assign(self, name: str, reading: Reading) -> Value:
        """Assign a further table of a command to a variable, and return its value."""
        self.shell.user_ns[name] = reading.value
        if reading.result is not None:
            self.session.remember(reading.value, reading.result)
        return reading.value

    def show(self, reading: Reading, values: argparse.Namespace) -> None:
        """Show a table of a command beside the value of the cell."""
        result = None if reading.result is None else result_of(reading.result)
        limit_display(reading.value, values.rows, self.session.settings.rows_shown, self.shell, result)
        publish(reading.value, self.shell)

    def shown(self, values: argparse.Namespace, frame: pd.DataFrame) -> pd.DataFrame:
        """Show a list of the service's things, of it `-n` rows, assign it to the variable of `-o`, and return it."""
        limit_display(frame, values.rows, self.session.settings.rows_shown, self.shell, is_list=True)
        return self.keep(values, frame)

    def open_panel(self, panel: Callable[[], P], text: Callable[[], str]) -> P | PanelText:
        """Return a panel that closes with the connection, or in a terminal its text."""
        if not in_kernel(self.shell):
            return PanelText(text)
        opened = panel()
        self.session.at_close(opened.close)
        return opened

    def keep(self, values: argparse.Namespace, value: V) -> V:
        """Assign a value to the variable of `-o`, if given, and return it."""
        if values.out:
            self.shell.user_ns[values.out] = value
        return value


def result_of(result: Result) -> ResultOf:
    """Return which stored result is shown, for a front end that can fetch its rows."""
    from svc_jupyter.client.commands.tables import column_types

    record, part = result.record, result.part
    return ResultOf(record.id, record.created_at, types=() if part else column_types(record.qlog), part=part)


def text_or_location(cell: str | None, location: str | None, magic: str, noun: str) -> str | None:
    """Return the cell's text, or None when the command is read from a location; requires exactly one of them."""
    text = cell if cell and cell.strip() else None
    if text and location:
        raise SvcUsageError(f"{magic}: give the {noun} in the cell or by --script-location, not both")
    if not text and not location:
        raise SvcUsageError(f"{magic}: there is no {noun}. Write it below %{magic}, or name its --script-location")
    return text
