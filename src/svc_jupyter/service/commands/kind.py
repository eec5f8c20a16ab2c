"""What a command type must answer to be run: is this request valid, how is it started, how is its result read.

Every kind runs as a *durable process* (`process.py`), which goes on when the service stops or dies, and is found again;
a composite as its children (`children.py`), for which the same holds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.process import DurableProcess


class ResultForm(StrEnum):
    """How a result lies on disk."""

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
    """The file, relative to the command's folder, whose text is given inline in place of the rows."""

    @classmethod
    def of_rows(cls, file: str, told: Mapping[str, Any], *, text_file: str | None = None) -> StoredResult:
        """Return typed rows, of which whoever wrote them told `size`, `rows` and `columns`."""
        columns = tuple((name, kind) for name, kind in told["columns"])
        return cls(ResultForm.ARROW, file, told["size"], told["rows"], columns, text_file)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `message` is for the user: the cause first, in the engine's own words."""

    succeeded: bool
    message: str | None = None
    exit_code: int | None = None
    result: StoredResult | None = None
    may_retry: bool = True
    """False where another attempt cannot end differently (a lost working folder, a deleted tap)."""
    outputs: Mapping[str, Any] | None = None
    """What else there is than one result, for the record: `dumps` and `stores` of a Pig script, `tables` of a note."""


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
    """Variables every process of this command gets (its id and the mark by which its processes are found)."""
    label: str | None = None
    """The label of the cluster that was asked for; None is the default one."""
    pool: str | None = None
    cluster_id: int | None = None
    """The cluster that the command needs; it was UP when the command began."""
    edited_by: int | None = None
    """Who besides `user_id` answers for what a schedule's command does."""
    macros: Sequence[Mapping[str, Any]] = ()
    """The macros' values, for what the command only names: a script in a file. In `command` they are already."""

    @property
    def users(self) -> tuple[int, ...]:
        """Those who must all be allowed what the command does; it is done in the name of the first."""
        return (self.user_id,) if self.edited_by is None else (self.user_id, self.edited_by)

    @cached_property
    def folder(self) -> Path:
        """The attempt's own folder: `pid`, `out`, `rc`, results; made by the runner before `run` is called."""
        return self.root / str(self.attempt)

    @cached_property
    def working_folder(self) -> Path:
        """The folder in which the user's program runs; made by the runner."""
        return self.folder / "work"

    @cached_property
    def log_file(self) -> Path:
        """The command's log over all attempts; append only."""
        return self.root / "log"


class Desk(Protocol):
    """What the runner lends a kind while it runs a task."""

    def say(self, line: str) -> None:
        """Append a line of the service's own to the command's log."""

    def progress(self, percent: int, rows: int | None = None) -> None:
        """Tell how far the command is, 0..100; cheap, may be called often."""

    async def process(self, start: Callable[[], Awaitable[DurableProcess]]) -> DurableProcess:
        """Return the attempt's process: the one already there after a restart of the service, else what `start` makes.

        From here on a cancellation or timeout ends this process. Before, it cancels the task: `run` gets
        `asyncio.CancelledError` and only has to clean up.
        """
        ...

    async def child(self, number: int, *, of: int) -> Mapping[str, Any]:
        """Run sub-command `number` of `of` as a command of its own, or find it again; return its row once it has ended.

        A cancellation or timeout meanwhile ends the child first. Raises `MacroError` when the sub-command's own macros
        have no value, `Invalid` and `ClusterFailure` when there is no cluster to run it.
        """
        ...


class Kind(Protocol):
    """A command type."""

    command_type: CommandType

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate the type's own fields of a submission and return the record's `command` object.

        Raises pydantic's `ValidationError` for a field that is wrong by itself and `Invalid` for what only the service
        can know (no such tap); either becomes a 422.
        """
        ...

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run an attempt to its end. Called again for the same attempt after a restart of the service."""
        ...


@runtime_checkable
class GrowingKind(Protocol):
    """A command type whose typed rows can be read while they are written (`growing.py`)."""

    growing_file: str
    """Their file in the attempt's folder; without the last suffix of its name it is the stored result's."""


@runtime_checkable
class ClusterKind(Protocol):
    """A command type whose engine runs on a cluster: the command waits until that is UP."""

    cluster_types: frozenset[ClusterType]
    """The clusters that can run it; another one asked for is a 422."""

    def needs_cluster(self, command: Mapping[str, Any], configuration: ClusterConfiguration) -> bool:
        """Return whether a command needs the daemons of a cluster that has this configuration."""
        ...


@runtime_checkable
class BoundKind(Protocol):
    """A command type whose commands may say themselves which cluster runs them, when no label does."""

    def bound_cluster(self, command: Mapping[str, Any]) -> int | None:
        """Return the id of the cluster that a command is bound to, None where it is bound to none."""
        ...


@runtime_checkable
class ForeseeingKind(Protocol):
    """A command type whose engine can be told of a command before that counts."""

    def foresee(self, values: Mapping[str, Any], command_id: int) -> Callable[[], None]:
        """Prepare for a command of which a row with these values is to be written, probably with this id.

        Returns at once, with what is to be called when it is not written, or with another id. Nothing may be changed
        yet; the command may also have to wait.
        """
        ...


@runtime_checkable
class RemoteKind(Protocol):
    """A command type whose work runs elsewhere than in the attempt's process, such as an application on a cluster.

    `run` writes what identifies it into the attempt's folder before it waits for it, so that a later service finds it.
    """

    async def end_remote(self, task: Task) -> None:
        """End what an attempt began elsewhere, if anything; called after `run` was cancelled, or in its place."""
        ...


@runtime_checkable
class JobsKind(Protocol):
    """A command type that starts jobs on an engine."""

    async def jobs(self, root: Path, row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the jobs of a command so far, over all its attempts; `root` is its folder, `row` its row."""
        ...
