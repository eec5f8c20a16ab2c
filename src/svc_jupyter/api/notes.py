"""Notes: Spark notebooks as documents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from svc_jupyter.api.fields import MAX_ID, PagingInfo, Record, Request

MAX_PARAGRAPHS = 10_000
NameText = Annotated[str, Field(min_length=1, max_length=255)]
"""A name of a folder, note or dashboard; at most 255 bytes, no slash or control character, no dot at the beginning."""
LocationText = Annotated[str, Field(max_length=4096)]
"""A folder by its names from a root on: `Common/reports`, `Users/ann@example.org`."""
NoteType = Literal["spark", "presto"]
FormType = Literal["text", "password", "select", "checkbox"]
Paragraphs = Annotated[list[dict[str, Any]], Field(max_length=MAX_PARAGRAPHS)]
JsonObject = dict[str, Any]


def _digits_to_number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else value


ClusterBinding = Annotated[int, Field(ge=0, le=MAX_ID), BeforeValidator(_digits_to_number)]
"""The id of a cluster; 0 takes the binding away."""


class NoteFields(Request):
    """The parts of a note's document that a request may give, as a `.zpln` file has them."""

    paragraphs: Paragraphs | None = None
    noteParams: JsonObject | None = None  # noqa: N815  the file format's own names
    noteForms: JsonObject | None = None  # noqa: N815
    config: JsonObject | None = None
    info: JsonObject | None = None


class NoteCreate(NoteFields):
    """A new note in the folder at `location`."""

    name: NameText
    location: LocationText
    note_type: NoteType = "spark"
    cluster_id: ClusterBinding | None = None


class NoteImport(Request):
    """A new note from a document: the keys of a `.zpln` or an `.ipynb` file beside the note's own.

    With `paragraphs` it is a `.zpln`, with `cells` (or `worksheets`) an `.ipynb`; every other key is kept with the
    document.
    """

    model_config = ConfigDict(extra="allow")

    name: NameText
    location: LocationText
    note_type: NoteType = "spark"
    cluster_id: ClusterBinding | None = None
    paragraphs: Paragraphs | None = None
    cells: list[Any] | None = Field(default=None, max_length=MAX_PARAGRAPHS)


class NoteReplacement(Request):
    """A document to take the place of a note's own: the keys of a `.zpln` or an `.ipynb` file, as with an import."""

    model_config = ConfigDict(extra="allow")

    paragraphs: Paragraphs | None = None
    cells: list[Any] | None = Field(default=None, max_length=MAX_PARAGRAPHS)


class NoteUpdate(NoteFields):
    """The attributes to change; the others stay. `location` moves the note, `paragraphs` are all of them."""

    name: NameText | None = None
    location: LocationText | None = None
    cluster_id: ClusterBinding | None = None


class NoteClone(Request):
    """Where the copy goes: by default beside the note, under a free name."""

    name: NameText | None = None
    location: LocationText | None = None
    cluster_id: ClusterBinding | None = None


class NoteSummary(Record):
    """A note without its document.

    `location` is the folder it is in. `version` counts the edits and is the note's ETag; `revision` is the number of
    the document's.
    """

    id: int
    name: str
    location: str
    folder_id: int
    note_type: str
    cluster_id: int | None = None
    version: int
    revision: int
    account_id: int
    user_id: int
    created_at: str
    updated_by: int
    updated_at: str


class NoteList(Record):
    """One page of notes, newest first."""

    notes: list[NoteSummary]
    paging_info: PagingInfo


class NoteForm(Record):
    """A dynamic form of a note, with the value it has; a password's value is never kept.

    `scope` is the id of the paragraph it stands in, or null for one of the whole note.
    """

    name: str
    type: FormType
    label: str | None = None
    default: str | list[str]
    separator: str = ","
    """What joins the chosen options of a checkbox."""
    options: list[dict[str, str]] = Field(default_factory=list)
    hidden: bool = False
    scope: str | None = None
    value: Any = None


class NoteFormList(Record):
    """The forms of a document."""

    forms: list[NoteForm]


class Note(NoteSummary):
    """A note with its document: the parts as a `.zpln` file has them, and the forms that its texts ask for.

    After an import `message` says what of a notebook was repaired for it.
    """

    paragraphs: list[dict[str, Any]]
    noteParams: JsonObject = Field(default_factory=dict)  # noqa: N815
    noteForms: JsonObject = Field(default_factory=dict)  # noqa: N815
    config: JsonObject = Field(default_factory=dict)
    info: JsonObject = Field(default_factory=dict)
    forms: list[NoteForm] = Field(default_factory=list)
    message: str | None = None


class NoteDeleted(Record):
    """The answer to a deletion; the dashboards that showed the note went with it."""

    status: str = "deleted"
    id: int
    notebook_dashboards: int


class NoteRevision(Record):
    """A state that a note's document had, without the document. `size` is in bytes."""

    number: int
    user_id: int
    created_at: str
    size: int


class NoteRevisionList(Record):
    """One page of a note's revisions, newest first."""

    revisions: list[NoteRevision]
    paging_info: PagingInfo


class NoteRevisionDocument(NoteRevision):
    """A revision with its document."""

    paragraphs: list[dict[str, Any]]
    noteParams: JsonObject = Field(default_factory=dict)  # noqa: N815
    noteForms: JsonObject = Field(default_factory=dict)  # noqa: N815
    config: JsonObject = Field(default_factory=dict)
    info: JsonObject = Field(default_factory=dict)
