"""Catalogues that show the tables of DB taps, as a cluster's settings name them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Protocol
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.db_taps.db_taps import OpenTap
from svc_jupyter.service.db_taps.job import EngineName
from svc_jupyter.service.ground.errors import Invalid, NotFound, translated

_DEFAULT_PORT: Final = 5432


class Taps(Protocol):
    """The account's DB taps."""

    async def opened(self, account_id: int, tap_id: int) -> OpenTap:
        """Return a tap with its secrets. Raises `NotFound`, `Invalid`."""
        ...


async def tap_catalogs(taps: Taps, account_id: int, wanted: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the settings of catalogues by name; they contain passwords: write them only to files of mode 0600.

    Raises `ClusterFailure` for a tap that is missing or that Presto cannot reach.
    """
    return {name: await _settings(taps, account_id, name, tap_id) for name, tap_id in wanted.items()}


async def _settings(taps: Taps, account_id: int, catalog: str, tap_id: int) -> dict[str, str]:
    with translated(NotFound, Invalid, to=ClusterFailure, about=f"catalogue {catalog}"):
        tap = await taps.opened(account_id, tap_id)
    if tap.connection.engine is not EngineName.POSTGRESQL:
        raise ClusterFailure(
            f"catalogue {catalog}: DB tap {tap_id} ({tap.name}) is {tap.connection.db_type}; Presto reads taps of "
            "postgresql and redshift"
        )
    return connector(catalog, tap)


def connector(catalog: str, tap: OpenTap) -> dict[str, str]:
    """Return the settings of a catalogue for a tap of PostgreSQL. Raises `ClusterFailure` for a socket in a folder."""
    facts = conninfo_to_dict(tap.connection.target)
    host = str(facts.get("host") or "")
    if not host or host.startswith("/"):
        raise ClusterFailure(
            f"catalogue {catalog}: DB tap {tap.id} ({tap.name}) names a socket of this machine; Presto connects by "
            "host and port: give the tap a db_host"
        )
    place = f"[{host}]" if ":" in host else host
    user = str(facts.get("user") or os.environ.get("USER") or "")
    database = quote(str(facts.get("dbname") or user), safe="")
    settings = {
        "connector.name": "postgresql",
        "connection-url": f"jdbc:postgresql://{place}:{facts.get('port') or _DEFAULT_PORT}/{database}",
        "connection-user": user,
        "case-insensitive-name-matching": "true",
    }
    if facts.get("password"):
        settings["connection-password"] = str(facts["password"])
    return settings
