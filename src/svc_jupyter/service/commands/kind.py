"""The interface of a command type: is this request valid, how does it run, how is its result read.

A kind runs as a *durable process* (`process.py`), which continues when the service stops or dies and is found again. A
composite runs as its children (`children.py`), which do the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.worker_parent import WORKING_FOLDER


class ResultForm(StrEnum):
    """The format of a result on disk."""

    LINES = "lines"
    """Text as the program wrote it; a row is a line."""
    ARROW = "arrow"
    """An Arrow IPC stream of typed rows."""


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A result on disk: `file` is relative to the command's folder, `size` in bytes."""

    form: ResultForm
    file: str
    size: int
    rows: int | None = None
    columns: tuple[tuple[str, str], ...] | None = None
    """Name and type of each column, for the record's `qlog`; None where rows are lines."""
    text_file: str | None = None
    """The file, relative to the command's folder, whose text is given inline instead of the rows."""
    notes: tuple[str, ...] = ()
    """What readers should know about the rows; the log has these lines too."""

    @classmethod
    def of_rows(cls, file: str, written: Mapping[str, Any], *, text_file: str | None = None) -> StoredResult:
        """Return typed rows; `written` has `size`, `rows`, `columns` and perhaps `notes`, as their writer reported."""
        columns = tuple((name, kind) for name, kind in written["columns"])
        notes = tuple(written.get("notes", ()))
        return cls(ResultForm.ARROW, file, written["size"], written["rows"], columns, text_file, notes)

    @classmethod
    def of(cls, row: CommandRow) -> StoredResult | None:
        """Return the result of a command, None where it has none."""
        return None if row.result is None else cls.from_json(row.result)

    def as_json(self) -> dict[str, Any]:
        """Return the result as the commands table stores it."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> StoredResult:
        """Return the result from what `as_json` returned."""
        columns = value.get("columns")
        return cls(
            form=ResultForm(value["form"]),
            file=value["file"],
            size=value["size"],
            rows=value.get("rows"),
            columns=None if columns is None else tuple((name, kind) for name, kind in columns),
            text_file=value.get("text_file"),
            notes=tuple(value.get("notes", ())),
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `message` is for the user: the cause first, in the engine's words."""

    succeeded: bool
    message: str | None = None
    exit_code: int | None = None
    result: StoredResult | None = None
    may_retry: bool = True
    """False where another attempt would end the same way (a lost working folder, a deleted tap)."""
    outputs: Mapping[str, Any] | None = None
    """Results besides the main one, for the record: `dumps` and `stores` of a Pig script, `tables` of a note."""


@dataclass(frozen=True)
class Task:
    """One attempt of a command. `command` is the record's `command` object with its macros resolved."""

    id: int
    account_id: int
    user_id: int
    attempt: int
    command: Mapping[str, Any]
    root: Path
    """The command's folder: log, and a folder per attempt."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables for all processes of this command (its id and the mark by which its processes are found)."""
    label: str | None = None
    """The requested cluster's label; None for the default cluster."""
    pool: str | None = None
    cluster_id: int | None = None
    """The cluster that the command needs; it was UP when the command began."""
    edited_by: int | None = None
    """The user besides `user_id` who is responsible for a scheduled command."""
    macros: Sequence[Mapping[str, Any]] = ()
    """The macros' values, for text that `command` only refers to, such as a script in a file."""

    @property
    def users(self) -> tuple[int, ...]:
        """The users who must all be permitted to run the command; it runs in the name of the first."""
        return (self.user_id,) if self.edited_by is None else (self.user_id, self.edited_by)

    @cached_property
    def folder(self) -> Path:
        """The attempt's own folder: `pid`, `out`, `rc`, results; made before `run` is called."""
        return self.root / str(self.attempt)

    @cached_property
    def working_folder(self) -> Path:
        """The folder in which the user's program runs; made before `run` is called."""
        return self.folder / WORKING_FOLDER

    @cached_property
    def log_file(self) -> Path:
        """The command's log over all attempts; append only."""
        return self.root / "log"


class Desk(Protocol):
    """What the runner provides to a kind while it runs a task."""

    def say(self, line: str) -> None:
        """Append a line of the service to the command's log."""

    def progress(self, percent: int, rows: int | None = None) -> None:
        """Report the progress, 0..100; cheap, may be called often."""

    async def process(self, start: Callable[[], Awaitable[DurableProcess]]) -> DurableProcess:
        """Return the attempt's process: the existing one after a restart of the service, else what `start` makes.

        After this call, a cancellation or timeout ends this process. Before it, the task is cancelled: `run` gets
        `asyncio.CancelledError` and only has to clean up.
        """
        ...

    async def child(self, number: int, *, of: int) -> CommandRow:
        """Run sub-command `number` of `of` as a command of its own, or find it again; return its row after its end.

        A cancellation or timeout ends the child first. Raises `MacroError` when the sub-command's own macros have no
        value, `Invalid` and `ClusterFailure` when there is no cluster to run it.
        """
        ...


class Kind(Protocol):
    """A command type."""

    @property
    def command_type(self) -> str:
        """The name in submissions: one of `CommandType`, or a name that only this service uses."""
        ...

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate the type's own fields of a submission and return the record's `command` object.

        Raises pydantic's `ValidationError` for an invalid field and `Invalid` for what only the service can check (no
        such tap); both become a 422.
        """
        ...

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run an attempt to its end. Called again for the same attempt after a restart of the service."""
        ...


@dataclass(frozen=True, slots=True)
class Document:
    """A file that answers a call, with its headers."""

    file: Path
    headers: Mapping[str, str] | None = None


@runtime_checkable
class DocumentKind(Protocol):
    """A command type whose ended commands also have a document, whatever their status."""

    document_types: frozenset[str]
    """The media types of the document."""

    async def document(self, root: Path, attempts: int, media_type: str) -> Document:
        """Return the document of a command after its attempts; `root` is its folder.

        Raises `NotFound` where the command ended before there was one, `Invalid` for an unsupported form.
        """
        ...


@runtime_checkable
class ClusterKind(Protocol):
    """A command type whose engine runs on a cluster: the command waits until the cluster is UP."""

    cluster_types: frozenset[ClusterType]
    """The cluster types that can run it; a command for another cluster is refused with 422."""

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:
        """Return whether a command needs the daemons of a cluster that has this configuration."""
        ...


@runtime_checkable
class BoundKind(Protocol):
    """A command type whose commands can choose their cluster themselves when no label is given."""

    def bound_cluster(self, command: Mapping[str, Any]) -> int | None:
        """Return the id of the cluster that a command is bound to, None where it is bound to none."""
        ...


@runtime_checkable
class RemoteKind(Protocol):
    """A command type whose work runs outside the attempt's process, such as an application on a cluster.

    `run` writes the work's identity into the attempt's folder before waiting, so that a later service finds it.
    """

    async def end_remote(self, task: Task) -> None:
        """End the attempt's remote work, if any; called after `run` was cancelled, or instead of it."""
        ...


@runtime_checkable
class SessionKind(Protocol):
    """A command type whose commands can run in kept sessions, one cell of a notebook after the other."""

    messages_file: str
    """Name of the file in the attempt's folder with what a cell printed and showed: a JSON object per line."""

    async def ask_session(self, row: CommandRow, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the answer of a command's session to an editor's question; None when it cannot answer at once."""
        ...

    async def end_session(self, row: CommandRow) -> bool:
        """End the kept session of a command; return whether there was one."""
        ...


@runtime_checkable
class JobsKind(Protocol):
    """A command type that starts jobs on an engine."""

    async def jobs(self, root: Path, row: CommandRow) -> Sequence[Mapping[str, Any]]:
        """Return the jobs of a command so far, over all its attempts; `root` is its folder, `row` its row."""
        ...
