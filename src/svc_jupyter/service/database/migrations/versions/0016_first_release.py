"""The schema of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Create the tables, and the triggers that protect the audit log."""
    _create_tables()
    _make_audit_append_only()


def _create_tables() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("features", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
    )
    op.create_table(
        "audit_entries",
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
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_entries_account", "audit_entries", ["account_id", "id"])
    op.create_index(op.f("ix_audit_entries_created_at"), "audit_entries", ["created_at"])
    op.create_index("ix_audit_entries_object", "audit_entries", ["account_id", "resource", "object_id", "id"])
    op.create_index("ix_audit_entries_user", "audit_entries", ["account_id", "user_id", "id"])
    op.create_table(
        "database_identity",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_database_identity")),
    )
    op.create_table(
        "notification_outbox",
        sa.Column("id", _ID, nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("medium", sa.String(length=16), nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("content", _JSON, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt_at", sa.Double(), nullable=True),
        sa.Column("sent_at", sa.Double(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification_outbox")),
        sa.UniqueConstraint("event", "medium", "recipient", name=op.f("uq_notification_outbox_event_medium_recipient")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notification_outbox_due", "notification_outbox", ["medium", "next_attempt_at"])
    op.create_table(
        "replicas",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("boot_id", sa.String(length=36), nullable=False),
        sa.Column("start_ticks", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_replicas")),
    )
    op.create_table(
        "service_leases",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("replica_id", sa.String(length=32), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_service_leases")),
    )
    op.create_table(
        "account_storage",
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("sealed_access_key", sa.Text(), nullable=True),
        sa.Column("sealed_secret_key", sa.Text(), nullable=True),
        sa.Column("region", sa.String(length=255), nullable=True),
        sa.Column("endpoint", sa.String(length=2048), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_account_storage_account_id_accounts")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_account_storage")),
    )
    op.create_table(
        "groups",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_groups_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_groups_account_id_name")),
    )
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
        "users",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_users_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("account_id", "email", name=op.f("uq_users_account_id_email")),
    )
    op.create_table(
        "clusters",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("configuration", _JSON, nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), server_default="DOWN", nullable=False),
        sa.Column("instance_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_clusters_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_clusters_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clusters")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_clusters_account_id"), "clusters", ["account_id"])
    op.create_table(
        "commands",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("command_type", sa.String(length=64), nullable=False),
        sa.Column("command_source", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("command", _JSON, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("start_time", sa.Double(), nullable=True),
        sa.Column("end_time", sa.Double(), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("tags", sa.String(length=255), nullable=True),
        sa.Column("label", sa.String(length=255), nullable=True),
        sa.Column("pool", sa.String(length=255), nullable=True),
        sa.Column("timeout", sa.BigInteger(), nullable=True),
        sa.Column("retry", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retry_delay", sa.Integer(), nullable=True),
        sa.Column("can_notify", sa.Boolean(), nullable=False),
        sa.Column("resolved_macros", _JSON, nullable=True),
        sa.Column("progress", sa.Integer(), server_default="0", nullable=False),
        sa.Column("result_rows", sa.BigInteger(), nullable=True),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("attempts", _JSON, nullable=True),
        sa.Column("next_attempt_at", sa.Double(), nullable=True),
        sa.Column("replica_id", sa.String(length=32), nullable=True),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("result", _JSON, nullable=True),
        sa.Column("outputs", _JSON, nullable=True),
        sa.Column("nominal_time", sa.String(length=32), nullable=True),
        sa.Column("sequence_id", _ID, nullable=True),
        sa.Column("parent_id", _ID, nullable=True),
        sa.Column("child_number", sa.Integer(), nullable=True),
        sa.Column("cluster_id", _ID, nullable=True),
        sa.Column("folder_key", sa.String(length=16), nullable=False),
        sa.Column("edited_by", _ID, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_commands_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_commands_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commands")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_commands_account", "commands", ["account_id", "id"])
    op.create_index("ix_commands_parent", "commands", ["parent_id", "child_number"], unique=True)
    op.create_index("ix_commands_replica", "commands", ["replica_id", "status"])
    op.create_index("ix_commands_status", "commands", ["status", "account_id", "id"])
    op.create_index("ix_commands_user", "commands", ["user_id", "id"])
    op.create_table(
        "db_taps",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("db_type", sa.String(length=32), nullable=False),
        sa.Column("db_host", sa.String(length=255), nullable=True),
        sa.Column("port", sa.Integer(), nullable=True),
        sa.Column("db_name", sa.String(length=4096), nullable=True),
        sa.Column("db_user", sa.String(length=255), nullable=True),
        sa.Column("sealed_password", sa.Text(), nullable=True),
        sa.Column("sealed_url", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_db_taps_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_db_taps_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_db_taps")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_db_taps_account_id_name")),
    )
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
        sa.UniqueConstraint("account_id", "type", "root_of", name=op.f("uq_folders_account_id_type_root_of")),
        sa.UniqueConstraint("parent_id", "name", name=op.f("uq_folders_parent_id_name")),
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
    op.create_index(op.f("ix_group_roles_role_id"), "group_roles", ["role_id"])
    op.create_table(
        "idempotency_keys",
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_idempotency_keys_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"])
    op.create_table(
        "jupyter_notebooks",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=True),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_jupyter_notebooks_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_jupyter_notebooks_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jupyter_notebooks")),
        sa.UniqueConstraint("account_id", "digest", name=op.f("uq_jupyter_notebooks_account_id_digest")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "memberships",
        sa.Column("group_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_memberships_group_id_groups"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_memberships_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "user_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_user_id"), "memberships", ["user_id"])
    op.create_table(
        "notification_channels",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("sealed_url", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_notification_channels_account_id_accounts")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_notification_channels_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification_channels")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_notification_channels_account_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "object_policy_versions",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("source_type", sa.String(length=32), nullable=False),
        sa.Column("source_id", sa.BigInteger(), nullable=False),
        sa.Column("policy", _JSON, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("trace_id", sa.String(length=64), nullable=True),
        sa.Column("replaced", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_object_policy_versions_account_id_accounts")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_object_policy_versions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_object_policy_versions")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_object_policy_versions_in_force",
        "object_policy_versions",
        ["account_id", "id"],
        sqlite_where=sa.text("replaced = 0"),
        postgresql_where=sa.text("NOT replaced"),
    )
    op.create_index("ix_object_policy_versions_object", "object_policy_versions", ["source_type", "source_id", "id"])
    op.create_table(
        "pipelines",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("create_type", sa.String(length=16), nullable=False),
        sa.Column("definition", _JSON, nullable=False),
        sa.Column("cluster_label", sa.String(length=255), nullable=True),
        sa.Column("notification_channels", _JSON, nullable=False),
        sa.Column("runs", sa.Integer(), server_default="0", nullable=False),
        sa.Column("command_id", _ID, nullable=True),
        sa.Column("instance_status", sa.String(length=16), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_pipelines_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_pipelines_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pipelines")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_pipelines_account_id"), "pipelines", ["account_id"])
    op.create_index(op.f("ix_pipelines_command_id"), "pipelines", ["command_id"])
    op.create_table(
        "removed_members",
        sa.Column("group_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_removed_members_group_id_groups"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_removed_members_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "user_id", name=op.f("pk_removed_members")),
    )
    op.create_table(
        "schedules",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("command_type", sa.String(length=64), nullable=False),
        sa.Column("command", _JSON, nullable=False),
        sa.Column("macros", _JSON, nullable=True),
        sa.Column("label", sa.String(length=255), nullable=True),
        sa.Column("pool", sa.String(length=255), nullable=True),
        sa.Column("tags", sa.String(length=255), nullable=True),
        sa.Column("start_time", sa.Double(), nullable=False),
        sa.Column("end_time", sa.Double(), nullable=True),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("frequency", sa.Integer(), nullable=True),
        sa.Column("time_unit", sa.String(length=16), nullable=True),
        sa.Column("cron_expression", sa.String(length=255), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("no_catch_up", sa.Boolean(), nullable=False),
        sa.Column("time_out", sa.Integer(), nullable=False),
        sa.Column("command_timeout", sa.Integer(), nullable=False),
        sa.Column("retry", sa.Integer(), nullable=False),
        sa.Column("retry_delay", sa.Integer(), nullable=False),
        sa.Column("dependency_info", _JSON, nullable=True),
        sa.Column("can_notify", sa.Boolean(), nullable=False),
        sa.Column("is_digest", sa.Boolean(), nullable=False),
        sa.Column("digest_time_hour", sa.Integer(), nullable=False),
        sa.Column("digest_time_minute", sa.Integer(), nullable=False),
        sa.Column("notify_failure", sa.Boolean(), nullable=False),
        sa.Column("notify_success", sa.Boolean(), nullable=False),
        sa.Column("notification_channels", _JSON, nullable=True),
        sa.Column("edited_by", _ID, nullable=True),
        sa.Column("next_nominal", sa.Double(), nullable=True),
        sa.Column("last_nominal", sa.Double(), nullable=True),
        sa.Column("last_sequence", _ID, server_default="0", nullable=False),
        sa.Column("resumed_at", sa.Double(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_schedules_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_schedules_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_schedules_account", "schedules", ["account_id", "id"])
    op.create_index("ix_schedules_due", "schedules", ["due_at"])
    op.create_table(
        "tokens",
        sa.Column("id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_tokens_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    op.create_index(op.f("ix_tokens_user_id"), "tokens", ["user_id"])
    op.create_table(
        "actions",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("schedule_id", _ID, nullable=False),
        sa.Column("sequence_id", _ID, nullable=False),
        sa.Column("nominal_time", sa.Double(), nullable=False),
        sa.Column("rerun_number", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_rerun_of", _ID, nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("command_id", _ID, nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("dependencies", _JSON, nullable=True),
        sa.Column("look_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_actions_account_id_accounts")),
        sa.ForeignKeyConstraint(["command_id"], ["commands.id"], name=op.f("fk_actions_command_id_commands")),
        sa.ForeignKeyConstraint(
            ["is_rerun_of"], ["actions.id"], name=op.f("fk_actions_is_rerun_of_actions"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["schedules.id"], name=op.f("fk_actions_schedule_id_schedules"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_actions")),
        sa.UniqueConstraint(
            "schedule_id", "nominal_time", "rerun_number", name=op.f("uq_actions_schedule_id_nominal_time_rerun_number")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_actions_account", "actions", ["account_id", "id"])
    op.create_index("ix_actions_command", "actions", ["command_id"])
    op.create_index(
        "ix_actions_look",
        "actions",
        ["look_at"],
        sqlite_where=sa.text("look_at IS NOT NULL"),
        postgresql_where=sa.text("look_at IS NOT NULL"),
    )
    op.create_index("ix_actions_newest", "actions", ["schedule_id", "id"])
    op.create_index(
        "ix_actions_open",
        "actions",
        ["done", "schedule_id"],
        sqlite_where=sa.text("done = 0"),
        postgresql_where=sa.text("NOT done"),
    )
    op.create_index("ix_actions_schedule", "actions", ["schedule_id", "sequence_id"])
    op.create_table(
        "cluster_instances",
        sa.Column("id", _ID, nullable=False),
        sa.Column("cluster_id", _ID, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("configuration", _JSON, nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("replica_id", sa.String(length=32), nullable=True),
        sa.Column("details", _JSON, nullable=True),
        sa.Column("start_at", sa.Double(), nullable=False),
        sa.Column("up_at", sa.Double(), nullable=True),
        sa.Column("down_at", sa.Double(), nullable=True),
        sa.Column("last_used_at", sa.Double(), nullable=False),
        sa.Column("terminate_reason", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_instances_cluster_id_clusters"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster_instances")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_cluster_instances_cluster_id"), "cluster_instances", ["cluster_id"])
    op.create_index(op.f("ix_cluster_instances_state"), "cluster_instances", ["state"])
    op.create_table(
        "cluster_labels",
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("label", sa.String(length=255), nullable=False),
        sa.Column("cluster_id", _ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_cluster_labels_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_labels_cluster_id_clusters"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "label", name=op.f("pk_cluster_labels")),
    )
    op.create_index(op.f("ix_cluster_labels_cluster_id"), "cluster_labels", ["cluster_id"])
    op.create_table(
        "notes",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("folder_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("note_type", sa.String(length=32), nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), nullable=True),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_by", _ID, nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_notes_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["folders.id"], name=op.f("fk_notes_folder_id_folders"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["updated_by"], ["users.id"], name=op.f("fk_notes_updated_by_users")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_notes_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notes")),
        sa.UniqueConstraint("folder_id", "name", name=op.f("uq_notes_folder_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "notification_digest_entries",
        sa.Column("id", _ID, nullable=False),
        sa.Column("schedule_id", _ID, nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("content", _JSON, nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["schedule_id"],
            ["schedules.id"],
            name=op.f("fk_notification_digest_entries_schedule_id_schedules"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification_digest_entries")),
        sa.UniqueConstraint("event", name=op.f("uq_notification_digest_entries_event")),
    )
    op.create_index(op.f("ix_notification_digest_entries_due_at"), "notification_digest_entries", ["due_at"])
    op.create_index(op.f("ix_notification_digest_entries_schedule_id"), "notification_digest_entries", ["schedule_id"])
    op.create_table(
        "owed_ends",
        sa.Column("command_id", _ID, nullable=False),
        sa.Column("owed_to", sa.String(length=100), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["command_id"], ["commands.id"], name=op.f("fk_owed_ends_command_id_commands"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("command_id", "owed_to", name=op.f("pk_owed_ends")),
    )
    op.create_table(
        "package_environments",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("env_type", sa.String(length=32), nullable=False),
        sa.Column("language_version", sa.String(length=32), nullable=False),
        sa.Column("cluster_id", _ID, nullable=True),
        sa.Column("package_id", _ID, nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("deleted_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_package_environments_account_id_accounts")
        ),
        sa.ForeignKeyConstraint(
            ["cluster_id"],
            ["clusters.id"],
            name=op.f("fk_package_environments_cluster_id_clusters"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_package_environments_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_environments")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_package_environments_account_id"), "package_environments", ["account_id"])
    op.create_index(op.f("ix_package_environments_cluster_id"), "package_environments", ["cluster_id"])
    op.create_table(
        "cluster_nodes",
        sa.Column("id", _ID, nullable=False),
        sa.Column("instance_id", _ID, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("hostname", sa.String(length=255), nullable=False),
        sa.Column("private_ip", sa.String(length=64), nullable=False),
        sa.Column("private_dns", sa.String(length=255), nullable=False),
        sa.Column("instance_type", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("up_at", sa.Double(), nullable=True),
        sa.Column("last_seen_at", sa.Double(), nullable=True),
        sa.Column("details", _JSON, nullable=True),
        sa.ForeignKeyConstraint(
            ["instance_id"],
            ["cluster_instances.id"],
            name=op.f("fk_cluster_nodes_instance_id_cluster_instances"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster_nodes")),
        sa.UniqueConstraint("instance_id", "private_dns", name=op.f("uq_cluster_nodes_instance_id_private_dns")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_cluster_nodes_instance_id"), "cluster_nodes", ["instance_id"])
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
    op.create_table(
        "notebook_dashboards",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("folder_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("note_id", _ID, nullable=False),
        sa.Column("note_revision", sa.BigInteger(), nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_by", _ID, nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_notebook_dashboards_account_id_accounts")
        ),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["folders.id"], name=op.f("fk_notebook_dashboards_folder_id_folders"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_notebook_dashboards_note_id_notes"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["updated_by"], ["users.id"], name=op.f("fk_notebook_dashboards_updated_by_users")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_notebook_dashboards_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notebook_dashboards")),
        sa.UniqueConstraint("folder_id", "name", name=op.f("uq_notebook_dashboards_folder_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_notebook_dashboards_note_id"), "notebook_dashboards", ["note_id"])
    op.create_table(
        "package_activities",
        sa.Column("id", _ID, nullable=False),
        sa.Column("environment_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("packages", _JSON, nullable=False),
        sa.Column("requested", _JSON, nullable=False),
        sa.Column("lock", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("folder", sa.String(length=64), nullable=True),
        sa.Column("restored_id", _ID, nullable=True),
        sa.Column("cluster_id", _ID, nullable=True),
        sa.Column("replica_id", sa.String(length=32), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["environment_id"],
            ["package_environments.id"],
            name=op.f("fk_package_activities_environment_id_package_environments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_package_activities_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_activities")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_package_activities_environment_id"), "package_activities", ["environment_id"])
    op.create_index(op.f("ix_package_activities_status"), "package_activities", ["status"])
    op.create_table(
        "package_uses",
        sa.Column("id", _ID, nullable=False),
        sa.Column("activity_id", _ID, nullable=False),
        sa.Column("command_id", _ID, nullable=True),
        sa.Column("instance_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(
            ["activity_id"],
            ["package_activities.id"],
            name=op.f("fk_package_uses_activity_id_package_activities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_package_uses")),
    )
    op.create_index(op.f("ix_package_uses_activity_id"), "package_uses", ["activity_id"])


def _make_audit_append_only() -> None:
    """Refuse changes of entries. Expired entries can still be deleted."""
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
