"""Commands: submission, record, lists, results."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AliasChoices, Field, field_validator, model_validator

from svc_jupyter.api.bindings import Bindings
from svc_jupyter.api.command_outputs import CommandOutputs
from svc_jupyter.api.fields import Id, Macros, Name, PagingInfo, Record, Refused, Request, Tags
from svc_jupyter.api.notebook_arguments import NotebookArguments
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.api.text import UNREADABLE

MOST_ROWS = 2**31 - 1
"""The largest `limit` of a query."""
SUB_COMMANDS_LIMIT = 100
"""Sub-commands of a composite command."""


class CommandType(StrEnum):
    """Every command type of the contract; a service may support fewer."""

    SHELL = "ShellCommand"
    PIG = "PigCommand"
    DB_TAP_QUERY = "DbTapQueryCommand"
    HIVE = "HiveCommand"
    PRESTO = "PrestoCommand"
    SQL = "SqlCommand"
    HADOOP = "HadoopCommand"
    SPARK = "SparkCommand"
    COMPOSITE = "CompositeCommand"
    DB_EXPORT = "DbExportCommand"
    DB_IMPORT = "DbImportCommand"
    JUPYTER_NOTEBOOK = "JupyterNotebookCommand"
    ADD_NODE = "AddNodeCommand"
    REMOVE_NODE = "RemoveNodeCommand"


class CommandSource(StrEnum):
    """Through what a command came in: `UI` is a cell of a notebook."""

    API = "API"
    UI = "UI"
    SCHEDULED = "SCHEDULED"


class CommandSubmission(Request):
    """The parameters common to every command submission.

    `timeout` is in seconds, `retry_delay` in minutes.
    """

    command_type: str = Field(min_length=1, max_length=64)
    label: str | None = Field(default=None, max_length=255)
    retry: int | None = Field(default=None, ge=0, le=3)
    retry_delay: int | None = Field(default=None, ge=0, le=1440)
    can_notify: bool = False
    name: Name | None = None
    pool: str | None = Field(default=None, max_length=255, pattern=rf"^[^{UNREADABLE}]*$")
    tags: Annotated[Tags, Field(validation_alias=AliasChoices("tags", "tag"))] = None
    macros: Macros | None = None
    timeout: int | None = Field(default=None, ge=1, le=2**31 - 1)


_ONLY_QUERIES = Refused("only queries have it: of DB taps, Hive, Presto and Spark SQL")


class NoQuery(Request):
    """Base of the fields of commands that are no query: what only a query has is refused, and never ignored."""

    dry_run: Annotated[bool | None, Field(exclude=True), _ONLY_QUERIES] = None
    limit: Annotated[int | None, Field(exclude=True), _ONLY_QUERIES] = None


class CellOptions(Request):
    """How a command runs as the cell of a notebook (an extension): `forms` are values of the forms in its text."""

    forms: dict[str, Any] = Field(default_factory=dict)


class ShellSubmission(NoQuery):
    """Fields of a `ShellCommand`. `files` and `archives` are comma-separated.

    With `cell`, the forms in `inline` are filled in.
    """

    inline: str | None = None
    script_location: str | None = None
    files: str | None = None
    archives: Annotated[str | None, Field(validation_alias=AliasChoices("archives", "archive"))] = None
    parameters: str | None = None
    cell: CellOptions | None = None

    @model_validator(mode="after")
    def _exactly_one_script(self) -> ShellSubmission:
        if bool(self.inline and self.inline.strip()) == bool(self.script_location):
            raise ValueError("give exactly one of inline and script_location")
        if self.cell is not None and self.script_location:
            raise ValueError("cell: goes with inline")
        return self


class PigSubmission(NoQuery):
    """Fields of a `PigCommand`. `parameters` maps names to texts."""

    latin_statements: str | None = None
    script_location: str | None = None
    parameters: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] | None = None

    @model_validator(mode="after")
    def _exactly_one_script(self) -> PigSubmission:
        if bool(self.latin_statements and self.latin_statements.strip()) == bool(self.script_location):
            raise ValueError("give exactly one of latin_statements and script_location")
        return self


class QuerySubmission(Request):
    """A query, or where its text is, and values for its names.

    With `limit` the engine is asked for so many rows at most; with `dry_run` for its plan, and nothing is run. Both are
    extensions, which another service ignores. `md_cmd` says that it reads only metadata, which the record repeats.
    """

    query: str | None = None
    script_location: str | None = None
    bindings: Bindings | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] | None = None
    dry_run: bool = False
    md_cmd: bool = False

    @model_validator(mode="after")
    def _exactly_one_query(self) -> Self:
        if bool(self.query and self.query.strip()) == bool(self.script_location):
            raise ValueError("give exactly one of query and script_location")
        if self.limit is not None and self.dry_run:
            raise ValueError("limit is for the rows of a run, and a dry run has none")
        return self


HIVE_VERSIONS = ("2.3", "2.3.10")
"""What `hive_version` may ask for: the version that there is."""
WHOLE_DATA = Refused("queries run on all of their data: write TABLESAMPLE (10 PERCENT) behind a table instead")
_EXACT = Refused("queries run exactly: call approx_count_distinct or approx_percentile in the query instead")
_NO_LOADER = Refused("no loader is there: write INSERT, CREATE TABLE AS or LOAD DATA in the query instead")


class HiveSubmission(QuerySubmission):
    """Fields of a `HiveCommand`."""

    hive_version: str | None = None
    sample: Annotated[bool | None, WHOLE_DATA] = None
    sample_size: Annotated[int | None, Field(ge=0), WHOLE_DATA] = None
    approx_mode: Annotated[bool | None, _EXACT] = None
    approx_aggregations: Annotated[bool | None, _EXACT] = None
    loader_table_name: Annotated[str | None, _NO_LOADER] = None
    loader_stable: Annotated[Any, _NO_LOADER] = None

    @field_validator("hive_version")
    @classmethod
    def _one_version(cls, value: str | None) -> str | None:
        if value and value not in HIVE_VERSIONS:
            raise ValueError(f"Hive {value[:20]!r} is not there: the only version is {HIVE_VERSIONS[-1]}")
        return value


class PrestoSubmission(QuerySubmission):
    """Fields of a `PrestoCommand`."""


class HadoopSubCommand(StrEnum):
    """What a `HadoopCommand` runs."""

    JAR = "jar"
    STREAMING = "streaming"
    DISTCP = "distcp"
    S3DISTCP = "s3distcp"


class HadoopSubmission(NoQuery):
    """Fields of a `HadoopCommand`: `sub_command_args` is one string, quoted as for a shell."""

    sub_command: Annotated[HadoopSubCommand, Field(strict=False)]
    sub_command_args: str = Field(min_length=1)


class DbTapQuerySubmission(QuerySubmission):
    """Fields of a `DbTapQueryCommand`."""

    db_tap_id: Id


class JupyterNotebookSubmission(NoQuery):
    """Fields of a `JupyterNotebookCommand`. `retry_delay` is in minutes.

    `arguments` may come as an object or as the JSON text of one. With `upload_to_source` the executed copy of a run
    that succeeded replaces the notebook.
    """

    path: str = Field(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")
    arguments: NotebookArguments = Field(default_factory=dict)
    upload_to_source: bool = True
    retry: int | None = Field(default=None, ge=1, le=3)
    retry_delay: int | None = Field(default=None, ge=0, le=1440)


class CompositeSubmission(NoQuery):
    """Fields of a `CompositeCommand`. Each sub-command is the body of a submission.

    `macros` are put into every sub-command, whose own may build on them; `label` is that of those without one.
    """

    sub_commands: list[dict[str, Any]] = Field(min_length=1, max_length=SUB_COMMANDS_LIMIT)
    macros: Macros | None = None
    label: Annotated[str, Field(max_length=255)] | None = None


class MetaData(Record):
    """Where a command's results and logs are, relative to the API's base."""

    results_resource: str
    logs_resource: str


class Attempt(Record):
    """One run of a command; times are Unix seconds, and exact as ISO 8601 with milliseconds."""

    number: int
    start_time: int | None = None
    end_time: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    exit_code: int | None = None
    message: str | None = None


class CommandRecord(Record):
    """A command as every submission and look-up returns it."""

    id: int
    path: str
    status: CommandStatus
    created_at: str
    submit_time: int
    start_time: int | None = None
    end_time: int | None = None
    command_type: str
    progress: int = 0
    service_session_id: int | None = None
    qlog: str | None = None
    resolved_macros: list[dict[str, Any]] | None = None
    pid: int | None = None
    template: str = "generic"
    can_notify: bool = False
    num_result_dir: int = -1
    pool: str | None = None
    timeout: int | None = None
    name: str | None = None
    label: str | None = None
    command_source: str = "API"
    account_id: int
    user_id: int
    meta_data: MetaData
    command: dict[str, Any]
    nominal_time: str | None = None
    sequence_id: int | None = None
    saved_query_mutable_id: int | None = None
    uid: int | None = None
    perms: str | None = None
    instance: str | None = None
    # Extensions that another service may lack.
    notebook: str | None = Field(
        default=None, description="The notebook whose cell submitted it, empty where its name is not known"
    )
    submitted_at: str | None = Field(default=None, description="The exact `submit_time`: ISO 8601 with milliseconds")
    started_at: str | None = Field(default=None, description="The exact `start_time`: ISO 8601 with milliseconds")
    ended_at: str | None = Field(default=None, description="The exact `end_time`: ISO 8601 with milliseconds")
    throttled: bool = False
    attempts: list[Attempt] = Field(default_factory=list)
    message: str | None = Field(
        default=None, description="Why the command waits, failed or was cancelled, in one or a few lines"
    )
    retry: int = 0
    retry_delay: int | None = None
    result_rows: int | None = Field(default=None, description="Rows of the result, once known")
    result_bytes: int | None = Field(default=None, description="Bytes of the stored result, once done")
    outputs: CommandOutputs | None = Field(default=None, description="What a Pig script or a note made; why SQL failed")
    parent_id: int | None = Field(default=None, description="The composite command that this is a sub-command of")
    child_number: int | None = Field(default=None, description="Which of its sub-commands this is, from 1")

    def seconds_taken(self) -> float | None:
        """Return for how many seconds it ran: exact where the service tells, else whole; None before its end."""
        start, end = self.start_time, self.end_time
        if not isinstance(start, int) or not isinstance(end, int):
            return None
        try:
            exact = datetime.fromisoformat(self.ended_at or "") - datetime.fromisoformat(self.started_at or "")
        except (ValueError, TypeError):  # not in the form that ours has
            return end - start
        return exact.total_seconds()


class CommandWithRows(CommandRecord):
    """The record of a submission with `wait` and `arrow=true`."""

    arrow: str | None = Field(
        default=None, repr=False, description="The typed rows, once done and where few: an Arrow stream in base64"
    )


class CommandDetails(CommandRecord):
    """The record with `include_query_properties=true`."""

    tags: str | None = None
    comments: str | None = None


class CommandList(Record):
    """One page of commands, newest first."""

    commands: list[CommandRecord]
    paging_info: PagingInfo


class StatusChange(Request):
    """Body of `PUT commands/ID`: only `kill` is a status one can ask for."""

    status: str


class CancelAnswer(Record):
    """Whether the cancellation took effect, and what became of the command."""

    kill_succeeded: bool
    result: str


class Results(Record):
    """Results as text: tab between fields, CRLF after each row; or, when large, where they lie."""

    inline: bool
    results: str | None = None
    result_location: list[str] | None = None


class StatusWithResults(Record):
    """`GET commands/ID/status_with_results`: the results are there once the status is final."""

    id: int
    status: CommandStatus
    progress: int
    error: str | None = None
    inline: bool | None = None
    results: str | None = None
    result_location: list[str] | None = None
    path: str | None = None


class Jobs(Record):
    """The engine's jobs of a command; empty where the engine has none."""

    jobs: list[dict[str, Any]]
