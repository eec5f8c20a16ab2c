"""The service of a notebook run: the file that the service has written for the run names it.

The file has the address and the run's token. The next service, at another address, writes it anew.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from svc_jupyter.api.run_connection import RunConnection
from svc_jupyter.client.errors import ConfigurationError

_ELSE = "Or name a service yourself: %svc_config base_url or profile, or SVC_BASE_URL with SVC_API_TOKEN"


def read_connection(file: Path) -> RunConnection:
    """Return what a run's file says. Raises ConfigurationError when it is missing or damaged."""
    try:
        return RunConnection.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        raise ConfigurationError(
            f"the service of this run is not known: its file {file} cannot be read. The service removes it when the "
            f"run ends; a notebook that needs the service must run as its command. {_ELSE}"
        ) from None


def refusal_of(connection: RunConnection) -> str | None:
    """Return why the run may not call its service, None where it may."""
    if connection.token is not None:
        return None
    return f"this run has no access to its service: {connection.refusal}. {_ELSE}"
