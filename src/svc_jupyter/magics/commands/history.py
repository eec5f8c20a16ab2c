"""`%svc_command` and `%svc_history`: existing commands."""

from __future__ import annotations

import argparse
import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import WORDS_OF_SOURCES, WORDS_OF_TYPES, command_word
from svc_jupyter.magics.arguments.decorators import argument, line_magic
from svc_jupyter.magics.arguments.options import load_option, output_options, parse
from svc_jupyter.magics.cells.cells import SvcFamily
from svc_jupyter.magics.cells.handle import CommandHandle
from svc_jupyter.magics.cells.readers import dump_reader, reader_of
from svc_jupyter.magics.cells.running import Run, Value
from svc_jupyter.magics.display.errors import SvcInterrupted, SvcUsageError, translated_errors
from svc_jupyter.magics.display.executed import executed_notebook
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.formats import OUTPUT_FORMATS, TYPES_HELP
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.display.records import history_frame
from svc_jupyter.magics.display.status import Use
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.commands import CommandRecord
    from svc_jupyter.client import Command

ACTIONS = ("status", "logs", "result", "notebook", "cancel")
HISTORY_ROWS = 20
_TYPES = {word.casefold(): name for name, word in WORDS_OF_TYPES.items()}
_SOURCES = {word.casefold(): name for name, word in WORDS_OF_SOURCES.items()}


class CommandMagics(SvcFamily):
    """The magics for single commands and their history."""

    @line_magic
    @argument("id", metavar="ID", type=int, help="Id of the command.")
    @argument(
        "action", metavar="ACTION", nargs="?", choices=ACTIONS, default="status", help="One of " + ", ".join(ACTIONS)
    )
    @argument("--dump", metavar="ALIAS", help="With result: a DUMP of a Pig command, by its alias or number.")
    @argument("--follow", action="store_true", help="With logs: continue until the command has ended.")
    @argument("--format", choices=OUTPUT_FORMATS, help="With result: how a text output becomes a DataFrame.")
    @argument("--types", metavar="A=TYPE,B=TYPE", help=f"With result: {TYPES_HELP}")
    @load_option
    @output_options
    def svc_command(self, line: str) -> Any:
        """Show a command, its log or its result, or cancel it.

        `status` (the default) returns its handle, `result` waits for its end and returns its DataFrame,
        `logs` prints its log (with -n its last lines), `notebook` shows the executed notebook with its outputs so far,
        `cancel` cancels it and shows the outcome.
        """
        values = parse(self.svc_command, line)
        command = ask(lambda: self.session.client().commands.get(values.id), "look-up")
        match values.action:
            case "result":
                return self._result(command, values)
            case "logs":
                return self._follow_log(command) if values.follow else self._print_log(command, values.rows)
            case "notebook":
                return self.keep(values, ask(lambda: executed_notebook(command), "notebook"))
            case "cancel":
                return self._cancel(command)
            case _:
                return self.keep(values, self._handle(command, values))

    def _handle(self, command: Command, values: argparse.Namespace) -> CommandHandle:
        read, limit = reader_of(command, values.format, values.types), self.load_limit(values)
        return CommandHandle(command, self.shell, read, origin_of(command.record), limit)

    def _result(self, command: Command, values: argparse.Namespace) -> Value:
        line = line_for(self.shell)
        ended = command.ended
        read = reader_of(command, values.format, values.types) if values.dump is None else dump_reader(values.dump)
        origin, limit = origin_of(command.record), self.load_limit(values)
        outcome = Run(lambda: command, read, origin, line, limit, Use.of(values), cancels=False).to_value()
        self.finish(line, outcome, values, ended_before=ended)
        return self.keep(values, outcome.value)

    def _print_log(self, command: Command, lines: int | None) -> None:
        text = ask(command.logs if lines is None else lambda: command.log_tail(lines), "log")
        print(text, end="" if text.endswith("\n") else "\n")  # noqa: T201  the log is the output

    def _follow_log(self, command: Command) -> None:
        try:
            with translated_errors():
                for part in command.logs(follow=True):
                    print(part, end="", flush=True)  # noqa: T201
        except KeyboardInterrupt:
            hint = f"%svc_command {command.id} cancel"
            raise SvcInterrupted(f"command {command.id} is no longer followed; it goes on ({hint} ends it)") from None

    def _cancel(self, command: Command) -> None:
        if command.ended:
            print(f"command {command.id} had ended already: {command_word(command.record.status)}")  # noqa: T201
            return
        answer = ask(command.cancel, "cancellation")
        status = ask(command.status, "status")
        print(f"command {command.id} · {command_word(status)}{_result_text(answer)}")  # noqa: T201

    @line_magic
    @argument(
        "--status", metavar="STATUS", help="Only commands in this status: waiting, running, done, failed, cancelled."
    )
    @argument("--type", metavar="TYPE", help="Only these types, separated by commas: ShellCommand, 'database query'.")
    @argument("--source", metavar="SOURCE", help="Only commands from this source: API, notebook or schedule.")
    @argument("--name", metavar="NAME", help="Only commands of this name.")
    @argument("--tags", metavar="A,B", help="Only commands with these tags.")
    @argument("--label", metavar="LABEL", help="Only commands of this cluster label.")
    @argument("--days", metavar="N", type=int, help="Only commands of the last N days (default 30).")
    @argument("--all-users", action="store_true", help="Show the commands of all users.")
    @output_options
    def svc_history(self, line: str) -> pd.DataFrame:
        """Return the latest commands as a DataFrame, newest first: 20, or the number of -n."""
        values = parse(self.svc_history, line)
        rows = HISTORY_ROWS if values.rows is None else values.rows
        filters = history_filters(values, datetime.now(UTC))
        frame = ask(lambda: self._history(filters, rows), "history")
        values.rows = rows
        return self.shown(values, frame)

    def _history(self, filters: dict[str, Any], rows: int) -> pd.DataFrame:
        from svc_jupyter.api.fields import MAX_PER_PAGE

        calls = self.session.client().commands
        if rows <= MAX_PER_PAGE:
            records = calls.list(per_page=max(rows, 1), **filters).commands[:rows]
        else:
            records = list(itertools.islice(calls.iter(**filters), rows))
        return history_frame(records)


def history_filters(values: argparse.Namespace, now: datetime) -> dict[str, Any]:
    """Return the given filters of a command list, from the words of the history or the API's own."""
    if values.days is not None and values.days < 1:
        raise SvcUsageError(f"svc_history: --days takes a number of days, 1 or more, not {values.days}")
    since = None if values.days is None else (now - timedelta(days=values.days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    types = [part.strip() for part in (values.type or "").split(",")]
    filters = {
        "status": "error" if values.status == "failed" else values.status,
        "command_type": ",".join(_TYPES.get(part.casefold(), part) for part in types) or None,
        "command_source": values.source and _SOURCES.get(values.source.casefold(), values.source),
        "name": values.name,
        "tags": values.tags,
        "label": values.label,
        "start_date": since,
        "all_users": values.all_users or None,
    }
    return {name: value for name, value in filters.items() if value is not None}


def origin_of(record: CommandRecord) -> Origin:
    """Return where a recorded command came from, as far as its record shows."""
    is_shell = record.command_type == "ShellCommand"
    for name, noun in (("inline", "script"), ("query", "query")):
        text = record.command.get(name)
        if isinstance(text, str):
            return Origin(noun, text, is_shell=is_shell)
    return Origin("script" if is_shell else "command", is_shell=is_shell)


def _result_text(answer: Any) -> str:
    return f" · {answer.result}" if getattr(answer, "result", None) else ""
