"""The job that the service passes to a process that speaks with a Spark Connect server: one line of JSON on a pipe.

The process imports it too, so it needs nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

CHECK_FILE = "check.json"
"""What a check has found: `version` of the server, `client` version."""


class Task(StrEnum):
    """What the process does."""

    CHECK = "check"
    RUN = "run"
    INTERRUPT = "interrupt"
    """End what still runs in a session whose process is gone."""


@dataclass(frozen=True, slots=True)
class ConnectEndpoint:
    """A Spark Connect server as one user sees it."""

    host: str
    port: int
    user: str
    """The `user_id` of requests."""
    session: str
    """The session's id, a UUID that the client chooses."""
    is_encrypted: bool = False
    token: str = field(default="", repr=False)
    tls_ca: str = field(default="", repr=False)
    """Certificates of the only authorities to trust; empty for those of gRPC's own list."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the session."""

    @property
    def name(self) -> str:
        """The name in messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ConnectJob:
    """One attempt of a command, or a check. `folder` receives the files of a statement, `log` what the program logs."""

    task: Task
    folder: Path
    log: Path
    endpoint: Mapping[str, object] = field(repr=False)
    """The fields of a `ConnectEndpoint`."""
    statement: str = ""
    """The statement to run, as JSON."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables of the program."""
