"""Paths of the contract's resources under a service's base address."""

from __future__ import annotations

DEFAULT_VERSION = "v1.2"
COMMAND_VERSIONS = ("v1.2", "latest", "v1.3", "v2", "v2.0", "v2.1", "v2.2")
RESOURCE_VERSIONS = ("v1.2", "latest")
TOKEN_HEADER = "X-AUTH-TOKEN"  # noqa: S105  the header's name, not a token
TRACE_HEADER = "X-Trace-Id"
IDEMPOTENCY_HEADER = "Idempotency-Key"
NOTEBOOK_HEADER = "Notebook-Name"
"""Our extension: the notebook whose cell submits a command, its name percent-encoded; empty where it is not known."""
NOTEBOOK_VARIABLE = "JPY_SESSION_NAME"
"""Environment variable: from a Jupyter server the path of a kernel's notebook, in a run of our service its name."""
ARROW_STREAM = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv"
NOTEBOOK = "application/x-ipynb+json"
HTML = "text/html"


def versions_of(resource: str) -> tuple[str, ...]:
    """Return the API versions that have a resource, given as the first part of its path."""
    return COMMAND_VERSIONS if resource in {"commands", "clusters"} else RESOURCE_VERSIONS


def api(resource: str, version: str = DEFAULT_VERSION) -> str:
    """Return the path of a resource, as in `/api/v1.2/commands`."""
    return f"/api/{version}/{resource}"


def command(command_id: int, part: str = "") -> str:
    """Return the path of one command or of a part of it (`results`, `logs`, `events` …)."""
    return api(f"commands/{command_id}/{part}" if part else f"commands/{command_id}")


def schedule(schedule_id: int, part: str = "") -> str:
    """Return the path of one schedule or of a part of it (`actions`, `instances` …)."""
    return api(f"scheduler/{schedule_id}/{part}" if part else f"scheduler/{schedule_id}")
