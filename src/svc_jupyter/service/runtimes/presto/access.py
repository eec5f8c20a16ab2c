"""How a coordinator that others run is reached.

The workers import it, too, so it needs little but the standard library.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PRESTO: Final = "Presto"
TRINO: Final = "Trino"
"""Families of headers: `X-Presto-User`, `X-Trino-User`."""
UI_PATH: Final = "/ui/"
"""Where a coordinator shows itself in a browser."""
LOGIN_REFUSED: Final = "the cluster's login (external.user, external.password) is missing or wrong"


@dataclass(frozen=True, slots=True)
class ExternalAccess:
    """The login at a coordinator, and what every session there has."""

    family: str = PRESTO
    is_encrypted: bool = False
    """Whether it is reached by HTTPS."""
    login: str = ""
    password: str = field(default="", repr=False)
    tls_ca: str = field(default="", repr=False)
    """Certificates of the only authorities to trust; empty for those of the machine."""
    source: str = ""
    session_properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def authorization(self) -> str:
        """The value of the header `Authorization`; empty without a login."""
        if not self.login:
            return ""
        return f"Basic {b64encode(f'{self.login}:{self.password}'.encode()).decode()}"


def path_of(url: str) -> str:
    """Return the path and the query of an address."""
    return url if url.startswith("/") else url[url.index("/", url.index("//") + 2) :]


def explain_redirect(location: str | None) -> str:
    """Return what to do about a coordinator that redirects."""
    where = f" to {location[:200]}" if location else ""
    return f"it redirects{where}; give the address of the coordinator itself, with https:// where it wants that"
