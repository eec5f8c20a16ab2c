"""An authorizer that lets users read and nothing else; a Jupyter Server under test loads it."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.authorizer import Authorizer


class ReadingOnly(Authorizer):
    """Allows `read`."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action == "read"
