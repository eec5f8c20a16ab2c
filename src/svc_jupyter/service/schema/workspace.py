"""Tables of the workspace: folders, notes with their revisions, and dashboards. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.metadata import BigId, metadata

COMMON_ROOT = 0
"""`root_of` of the folder `Common`, which has no owner; a user's own folder has the user's id there."""

folders = sa.Table(
    "folders",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("type", sa.String(32), nullable=False),
    # Null only for a root, whose owner is in `root_of`. A root's name is empty: its location is shown.
    sa.Column("parent_id", BigId, sa.ForeignKey("folders.id", ondelete="CASCADE")),
    sa.Column("root_of", sa.BigInteger),
    sa.Column("name", sa.String(255), nullable=False),
    # The creator; null for a root, which the service makes.
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id)),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.UniqueConstraint("parent_id", "name"),
    sa.UniqueConstraint("account_id", "type", "root_of"),
    # Policies refer to a folder's id: it is never reused.
    sqlite_autoincrement=True,
)

notes = sa.Table(
    "notes",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("folder_id", BigId, sa.ForeignKey(folders.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("note_type", sa.String(32), nullable=False),
    sa.Column("cluster_id", sa.BigInteger),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("updated_by", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
    # Counts the edits of all attributes, so that a save over an unseen edit is detected.
    sa.Column("version", sa.BigInteger, nullable=False),
    # The number of the row of `note_revisions` that holds the document.
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("folder_id", "name"),
    sqlite_autoincrement=True,
)

note_revisions = sa.Table(
    "note_revisions",
    metadata,
    sa.Column("note_id", BigId, sa.ForeignKey(notes.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    # In bytes, before compression.
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("document", sa.LargeBinary, nullable=False),
)

# What searches find notes by: the titles and texts of the paragraphs of the newest revision, folded.
note_texts = sa.Table(
    "note_texts",
    metadata,
    sa.Column("note_id", BigId, sa.ForeignKey(notes.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
)

dashboards = sa.Table(
    "notebook_dashboards",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("folder_id", BigId, sa.ForeignKey(folders.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("note_id", BigId, sa.ForeignKey(notes.c.id, ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("note_revision", sa.BigInteger, nullable=False),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("updated_by", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    # The note's document at that revision, so that a dashboard stays as published.
    sa.Column("document", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("folder_id", "name"),
    sqlite_autoincrement=True,
)

# Jupyter notebooks that have, or had, a policy: they are files on disk, and policies refer to ids.
jupyter_notebooks = sa.Table(
    "jupyter_notebooks",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    # The owner of its folder; null in `Common`, which has no owner.
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id)),
    # Its path on disk, below the account's folder: contains no e-mail address.
    sa.Column("path", sa.Text, nullable=False),
    # SHA-256 of the path, which is too long for an index.
    sa.Column("digest", sa.String(64), nullable=False),
    sa.UniqueConstraint("account_id", "digest"),
    sqlite_autoincrement=True,
)
