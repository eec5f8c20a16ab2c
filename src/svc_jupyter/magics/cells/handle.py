"""The value of a `--no-wait` cell: a command that continues while the notebook does other work."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell

from svc_jupyter.api.status_words import command_words, type_word
from svc_jupyter.magics.cells.running import Reader, Run, Value
from svc_jupyter.magics.display.failures import Origin
from svc_jupyter.magics.display.progress import line_for
from svc_jupyter.magics.display.records import record_facts
from svc_jupyter.magics.display.rendering import facts_html, facts_text
from svc_jupyter.magics.session.session import ask

if TYPE_CHECKING:
    from svc_jupyter.api.commands import CommandRecord
    from svc_jupyter.client import Command


class CommandHandle:
    """A command of the service: `.status()`, `.result()`, `.logs()`, `.cancel()`, `.wait()`.

    `command` is the client's handle, for everything else. An interrupt ends a wait, not the command.
    """

    def __init__(self, command: Command, shell: InteractiveShell, read: Reader, origin: Origin, limit: int) -> None:
        self.command = command
        self._shell = shell
        self._read = read
        self._origin = origin
        self._limit = limit

    @property
    def id(self) -> int:
        """The command's id."""
        return self.command.id

    @property
    def record(self) -> CommandRecord:
        """The last known record of the command."""
        return self.command.record

    def status(self) -> str:
        """Fetch the status: `waiting`, `running`, `done`, `error` or `cancelled`."""
        return str(ask(self.command.status, "status"))

    def wait(self) -> CommandHandle:
        """Wait for the end and show progress; raises what a cell would raise."""
        self._run().to_end()
        return self

    def result(self) -> Value:
        """Wait for the end and return what the cell would return; raises what it would raise."""
        return self._run().to_value().value

    def logs(self) -> str:
        """Return the log so far: the command's stderr and the service's messages."""
        return ask(self.command.logs, "log")

    def cancel(self) -> str:
        """Cancel the command and return the outcome."""
        ask(self.command.cancel, "cancellation")
        return self.status()

    def _run(self) -> Run:
        return Run(lambda: self.command, self._read, self._origin, line_for(self._shell), self._limit, cancels=False)

    def _facts(self) -> list[tuple[str, str]]:
        return record_facts(self.record, datetime.now(UTC))

    def _title(self) -> str:
        record = self.record
        return f"command {record.id} · {type_word(record.command_type)} · {command_words(str(record.status))}"

    def __repr__(self) -> str:
        return facts_text(self._title(), self._facts())

    def _repr_html_(self) -> str:
        return facts_html(self._title(), self._facts())
