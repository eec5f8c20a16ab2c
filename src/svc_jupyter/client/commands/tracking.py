"""What is known of one command, and how more is learnt: shared by both kinds of handle."""

from __future__ import annotations

from svc_jupyter.api import paths
from svc_jupyter.api.command_outputs import DumpRecord, NoteTable
from svc_jupyter.api.commands import CommandRecord, CommandType, Results, StatusWithResults
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.transport.calls import Call, Flow, exchange, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import read
from svc_jupyter.client.transport.retries import NO_RETRIES

TYPED_RESULTS = frozenset({CommandType.DB_TAP_QUERY, CommandType.HIVE, CommandType.PRESTO, CommandType.SQL})
"""Command types whose results have typed columns; the results of the others are lines of text.

A Pig command's are typed when it has dumped rows, a Spark command's when it has a table: the record tells at the end.
"""


class Tracked:
    """A command as last seen; base of both handles."""

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
        """The record as last seen; after a wait for a short command some times in it are as of its submission."""
        return self._record

    @property
    def ended(self) -> bool:
        """Whether the command was in a final status when last seen."""
        return self._record.status.is_final

    @property
    def has_typed_results(self) -> bool:
        """Whether the results have typed columns; else they are lines of text."""
        is_typed_program = self._record.command_type == CommandType.SPARK and self._record.qlog is not None
        return self._record.command_type in TYPED_RESULTS or bool(self.dumps) or is_typed_program

    @property
    def may_have_typed_results(self) -> bool:
        """The same of a command that has not ended."""
        return self.has_typed_results or self._record.command_type in (CommandType.PIG, CommandType.SPARK)

    @property
    def dumps(self) -> list[DumpRecord]:
        """What a Pig command has dumped, in the order of its script; known once it is done."""
        outputs = self._record.outputs
        return list(outputs.dumps) if outputs is not None else []

    @property
    def tables(self) -> list[NoteTable]:
        """The TABLEs that a note's run has shown, in order; known once it is done, where the service tells them."""
        outputs = self._record.outputs
        return list(outputs.tables) if outputs is not None else []

    def _see(self, record: CommandRecord) -> CommandRecord:
        self._record = self._link.learn_from(record)
        return record

    def _see_status(self, answer: StatusWithResults) -> None:
        """Take over status, progress and, at the end, the results; and what else of the record the answer has."""
        seen = {name: getattr(answer, name) for name in answer.model_fields_set if name in CommandRecord.model_fields}
        extra = {
            name: value for name, value in (answer.model_extra or {}).items() if name in CommandRecord.model_fields
        }
        # Why it waited is no longer true once it has another status.
        outdated = {"message": None} if answer.status is not self._record.status else {}
        self._record = self._record.model_copy(update={**outdated, **extra, **seen})
        self._error = answer.error
        if answer.status is CommandStatus.DONE and answer.inline is not None:
            self._inline = Results(inline=answer.inline, results=answer.results, result_location=answer.result_location)

    @property
    def reason(self) -> str | None:
        """Why the command waits, failed or was cancelled, in the service's words, when it said so."""
        return self._record.message or self._error

    def __repr__(self) -> str:
        record = self._record
        name = f" {record.name!r}" if record.name else ""
        return f"<{type(self).__name__} {record.id} {record.command_type}{name}: {record.status}>"


def refresh(tracked: Tracked, hold: int = 0, *, patient: bool = True) -> Flow[CommandRecord]:
    """Fetch the record. With `hold` (seconds) the service may keep the answer until the command has ended.

    Without `patient` a call that fails is not repeated.
    """
    call = Call("GET", paths.command(tracked.id), params={"wait": hold or None}, hold=hold)
    record = yield from fetch(tracked._link, call, CommandRecord, None if patient else NO_RETRIES)
    return tracked._see(record)


def refresh_with_results(tracked: Tracked, hold: int) -> Flow[None]:
    """Fetch the status and, where the command has ended, its text results in one call; not repeated."""
    path = paths.command(tracked.id, "status_with_results")
    response = yield from exchange(tracked._link, Call("GET", path, params={"wait": hold}, hold=hold), NO_RETRIES)
    tracked._see_status(read(StatusWithResults, response))
