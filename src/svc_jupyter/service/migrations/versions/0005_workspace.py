"""Folders, notes with their revisions, and dashboards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    _create_folders()
    _create_notes()
    _create_dashboards()


def _create_folders() -> None:
    op.create_table(
        "folders",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("parent_id", _ID, nullable=True),
        sa.Column("root_of", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("user_id", _ID, nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_folders_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["folders.id"], name=op.f("fk_folders_parent_id_folders"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_folders_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_folders")),
        sa.UniqueConstraint("parent_id", "name", name=op.f("uq_folders_parent_id_name")),
        sa.UniqueConstraint("account_id", "type", "root_of", name=op.f("uq_folders_account_id_type_root_of")),
        sqlite_autoincrement=True,
    )


def _create_notes() -> None:
    op.create_table(
        "notes",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("folder_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("note_type", sa.String(length=32), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        *_edited_columns(),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        *_edited_constraints("notes"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "note_revisions",
        sa.Column("note_id", _ID, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_note_revisions_note_id_notes"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_note_revisions_user_id_users")),
        sa.PrimaryKeyConstraint("note_id", "number", name=op.f("pk_note_revisions")),
    )


def _create_dashboards() -> None:
    table = "notebook_dashboards"
    op.create_table(
        table,
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("folder_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("note_id", _ID, nullable=False),
        sa.Column("note_revision", sa.BigInteger(), nullable=False),
        *_edited_columns(),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f(f"fk_{table}_note_id_notes"), ondelete="CASCADE"),
        *_edited_constraints(table),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f(f"ix_{table}_note_id"), table, ["note_id"], unique=False)


def _edited_columns() -> list[sa.Column[int | float]]:
    return [
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_by", _ID, nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
    ]


def _edited_constraints(table: str) -> list[sa.Constraint]:
    return [
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f(f"fk_{table}_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["folders.id"], name=op.f(f"fk_{table}_folder_id_folders"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id_users")),
        sa.ForeignKeyConstraint(["updated_by"], ["users.id"], name=op.f(f"fk_{table}_updated_by_users")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sa.UniqueConstraint("folder_id", "name", name=op.f(f"uq_{table}_folder_id_name")),
    ]
