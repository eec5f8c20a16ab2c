"""The file by which a running notebook finds the service that runs it."""

from __future__ import annotations

from pydantic import BaseModel

CONNECTION_FILE = "SVC_CONNECTION_FILE"
"""Environment variable of a run's kernel: the path of the file. The file's content is a `RunConnection` as JSON."""


class RunConnection(BaseModel):
    """Address of a run's service, and the run's token; the service writes both anew when it moves.

    `refusal` says why a run has no token.
    """

    base_url: str
    token: str | None = None
    refusal: str | None = None
