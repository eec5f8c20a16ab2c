"""Roles, object policies, and the audit log, to which the database only lets rows be added."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Create the tables."""
    _create_roles()
    _create_object_policies()
    _create_audit()
    _make_audit_append_only()


def _create_roles() -> None:
    op.create_table(
        "roles",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("policies", _JSON, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_roles_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_roles")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_roles_account_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "group_roles",
        sa.Column("group_id", _ID, nullable=False),
        sa.Column("role_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_group_roles_group_id_groups"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["role_id"], ["roles.id"], name=op.f("fk_group_roles_role_id_roles"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "role_id", name=op.f("pk_group_roles")),
    )
    op.create_index(op.f("ix_group_roles_role_id"), "group_roles", ["role_id"], unique=False)


def _create_object_policies() -> None:
    table = "object_policy_versions"
    op.create_table(
        table,
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("source_type", sa.String(length=32), nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("policy", _JSON, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("trace_id", sa.String(length=64), nullable=True),
        sa.Column("replaced", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f(f"fk_{table}_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{table}_object", table, ["source_type", "source_id", "id"], unique=False)
    op.create_index(
        f"ix_{table}_in_force",
        table,
        ["account_id", "id"],
        unique=False,
        sqlite_where=sa.text("replaced = 0"),
        postgresql_where=sa.text("NOT replaced"),
    )


def _create_audit() -> None:
    table = "audit_entries"
    op.create_table(
        table,
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("token_id", _ID, nullable=True),
        sa.Column("address", sa.String(length=64), nullable=True),
        sa.Column("trace_id", sa.String(length=64), nullable=True),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("resource", sa.String(length=32), nullable=False),
        sa.Column("object_id", sa.Text(), nullable=True),
        sa.Column("detail", _JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f(f"ix_{table}_created_at"), table, ["created_at"], unique=False)
    op.create_index(f"ix_{table}_account", table, ["account_id", "id"], unique=False)
    op.create_index(f"ix_{table}_object", table, ["account_id", "resource", "object_id", "id"], unique=False)
    op.create_index(f"ix_{table}_user", table, ["account_id", "user_id", "id"], unique=False)


def _make_audit_append_only() -> None:
    """Refuse to change an entry. Deleting those that are over their time stays possible."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries "
            "BEGIN SELECT RAISE(ABORT, 'audit entries are never changed'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'audit entries are never changed'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries "
        "FOR EACH ROW EXECUTE FUNCTION audit_entries_stay()"
    )
