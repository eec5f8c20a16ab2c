"""The service's settings: the only place that reads its environment (`SVC_…`), which scripts do not inherit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Literal

import platformdirs
import psutil
from pydantic import Field, SecretStr, computed_field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MOST_LOCAL_WORKERS = 244
"""The number of worker addresses in a cluster's block of loopback addresses."""
LOCAL_WORKER_BYTES = 768 * 2**20
"""Memory for an idle worker and a small container on it."""
PIG_JVM_BYTES = 768 * 2**20
"""Memory for the JVM of a Pig script: its heap, and Java's own."""


def default_data_dir() -> Path:
    """Return the platform's user data folder for svc-jupyter."""
    return Path(platformdirs.user_data_dir("svc-jupyter", appauthor=False))


def default_engines_dir() -> Path:
    """Return the folder of the engines in the platform's user cache, shared by all data folders of a user."""
    return Path(platformdirs.user_cache_dir("svc-jupyter", appauthor=False)) / "engines"


def default_r_cache_dir() -> Path:
    """Return the folder of downloaded and installed R packages in the platform's user cache."""
    return Path(platformdirs.user_cache_dir("svc-jupyter", appauthor=False)) / "r-packages"


def default_running_limit() -> int:
    """Return the default limit of an account's running commands."""
    return max(20, 10 * (os.cpu_count() or 1))


def default_local_max_nodes() -> int:
    """Return the default maximum of a local cluster's workers, by this machine's memory."""
    return max(2, min(MOST_LOCAL_WORKERS, psutil.virtual_memory().total // LOCAL_WORKER_BYTES))


def default_pig_jvms() -> int:
    """Return the default limit of concurrent Pig scripts, by this machine's memory."""
    return max(1, psutil.virtual_memory().total // 2 // PIG_JVM_BYTES)


_PREFIX = "SVC_"
_POSTGRESQL = ("postgresql://", "postgres://", "postgresql+psycopg://")


class Settings(BaseSettings):
    """Every setting can be given as an environment variable `SVC_<NAME>`; durations are in seconds, sizes in bytes."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="ignore")

    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65_535)
    data_dir: Path = Field(default_factory=default_data_dir)
    database_url: SecretStr | None = None
    engines_dir: Path = Field(default_factory=default_engines_dir)
    r_cache_dir: Path = Field(default_factory=default_r_cache_dir)
    maven_repository: SecretStr | None = None
    local_max_nodes: int = Field(default_factory=default_local_max_nodes, ge=1, le=MOST_LOCAL_WORKERS)
    pig_jvms: int = Field(default_factory=default_pig_jvms, ge=1)
    embedded: bool = False
    idle_stop_seconds: float = 1800
    running_limit: int = Field(default_factory=default_running_limit, ge=1)
    timeout_check_seconds: float = Field(default=60, gt=0)
    kill_grace_seconds: float = Field(default=5, ge=0)
    lease_seconds: float = Field(default=15, ge=1)
    cluster_provider: Literal["local", "hosts"] = "local"
    hosts_inventory: Path | None = None
    hive_metastore_host: IPv4Address = IPv4Address("127.0.0.1")
    idle_cluster_seconds: float = Field(default=7200, gt=0)
    node_bootstrap_seconds: float = Field(default=1800, gt=0)
    max_body_bytes: int = 16 * 2**20
    inline_result_bytes: int = 20 * 10**6
    max_fetched_bytes: int = 10 * 2**30
    max_unpacked_bytes: int = 10 * 2**30
    max_unpacked_files: int = 100_000
    min_free_disk_bytes: int = 64 * 2**20
    file_roots: list[Path] = Field(default_factory=list)
    connections_per_address: int | None = Field(default=None, ge=1)
    requests_per_second: float | None = Field(default=None, gt=0)
    public_url: str | None = None
    smtp_host: str | None = None
    smtp_port: int = 587
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    smtp_user: str | None = None
    smtp_password: SecretStr | None = None
    smtp_sender: str = "svc-jupyter@localhost"
    smtp_timeout_seconds: float = Field(default=30, gt=0)
    webhook_timeout_seconds: float = Field(default=30, gt=0)
    webhook_private_addresses: bool | None = None
    audit_days: int = Field(default=400, ge=1)
    trusted_proxies: list[str] = Field(default_factory=list)
    metrics_port: int | None = Field(default=None, ge=1, le=65_535)
    isolation: Literal["auto", "on", "off"] = "auto"
    isolation_readable: list[Path] = Field(default_factory=list)
    isolation_variables: list[str] = Field(default_factory=list)
    backup_access_key: SecretStr | None = None
    backup_secret_key: SecretStr | None = None
    backup_region: str | None = None
    backup_endpoint: str | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("database_url")
    @classmethod
    def _is_postgresql(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not url.get_secret_value().strip():
            raise ValueError("it is empty; unset it for SQLite in the data folder, or give postgresql://USER@HOST/NAME")
        if url is not None and not url.get_secret_value().startswith(_POSTGRESQL):
            raise ValueError("it must begin with postgresql://; without it the database is SQLite in the data folder")
        return url

    @computed_field  # type: ignore[prop-decorator]
    @property
    def storage_dir(self) -> Path:
        """The folder of the account's default storage."""
        return self.data_dir / "storage"

    @property
    def commands_dir(self) -> Path:
        """The folder that holds every command's working folder, log and result."""
        return self.data_dir / "commands"

    @property
    def allowed_file_roots(self) -> list[Path]:
        """Folders under which `file://` locations and SQLite taps may lie."""
        return [self.storage_dir, *self.file_roots]

    @property
    def addresses_may_be_private(self) -> bool:
        """Whether webhooks and locations may use loopback and private addresses; by default in the embedded service."""
        return self.embedded if self.webhook_private_addresses is None else self.webhook_private_addresses

    @property
    def sqlalchemy_url(self) -> str:
        """The database's URL for SQLAlchemy: psycopg 3 for PostgreSQL, else the SQLite file in the data folder."""
        if self.database_url is None:
            return f"sqlite:///{self.data_dir / 'service.db'}"
        url = self.database_url.get_secret_value()
        return "postgresql+psycopg://" + url.partition("://")[2]

    @property
    def on_sqlite(self) -> bool:
        """Whether the service's own database is SQLite."""
        return self.database_url is None


def script_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for scripts: the service's own, without its settings and secrets."""
    return {name: value for name, value in inherited.items() if not name.startswith(_PREFIX)}
