"""Rows of notes and of their revisions, with the entity tags that detect concurrent edits.

Running notes are among them: their folders cannot be deleted meanwhile.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.ground.errors import NotFound, StateConflict
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.workspace import note_revisions, note_texts, notes
from svc_jupyter.service.workspace.admission import absent
from svc_jupyter.service.workspace.note_documents import Document, packed, text_of, unpacked
from svc_jupyter.service.workspace.records import NOTE_COLUMNS
from svc_jupyter.service.workspace.searches import folded

KEPT_REVISIONS = 100
"""Kept revisions of each note; the oldest are deleted first."""
_WITH_DOCUMENT: tuple[sa.ColumnElement[Any], ...] = (
    *NOTE_COLUMNS,
    note_revisions.c.document,
    note_revisions.c.size,
)
_OPEN = (CommandStatus.WAITING.value, CommandStatus.RUNNING.value)


class PackedDocument(NamedTuple):
    """A document as it is stored, its uncompressed size in bytes, and itself."""

    data: bytes
    size: int
    document: Document

    @classmethod
    def of(cls, document: Document) -> PackedDocument:
        """Return a document ready to be stored. Raises `Invalid` for values that JSON lacks."""
        return cls(*packed(document), document)

    @classmethod
    def stored(cls, row: sa.Row[Any]) -> PackedDocument:
        """Return the document in the row of a revision."""
        return cls(row.document, row.size, unpacked(row.document))


def row_of(
    connection: sa.Connection, note_id: int, action: Action, caller: Caller, *, lock: bool = False
) -> sa.Row[Any]:
    """Return a note's row; `lock` locks it against other changes. Raises `NotFound`."""
    query = sa.select(*NOTE_COLUMNS).where(notes.c.id == note_id, notes.c.account_id == caller.account_id)
    row = connection.execute(query.with_for_update(key_share=True) if lock else query).one_or_none()
    if row is None:
        raise absent(caller, action, Resource.NOTE, note_id)
    return row


def row_with_document(
    connection: sa.Connection, note_id: int, action: Action, caller: Caller
) -> tuple[sa.Row[Any], PackedDocument]:
    """Return a note's row with its document, read at one moment. Raises `NotFound`."""
    row = connection.execute(
        sa.select(*_WITH_DOCUMENT)
        .join(note_revisions, (note_revisions.c.note_id == notes.c.id) & (note_revisions.c.number == notes.c.revision))
        .where(notes.c.id == note_id, notes.c.account_id == caller.account_id)
    ).one_or_none()
    if row is None:
        raise absent(caller, action, Resource.NOTE, note_id)
    return row, PackedDocument.stored(row)


def insert(connection: sa.Connection, values: dict[str, Any], document: PackedDocument) -> sa.Row[Any]:
    """Store a new note with its first revision and return its row."""
    first = {"version": 1, "revision": 1, "updated_by": values["user_id"], "updated_at": values["created_at"]}
    row = connection.execute(sa.insert(notes).values(**values, **first).returning(*NOTE_COLUMNS)).one()
    insert_revision(connection, row.id, 1, values["user_id"], values["created_at"], document)
    return row


def insert_revision(
    connection: sa.Connection, note_id: int, number: int, user_id: int, now: float, document: PackedDocument
) -> None:
    """Store a note's newest revision, which is what searches find it by, and delete the one beyond the limit."""
    connection.execute(
        sa.insert(note_revisions).values(
            note_id=note_id,
            number=number,
            user_id=user_id,
            created_at=now,
            size=document.size,
            document=document.data,
        )
    )
    connection.execute(
        sa.delete(note_revisions).where(
            note_revisions.c.note_id == note_id, note_revisions.c.number <= number - KEPT_REVISIONS
        )
    )
    connection.execute(sa.delete(note_texts).where(note_texts.c.note_id == note_id))
    connection.execute(sa.insert(note_texts).values(note_id=note_id, text=folded(text_of(document.document))))


def replace_revision(connection: sa.Connection, note_id: int, number: int, document: PackedDocument) -> None:
    """Replace a revision's document."""
    connection.execute(
        sa.update(note_revisions)
        .where(note_revisions.c.note_id == note_id, note_revisions.c.number == number)
        .values(size=document.size, document=document.data)
    )


def revision_row(connection: sa.Connection, note_id: int, number: int) -> sa.Row[Any]:
    """Return the row of a revision. Raises `NotFound`."""
    row = connection.execute(
        sa.select(note_revisions).where(note_revisions.c.note_id == note_id, note_revisions.c.number == number)
    ).one_or_none()
    if row is None:
        raise NotFound(f"note {note_id} has no revision {number}; the newest {KEPT_REVISIONS} are kept")
    return row


def etag(version: int) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'


def require_match(if_match: str | None, version: int, what: str, updated_at: float) -> None:
    """Raise `StateConflict` unless the header If-Match is absent, `*`, or names `version` of `what`."""
    if if_match is None:
        return
    named = {tag.strip().removeprefix("W/").strip('"') for tag in if_match.split(",")}
    if named & {"*", str(version)}:
        return
    moment = datetime.fromtimestamp(int(updated_at), UTC).strftime("%Y-%m-%d %H:%M:%S")
    raise StateConflict(
        f"{what} was changed meanwhile: it is of version {version} since {moment} UTC, and If-Match names another; "
        "read it again and make your change there"
    )


def require_none_running(connection: sa.Connection, account_id: int, condition: sa.ColumnElement[bool]) -> None:
    """Raise `StateConflict`, naming one, when a waiting or running command runs one of these notes."""
    open_runs = connection.execute(
        sa.select(commands.c.id, commands.c.command["note_id"].as_string().label("note_id")).where(
            commands.c.status.in_(_OPEN),
            commands.c.account_id == account_id,
            commands.c.command_type == CommandType.SPARK.value,
        )
    ).all()
    commands_of = {int(row.note_id): row.id for row in open_runs if str(row.note_id).isdigit()}
    if not commands_of:
        return
    wanted = sa.bindparam(None, sorted(commands_of), expanding=True, literal_execute=True, type_=sa.BigInteger())
    found = connection.execute(
        sa.select(notes.c.id, notes.c.name).where(notes.c.id.in_(wanted), condition).limit(1)
    ).one_or_none()
    if found is not None:
        raise StateConflict(
            f"note {found.id} ({found.name}) is being run by command {commands_of[found.id]}; "
            "cancel it, or wait for its end"
        )
