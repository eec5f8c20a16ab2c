"""What a command made besides its result, in its record: extensions that another service may lack."""

from __future__ import annotations

from pydantic import Field

from svc_jupyter.api.fields import Record


class DumpRecord(Record):
    """The rows of one DUMP of a Pig command: `GET commands/ID/results?dump=` and its alias or number gives them."""

    alias: str
    rows: int
    size: int = Field(description="bytes of the stored rows")
    columns: list[tuple[str, str]] = Field(description="name and Arrow type of each column")


class StoreRecord(Record):
    """What one STORE of a Pig command wrote; what its store function does not count is null."""

    alias: str | None
    location: str
    rows: int | None = None
    bytes: int | None = None


class NoteTable(Record):
    """The rows of one TABLE that a note showed: `GET commands/ID/results?table=` and its number, from 1, gives them."""

    paragraph: str = Field(description="the paragraph's id")
    title: str | None = None
    rows: int
    size: int = Field(description="bytes of the stored rows")
    columns: list[tuple[str, str]] = Field(description="name and Arrow type of each column")


class NoteParagraph(Record):
    """How a paragraph of a note's run ended. `line` counts from 1 in its text; `tables` are numbers, from 1."""

    id: str
    number: int
    title: str | None = None
    language: str
    status: str
    seconds: float | None = None
    tables: list[int] = Field(default_factory=list)
    error: str | None = None
    line: int | None = None


class RunNote(Record):
    """The note that was run, and what became of the results in it: `saved`, and `edited` when its text changed."""

    id: int
    name: str
    revision: int = Field(description="the revision that was run")
    edited: bool = False
    saved: bool = False
    message: str | None = None


class StatementFailure(Record):
    """Why a statement of an SQL script failed, in parts; the record's `message` has the same as one text.

    `line` and `column` count from 1 in the whole script; null where the engine reports no place. `text` is the line.
    """

    reason: str = Field(description="the engine's own words")
    source: str = Field(description="`query`, or the script's location")
    target: str = Field(description="the tap or cluster, and its type")
    line: int | None = None
    column: int | None = None
    text: str | None = None
    did_you_mean: list[str] = Field(
        default_factory=list, description="known columns or tables that are like an unknown one, the likeliest first"
    )
    hint: str | None = None


class CommandOutputs(Record):
    """What a command made besides its result: DUMPs and STOREs of a Pig script, paragraphs and TABLEs of a note.

    `failure` is of an SQL script that failed.
    """

    dumps: list[DumpRecord] = Field(default_factory=list)
    stores: list[StoreRecord] = Field(default_factory=list)
    tables: list[NoteTable] = Field(default_factory=list)
    paragraphs: list[NoteParagraph] = Field(default_factory=list)
    note: RunNote | None = None
    failure: StatementFailure | None = None
