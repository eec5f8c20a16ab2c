"""The known state of one command and how it is updated: shared by both handles."""

from __future__ import annotations

from svc_jupyter.api.command_outputs import DumpRecord, NoteTable
from svc_jupyter.api.commands import CommandRecord, CommandType, Results, StatusWithResults
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.transport.link import Link

TYPED_RESULTS = frozenset({CommandType.DB_TAP_QUERY, CommandType.HIVE, CommandType.PRESTO, CommandType.SQL})
"""Command types whose results have typed columns; other results are lines of text.

A Pig command's results are typed when it has dumped rows, a Spark command's when it has a table; the final record says
so.
"""


class Tracked:
    """The last known state of a command; base of both handles."""

    def __init__(self, link: Link, record: CommandRecord) -> None:
        self._link = link
        self._record = record
        self._inline: Results | None = None
        self._error: str | None = None

    @property
    def id(self) -> int:
        """The command's id."""
        return self._record.id

    @property
    def record(self) -> CommandRecord:
        """The last known record; after the wait for a short command some of its times are those of the submission."""
        return self._record

    @property
    def ended(self) -> bool:
        """Whether the last known status is final."""
        return self._record.status.is_final

    @property
    def has_typed_results(self) -> bool:
        """Whether the results have typed columns rather than lines of text."""
        is_typed_program = self._record.command_type == CommandType.SPARK and self._record.qlog is not None
        return self._record.command_type in TYPED_RESULTS or bool(self.dumps) or is_typed_program

    @property
    def may_have_typed_results(self) -> bool:
        """Whether the results of a command that has not ended may be typed."""
        return self.has_typed_results or self._record.command_type in (CommandType.PIG, CommandType.SPARK)

    @property
    def dumps(self) -> list[DumpRecord]:
        """The DUMPs of a Pig command, in script order; known once it is done."""
        outputs = self._record.outputs
        return list(outputs.dumps) if outputs is not None else []

    @property
    def tables(self) -> list[NoteTable]:
        """The TABLEs of a note's run, in order; known once it is done, if the service reports them."""
        outputs = self._record.outputs
        return list(outputs.tables) if outputs is not None else []

    def _see(self, record: CommandRecord) -> CommandRecord:
        self._record = self._link.learn_from(record)
        return record

    def _see_status(self, answer: StatusWithResults) -> None:
        """Update status, progress, results at the end, and other fields of the record from an answer."""
        seen = {name: getattr(answer, name) for name in answer.model_fields_set if name in CommandRecord.model_fields}
        extra = {
            name: value for name, value in (answer.model_extra or {}).items() if name in CommandRecord.model_fields
        }
        # The reason for waiting no longer applies in another status.
        outdated = {"message": None} if answer.status is not self._record.status else {}
        self._record = self._record.model_copy(update={**outdated, **extra, **seen})
        self._error = answer.error
        if answer.status is CommandStatus.DONE and answer.inline is not None:
            self._inline = Results(inline=answer.inline, results=answer.results, result_location=answer.result_location)

    @property
    def reason(self) -> str | None:
        """The service's reason why the command waits, failed or was cancelled, if given."""
        return self._record.message or self._error

    def __repr__(self) -> str:
        record = self._record
        name = f" {record.name!r}" if record.name else ""
        return f"<{type(self).__name__} {record.id} {record.command_type}{name}: {record.status}>"
