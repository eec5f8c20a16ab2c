"""What searches find notes by."""

from __future__ import annotations

import json
import re
import unicodedata
import zlib

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table, with the text of every note."""
    texts = op.create_table(
        "note_texts",
        sa.Column("note_id", _ID, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_note_texts_note_id_notes"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("note_id", name=op.f("pk_note_texts")),
    )
    connection = op.get_bind()
    ids = connection.execute(sa.text("SELECT id FROM notes")).scalars().all()
    for note_id in ids:  # one by one: documents may be large
        query = sa.text(
            "SELECT r.document FROM notes n JOIN note_revisions r ON r.note_id = n.id AND r.number = n.revision"
            " WHERE n.id = :id"
        )
        document = connection.execute(query, {"id": note_id}).scalar_one()
        connection.execute(sa.insert(texts).values(note_id=note_id, text=_text(document)))


def _text(document: bytes) -> str:
    """Return the text of a stored document as searches compare it at this revision, whatever they do later."""
    paragraphs = json.loads(zlib.decompress(document))["paragraphs"]
    text = "\n".join(paragraph[key] for paragraph in paragraphs for key in ("title", "text") if paragraph.get(key))
    return re.sub("[\0\ud800-\udfff]", "\ufffd", unicodedata.normalize("NFC", text.casefold()))
